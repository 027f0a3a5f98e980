"""`arena ask`: another version of a bot in a stored match."""

import io
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal

pytestmark = pytest.mark.process
LATER = "0 if m['id'] < 2 else len(m['legal']) - 1"


@pytest.fixture
def match(terminal: Terminal) -> str:
    """A match of nim that a bot played, by its name, against one that the store knows."""
    Path("mine.py").write_text(bot_script(note="'first'"))
    Path("later.py").write_text(bot_script(LATER, asked="print('thinking of', m['id'], file=sys.stderr)"))
    terminal.played("./mine.py", "random", players=[{"bot": "./mine.py"}, {"bot": "random"}])
    return terminal.first_match()


def test_the_version_that_played_answers_the_same(terminal: Terminal, match: str) -> None:
    """Of each player; exit 0."""
    for bot in ("./mine.py", "random"):
        found = terminal.arena(f"ask {bot} {match}")
        assert (found.code, found.err) == (0, "")
        assert found.out.split()[-5:] == [found.out.split()[0], "answers", "are", "the", "same"] or " of " in found.out
        assert found.out.count("\n") == 1


def test_the_first_difference_is_found_and_explained(terminal: Terminal, match: str) -> None:
    """A table of what differs, exit 1; of one step with note, time and stderr."""
    found = terminal.arena(f"ask ./later.py {match} --as mine --all")

    assert found.code == 1
    rows = [line.split()[0] for line in found.out.splitlines() if line[:1].isdigit()]
    steps = rows[:-1]
    assert steps
    assert found.out.splitlines()[-1].startswith(f"{int(rows[-1])} of ")

    detail = terminal.arena(f"ask ./later.py {match} --as mine --step {steps[0]}")
    assert detail.code == 1
    assert f"step {steps[0]}: another answer\nrecorded: takes " in detail.out
    assert detail.out.startswith("mine to move\nheap 0: ")
    assert f"`--step {steps[0]}` shows the table there" in found.err
    assert "stderr | thinking of " in detail.out

    first = next(line.split()[0] for line in terminal.arena(f"show {match}").out.splitlines() if "mine takes" in line)
    same = terminal.arena(f"ask ./later.py {match} --as mine --step {first}")
    assert (same.code, same.out.splitlines()[5]) == (0, f"step {first}: the same answer")


def test_a_match_is_played_on_by_the_bots_that_played_it(terminal: Terminal, match: str) -> None:
    """With the version of one exchanged; nothing of it is stored."""
    steps = [line.split()[1].strip(",") for line in dialogue(terminal, match) if line.startswith("step ")]

    same, other = (
        terminal.arena(f"ask {bot} {match} --as mine --step {steps[0]} --play-on").out.splitlines()[-2:]
        for bot in ("./mine.py", "./later.py")
    )

    assert same[0].removeprefix("as it was: ") == same[1].partition(" as mine: ")[2]
    assert other[1].startswith(f"from step {steps[0]} on with later 1 (")
    assert terminal.arena("verify").code == 0


def dialogue(terminal: Terminal, match: str) -> list[str]:
    return terminal.arena(f"dialogue {match} mine").out.splitlines()


def test_a_debugger_has_time(terminal: Terminal, match: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is named before the request goes out, and no clock runs."""
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))

    found = terminal.arena(f"ask ./mine.py {match} --wait --isolation none")

    assert found.code == 0
    assert "process " in found.err
    assert "runs mine 1 (" in found.err
    assert "comes after Enter" in found.err


def test_without_a_clock_a_bot_may_sleep(terminal: Terminal) -> None:
    """As one that a debugger holds: neither CPU time nor wall time nor idle time runs out."""
    Path("mine.py").write_text(bot_script())
    Path("sleepy.py").write_text(bot_script(asked="time.sleep(1.5 if m['id'] == 2 else 0)"))
    players = [{"bot": "./mine.py"}, {"bot": "random"}]
    terminal.played(players=players, clock={"idle_ms": 500}, options={"heaps": [4, 5, 6]})

    found = terminal.arena(f"ask ./sleepy.py {terminal.first_match()} --as mine --no-clock")

    assert (found.code, found.err) == (0, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("random --as nobody", "--as: match "),
        ("./later.py", "--as: no player is called later; give --as and one of mine, random"),
        ("random --step 999", "--step 999: random was not asked for that step, of "),
        ("random --step 1 --all", "give either --step or --all"),
        ("random --play-on", "--play-on goes with --step"),
        ("random --play-on --step 1 --wait", "give either --wait or --play-on"),
        ("nobody --as random", 'no bot "nobody"'),
        ("3f9a2c41d07b-0-1", "; give the bot first: arena ask BOT 3f9a2c41d07b-0-1"),
        ("greedy --as random", "greedy plays shanghaien, not nim"),
    ],
)
def test_questions_that_have_no_answer(terminal: Terminal, match: str, words: str, said: str) -> None:
    """Exit 2, with a sentence."""
    bot, _, rest = words.partition(" ")
    found = terminal.arena(f"ask {bot} {match} {rest}")

    assert (found.code, found.out) == (2, "")
    assert said in found.err


def test_arguments_in_the_other_order_are_told(terminal: Terminal, match: str) -> None:
    """Of dialogue and positions, too; and no option is named that a command has not."""
    for line in (f"dialogue mine {match}", f"positions save mine {match} --step 1"):
        found = terminal.arena(line)
        assert (found.code, "; give the match first, then the player" in found.err) == (2, True)
    terminal.arena(f"positions save {match} mine --step 1")

    for line in (f"ask greedy {match} --as random", "positions run greedy"):
        found = terminal.arena(line)
        assert (found.code, found.err) == (2, "error: greedy plays shanghaien, not nim\n")


def test_a_match_played_on_is_told_to_its_end(terminal: Terminal) -> None:
    """The table of connect_four ends with the numbers of its columns, which are no steps."""
    assert terminal.league("random", "random", game="connect_four", cycles=1).code == 0
    match = terminal.first_match()
    whole = terminal.arena(f"show {match}").out
    steps = [line for line in whole.splitlines() if " p0 drops" in line]

    told = terminal.arena(f"ask random {match} --as p0 --step {steps[0].split()[0]} --play-on")
    assert "      0 1 2 3 4 5 6\n\nseat " in told.out
    assert told.out.count(" answers, ") == 2


def test_a_player_has_the_arguments_of_the_league_that_played(terminal: Terminal) -> None:
    """Another league may have the same bot by the same name with others."""
    Path("last.py").write_text(bot_script("-1 % len(m['legal']) if sys.argv[1:] == ['last'] else 0"))
    for name, argument in (("one", "first"), ("two", "last"), ("zoo", "first")):
        players = [{"bot": "./last.py", "arguments": [argument]}, {"bot": "random"}]
        assert terminal.league(name=name, players=players).code == 0

    for name in ("one", "two", "zoo"):
        match = terminal.arena(f"league matches {name}").out.split()[0]
        found = terminal.arena(f"ask ./last.py {match}")
        assert (name, found.code, found.err) == (name, 0, "")
