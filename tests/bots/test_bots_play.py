"""Every bot of the house and every template plays whole matches and keeps to the protocol."""

import msgspec
import pytest
from bots_driver import DEADLINE_S, TEMPLATES, Bot, Prepare, hello, play_bots, started

pytestmark = pytest.mark.process

BOTS = ["random", "greedy", "greedy-c", "sensible", *TEMPLATES]
ANY_GAME = ["random", *TEMPLATES]


@pytest.mark.parametrize(
    ("name", "game"), [(name, "shanghaien") for name in BOTS] + [(name, "nim") for name in ANY_GAME]
)
def test_a_process_plays_several_legal_matches(prepare: Prepare, name: str, game: str) -> None:
    """One process of each of two players is good for three matches without an illegal action."""
    folder = prepare(name)
    with started(folder, game) as first, started(folder, game) as second:
        for number in range(3):
            played = play_bots((first, second), f"seed {number}", game, match=f"m{number}", bot_seed=number)

            assert {seat for seat, _ in played.actions} == {0, 1}


@pytest.mark.parametrize("name", BOTS)
def test_equal_seeds_give_equal_matches(prepare: Prepare, name: str) -> None:
    """A match depends on its luck and the bots' seeds, not on the process or the matches before."""
    folder = prepare(name)
    with started(folder) as first, started(folder) as second:
        before = play_bots((first, second), "luck", bot_seed=5)
        play_bots((first, second), "other luck", bot_seed=6)
        again = play_bots((first, second), "luck", bot_seed=5)
    with started(folder) as first, started(folder) as second:
        afresh = play_bots((first, second), "luck", bot_seed=5)

    assert before == again == afresh


@pytest.mark.parametrize("name", ANY_GAME)
def test_other_bot_seeds_give_other_matches(prepare: Prepare, name: str) -> None:
    """A bot that plays at random follows its seed."""
    with started(prepare(name)) as first, started(prepare(name)) as second:
        played = {play_bots((first, second), "luck", bot_seed=10 * seed).actions for seed in range(3)}

    assert len(played) == 3


@pytest.mark.parametrize("name", BOTS)
def test_what_a_bot_does_not_know_is_ignored(prepare: Prepare, name: str) -> None:
    """Unknown types get no answer, unknown fields change none, and an error from the referee is no reason to stop."""
    with Bot(prepare(name)) as bot:
        bot.send({"type": "weather", "id": 3})
        assert bot.ask({"future": [{"a": "]}"}], **_plain(hello())})
        bot.send({"type": "weather"})
        bot.send({"type": "error", "code": "late", "message": "m", "hint": "h", "fatal": False, "got": '{"id": "\\"'})
        bot.start_match("m1")
        bot.send({"type": "event", "match": "m1", "what": {"event": "chance", "key": "k", "outcome": [1]}})

        bot.start_match('an "odd" \\ id')


@pytest.mark.parametrize("name", BOTS)
def test_quit_ends_the_process(prepare: Prepare, name: str) -> None:
    """After `quit` the bot ends by itself, with exit code 0."""
    with started(prepare(name)) as bot:
        bot.send({"type": "quit", "reason": "done", "grace_ms": 1000})

        assert bot.exit_code() == 0
        assert bot.line() == b""


@pytest.mark.parametrize("name", BOTS)
def test_the_end_of_input_ends_the_process(prepare: Prepare, name: str) -> None:
    """A bot whose referee has gone ends by itself, with exit code 0."""
    with started(prepare(name)) as bot:
        bot.end_input()

        assert bot.exit_code() == 0, f"still there after {DEADLINE_S} s"


@pytest.mark.parametrize("name", BOTS)
def test_nothing_is_said_on_stderr(prepare: Prepare, name: str) -> None:
    """A bot that plays without trouble leaves an empty log."""
    with started(prepare(name)) as first, started(prepare(name)) as second:
        play_bots((first, second), "luck")
        first.send({"type": "quit", "reason": "done", "grace_ms": 1000})
        first.exit_code()

        assert first.stderr() == ""


def _plain(message: object) -> dict[str, object]:
    plain: dict[str, object] = msgspec.to_builtins(message)
    return plain
