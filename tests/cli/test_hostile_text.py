"""Text of strangers on its way to a terminal: whatever a bot is called or says, no escape of it arrives there raw."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.cli_arena import Said, Terminal
from support.hostile_manifests import HOSTILE
from support.tampering import edit_record, opened

pytestmark = pytest.mark.process
ESCAPE = "\x1b]0;pwn\x07"
SHOUTER = """\
import json, sys
ESC = "\\x1b]0;pwn\\x07\\x9b2J\\u202e"
def say(message):
    if len(sys.argv) > 1:
        print(ESC, flush=True)
    print(json.dumps(message, ensure_ascii=False), flush=True)
    print(ESC, file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"type": "hello", "protocols": [1], "name": ESC, "version": ESC, "capabilities": [ESC]})
    if message["type"] == "match_start":
        say({"type": "ready", "match": message["match"]})
    if message["type"] == "request":
        action = BAD if len(sys.argv) > 1 else 0
        say({"type": "action", "id": message["id"], "action": action, "note": ESC})
    if message["type"] == "quit":
        break
"""
BAD = [
    '{"heap": ESC, "count": [ESC]}',
    pytest.param('{"heap": 0, "count": 1, ESC: 2}', marks=pytest.mark.slow),
    pytest.param('{"do": ESC}', marks=pytest.mark.slow),
    pytest.param("ESC", marks=pytest.mark.slow),
]


def is_safe(said: Said) -> bool:
    """Return True if all output is printable, apart from line ends."""
    return (said.out + said.err).replace("\n", "").isprintable()


def write_bot(name: str, *arguments: str, bad: str = "0") -> None:
    """A folder of a bot that shouts escapes; with an argument it also answers with them."""
    Path(name).mkdir()
    manifest = {"name": name, "command": ["python3", "bot.py", *arguments], "description": "one line\nand\tanother\n"}
    Path(name, "bot.yaml").write_text(json.dumps(manifest))
    Path(name, "bot.py").write_text(SHOUTER.replace("BAD", bad))


@pytest.mark.slow
def test_a_hostile_folder_breaks_no_list_of_bots(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every hostile manifest, links, pipes and names with escapes beside one good bot: it is listed, they are told."""
    terminal.arena("new-bot mine --to shelf/mine")
    monkeypatch.setenv("ARENA_BOTS", "shelf")
    kinds = [kind for kind in HOSTILE if kind != "a mark of byte order"]
    for number, kind in enumerate(kinds):
        Path(f"shelf/bot{number}").mkdir()
        Path(f"shelf/bot{number}/bot.yaml").write_bytes(HOSTILE[kind])
    Path(f"shelf/{ESCAPE}").mkdir()
    Path(f"shelf/{ESCAPE}/bot.yaml").write_text("name: x")
    Path(f"shelf/{ESCAPE}.py").touch()
    for name in ("link", "pipe", "loop"):
        Path(f"shelf/{name}").mkdir()
    Path("shelf/link/bot.yaml").symlink_to("/etc/passwd")
    Path("shelf/loop/bot.yaml").symlink_to("bot.yaml")
    os.mkfifo("shelf/pipe/bot.yaml")

    listed = terminal.arena("bots")
    named = terminal.arena("match mine nobody --game nim")

    given = [terminal.arena("check", f"./{name}") for name in (ESCAPE, "\udce9", f"shelf/{ESCAPE}")]

    assert (listed.code, named.code) == (0, 2)
    assert all(found.code == 2 and is_safe(found) for found in given)
    names = [line.split()[0] for line in listed.out.splitlines()[2:] if line and "bundled" not in line]
    assert names == ["mine"]
    assert listed.err.count("left out: ") == len(kinds) + 5
    assert is_safe(listed)
    assert is_safe(named)
    assert "root:" not in listed.err


