"""A bot's control group, with a plain folder in place of the kernel's."""

from pathlib import Path

import pytest

from arena.process.limits import Limits
from arena.process.sandbox.cgroup import Group

LIMITS = Limits(memory_mib=100, tasks=20, processes=True, scratch_mib=0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "arena-1-0"


def test_limits_are_written_before_anybody_is_in_it(folder: Path) -> None:
    """Memory without a way out into swap, all processes killed together, one task more for bwrap's first."""
    Group(folder, LIMITS)

    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "memory.max": str(100 << 20),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "21",
    }


def test_a_process_enters_by_its_id(folder: Path) -> None:
    """The kernel takes what it will start along."""
    Group(folder, LIMITS).enter(4711)

    assert (folder / "cgroup.procs").read_text() == "4711"


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ("low 0\nhigh 0\nmax 12\noom 0\noom_kill 0\noom_group_kill 0\n", ""),
        ("low 0\noom 1\noom_kill 3\noom_group_kill 1\n", "it used all of the 100 MiB of memory it is allowed"),
        ("", ""),
        (None, ""),
    ],
    ids=["within", "killed", "empty", "gone"],
)
def test_the_kernel_tells_whether_it_had_to_kill(folder: Path, events: str | None, said: str) -> None:
    """A limit that was touched and held is no reason."""
    group = Group(folder, LIMITS)
    if events is not None:
        (folder / "memory.events").write_text(events)

    assert group.excess() == said


def test_what_is_left_is_killed_when_it_is_given_back(folder: Path) -> None:
    """A group that the kernel has already removed is no error."""
    group = Group(folder, LIMITS)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()

    group.remove()

    assert not folder.exists()
