"""Several seats decide at once: who is asked, what nobody hears too early, and whose fault counts."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
import pytest
from support.golden import Golden
from support.scripted_bot import (
    CLOCK,
    SIMULATING,
    STRICT,
    Message,
    ScriptedBot,
    acted,
    answer,
    at_toy_game,
    seated,
    simulate,
    toy_bot,
    toy_match,
)
from support.toy_game import HOLD_ON, ToyGame, ToySimulator

from arena.errors import Crashed, HarnessFault
from arena.games.api import ENDLESS
from arena.match.bot_player import BotPlayer
from arena.match.human import HumanPlayer
from arena.match.record import ActionStep
from arena.process.clock import MoveClock
from arena.process.scripted import Reply, ScriptedChannel

PATIENCE_S = 20.0
"""For what happens in another thread: nobody waits so long but a test that fails."""
EVENTS = b'{"type":"hello","protocols":[1],"capabilities":["events"]}'


def meeting(barrier: threading.Barrier, *replies: Reply) -> Any:
    """Return a bot that answers its first request only when all bots have been asked."""

    def odd(_message: Message, number: int) -> Iterable[Reply] | None:
        if number > 1:
            return None
        barrier.wait(PATIENCE_S)
        return replies or None

    return odd


def test_all_are_asked_before_anybody_has_answered() -> None:
    """Four bots answer only when all four have their request; asked in turn they would wait for ever."""
    barrier = threading.Barrier(4)

    record = toy_match(*[toy_bot(10 * seat, meeting(barrier)) for seat in range(4)])

    assert record.termination.value == "normal"
    assert [step.action.mm for step in record.steps[:4] if isinstance(step, ActionStep)] == [0, 10, 20, 30]


def test_what_each_is_asked_was_settled_before() -> None:
    """Views and clocks are those of the state in which nobody has acted."""
    bots = [toy_bot(), toy_bot(30), toy_bot(40)]
    toy_match(*bots)

    for seat, bot in enumerate(bots):
        first = bot.of_type("request")[0]
        assert first["view"] == {"you": seat, "round": 1, "phase": "lean", "scores": [0, 0, 0], "leans": []}
        assert first["events"] == []


class Rested(ScriptedChannel):
    """A channel that notes when its bot has answered and is stopped."""

    def __init__(self, bot: ScriptedBot) -> None:
        super().__init__(bot._respond)
        self.has_answered = threading.Event()
        self._rests = 0

    def rest(self) -> None:
        self._rests += 1
        if self._rests == 3:  # after hello, after ready, after the first answer
            self.has_answered.set()


def test_nobody_hears_anything_before_all_have_answered() -> None:
    """Even a bot that gets events at once, and has answered long ago, gets none before."""
    quick = toy_bot(20, hello=[EVENTS])
    channel = Rested(quick)
    quick.open = lambda: channel  # type: ignore[method-assign]
    heard: list[str] = []

    def wait(_message: Message, number: int) -> None:
        if number == 1:
            assert channel.has_answered.wait(PATIENCE_S)
            heard.extend(message["type"] for message in quick.heard)

    toy_match(quick, toy_bot(30, wait))

    assert heard == ["hello", "match_start", "request"]
    assert [message["what"]["seat"] for message in quick.of_type("event")[:1]] == [1]


def test_who_has_only_one_action_is_not_asked() -> None:
    """The other bot is then asked without a thread, like one that decides alone."""
    threads: list[str] = []

    def note(message: Message, _number: int) -> None:
        threads.append(f"{message['view']['phase']} in {threading.current_thread() is threading.main_thread()}")

    record = toy_match(toy_bot(20, note), toy_bot(90))

    assert [(step.action, step.forced) for step in acted(record, 1)][1] == (HOLD_ON, True)
    assert threads == ["lean in False", "trim in True", "lean in True"]


def test_whose_fault_it_is_does_not_depend_on_who_was_faster() -> None:
    """The last seat fails before the first says a word; the first is at fault, and both start anew."""
    late, early = threading.Event(), Crashed("the bot ended")

    def crash_early(_message: Message, number: int) -> Iterable[Reply] | None:
        late.set()
        return [early] if number == 1 else None

    def lean_too_far(message: Message, number: int) -> Iterable[Reply] | None:
        assert late.wait(PATIENCE_S)
        return [answer(message, {"mm": 101})] if number == 1 else None

    bots = [toy_bot(20, lean_too_far), toy_bot(30), toy_bot(40, crash_early)]
    game = ToyGame()
    players = [at_toy_game(bot, game, STRICT, seats=3) for bot in bots]
    record = toy_match(*players, game=game, clock=STRICT)
    again = toy_match(*players, game=game, clock=STRICT, match="again")

    assert record.fault is not None
    assert (record.fault.seat, record.termination.value, record.ranks) == (0, "illegal_action", (2, 0, 0))
    assert record.steps == ()
    assert [seat.moves for seat in record.seats] == [1, 1, 1]
    assert [len(bot.channels) for bot in bots] == [2, 1, 2]
    assert again.termination.value == "normal"


PATIENT = msgspec.structs.replace(CLOCK, bank_ms=60_000.0)


def silent_player(game: ToyGame, asked: Callable[[], object] = lambda: None) -> BotPlayer:
    """Return a bot that never answers, by the real clock, and reports that it was asked."""

    def say_nothing(_message: Message, _number: int) -> list[Reply]:
        asked()
        return []

    bot = toy_bot(20, say_nothing)

    class Patient(ScriptedChannel):
        def receive(self, clock: MoveClock) -> bytes:
            while not self._replies:
                time.sleep(min(clock.wait_s(), 0.02))
            return super().receive(clock)

    bot.open = lambda: Patient(bot._respond)  # type: ignore[method-assign]
    player = seated(bot, PATIENT, game=game)
    player.account.wall = time.monotonic
    return player


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let Ctrl-C raise, also where the tests run in the background of a shell that ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_a_stop_ends_the_waiting_at_once() -> None:
    """A signal comes while two bots think for two minutes: none of their threads is left afterwards."""
    game = ToyGame()
    both = threading.Barrier(2, lambda: os.kill(os.getpid(), signal.SIGINT), timeout=60.0)
    players = [silent_player(game, both.wait) for _ in range(2)]
    before = threading.active_count()
    start_s = time.monotonic()

    with pytest.raises(KeyboardInterrupt):
        toy_match(*players, game=game, clock=PATIENT)

    assert time.monotonic() - start_s < 60.0
    assert threading.active_count() <= before


def test_a_person_who_stops_ends_the_waiting_too() -> None:
    """The keyboard is read in the calling thread."""
    game = ToyGame()

    def stop(_text: str) -> str:
        assert threading.current_thread() is threading.main_thread()
        raise KeyboardInterrupt

    person = HumanPlayer(say=lambda _line: None, prompt=stop)
    before = threading.active_count()

    with pytest.raises(KeyboardInterrupt):
        toy_match(silent_player(game), person, game=game)

    assert threading.active_count() <= before


class Leaking(ToySimulator):
    """A simulator that fails with a fault of ours."""

    def what_if(self, _state: Any, _seat: Any, _what: Any, _left: int = ENDLESS) -> dict[str, Any]:
        raise HarnessFault("the water is gone")


def test_our_own_fault_in_a_thread_makes_the_match_void(golden: Golden) -> None:
    """The match ends without waiting for the other bots; with new processes it can be played again."""
    game = ToyGame()
    game.simulator = Leaking()
    asks = toy_bot(20, lambda m, n: [simulate(m, 1, {"mm": 1})] if n == 1 else None, hello=[SIMULATING])
    players = [silent_player(game), at_toy_game(asks, game)]
    before = threading.active_count()

    with golden.raises(HarnessFault):
        toy_match(*players, game=game)

    assert threading.active_count() <= before
    for each in players:
        each.close(grace_s=0.0)
    assert toy_match(players[1], at_toy_game(toy_bot(), game), game=game, match="b").termination.value == "normal"


def test_hundreds_of_decisions_at_once_are_always_the_same() -> None:
    """The match is the same, however the threads are scheduled."""
    records = [toy_match(*[toy_bot(seat) for seat in range(4)], options={"rounds": 30}) for _ in range(5)]

    assert len({msgspec.json.encode(record.steps) for record in records}) == 1
