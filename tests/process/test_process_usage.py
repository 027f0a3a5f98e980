"""Memory and waiting as /proc tells them."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

from arena.process.usage import MemoryWatch, delayed_s, is_held, resident_bytes

NOBODY = 2**22
"""No process has the largest id."""


def test_own_memory_is_that_of_the_kernel() -> None:
    """As VmRSS of /proc/self/status has it, in a mebibyte or so."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))

    assert abs(resident_bytes(os.getpid()) - int(line.split()[1]) * 1024) < 4 << 20


def test_memory_that_is_touched_counts() -> None:
    """What is only reserved does not."""
    before = resident_bytes(os.getpid())
    held = bytearray(b"x") * (32 << 20)

    assert 30 << 20 < resident_bytes(os.getpid()) - before < 40 << 20
    assert held


def test_who_is_gone_uses_nothing() -> None:
    """No error for what may always happen between two looks."""
    assert resident_bytes(NOBODY) == 0
    assert delayed_s(NOBODY) == 0.0
    assert MemoryWatch(16, lambda: [NOBODY]).excess() == ""


@pytest.mark.parametrize(("limit_mib", "is_excess"), [(1, True), (1 << 20, False)])
def test_the_watch_says_what_was_used_and_what_is_allowed(limit_mib: int, is_excess: bool) -> None:
    """Both numbers, or nothing."""
    said = MemoryWatch(limit_mib, lambda: [os.getpid()]).excess()

    assert bool(said) == is_excess
    assert not is_excess or said.endswith("MiB of memory, allowed are 1 MiB")


def test_the_watch_adds_all_processes_up() -> None:
    """It asks anew at each look who they are."""
    pids = [os.getpid()]
    own_mib = resident_bytes(os.getpid()) // 2**20
    watch = MemoryWatch(own_mib * 2, lambda: pids)
    alone = watch.excess()
    pids *= 3

    assert alone == ""
    assert "it used" in watch.excess()


def test_scratch_that_cannot_be_looked_at_counts_nothing(tmp_path: Path) -> None:
    """The bot may just be gone."""
    assert MemoryWatch(1 << 20, list, scratch=tmp_path / "none").excess() == ""


@pytest.mark.parametrize(("root", "is_excess"), [("/", False), ("/dev", True)])
def test_files_of_the_host_are_not_those_of_a_bot(
    monkeypatch: pytest.MonkeyPatch, root: str, *, is_excess: bool
) -> None:
    """A look that comes before bwrap has built the box sees the folders of the machine itself."""
    monkeypatch.setattr("arena.process.usage._SCRATCH_FILES", 0)

    said = MemoryWatch(16, lambda: [NOBODY], scratch=Path(root, "shm" if is_excess else "tmp")).excess()

    assert bool(said) is is_excess


def test_waiting_grows_and_is_that_of_the_most_delayed_thread() -> None:
    """In seconds; a thread more takes nothing away."""
    before = delayed_s(os.getpid())
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()

    after = delayed_s(os.getpid())
    stop.set()
    thread.join()

    assert 0.0 <= before <= after < 3600


@pytest.mark.process
def test_a_pipe_is_held_while_it_is_open() -> None:
    """By one of the processes asked about, and by its inode."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as cat:
        assert cat.stdin is not None
        pipe = os.fstat(cat.stdin.fileno()).st_ino

        assert is_held([cat.pid], pipe)
        assert not is_held([cat.pid], pipe + 1_000_000)
        assert is_held([NOBODY], pipe)  # nobody can tell


@pytest.mark.parametrize(("number", "is_excess"), [(4, False), (100, True)])
def test_what_may_wait_in_sockets_counts(tmp_path: Path, number: int, is_excess: bool) -> None:
    """A file as the kernel writes it; without one there is nothing to count."""
    counted = tmp_path / "sockstat"
    counted.write_text(f"sockets: used {number}\nTCP: inuse 0 orphan 0 tw 0 alloc 0 mem 0\n")

    assert bool(MemoryWatch(16, list, sockets=counted).excess()) == is_excess
    assert MemoryWatch(16, list, sockets=tmp_path / "none").excess() == ""
