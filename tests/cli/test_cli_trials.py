"""`arena check` and `submit` as a tournament plays, and with every option of each game that a bot names."""

import re
from pathlib import Path

import pytest
import yaml
from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.toy_game import ToyGame, on_offer

from arena.operations.trials import rival_names

pytestmark = pytest.mark.process
CAREFREE = bot_script(asked="assert 'expansions' not in m['view'], 'never heard of expansions'")


def tournament(**changes: object) -> str:
    """A file of which no player is there."""
    content = {"name": "cup", "game": "nim", "cycles": 1, "players": [{"bot": "./nobody"}] * 2, **changes}
    Path("cup.yaml").write_text(yaml.safe_dump(content))
    return "cup.yaml"


def titles(out: str) -> list[str]:
    return re.findall(r"^ *\d+  (?:ok|remark) +(plays with [^:]*:[^:]*):", out, re.MULTILINE)


def test_a_bot_that_fails_with_an_expansion_is_told_so(terminal: Terminal) -> None:
    """As a remark where nobody asked for expansions, and as a refusal where the tournament has them."""
    Path("mine.py").write_text(CAREFREE)

    found = terminal.arena("check ./mine.py")
    assert found.code == 0
    assert len(titles(found.out)) == 5
    assert "checking mine 1 (" in found.out
    assert " at shanghaien: " in found.out
    assert found.out.count("it forfeits a match of such a tournament") == 5
    assert "crash: the bot ended with exit code 1" in found.out

    cup = tournament(game="shanghaien", options={"expansions": ["sharks"]})
    for command in ("check", "submit"):
        refused = terminal.arena(f"{command} ./mine.py --for {cup}")
        assert (refused.code, titles(refused.out)) == (1, [])
        assert 'at shanghaien with {"expansions":["sharks"]}: ' in refused.out
        assert "never heard of expansions" in refused.err
    assert terminal.registered() == []


def test_options_and_numbers_of_seats_that_a_game_has_are_tried(terminal: Terminal) -> None:
    """Of nim both options; of the toy game each number of seats, in which a bot that knows of two alone is told so."""
    Path("mine.py").write_text(bot_script())
    found = terminal.arena("check ./mine.py --game nim")
    assert titles(found.out) == ['plays with {"misere":true}', 'plays with {"heaps":[1,20,7,2]}']
    assert (
        terminal.arena("check ./mine.py", "--game", "nim", "--options", '{"heaps": [2]}').out.count("plays with") == 0
    )

    Path("pair.py").write_text(bot_script("{'mm': 1}", each="assert len(m.get('players', 'ab')) == 2, 'only pairs'"))
    with on_offer():
        found = terminal.arena("check ./pair.py --game toy")
    told = re.findall(r"^ *\d+  remark +(plays at a table of \d+): it forfeits", found.out, re.MULTILINE)
    assert found.code == 0
    assert told == [f"plays at a table of {seats}" for seats in ToyGame.seat_counts if seats != 2]
    assert "crash: the bot ended with exit code 1" in found.out


def test_each_game_of_the_manifest_is_tried(terminal: Terminal) -> None:
    """And only that of the option or of the tournament where there is one."""
    Path("mine").mkdir()
    Path("mine/bot.py").write_text(bot_script())
    Path("mine/bot.yaml").write_text("name: mine\ncommand: [python3, bot.py]\ngames: [nim, shanghaien]\n")

    def checked(flags: str) -> list[str]:
        found = terminal.arena(f"check ./mine {flags}")
        assert found.code == 0, found.err
        return re.findall(r"^checking mine 1 \(\w+\) at (.*): ", found.out, re.MULTILINE)

    assert checked("") == ["nim", "shanghaien"]
    assert checked("--game nim") == ["nim"]
    assert checked(f"--for {tournament(options={'misere': True})}") == ['nim with {"misere":true}']
    Path("mine/bot.yaml").write_text("name: mine\ncommand: [python3, bot.py]\ngames: [nim, chess]\n")
    odd = terminal.arena("check ./mine")
    assert (odd.code, 'mine: games: unknown game "chess"; known: ' in odd.err) == (2, True)


