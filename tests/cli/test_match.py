"""`arena match`: who won, why, and where to look; its last matches, which only the user has."""

import re
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal

from arena.store import recent

pytestmark = pytest.mark.process
NIM = "--game nim"


@pytest.fixture(autouse=True)
def _bots(terminal: Terminal) -> None:
    """The bots `first` and `crash`; the second one fails at its first request."""
    assert terminal.folder.is_dir()
    Path("first.py").write_text(bot_script())
    Path("crash.py").write_text(bot_script(asked="raise RuntimeError(chr(27) + '[2J lost')"))


def kept() -> list[str]:
    return sorted(path.stem for path in recent.recent_folder().iterdir())


def test_a_few_matches_say_who_won_and_where_to_look(terminal: Terminal) -> None:
    """A line for each, the sum, and two commands that work; no table, no secret, nothing in results."""
    said = terminal.arena(f"match ./first.py random {NIM} --blocks 2")

    lines = said.out.splitlines()
    assert {line.split("  ")[0].partition("-")[2] for line in lines[:4]} == {"0-0", "0-1", "1-0", "1-1"}
    wins = [re.search(r"  (first|random) wins$", line) for line in lines[:4]]
    counts = {name: sum(found[1] == name for found in wins if found) for name in ("first", "random")}
    assert lines[5] == f"4 matches; won: first {counts['first']}, random {counts['random']}"
    assert not re.search("[0-9a-f]{64}", said.out)
    assert "luck audit" not in said.out
    assert "±" not in said.out
    assert not terminal.results.exists()
    commands = [line.partition(": arena ")[2] for line in lines[6:]]
    assert [command.split()[0] for command in commands] == ["show", "ask"]
    assert terminal.arena(commands[0]).code == 0
    asked = terminal.arena(commands[1].replace("BOT", "./first.py"))
    assert (asked.code, asked.err) == (0, "")
    assert terminal.arena(f"show {commands[0].split()[1]} --lines first").out.count("< ") > 2
    assert not terminal.results.exists()


def test_the_coach_is_named_where_the_game_has_a_value(terminal: Terminal) -> None:
    """The last line is a command that works; the match is the one of the lines before."""
    last = terminal.arena("match random greedy").out.splitlines()[-1]

    assert last.startswith("what each decision cost: arena coach ")
    assert terminal.arena(last.partition(": arena ")[2]).code == 0


def test_a_crash_is_told_by_its_last_line(terminal: Terminal) -> None:
    """A crash is reported by the last line of the bot's stderr, without control characters."""
    said = terminal.arena(f"match ./crash.py random {NIM}")

    assert said.out.count("  crash: the last line of its stderr: RuntimeError: \\x1b[2J lost") == 2
    assert "2 matches; won: crash 0, random 2" in said.out


def test_bots_that_move_alike_are_named(terminal: Terminal) -> None:
    """In any number of matches; bots that differ anywhere are not."""
    alike, many = (terminal.arena(f"match ./first.py ./first.py {NIM} --blocks {n}").out for n in (2, 11))
    other = terminal.arena(f"match ./first.py random {NIM} --blocks 11").out

    for text in (alike, many):
        assert "same moves in all of them by first-1 and first-2: the same bot, or bots that use bot_seed alike" in text
    assert "same moves" not in other
    assert "±" in other


def test_the_last_fifty_are_kept_for_the_user_alone(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last fifty matches of all commands are kept; nobody else can read them, and links are not followed."""
    monkeypatch.setattr(recent, "MOST_RECENT", 5)
    terminal.arena(f"match ./first.py random {NIM}")
    before = kept()
    folder = recent.recent_folder()
    folder.chmod(0o755)
    terminal.arena(f"match ./first.py random {NIM} --blocks 2")

    assert len(before) == 2
    assert len(kept()) == 5
    assert len(set(before) & {*kept()}) == 1
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    victim = Path("victim")
    victim.write_text("mine")
    name = kept()[0]
    (folder / f"{name}.json").unlink()
    (folder / f"{name}.json").symlink_to(victim.absolute())
    record, _ = recent.recent_match(kept()[-1])
    assert record is not None
    recent.keep_recent([record], "drawn")
    assert victim.read_text() == "mine"
    assert terminal.arena("show ../../../victim").code == 2


def test_two_commands_delete_the_oldest_at_once(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The match is kept, though the other command was faster with an old one."""
    terminal.arena(f"match ./first.py random {NIM}")
    record, _ = recent.recent_match(kept()[0])
    assert record is not None
    monkeypatch.setattr(recent, "MOST_RECENT", 0)
    unlink = Path.unlink

    def unlink_twice(path: Path) -> None:
        unlink(path)
        unlink(path)

    monkeypatch.setattr(Path, "unlink", unlink_twice)

    assert recent.keep_recent([record], "drawn")


def test_a_match_is_played_where_nothing_can_be_kept(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder of states: the results are printed all the same, and no command that finds nothing."""
    Path("file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(Path("file").resolve()))

    said = terminal.arena(f"match ./first.py random {NIM}")

    assert (said.code, said.out.count(" wins"), "arena show" in said.out) == (0, 2, False)


def test_a_damaged_match_is_named(terminal: Terminal) -> None:
    """A damaged match is reported with its file; it cannot be played on, because its bots are not kept."""
    match_id = terminal.arena(f"match ./first.py random {NIM}").out.split()[0]

    refused = terminal.arena(f"ask ./first.py {match_id} --step 1 --play-on --as random")
    (recent.recent_folder() / f"{match_id}.json").write_text("{}")
    damaged = terminal.arena(f"show {match_id}")

    assert (refused.code, "`arena match` keeps no bots" in refused.err) == (2, True)
    assert (damaged.code, f"{match_id}.json holds no match" in damaged.err) == (1, True)