@pytest.mark.parametrize("bad", BAD)
def test_what_a_bot_says_is_told_with_escapes(terminal: Terminal, bad: str) -> None:
    """Checked, refused, in a match and in its dialogue."""
    write_bot("shouter")
    write_bot("liar", "bad", bad=bad)

    lines = ["check ./shouter --game nim", "check ./liar --game nim", "submit ./liar --game nim"]
    lines += ["match ./shouter ./liar --game nim --blocks 1"]
    said = {line: terminal.arena(line) for line in lines}

    assert [line for line, found in said.items() if not is_safe(found)] == []
    assert [found.code for found in said.values()] == [0, 1, 1, 0]


@pytest.mark.slow
def test_a_league_of_such_bots_prints(terminal: Terminal) -> None:
    """Submitted, played, listed, shown, told of, verified."""
    write_bot("shouter")
    write_bot("liar", "bad", bad="ESC")
    submitted = terminal.arena("submit ./shouter --game nim")
    run = terminal.league("./shouter", "./liar", "random")
    match_id = terminal.arena("league matches test").out.split()[0]
    with opened(terminal.results) as connection:
        assert connection.execute("UPDATE bot SET version = ?", (ESCAPE,)).rowcount  # of an arena that took such a one

    lines = ["bots", "leaderboard test", f"show {match_id}", "stats p0", "stats p1", "matrix test", "verify"]
    lines += ["league status test", "league matches test", "league matches test --faults", "withdraw shouter"]
    said = {line: terminal.arena(line) for line in lines}

    assert [line for line, found in said.items() if not is_safe(found)] == []
    assert is_safe(submitted)
    assert is_safe(run)
    assert [line for line, found in said.items() if found.code] == []
    assert "one line and another" in terminal.arena("bots").out or "shouter" not in terminal.arena("bots").out


def test_a_folder_that_somebody_sends_prints(terminal: Terminal) -> None:
    """Records, hand-ins and secrets with escapes, whose digests fit; a clock that no number of microseconds holds."""
    terminal.league("random", "random")
    first, second = [line.split()[0] for line in terminal.arena("league matches test").out.splitlines()[-2:]]

    def forge(record: Any) -> None:
        record.update(seed=ESCAPE, game=ESCAPE)
        record["seats"][0]["stderr"] = [[0, ESCAPE]]

    slow: Callable[[Any], object] = lambda record: record["clock"].update(move_ms=1e308)  # noqa: E731
    forgeries = {first: forge, second: slow}
    for match, change in forgeries.items():
        _, block, rotation = match.split("-")
        edit_record(terminal.results, f"(block, rotation) = ({block}, {rotation})", change)
    with opened(terminal.results) as connection:
        connection.execute("UPDATE secret SET origin = ?", (ESCAPE,))
        connection.execute("INSERT INTO hand_in VALUES ('p0', x'1b5b', ?)", ("a" * 64,))

    lines = ["league status", "verify", f"show {first}", f"show {first} --times", f"show {second} --times"]
    said = {line: terminal.arena(line) for line in [*lines, "site build --to site --matches none"]}

    assert [line for line, found in said.items() if not is_safe(found)] == []
    assert [found.code for found in said.values()] == [0, 1, 0, 0, 1, 0]


@pytest.mark.parametrize(
    "word", ['"a\\0b"', "x" * 300_000, "x" * 60_000, '"\\ud800"'], ids=["NUL", "300 kB", "60 kB", "half"]
)
def test_a_word_that_no_kernel_takes_stops_no_league(terminal: Terminal, word: str) -> None:
    """A word that no kernel takes is refused when it is read, before anything is installed or played."""
    write_bot("shouter")
    Path("shouter/bot.yaml").write_text(f"name: shouter\ncommand: [python3, bot.py, {word}]\n")
    in_manifest = terminal.league("random", "./shouter", "random")
    Path("shouter/bot.yaml").write_text("name: shouter\ncommand: [python3, bot.py]\n")
    entries = f"[{{bot: random}}, {{bot: ./shouter, arguments: [{word}]}}]"
    Path("league.yaml").write_text(f"name: test\ngame: nim\ncycles: 1\nplayers: {entries}\n")
    in_tournament = terminal.arena("league run league.yaml")

    assert (in_manifest.code, in_tournament.code) == (2, 2)
    assert is_safe(in_manifest)
    assert is_safe(in_tournament)
    assert not terminal.results.exists()
