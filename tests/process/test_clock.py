"""The clock of one move, with times set by hand."""

import contextlib
import os
import subprocess
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.golden import Golden

from arena.errors import HarnessFault, OutOfTime
from arena.process.clock import CpuClock, MoveClock


class Times:
    """Three fake clocks, which change only when they are set."""

    def __init__(self) -> None:
        self.cpu_s = 100.0
        self.wall_s = 5000.0
        self.delay_s = 7.0

    def after(self, *, cpu_s: float = 0.0, wall_s: float = 0.0, delay_s: float = 0.0) -> None:
        self.cpu_s += cpu_s
        self.wall_s += wall_s
        self.delay_s += delay_s


@pytest.fixture
def times() -> Times:
    return Times()


def clock(
    times: Times, *, decides_cpu: bool = True, budget_s: float = 1.0, wall_s: float = 4.0, **more: Any
) -> MoveClock:
    return MoveClock(
        cpu=lambda: times.cpu_s,
        wall=lambda: times.wall_s,
        budget_s=budget_s,
        wall_s=wall_s,
        decides_cpu=decides_cpu,
        **more,
    )


def let_pass(move: MoveClock, times: Times, wall_s: float, *, share_delayed: float = 0.0) -> None:
    """Advance the wall clock, with readings as often as the referee makes them at least."""
    for step_s in [*[0.5] * int(wall_s / 0.5), wall_s % 0.5]:
        times.after(wall_s=step_s, delay_s=step_s * share_delayed)
        move.look()


CPU_STEPS, WALL_STEPS = st.sampled_from((0.0, 0.25)), st.sampled_from((0.0, 0.25, 0.5))
LOOKS = st.sampled_from(("look", "stop", "wait_s", "pause"))


@settings(max_examples=200)
@given(steps=st.lists(st.tuples(LOOKS, CPU_STEPS, WALL_STEPS), max_size=12), decides_cpu=st.booleans())
def test_the_clock_of_any_move(steps: list[tuple[str, float, float]], decides_cpu: bool) -> None:
    """CPU time counts from the start on, and real time but for pauses; who uses exactly what there is has not lost.

    A look alone judges nothing. The wait ends when one of the two may be used up, and is never zero.
    """
    times, cpu_s, wall_s = Times(), 0.0, 0.0
    move = clock(times, decides_cpu=decides_cpu, budget_s=1.0, wall_s=1.25)
    for look, more_cpu_s, more_wall_s in steps:
        times.after(cpu_s=more_cpu_s, wall_s=more_wall_s)
        cpu_s, wall_s = cpu_s + more_cpu_s, wall_s + more_wall_s
        used_s = cpu_s if decides_cpu else wall_s
        is_over = look != "look" and (used_s > 1.0 or wall_s > 1.25)
        with pytest.raises(OutOfTime) if is_over else contextlib.nullcontext():
            assert getattr(move, look)() == (max(0.001, min(1.0 - used_s, 1.25 - wall_s)) if look == "wait_s" else None)
        assert (move.used_s, move.cpu_s, move.elapsed_s) == (used_s, cpu_s, wall_s)
        assert move.left_of_wall_s() == max(0.0, 1.25 - wall_s)
        if is_over:
            break
        if look == "pause":
            times.after(cpu_s=0.25, wall_s=100.0)
            cpu_s += 0.25  # the bot's own, whatever it did until it was stopped
            move.resume()


@pytest.mark.parametrize(("decides_cpu", "kind"), [(True, "CPU time"), (False, "wall time")])
def test_too_much_of_what_decides_loses(times: Times, decides_cpu: bool, kind: str) -> None:
    """The message says which clock, how much was used, how much there was."""
    move = clock(times, decides_cpu=decides_cpu)
    times.after(cpu_s=1.5, wall_s=1.5)

    with pytest.raises(OutOfTime, match=f"used 1500 ms of {kind}, had 1000 ms"):
        move.stop()


