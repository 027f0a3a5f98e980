"""A bot that has answered runs on until somebody is waited for; one that uses that time pays for it, and is stopped."""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from support.golden import Golden
from support.hands import Hands
from support.match_fuzz_pipes import piped
from support.scripted_bot import CLOCK, ScriptedBot, match_of, seated

from arena.match.baseline import BaselinePlayer
from arena.match.bot_player import BotPlayer
from arena.match.record import MatchRecord
from arena.match.run_on import QUIET_S, STOPPED
from arena.match.settings import ClockSettings
from arena.process.channel import QUICK_S
from arena.process.clock import MoveClock
from arena.process.scripted import ScriptedChannel

WALL = ClockSettings(decides="wall")
PONDER = msgspec.structs.replace(CLOCK, ponder=True)
HEAPS = {"heaps": [3, 3]}
LONG = {"heaps": [3 * STOPPED, 3 * STOPPED]}


class Noted(ScriptedChannel):
    """A channel that notes when its bot runs on or is stopped; without `quick` answers take over QUICK_S."""

    looks = True
    """Whether it sees that its answer is late; else it came just before the look, but after QUICK_S in all."""

    def __init__(self, bot: ScriptedBot, noted: list[str], name: str, *, quick: bool = True) -> None:
        super().__init__(bot._respond, cpu=bot.times.cpu)
        bot.times.wall = lambda: bot.times.wall_s  # type: ignore[method-assign]
        self._times = bot.times
        self._noted, self._name, self._quick = noted, name, quick
        self._runs = False
        self._stop_others: Callable[[], object] | None = None

    def before_wait(self, stop_others: Callable[[], object] | None) -> None:
        self._stop_others = stop_others

    def wake(self) -> None:
        self._runs = True

    def receive(self, clock: MoveClock) -> bytes:
        if not self._quick:
            self._times.wall_s += 2 * QUICK_S
            if self._stop_others is not None and self.looks:
                self._stop_others()
        return super().receive(clock)

    def rest(self) -> None:
        self._note("rests")

    def run_on(self) -> None:
        self._noted.append(f"{self._name} runs on")

    def stop(self) -> bool:
        if self._runs:
            self._note("is stopped")
        return True

    def _note(self, what: str) -> None:
        self._runs = False
        self._noted.append(f"{self._name} {what}")


def noted_match(
    first: ScriptedBot,
    second: ScriptedBot | None,
    *clocks: ClockSettings,
    quick: tuple[bool, bool] = (True, True),
) -> tuple[list[str], MatchRecord]:
    """Play a match of nim; return the notes since both said ready, and the record. Without a bot the house plays."""
    noted: list[str] = []
    players: list[Any] = []
    for name, bot, clock, is_quick in zip("ab", (first, second), clocks or (CLOCK, CLOCK), quick, strict=True):
        if bot is None:
            players.append(BaselinePlayer())
            continue
        channel = Noted(bot, noted, name, quick=is_quick)
        bot.open = lambda channel=channel: channel  # type: ignore[method-assign, misc]
        players.append(seated(bot, clock))
    record = match_of(*players, options=HEAPS)
    assert record.termination.value == "normal"
    hellos = sum(isinstance(each, ScriptedBot) for each in (first, second))
    assert sorted(noted[: 2 * hellos]) == sorted(2 * [f"{name} rests" for name in "ab"[:hellos]])
    return noted[2 * hellos :], record


def test_quick_bots_are_stopped_at_the_end_of_the_match_only() -> None:
    """Each bot runs on after its answers, and during the moves of the other."""
    noted, _ = noted_match(ScriptedBot(), ScriptedBot())

    assert noted[:4] == ["a runs on", "b runs on", "a runs on", "b runs on"]
    assert set(noted[:-2]) == {"a runs on", "b runs on"}
    assert noted[-2:] == ["a is stopped", "b is stopped"]


def test_a_bot_that_is_waited_for_stops_the_other() -> None:
    """No bot thinks during a move that is not quick; from then on the other is stopped at once."""
    noted, _ = noted_match(ScriptedBot(), ScriptedBot(), quick=(True, False))

    assert noted[:6] == ["a runs on", "a is stopped", "b runs on", "a rests", "b runs on", "a rests"]