def test_a_tournament_says_clock_and_limits(terminal: Terminal) -> None:
    """Those of its file, for the check and the block against the baseline; the author reads their own score first."""
    Path("mine.py").write_text(bot_script())
    cup = tournament(clock={"move_ms": 77}, limits={"memory_mib": 100})

    found = terminal.arena(f"submit ./mine.py --for {cup}")

    assert found.code == 0
    assert " of 77 ms" in found.out
    assert len(re.findall(r"^(?:won 1 to 0|lost 0 to 1) in seat [01] against random$", found.out, re.MULTILINE)) == 2
    Path("greedy-one").mkdir()
    Path("greedy-one/bot.py").write_text(bot_script())
    Path("greedy-one/bot.yaml").write_text("name: big\ncommand: [python3, bot.py]\nlimits: {memory_mib: 200}\n")
    refused = terminal.arena(f"check ./greedy-one --for {cup}")
    assert (refused.code, "this tournament allows 100" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("changes", "flags", "said"),
    [
        ({}, "--game nim", "give either --for or --game: the tournament says it"),
        ({}, "--move-ms 5", "give either --for or --move-ms: the tournament says it"),
        ({"options": {"heap": 1}}, "", '--for: options of nim: unknown key "heap"'),
        ({"game": "go"}, "", '--for: unknown game "go"'),
        ({"seats": 3}, "", "--for: seats: found 3, nim is for 2 players"),
        ({"clok": {}}, "", 'unknown key "clok"'),
        ({"game": "shanghaien"}, "", "greedy-two plays nim, not shanghaien"),
    ],
)
def test_a_tournament_that_cannot_be_played_is_told(
    terminal: Terminal, changes: dict[str, object], flags: str, said: str
) -> None:
    """Before anything is started, with the option."""
    Path("two").mkdir()
    Path("two/bot.py").write_text(bot_script())
    Path("two/bot.yaml").write_text("name: greedy-two\ncommand: [python3, bot.py]\ngames: [nim]\n")

    found = terminal.arena(f"check ./two --for {tournament(**changes)} {flags}")

    assert (found.code, found.out) == (2, "")
    assert said in found.err


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("int(os.environ.setdefault('SEEN', '0') == '1' and len(m['legal']) > 1)", "the bot keeps something"),
        ("int.from_bytes(os.urandom(4), 'big') % len(m['legal'])", "also in a fresh process: results of such a bot"),
    ],
)
def test_a_used_process_is_compared_with_a_fresh_one(terminal: Terminal, action: str, said: str) -> None:
    """A bot that remembers its matches, and one that follows no seed, are told apart."""
    remember = "os.environ['SEEN'] = '1' if m['type'] == 'match_end' else os.environ.get('SEEN', '0')"
    Path("mine.py").write_text(bot_script(action, each=remember))

    found = terminal.arena("check ./mine.py --game nim --options '{\"heaps\": [9, 9, 9, 9, 9, 9]}'")

    assert found.code == 0
    assert re.search(r"^ *5  remark +plays the same again", found.out, re.MULTILINE)
    assert said in " ".join(found.out.split())


@pytest.mark.parametrize(
    ("bot", "names"),
    [
        ("mine", ["random", "random-2", "random-3"]),
        ("random", ["random-baseline", "random-baseline-2", "random-baseline-3"]),
        ("random-3", ["random-baseline", "random-baseline-2", "random-baseline-3"]),
    ],
)
def test_no_rival_has_the_name_of_the_bot(bot: str, names: list[str]) -> None:
    """Or one of the two would sit in the seats of both."""
    assert rival_names(bot, "random", 3) == names
