"""A small league of Riff Raff from the first command to the last: real bots, real physics, three seats."""

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.golden import Golden
from support.tampering import edit_record

pytest.importorskip("mujoco", reason="the extra `riffraff` is not installed")
pytestmark = pytest.mark.process

BOT = bot_script(
    "chosen(m)",
    each="loads = 0 if m['type'] == 'match_start' else loads",
    start="""
loads = 0
def chosen(m):
    global loads
    if m["legal"]:
        return 0 if m["view"]["phase"] == "announce" else len(m["legal"]) - 1
    loads += m["view"]["area"] > 4 and "refused" not in m
    if m["view"]["area"] <= 4 or loads not in (1, 2):
        return {"pass": True}
    if loads == 2:
        return {"kind": "crate", "face": "nose", "u_mm": 0, "v_mm": 0}
    return {"kind": "crate", "face": "flat", "u_mm": 0, "v_mm": 40 if m["view"]["area"] % 2 else -40}
""",
)
"""Loads one crate and passes ever after; the second load is refused twice, as no piece lies on a nose."""


PASSER = bot_script("0 if m['legal'] else {'pass': True}")


@pytest.fixture
def played(terminal: Terminal) -> Terminal:
    """A league of three that has been played."""
    Path("loader.py").write_text(BOT)
    terminal.played(*["./loader.py"] * 3, game="riffraff", seats=3, cycles=1, options={"weather": "calm"})
    return terminal


@pytest.mark.slow
def test_every_command_tells_of_it(played: Terminal) -> None:
    """The table with the pardoned faults, the matches, a page, the matrix, the forecasts, and that all is true."""
    board, matches = played.arena("leaderboard"), played.arena("league matches")
    pages = [played.arena(words) for words in ("stats p0", "matrix")]
    verified = played.arena("verify")

    assert {each.code for each in (board, matches, *pages, verified)} == {0}
    assert "3 of 3 matches; ranks by rating" in board.out
    seats = played.arena("leaderboard --columns player,seats").out
    assert re.search(r"^p0 +[\d.]+/ *[\d.]+/ *[\d.]+$", seats, re.MULTILINE)
    assert re.search(r"^p2: (\d+) faults in 3 matches, after which the game went on \(\1 ill", board.out, re.MULTILINE)
    assert matches.out.count("  went on after ") == 3
    assert re.search(r"^  \d+ illegal_action: ", pages[0].out, re.MULTILINE)
    assert re.search(r"test: \d+ simulations made again, all as recorded", verified.out), verified.out


def test_a_match_is_shown_as_words_and_pictures(played: Terminal) -> None:
    """`show` has fallback actions, rest positions and refusals in words, a picture, and a page with movements."""
    match = played.arena("league matches").out.split()[0]

    said, drawn = (played.arena(f"show {match} --to ship.{kind}") for kind in ("html", "svg"))

    page = Path("ship.html").read_text()
    assert (said.code, drawn.code) == (0, 0), said.err
    assert said.out.count("passes (stands in after a fault: illegal_action)") >= 3
    assert re.search(r"simulation settle/\d+/\d/0: at rest after \d\.\d s, tilted up to \d\.\d°", said.out)
    assert Path("ship.svg").read_text().startswith("<svg ")
    assert 'data-match="' in page
    assert re.search(r'"motions":"[^"]', page)
    assert re.search(r"^  for step \d+: illegal_action \(\w+\): ", said.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("games", "said"),
    [
        ("[riffraff]", "tidy plays riffraff, not shanghaien; play it with --game riffraff"),
        (
            "[riffraf]",
            'tidy plays riffraf, not shanghaien; unknown game "riffraf"; known: connect_four, kuhn_poker, nim, ',
        ),
    ],
)
def test_who_plays_another_game_is_told_how_to_play_it(terminal: Terminal, games: str, said: str) -> None:
    """Every command that takes a bot and a game says how to play the bot's own game."""
    Path("tidy").mkdir()
    Path("tidy/bot.yaml").write_text(f"name: tidy\ncommand: [python3, bot.py]\ngames: {games}\n")
    Path("tidy/bot.py").write_text(PASSER)

    own = "--game shanghaien"
    for line in (f"check ./tidy {own}", f"submit ./tidy {own}", "play ./tidy", "match ./tidy ./tidy"):
        code, out, err = terminal.arena(line)
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {said}")


def test_a_forged_pose_is_found(played: Terminal, golden: Golden) -> None:
    """A pose lifted by a hundredth of a millimetre is found by simulation; a replay alone accepts it."""

    def lift(record: Any) -> None:
        result = next(step["result"] for step in record["steps"] if step["step"] == "simulation")
        (rest,) = result["rests"]
        rest["pose"][2] = round(rest["pose"][2] + 0.00001, 5)
        poses = [[rest["id"], "crate", rest["pose"]]]
        digest = sha256(msgspec.json.encode([result["roll"], result["pitch"], result["yards"], poses])).hexdigest()
        result["digest"] = digest[:16]

    edit_record(played.results, "rotation = 1", lift)

    said = played.arena("verify --workers 2")

    assert said.code == 1
    problems = re.findall(r"PROBLEM test: match \w+-0-1: (.+)", said.out)
    golden(problems[0])