def test_an_answer_that_is_late_between_two_looks_stops_the_other_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise it would run on during the next move of the late one, which is not checked again."""
    monkeypatch.setattr(Noted, "looks", False)
    noted, _ = noted_match(ScriptedBot(), ScriptedBot(), quick=(True, False))

    assert noted[:4] == ["a runs on", "b runs on", "a is stopped", "a rests"]


@pytest.mark.parametrize("clocks", [(WALL, CLOCK), (CLOCK, WALL), (WALL, WALL), (PONDER, CLOCK)])
def test_where_wall_time_decides_for_anybody_all_are_stopped_at_once(clocks: tuple[ClockSettings, ...]) -> None:
    """Another bot that ran on could take a core from them; one that may ponder is let run by its channel."""
    noted, _ = noted_match(ScriptedBot(), ScriptedBot(), *clocks)

    assert set(noted) == {"a rests", "b rests"}


def test_against_a_player_in_this_process_a_bot_is_stopped_at_once() -> None:
    """A human thinks for minutes."""
    noted, _ = noted_match(ScriptedBot(), None)

    assert set(noted) == {"a rests"}


class Thief(Noted):
    """A channel whose bot uses some CPU time while it runs on, so many times."""

    def __init__(self, bot: ScriptedBot, stolen_s: float, times: int) -> None:
        self.noted: list[str] = []
        super().__init__(bot, self.noted, "a")
        self._stolen_s, self._left = stolen_s, times

    def run_on(self) -> None:
        super().run_on()
        if self._left:
            self._times.cpu_s += self._stolen_s
            self._left -= 1


def still() -> BotPlayer:
    """Return a bot whose answers take no time."""
    bot = ScriptedBot()
    bot.times.wall = lambda: 0.0  # type: ignore[method-assign]
    return seated(bot)


def thieving(stolen_s: float, times: int = 1) -> tuple[Thief, BotPlayer]:
    """Return a bot that uses CPU time while it runs on, and its channel."""
    bot = ScriptedBot()
    channel = Thief(bot, stolen_s, times)
    bot.open = lambda: channel  # type: ignore[method-assign]
    return channel, seated(bot)


@pytest.mark.parametrize(("share", "stops"), [(0.9, 0), (1.1, STOPPED)])
def test_a_bot_that_uses_the_time_of_others_pays_and_is_stopped_for_some_answers(share: float, stops: int) -> None:
    """It pays for the least of it; a little is what a bot needs to come to its next read, more to clear up."""
    channel, thief = thieving(share * QUIET_S)
    record = match_of(thief, still(), options=LONG)

    later = record.seats[0].moves - 1 - stops
    assert channel.noted[2:-1] == ["a runs on", *stops * ["a rests"], *later * ["a runs on"]]
    assert later > 0
    assert record.seats[0].cpu_ms == pytest.approx(share * QUIET_S * 1000, abs=0.002)


def test_a_bot_that_always_uses_the_time_of_others_seldom_has_it() -> None:
    """It is stopped at all answers but one of so many."""
    channel, thief = thieving(2 * QUIET_S, times=1000)
    record = match_of(thief, still(), options=LONG)

    assert channel.noted.count("a runs on") == math.ceil(record.seats[0].moves / (1 + STOPPED)) > 2


def test_what_is_used_after_the_last_answer_is_on_the_clock_of_the_next_start(golden: Golden) -> None:
    """CPU time between two matches is charged, too."""
    channel, thief = thieving(6.0)
    first = match_of(thief, still(), options={"heaps": [2]})
    second = match_of(thief, still(), options={"heaps": [2]}, match="n")

    assert first.termination.value == "normal"
    assert channel.noted == ["a rests", "a rests", "a runs on", "a is stopped"]
    assert second.fault is not None
    golden(second.fault.message)


def test_seats_that_are_asked_together_are_stopped_at_once() -> None:
    """One that has answered would run on while the others think; in every second round seat 0 acts alone."""
    noted: list[str] = []
    bots = [ScriptedBot(), ScriptedBot()]
    for name, bot in zip("ab", bots, strict=True):
        bot.channels = [Noted(bot, noted, name)]
        bot.open = bot.channels.pop  # type: ignore[method-assign]

    match_of(*(seated(bot, game=Hands()) for bot in bots), game="hands", rules=Hands())

    both, alone = ["a rests", "b rests"], ["a runs on", "a is stopped"]
    assert [sorted(noted[4:6]), noted[6:8], sorted(noted[8:10]), noted[10:]] == [both, alone, both, alone]


@pytest.mark.parametrize("line", [b"", b"half a li", b"an answer\n"])
def test_a_channel_stops_the_others_once_no_quick_answer_came(line: bytes) -> None:
    """It does not stop them if a whole line is there already, or comes by then."""
    stopped: list[int] = []
    with piped(limit=100) as (process, channel):
        process.say(line)
        clock = MoveClock(cpu=lambda: 0.0, wall=lambda: 0.0, budget_s=1.0, wall_s=1.0, decides_cpu=True)
        channel.before_wait(lambda: stopped.append(process.say(b"the rest\n")))

        channel.receive(clock)

    assert len(stopped) == (not line.endswith(b"\n"))


@pytest.mark.parametrize("parts", [2, 3])
def test_a_line_in_two_parts_may_be_a_quick_answer(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Python's `print` writes it, the end of the line by itself. One in three is not waited for."""
    stopped: list[None] = []
    with piped(limit=100) as (process, channel):
        real, said = channel._poll, iter([b"half", *[b" a line"] * (parts - 2), b" and its end\n"])

        def poll(milliseconds: float) -> list[tuple[int, int]]:
            process.say(next(said, b""))
            return real.poll(milliseconds)

        monkeypatch.setattr(channel, "_poll", SimpleNamespace(poll=poll))
        clock = MoveClock(cpu=lambda: 0.0, wall=lambda: 0.0, budget_s=1.0, wall_s=1.0, decides_cpu=True)
        channel.before_wait(lambda: stopped.append(None))

        channel.receive(clock)

    assert len(stopped) == parts - 2
