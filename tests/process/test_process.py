"""The processes of a bot as /proc tells of them: memory, delay, pipes."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.waiting import eventually

from arena.process import process
from arena.process.limits import Limits
from arena.process.process import ProcessGroup, delays_by_thread, is_pipe_open, resident_bytes
from arena.process.sandbox import sandbox
from arena.process.sandbox.sandbox import Sandbox, count_files

NOBODY = 2**22
"""No process has the largest id."""


class Group(ProcessGroup):
    """A group of given processes, whoever started them."""

    def __init__(self, limit_mib: int, pids: list[int]) -> None:
        super().__init__(os.getpid(), Limits(memory_mib=limit_mib))
        self.listed = pids

    def pids(self) -> set[int]:
        return set(self.listed)


def test_memory_that_is_touched_counts() -> None:
    """Memory that is only reserved does not count."""
    before = resident_bytes(os.getpid())
    held = bytearray(b"x") * (32 << 20)

    assert 30 << 20 < resident_bytes(os.getpid()) - before < 40 << 20
    assert held


def test_who_is_gone_uses_nothing() -> None:
    """A process that has ended between two checks is no error."""
    assert resident_bytes(NOBODY) == 0
    assert delays_by_thread(NOBODY) == {}
    assert Group(16, [NOBODY]).limit_violation() == ""


def test_the_wait_of_an_engine_counts_beside_an_adapter_that_waited_more_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Waits of processes add up, those of threads do not; an ended thread or a reused id takes nothing back."""
    waits = {1: {"1": 5.0}, 2: {"2": 0.0, "3": 4.0}}
    monkeypatch.setattr(process, "delays_by_thread", waits.__getitem__)
    group = Group(16, [1, 2])
    before_s, counted_s = group.delayed_s(), []
    for engine in ({"2": 0.5, "3": 4.25}, {"2": 0.5}, {"2": 0.25}, {"2": 0.5, "3": 1.0}):
        waits[2] = engine
        counted_s.append(group.delayed_s() - before_s)
    waits[1] = {"1": 7.0}

    assert counted_s == [0.5, 0.5, 0.5, 1.5]
    assert group.delayed_s() - before_s == 3.5


@pytest.mark.parametrize(("limit_mib", "is_excess"), [(1, True), (1 << 20, False)])
def test_the_watch_says_what_was_used_and_what_is_allowed(limit_mib: int, is_excess: bool) -> None:
    """The sentence contains both numbers; without a violation it is empty."""
    said = Group(limit_mib, [os.getpid()]).limit_violation()

    assert bool(said) == is_excess
    assert not is_excess or said.endswith("MiB of memory, allowed are 1 MiB")


@pytest.mark.process
def test_the_memory_of_all_processes_is_added() -> None:
    """The processes are listed anew at each check."""
    own_mib = resident_bytes(os.getpid()) // 2**20
    group = Group(own_mib + 4, [os.getpid()])
    alone = group.limit_violation()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        group.listed.append(other.pid)
        eventually(group.limit_violation)
        both = group.limit_violation()
        other.communicate(b"\n")

    assert alone == ""
    assert "it used" in both


def test_files_of_the_host_are_not_those_of_a_bot() -> None:
    """A look before bwrap has mounted anything sees the folders of the machine; one after the bot's end, nothing."""
    assert count_files(Path("/proc/self/root/tmp"), Path("/tmp")) == 0
    assert count_files(Path("/dev/shm"), Path("/tmp")) > 0
    assert count_files(Path("/proc", str(NOBODY), "root/tmp"), Path("/tmp")) == 0


@pytest.mark.parametrize(("most", "said"), [(0, "it made 7 files in /tmp, allowed are 0"), (7, "")])
def test_too_many_files_are_a_violation(monkeypatch: pytest.MonkeyPatch, most: int, said: str) -> None:
    """They are one at any use of memory."""
    monkeypatch.setattr(sandbox, "_SCRATCH_FILES", most)
    monkeypatch.setattr(sandbox, "count_files", lambda _place, _on_host: 7)

    assert own_sandbox().limit_violation() == said


def own_sandbox() -> Sandbox:
    """Return a sandbox whose first process is that of the test."""
    limits = Limits(memory_mib=1 << 20, processes=False, scratch_mib=16)
    group = Sandbox(os.getpid(), None, limits, None)
    os.close(group._handle)
    return group


@pytest.mark.process
def test_a_pipe_is_held_while_it_moves_to_another_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots move the pipes of the protocol away from stray prints, perhaps during a check."""
    moved: list[int] = []
    target = process._link_target

    def move_first(entry: Path) -> str:
        if not moved:
            moved.append(fcntl.fcntl(writing, fcntl.F_DUPFD, 200))  # a number that was not listed
            os.close(writing)
        return target(entry)

    reading, writing = os.pipe()
    pipe = os.fstat(writing).st_ino
    os.close(reading)
    monkeypatch.setattr(process, "_link_target", move_first)

    assert is_pipe_open([os.getpid()], pipe)
    assert moved
    os.close(moved[0])
    assert not is_pipe_open([os.getpid()], pipe)


def test_a_pipe_is_held_while_it_is_open() -> None:
    """A pipe is found by its inode, in any of the processes."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as cat:
        assert cat.stdin is not None
        pipe = os.fstat(cat.stdin.fileno()).st_ino

        assert is_pipe_open([cat.pid], pipe)
        assert not is_pipe_open([cat.pid], pipe + 1_000_000)
        assert is_pipe_open([NOBODY], pipe)  # nobody can tell


@pytest.mark.parametrize(("number", "mib"), [(4, 1.25), (100, 31.25)])
def test_what_may_wait_in_sockets_counts(tmp_path: Path, number: int, mib: float) -> None:
    """A file as the kernel writes it; without one there is nothing to count."""
    group = own_sandbox()
    group._sockstat = tmp_path / "sockstat"
    gone = group.socket_bytes()
    group._sockstat.write_text(f"sockets: used {number}\nTCP: inuse 0 orphan 0 tw 0 alloc 0 mem 0\n")

    assert gone == 0
    assert group.socket_bytes() == mib * 2**20