def test_the_backstop_ends_who_uses_no_cpu_time(times: Times, golden: Golden) -> None:
    """A bot that sleeps runs into real time."""
    move = clock(times)
    let_pass(move, times, 4.0)
    times.after(cpu_s=0.125, wall_s=0.5)

    with golden.raises(OutOfTime):
        move.wait_s()


@given(
    steps=st.lists(st.tuples(st.floats(0.001, 3.0), st.floats(0.0, 1.0)), min_size=1, max_size=30),
    backstop_s=st.floats(0.1, 5.0),
)
def test_time_runs_out_exactly_when_undelayed_time_does(steps: list[tuple[float, float]], backstop_s: float) -> None:
    """Whatever the machine does: never before the backstop, and always after eleven of them.

    A match that was slow so far gives nobody time.
    """
    times = Times()
    times.after(wall_s=100.0, delay_s=90.0)
    move = clock(times, wall_s=backstop_s, delayed=lambda: times.delay_s)
    move.wait_s()
    wall_s = delay_s = 0.0
    is_over = False
    for step_s, share in steps:
        let_pass(move, times, step_s, share_delayed=share)
        wall_s, delay_s = wall_s + step_s, delay_s + step_s * share
        try:
            move.wait_s()
        except OutOfTime:
            is_over = True
            break

    beyond_s = wall_s - min(delay_s, 10 * backstop_s) - backstop_s
    assert beyond_s > -1e-6 if is_over else beyond_s < 1e-6


def test_the_last_reading_of_a_process_that_is_gone_stands() -> None:
    """The last reading is returned; no process has the largest id, so its clock cannot be read."""
    assert CpuClock(2**22)() == 0.0


def test_cpu_time_of_the_others_counts_from_the_next_look_on() -> None:
    """They only wait, so nobody asks for it at each request; what this process uses here is that of another."""
    with subprocess.Popen(["/bin/sleep", "60"]) as sleeper:
        read = CpuClock(sleeper.pid, os.getpid())
        before_s, begun_s = read(), time.process_time()
        while time.process_time() < begun_s + 0.05:
            pass
        not_yet_s = read() - before_s
        read.look()
        looked_s = read() - before_s
        sleeper.kill()

    assert not_yet_s < 0.04
    assert looked_s >= 0.05


def test_an_abandoned_clock_runs_out_at_the_next_look(times: Times) -> None:
    """It runs out although no time was used."""
    move = clock(times)

    move.abandon()

    for look in (move.wait_s, move.stop, move.pause, move.resume):
        with pytest.raises(OutOfTime):
            look()


def test_a_look_that_comes_late_is_no_time_of_the_bot(times: Times) -> None:
    """Only half a second of each gap between two readings counts for the backstop."""
    move = clock(times)
    times.after(wall_s=30.0)
    move.stop()

    assert (move.elapsed_s, move.left_of_wall_s()) == (30.0, 3.5)


@pytest.mark.parametrize("look", ["stop", "wait_s", "pause", "look"])
@pytest.mark.parametrize("decides_cpu", [True, False])
def test_a_suspension_since_the_last_look_makes_the_match_void(
    times: Times, look: str, decides_cpu: bool, golden: Golden
) -> None:
    """Whatever the clocks say of the bot: while the referee stood still they say nothing."""
    asked: list[float] = []

    def suspended(since_s: float) -> float:
        asked.append(since_s)
        return 4.0

    move = clock(times, decides_cpu=decides_cpu, suspended=suspended)
    times.after(wall_s=0.25)
    move.look()
    times.after(cpu_s=9.0, wall_s=4.25)

    with golden.raises(HarnessFault):
        getattr(move, look)()
    assert asked == [5000.25]


def test_nobody_is_asked_about_suspensions_without_a_gap(times: Times) -> None:
    """Only gaps of more than two seconds are checked."""
    move = clock(times, wall_s=99.0, suspended=lambda _: pytest.fail("it was not late"))

    for _ in range(9):
        times.after(wall_s=2.0)
        move.look()


def test_a_pause_is_no_gap(times: Times) -> None:
    """The referee may simulate for a long time during a pause."""
    move = clock(times, suspended=lambda _: pytest.fail("it was not late"))
    move.pause()
    times.after(wall_s=60.0)
    move.resume()
    times.after(wall_s=0.25)
    move.stop()

    assert move.elapsed_s == 0.25


