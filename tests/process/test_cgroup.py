"""A bot's control group, with a plain folder in place of the kernel's."""

from pathlib import Path

import pytest

from arena.process.limits import Limits
from arena.process.sandbox.cgroup import Group, audited_clock

LIMITS = Limits(memory_mib=100, tasks=20, processes=True, scratch_mib=0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "arena-1-0"


def test_limits_are_written_before_anybody_is_in_it(folder: Path) -> None:
    """Memory without swap, all processes killed together, and one task more for bwrap's first process."""
    Group(folder, LIMITS)

    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "memory.max": str(100 << 20),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "21",
    }


def test_a_group_that_cannot_be_limited_is_given_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The group is removed, and no bot enters it."""

    def refused(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(Path, "write_text", refused)

    with pytest.raises(PermissionError):
        Group(folder, LIMITS)
    assert not folder.exists()


def test_a_process_enters_by_its_id(folder: Path) -> None:
    """The kernel puts its later children there, too."""
    Group(folder, LIMITS).enter(4711)

    assert (folder / "cgroup.procs").read_text() == "4711"


@pytest.mark.parametrize(
    ("events", "violation", "kills"),
    [
        ("low 0\nhigh 0\nmax 12\noom 0\noom_kill 0\noom_group_kill 0\n", "", 0),
        ("low 0\noom 1\noom_kill 3\noom_group_kill 1\n", "it used all of the 100 MiB of memory it is allowed", 3),
        ("low 0\noom 0\noom_kill 3\noom_group_kill 1\n", "", 3),
        ("", "", 0),
        (None, "", 0),
    ],
    ids=["within", "own limit", "another limit", "empty", "gone"],
)
def test_the_kernel_tells_whose_limit_was_met(folder: Path, events: str | None, violation: str, kills: int) -> None:
    """A limit that was touched and held is no reason; the kernel also kills here when a group above has no memory."""
    group = Group(folder, LIMITS)
    if events is not None:
        (folder / "memory.events").write_text(events)

    assert (group.limit_violation(), group.oom_kills()) == (violation, kills)


def test_what_is_left_is_killed_when_it_is_given_back(folder: Path) -> None:
    """A group that the kernel has already removed is no error."""
    group = Group(folder, LIMITS)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()

    group.remove()

    assert not folder.exists()


def test_the_groups_clock_counts_all_that_ever_ran_in_it(folder: Path) -> None:
    """It counts seconds, read anew each time, and 0 once the group is gone."""
    group = Group(folder, LIMITS)
    stat = folder / "cpu.stat"

    assert group.cpu_s() == 0.0
    stat.write_text("usage_usec 1500000\nuser_usec 1\nsystem_usec 2\n")
    assert group.cpu_s() == 1.5
    stat.write_text("usage_usec 1700000\nuser_usec 1\nsystem_usec 2\n")
    assert group.cpu_s() == 1.7
    stat.write_text("")
    assert group.cpu_s() == 0.0
    group.remove()


class Clocks:
    """A fast clock, a group's clock and a wall clock, which tests set."""

    def __init__(self) -> None:
        self.fast = self.group = self.wall = 0.0
        self.read = 0
        self.audited = audited_clock(lambda: self.fast, self._read_group, lambda: self.wall)

    def _read_group(self) -> float:
        self.read += 1
        return self.group


def test_what_a_bot_hides_from_the_fast_clock_counts() -> None:
    """CPU time that only the group counts is added; here the fast clock never advances."""
    clocks = Clocks()
    for move in range(1, 6):
        clocks.wall, clocks.group = float(move), 0.2 * move

        assert clocks.audited() == pytest.approx(0.2 * move)


def test_an_honest_bot_pays_what_the_fast_clock_says() -> None:
    """The group's clock lags behind by a tick of a core, and does not know what was before it."""
    clocks = Clocks()
    for move in range(1, 6):
        clocks.wall, clocks.fast, clocks.group = float(move), 0.2 * move, 0.2 * move - 0.004

        assert clocks.audited() == 0.2 * move


def test_a_short_move_does_not_wait_for_the_groups_clock() -> None:
    """It is read once in 2 ms at most, and what it saw beyond the fast clock stays."""
    clocks = Clocks()
    clocks.wall, clocks.group = 1.0, 0.3
    assert clocks.audited() == pytest.approx(0.3)
    for look in range(1, 20):
        clocks.wall, clocks.fast, clocks.group = 1.0 + look * 0.0001, look * 0.0001, 0.3 + look * 0.0002

        assert clocks.audited() == pytest.approx(0.3 + look * 0.0001)
    assert clocks.read == 1
    clocks.wall = 1.002
    assert clocks.audited() == pytest.approx(0.3 + 19 * 0.0002)
    assert clocks.read == 2


def test_time_never_runs_backwards() -> None:
    """It does not even when the group is gone and its clock returns 0."""
    clocks = Clocks()
    clocks.wall, clocks.group = 1.0, 0.5
    before = clocks.audited()
    clocks.wall, clocks.group = 2.0, 0.0

    assert clocks.audited() == before
