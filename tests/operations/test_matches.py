"""Stored matches asked again: the answers of other bots, matches played on, and regression sets of positions."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace
from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.golden import Golden

from arena.errors import SpecError
from arena.match.record import ActionStep, MatchRecord
from arena.match.requests import answer_steps
from arena.operations.ask_bot import AskBot, RequestDue, ask_bot, play_on
from arena.operations.events import Event
from arena.operations.positions import RunPositions, SavePosition, run_positions, save_position
from arena.operations.read_match import ReadMatch, ReadSeat, read_match, read_seat
from arena.operations.verify_leagues import VerifyLeagues, verify_leagues

pytestmark = pytest.mark.process
BOTS = {
    "mine": bot_script(note="'first'"),
    "later": bot_script("0 if m['id'] < 2 else len(m['legal']) - 1", asked="print('thinking', file=sys.stderr)"),
    "last": bot_script("len(m['legal']) - 1"),
    "frail": bot_script(asked="assert m['id'] < 2, 'second request'"),
    "sleepy": bot_script(asked="time.sleep(1.5 if m['id'] == 2 else 0)"),
}


@pytest.fixture
def match(terminal: Terminal) -> str:
    """A match of nim between `mine` and a bot that the store knows; `mine` moves more than once."""
    return played(terminal, "mine", clock={"idle_ms": 500})


def played(terminal: Terminal, bot: str, **changes: Any) -> str:
    """Play `bot` against random; return the first match."""
    for name, source in BOTS.items():
        Path(f"{name}.py").write_text(source)
    players = [{"bot": f"./{bot}.py"}, {"bot": "random"}]
    terminal.played(players=players, options={"heaps": [4, 5, 6]}, stderr="keep", **changes)
    return terminal.first_match()


def asking(match: str, bot: str = "./mine.py", **choices: Any) -> AskBot:
    return AskBot(bot=bot, match=match, **choices)


def steps_of(match: str, player: str = "mine") -> tuple[int, ...]:
    """The steps for which a player was asked."""
    return answer_steps(*read_seat(ReadSeat(match=match, player=player)))


def outcome(record: MatchRecord) -> tuple[object, ...]:
    actions = [msgspec.json.encode(step.action) for step in record.steps if isinstance(step, ActionStep)]
    return actions, record.ranks, record.scores


def test_a_match_is_found_with_its_block(match: str) -> None:
    """With its result and what is known of its luck; by the names and numbers of its players."""
    found = read_match(ReadMatch(match=match, has_block=True))

    assert (found.record.match, [other.match for other in found.block]) == (match, [f"{match[:-1]}1"])
    assert found.result is not None
    assert found.secret is not None
    assert found.secret.origin == "public"
    assert read_seat(ReadSeat(match=match, player="1"))[1] == 1
    for request, said in (
        (ReadSeat(match=match, player="mine", step=999), "--step 999: mine was not asked for that step, of "),
        (ReadSeat(match=match, player="9"), 'unknown player "9"'),
        (ReadSeat(match="mine", player=match), "give the match first, then the player"),
    ):
        with pytest.raises(SpecError, match=said):
            read_seat(request)


def test_the_version_that_played_answers_the_same(match: str) -> None:
    for bot in ("./mine.py", "random"):
        found = ask_bot(asking(match, bot))

        assert found.is_same
        assert len(found.answers) == len(found.steps) > 1


def test_the_answers_of_another_version_are_compared(match: str) -> None:
    """All of them, or that of one step, with note, stderr and time."""
    found = ask_bot(asking(match, "./later.py", player="mine"))
    first = next(answer.step for answer in found.answers if not answer.is_same)

    assert not found.is_same
    assert [answer.step for answer in found.answers] == [*found.steps]
    (alone,) = ask_bot(asking(match, "./later.py", player="mine", step=first)).answers
    assert (alone.step, alone.is_same, alone.stderr) == (first, False, "thinking\n")
    assert ask_bot(asking(match, "./later.py", player="mine", step=found.steps[0])).is_same


def test_a_match_is_played_on_by_the_bots_that_played_it(match: str) -> None:
    """With the version of one exchanged; nothing of it is stored."""
    request = asking(match, player="mine", step=steps_of(match)[0])

    same, other = play_on(request), play_on(replace(request, bot="./later.py"))

    assert outcome(same.continuation) == outcome(same.record)
    assert (other.bot[:7], other.player, outcome(other.continuation) != outcome(same.continuation)) == (
        "later 1",
        "mine",
        True,
    )
    assert verify_leagues(VerifyLeagues()) == ()


def test_a_request_is_announced_once(match: str) -> None:
    """With the processes of the bot, for a debugger; an exception there ends all."""
    events: list[Event] = []
    request = asking(match, isolation="none")

    ask_bot(request, events.append)

    (due,) = events
    assert isinstance(due, RequestDue)
    assert (due.step, due.bot[:6], bool(due.pids)) == (steps_of(match)[0], "mine 1", True)
    with pytest.raises(ZeroDivisionError):
        ask_bot(request, lambda _: 1 // 0)


def test_without_a_clock_a_bot_may_sleep(match: str) -> None:
    """As one that a debugger holds: neither CPU time nor wall time nor idle time runs out."""
    assert ask_bot(asking(match, "./sleepy.py", player="mine", no_clock=True)).is_same


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"player": "nobody"}, "--as: match "),
        ({"bot": "./later.py"}, "--as: no player is called later; give --as and one of mine, random"),
        ({"step": 999}, "--step 999: mine was not asked for that step, of "),
        ({"bot": "nobody", "player": "random"}, 'no bot "nobody"'),
        ({"bot": "3f9a2c41d07b-0-1"}, "; give the bot first: arena ask BOT 3f9a2c41d07b-0-1"),
        ({"bot": "greedy", "player": "random", "step": 2}, r"^greedy plays shanghaien, not nim$"),
    ],
)
def test_questions_that_have_no_answer(match: str, choices: dict[str, Any], said: str) -> None:
    """Of answers and of a match played on."""
    for operation in (ask_bot, play_on):
        with pytest.raises(SpecError, match=said):
            operation(asking(**{"match": match, "step": steps_of(match)[0], **choices}))


def test_a_player_has_the_arguments_of_the_league_that_played(terminal: Terminal) -> None:
    """Another league may have the same bot by the same name with others."""
    Path("last.py").write_text(bot_script("-1 % len(m['legal']) if sys.argv[1:] == ['last'] else 0"))
    for name, argument in (("one", "first"), ("two", "last"), ("zoo", "first")):
        players = [{"bot": "./last.py", "arguments": [argument]}, {"bot": "random"}]
        assert terminal.league(name=name, players=players).code == 0

    for name in ("one", "two", "zoo"):
        first = terminal.arena(f"league matches {name}").out.split()[0]
        assert ask_bot(asking(first, "./last.py")).is_same, name


def saved(match: str, step: int, **choices: Any) -> Path:
    return save_position(SavePosition(match=match, player="mine", step=step, **choices))[0]


def passes(bot: str) -> list[bool]:
    """Whether a bot passes, by position."""
    return [result.is_passed for result in run_positions(RunPositions(bot=bot)).results]


def test_a_set_is_saved_and_run_without_the_results(terminal: Terminal, match: str, golden: Golden) -> None:
    """The version that played passes, another one fails where it differs; one that crashes, from there on."""
    steps = steps_of(match)
    files = [saved(match, step) for step in steps]
    either = save_position(SavePosition(match=match, player="mine", step=steps[0], name="either", expect=(0, 1)))[1]
    assert len(either.expect) == 2
    (terminal.results / "arena.db").unlink()

    assert passes("./mine.py") == [True] * (len(steps) + 1)
    assert passes("./last.py") == [False] * (len(steps) + 1)
    assert sorted(passes("./frail.py"), reverse=True) == [True] * 2 + [False] * (len(steps) - 1)
    found = run_positions(RunPositions(bot="./frail.py")).results
    golden("".join(result.reply for result in found))
    assert {result.name for result in found} == {"either", *(file.stem for file in files)}


def test_a_position_is_a_file_that_one_may_edit(match: str, golden: Golden) -> None:
    """A mistake in it is reported with its place; an index is an action there, and a file may be called .yml."""
    path = saved(match, steps_of(match)[0], name="here")
    content = yaml.safe_load(path.read_text())
    assert set(content) == {"match", "player", "step", "expect"}

    for changes, said in (
        ({"expect": []}, "expect"),
        ({"match": "../../passwd"}, "match"),
        ({"match": "none"}, "match: positions/matches/none.json cannot be read"),
        ({"player": "nobody"}, "player: found nobody, the players are mine, random"),
        ({"step": 999}, "step: mine was not asked for step 999"),
        ({"steps": 1}, 'unknown key "steps"'),
        ({"expect": [{"heap": 0, "cuont": 1}]}, 'expect: {"cuont":1,"heap":0}: not an action of nim'),
        ({"expect": [{"heap": 9, "count": 1}]}, 'expect: {"count":1,"heap":9}: there is no heap 9'),
        ({"expect": [99]}, "expect: 99 is no index"),
        ({"expect": [None]}, "expect: null: "),
    ):
        path.write_text(yaml.safe_dump(content | changes))
        with pytest.raises(SpecError) as error:
            passes("./mine.py")
        assert "positions/here.yaml" in str(error.value)
        assert said in str(error.value)
    path.write_text(yaml.safe_dump(content | {"expect": [0]}))
    path.rename("positions/here.yml")
    assert passes("./mine.py") == [True]
    with golden.raises(SpecError):
        passes("greedy")


def test_the_request_that_lost_a_match_is_a_position(terminal: Terminal, golden: Golden) -> None:
    """There the expected answers must be given: none is recorded. The answers at its step are compared, too."""
    match = played(terminal, "frail")
    step = steps_of(match, "frail")[-1]

    asked = ask_bot(asking(match, player="frail"))
    assert [answer.step for answer in asked.answers if not answer.is_same] == [step]
    golden(asked.answers[-1].recorded)
    assert ask_bot(asking(match, "./frail.py")).is_same

    with golden.raises(SpecError):
        save_position(SavePosition(match=match, player="frail", step=step))
    save_position(SavePosition(match=match, player="frail", step=step, expect=(0,)))
    assert (passes("./mine.py"), passes("./frail.py")) == ([True], [False])


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"expect": (99,)}, "--expect: 99 is no index: there are actions 0 to "),
        ({"expect": ({"heap": 7, "count": 1},)}, '--expect: {"heap":7,"count":1}: '),
        ({"name": "../up"}, "--name: found '../up', expected letters, digits"),
        ({"step": 999}, "--step 999: mine was not asked for that step"),
        ({"match": "mine", "player": "3f9a2c41d07b-0-1"}, "; give the match first, then the player"),
    ],
)
def test_mistakes_in_a_position_write_nothing(match: str, choices: dict[str, Any], said: str, golden: Golden) -> None:
    """An empty folder is no set, either."""
    request: dict[str, Any] = {"match": match, "player": "mine", "step": steps_of(match)[0], **choices}

    with pytest.raises(SpecError) as error:
        save_position(SavePosition(**request))

    assert said in str(error.value)
    assert not Path("positions").exists()
    with golden.raises(SpecError):
        passes("random")