def idle(times: Times, seconds: float, **more: Any) -> MoveClock:
    """Return a clock with so much idle time, in as much wall time."""
    move = clock(times, budget_s=99.0, wall_s=99.0, **more)
    move.idle_bank_s = 2.0
    for _ in range(int(seconds / 0.25)):
        times.after(wall_s=0.25)
        move.asleep_s += 0.25
        move.wait_s()
    return move


def test_idle_time_beyond_the_bank_loses(times: Times, golden: Golden) -> None:
    """Exactly the bank is in time; the sentence tells of sleeping, waiting and flushing."""
    move = idle(times, 2.0)
    assert move.idle_s == 2.0
    times.after(wall_s=0.25)
    move.asleep_s += 0.25

    with golden.raises(OutOfTime) as late:
        move.wait_s()
    golden(late.value.hint)


def test_idle_time_is_at_most_wall_time_less_cpu_time(times: Times) -> None:
    """Threads that hand work to each other may all seem to sleep, one after the other; their CPU time shows."""
    move = idle(times, 1.5)
    times.after(cpu_s=1.25)
    move.look()

    assert move.idle_s == 0.25


def test_idle_time_is_at_most_wall_time_less_waiting_for_a_core(times: Times) -> None:
    """Time in the queue of a core is the machine's."""
    waited = iter([3.0, 3.0, 3.0, 3.5])
    move = clock(times, budget_s=99.0, wall_s=99.0, delayed=lambda: next(waited))
    times.after(wall_s=0.25)
    move.wait_s()
    move.asleep_s += 0.75
    times.after(wall_s=0.5)
    move.look()

    assert [move.idle_s for _ in range(3)] == [0.75, 0.75, 0.25]


def look(move: MoveClock, times: Times, wall_s: float, *, is_asleep: bool = True) -> None:
    """Let time pass, then check the bot for sleep."""
    times.after(wall_s=wall_s)
    move.look()
    move.count_look(is_asleep=is_asleep, share=0.5)


def test_each_look_counts_the_time_since_the_one_before(times: Times) -> None:
    """The first check is due after 10 ms, the others after intervals that grow up to 50 ms."""
    move = clock(times)
    due_s = [move.look_at_s]
    for wall_s, is_asleep in ((0.125, True), (0.25, False), (0.5, True), (0.5, True)):
        look(move, times, wall_s, is_asleep=is_asleep)
        due_s.append(move.look_at_s - move.elapsed_s)

    assert move.asleep_s == 1.125
    assert due_s == pytest.approx([0.01, 0.01, 0.02, 0.025, 0.025])


def test_no_sleep_counts_while_the_referee_owes_the_bot_something(times: Times) -> None:
    """After a simulator's answer or a long message, sleep counts from the next reading on."""
    move = clock(times)
    look(move, times, 0.125)
    times.after(wall_s=0.25)
    move.pause()
    times.after(wall_s=2.0)
    move.resume()

    assert move.look_at_s == pytest.approx(move.elapsed_s + 0.01)
    look(move, times, 0.5)
    times.after(wall_s=0.25)
    move.look()
    move.restart_looks()
    look(move, times, 0.125)

    assert move.asleep_s == 0.125 + 0.5 + 0.125


def test_a_timeout_by_wall_time_says_that_the_machine_was_busy(times: Times) -> None:
    """It does so only if the bot waited for a core, from the request on, for longer than it was late."""
    for delay_s, told in ((0.5, "but for 500 ms of them it, or the referee, waited for a core"), (0.25, "")):
        waited = iter([0.0, delay_s])
        move = clock(times, decides_cpu=False, delayed=lambda waited=waited: next(waited))
        times.after(wall_s=1.375)

        with pytest.raises(OutOfTime) as late:
            move.stop()

        assert late.value.is_by_load == bool(told)
        assert told in late.value.message
        assert ("waited for a core" in late.value.message) == bool(told)
