"""The clock of one move, with times set by hand."""

import pytest

from arena.errors import OutOfTime
from arena.process.clock import MoveClock, cpu_clock


class Times:
    """Two clocks that stand still until they are set."""

    def __init__(self) -> None:
        self.cpu_s = 100.0
        self.wall_s = 5000.0

    def after(self, *, cpu_s: float = 0.0, wall_s: float = 0.0) -> None:
        self.cpu_s += cpu_s
        self.wall_s += wall_s


@pytest.fixture
def times() -> Times:
    return Times()


def clock(times: Times, *, decides_cpu: bool = True, budget_s: float = 1.0, wall_s: float = 4.0) -> MoveClock:
    return MoveClock(
        cpu=lambda: times.cpu_s,
        wall=lambda: times.wall_s,
        budget_s=budget_s,
        wall_s=wall_s,
        decides_cpu=decides_cpu,
    )


def test_cpu_time_decides_however_busy_the_machine_is(times: Times) -> None:
    """Real time beyond the budget does not count as long as the backstop is not reached."""
    move = clock(times)
    times.after(cpu_s=0.25, wall_s=3.5)

    move.stop()

    assert (move.used_s, move.cpu_s, move.elapsed_s) == (0.25, 0.25, 3.5)


def test_too_much_cpu_time_loses(times: Times) -> None:
    """The message says which clock, how much was used, how much there was."""
    move = clock(times)
    times.after(cpu_s=1.5, wall_s=1.0)

    with pytest.raises(OutOfTime, match="used 1500 ms of CPU time, had 1000 ms"):
        move.stop()


def test_the_backstop_ends_who_uses_no_cpu_time(times: Times) -> None:
    """A bot that sleeps runs into real time."""
    move = clock(times)
    times.after(cpu_s=0.125, wall_s=4.5)

    with pytest.raises(OutOfTime, match=r"no answer within 4.0 s of wall time \(125 ms of CPU time\)"):
        move.wait_s()


def test_wall_time_decides_where_the_tournament_says_so(times: Times) -> None:
    """Then CPU time is only noted, even if it is more than the budget (several threads)."""
    move = clock(times, decides_cpu=False)
    times.after(cpu_s=3.0, wall_s=0.5)
    move.stop()

    assert (move.used_s, move.cpu_s) == (0.5, 3.0)

    times.after(wall_s=1.0)
    with pytest.raises(OutOfTime, match="used 1500 ms of wall time, had 1000 ms"):
        move.stop()


@pytest.mark.parametrize("decides_cpu", [True, False])
def test_exactly_the_budget_is_in_time(times: Times, decides_cpu: bool) -> None:
    """Who uses all there is, and no more, has not lost."""
    move = clock(times, decides_cpu=decides_cpu, wall_s=1.0)
    times.after(cpu_s=1.0, wall_s=1.0)

    move.stop()

    assert move.used_s == 1.0


def test_the_first_wait_is_the_shorter_of_both(times: Times) -> None:
    """No look at a clock is needed for it."""
    assert clock(times, budget_s=1.0, wall_s=4.0).first_wait_s() == 1.0
    assert clock(times, budget_s=9.0, wall_s=4.0).first_wait_s() == 4.0


def test_the_wait_is_what_is_left_of_the_shorter(times: Times) -> None:
    """CPU time cannot run faster than real time in one thread, so there is no need to look earlier."""
    move = clock(times)
    times.after(cpu_s=0.25, wall_s=1.0)
    assert move.wait_s() == 0.75
    times.after(cpu_s=0.25, wall_s=2.75)

    assert move.wait_s() == 0.25


def test_the_wait_is_never_zero(times: Times) -> None:
    """With nothing left a look follows a millisecond later, not in a busy loop."""
    move = clock(times)
    times.after(cpu_s=1.0)

    assert move.wait_s() == 0.001


def test_only_time_since_the_start_counts(times: Times) -> None:
    """What the bot used before its request is not charged."""
    times.after(cpu_s=50.0, wall_s=60.0)
    move = clock(times)

    move.stop()

    assert (move.used_s, move.elapsed_s) == (0.0, 0.0)


def test_the_last_reading_of_a_process_that_is_gone_stands() -> None:
    """No process has the largest id, so its clock cannot be read."""
    assert cpu_clock(2**22)() == 0.0


@pytest.mark.parametrize("decides_cpu", [True, False])
def test_real_time_of_a_pause_does_not_count(times: Times, decides_cpu: bool) -> None:
    """Neither for the backstop nor where wall time decides; what was used before and after it does."""
    move = clock(times, decides_cpu=decides_cpu, wall_s=1.0)
    times.after(wall_s=0.25)
    move.pause()
    times.after(wall_s=100.0)
    move.resume()
    times.after(wall_s=0.5)

    assert move.wait_s() == 0.25
    assert move.elapsed_s == 0.75


def test_cpu_time_of_a_pause_is_the_bots_own(times: Times) -> None:
    """Nobody else's is on its clock, whatever it did until it was stopped."""
    move = clock(times)
    move.pause()
    times.after(cpu_s=0.25, wall_s=9.0)
    move.resume()
    move.stop()

    assert (move.used_s, move.elapsed_s) == (0.25, 0.0)


def test_many_pauses_add_up_to_nothing(times: Times) -> None:
    """Each begins where the clock stood."""
    move = clock(times, wall_s=1.0)
    for _ in range(8):
        times.after(wall_s=0.125)
        move.pause()
        times.after(wall_s=3.0)
        move.resume()
    move.stop()

    assert move.elapsed_s == 1.0


def test_who_has_used_up_its_time_gets_no_pause(times: Times) -> None:
    """It is too late when the clock is looked at."""
    move = clock(times)
    times.after(cpu_s=1.5)

    with pytest.raises(OutOfTime):
        move.pause()


def test_a_look_takes_the_times_and_judges_nothing(times: Times) -> None:
    """For an answer that does not count for another reason."""
    move = clock(times)
    times.after(cpu_s=9.0, wall_s=9.0)

    move.look()

    assert (move.used_s, move.elapsed_s) == (9.0, 9.0)


def test_what_is_left_of_the_backstop(times: Times) -> None:
    """As of the last look, and never less than nothing."""
    move = clock(times)
    times.after(wall_s=1.5)
    move.look()
    assert move.left_of_wall_s() == 2.5
    times.after(wall_s=9.0)
    move.look()

    assert move.left_of_wall_s() == 0.0


def test_an_abandoned_clock_runs_out_at_the_next_look(times: Times) -> None:
    """Nothing was used, and still nobody waits on."""
    move = clock(times)

    move.abandon()

    for look in (move.wait_s, move.stop, move.pause, move.resume):
        with pytest.raises(OutOfTime):
            look()
