"""Control groups as the kernel makes them: memory, tasks, the CPU clock, the end. For a machine that has them.

Run by .ci/guest in a virtual machine. ARENA_GUEST_BASE is a pattern of the group that this process is to get.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from support.process_boxes import BOT, FORKING, ask, folder_of, ran, started, talking
from support.waiting import eventually

from arena.errors import Crashed, Shortage
from arena.process import launch
from arena.process.limits import Limits
from arena.process.sandbox import bubblewrap, cgroup, runtimes, sandbox, scope
from arena.process.sandbox.users import reachable

pytestmark = pytest.mark.guest
LIMIT_MIB: Final = 64
WANTED_MIB: Final = 192
SMALL: Final = Limits(memory_mib=LIMIT_MIB, tasks=24, processes=True, scratch_mib=0)
HOG: Final = """
import ctypes, mmap, os, sys
LIBC = ctypes.CDLL(None, use_errno=True)
MIB, WANTED, HUGE = 1 << 20, int(sys.argv[2]), 2 << 20
BLOCK = b"x" * MIB
held = []
def private():
    for _ in range(WANTED): held.append(bytearray(BLOCK))
def shared_and_dropped():
    pages = mmap.mmap(-1, WANTED * MIB)
    held.append(pages)
    for number in range(WANTED):
        pages[number * MIB:(number + 1) * MIB] = BLOCK
        pages.madvise(mmap.MADV_DONTNEED, number * MIB, MIB)
def semaphores():
    for _ in range(WANTED // 2):
        if LIBC.semget(0, 32000, 0o600) < 0: print("refused", flush=True); return
def vmsplice():
    class Piece(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
    pages = mmap.mmap(-1, 2 * HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    held.append(pages)
    pages.madvise(mmap.MADV_HUGEPAGE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    at = -begin % HUGE
    for _ in range(WANTED // 2):
        pages[at:at + HUGE] = BLOCK * 2
        ends = os.pipe()
        held.append(ends)
        piece = Piece(begin + at, 4096)
        if LIBC.vmsplice(ends[1], ctypes.byref(piece), 1, 0) < 0: print("refused", flush=True); return
        pages.madvise(mmap.MADV_DONTNEED, at, HUGE)
def connections_that_nobody_accepts():
    import socket
    heard = socket.socket(socket.AF_UNIX)
    held.append(heard)
    heard.bind("\\0here")
    heard.listen(4096)
    sent = 0
    while sent < WANTED * MIB:
        with socket.socket(socket.AF_UNIX) as calling:
            calling.setblocking(False)
            try:
                calling.connect("\\0here")
                sent += calling.send(BLOCK)
            except OSError: print("refused", flush=True); return
def eight_processes():
    for _ in range(8):
        if os.fork() == 0:
            for _ in range(WANTED // 8): held.append(bytearray(BLOCK))
            os.write(1, b".")
            while True: os.read(0, 1) or os.abort()
    for _ in range(8): os.wait()
globals()[sys.argv[1]]()
print("got it all", flush=True)
sys.stdin.read()
"""
"""Each way takes `WANTED_MIB` and holds it, most of it in nobody's resident memory."""
BURN: Final = """
import os, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
while True:
    input()
    child = os.fork()
    if child == 0:
        burn(0.2)
        os._exit(0)
    os.waitpid(child, 0)
    print("done", flush=True)
"""


@pytest.fixture(scope="module")
def base() -> Path:
    """Return the delegated part of the tree."""
    assert scope.enter() == ""
    found = cgroup.delegated_group()
    assert found is not None
    assert re.search(os.environ["ARENA_GUEST_BASE"], str(found))
    return found


def groups(base: Path) -> list[Path]:
    """Return the groups of bots."""
    return list(base.glob("arena-*-*"))


class Hogged(NamedTuple):
    """The end of a memory hog. `peak_mib`: the peak of memory of its group."""

    said: str
    complained: str
    excess: str
    peak_mib: float


def hogged(folder: Path, base: Path, how: str) -> Hogged:
    """Run a memory hog in a sandbox without a filter of system calls, so that only the group limits it."""
    environment = launch.clean_environment(runtimes.search_path(), "/")
    arguments = bubblewrap.bwrap_arguments(reachable(folder_of(folder)), environment=environment, scratch_mib=0)
    command = [runtimes.require_python(), "-I", "-S", "-c", HOG, how, str(WANTED_MIB)]
    popen, body = sandbox.start_with(command, arguments, SMALL, None)
    (group,) = groups(base)
    try:
        assert popen.stdout is not None
        said = popen.stdout.readline().decode()
        peak = int((group / "memory.peak").read_text()) if (group / "memory.peak").exists() else 0
        excess = body.limit_violation()
    finally:
        body.kill()
        _, complained = popen.communicate()
        body.release()
    return Hogged(said.strip(), complained.decode(), excess, peak / 2**20)


def test_this_process_is_in_a_group_beside_those_of_bots(base: Path) -> None:
    """Their limits are enabled, and arena's own group has none."""
    assert cgroup.own_group() == base / "arena-harness"
    assert set((base / "cgroup.subtree_control").read_text().split()) >= {"memory", "pids"}
    assert groups(base) == []


@pytest.mark.parametrize("how", ["private", "shared_and_dropped", "vmsplice", "eight_processes"])
def test_the_kernel_ends_a_hog_at_its_limit(tmp_path: Path, base: Path, how: str) -> None:
    """It ends by any kind of memory, and never had a page more than the limit."""
    hog = hogged(tmp_path / "bot", base, how)

    assert (hog.said, hog.complained) == ("", ""), hog
    assert hog.excess == f"it used all of the {LIMIT_MIB} MiB of memory it is allowed"
    assert LIMIT_MIB - 8 < hog.peak_mib <= LIMIT_MIB, hog
    assert groups(base) == []


@pytest.mark.parametrize("how", ["semaphores", "connections_that_nobody_accepts"])
def test_memory_of_the_kernel_counts(tmp_path: Path, base: Path, how: str) -> None:
    """It refuses more, or ends the bot."""
    hog = hogged(tmp_path / "bot", base, how)

    assert hog.said in ("refused", ""), hog
    assert hog.said or hog.excess
    assert LIMIT_MIB - 8 < hog.peak_mib <= LIMIT_MIB, hog


def test_a_bot_within_its_limit_lives(tmp_path: Path, base: Path) -> None:
    """It may use three quarters of its limit."""
    assert base
    code = f"kept = [bytearray(b'x' * (1 << 20)) for _ in range({LIMIT_MIB * 3 // 4})]; print(len(kept))"

    assert ran(tmp_path / "bot", code, limits=SMALL).out == f"{LIMIT_MIB * 3 // 4}\n"


def test_a_limit_above_a_bots_group_is_not_its_fault(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel ends a bot for the memory of all bots; one that meets its own limit is to blame as ever."""
    above = base / "limited"
    above.mkdir()
    try:
        (above / "cgroup.subtree_control").write_text("+memory +pids")
        monkeypatch.setattr(cgroup, "delegated_group", lambda: above)
        for most_mib, kind in ((LIMIT_MIB // 2, Shortage), (2 * LIMIT_MIB, Crashed)):
            (above / "memory.max").write_text(str(most_mib << 20))
            code = f"input(); kept = [bytearray(b'x' * (1 << 20)) for _ in range({2 * LIMIT_MIB})]; print(len(kept))"
            folder = folder_of(tmp_path / kind.__name__, bot_py=code)
            with talking(folder, limits=SMALL) as (channel, _), pytest.raises(kind):
                ask(channel)
    finally:
        assert eventually(lambda: not list(above.glob("arena-*")))
        above.rmdir()


def test_all_of_it_ends_together(tmp_path: Path, base: Path) -> None:
    """The hog is a child; its parent, which uses no memory, ends with it."""
    code = """
import os, time
if os.fork() == 0:
    kept = [bytearray(b"x" * (1 << 20)) for _ in range(100)]
os.wait()
print("the child is gone", flush=True)
while True: time.sleep(1)
"""
    with started(folder_of(tmp_path / "bot", bot_py=code), limits=SMALL) as process:
        assert eventually(lambda: bool(process.ending()))
        said = os.read(process.stdout, 100)
        excess = process.group.limit_violation()

    assert (said, excess) == (b"", f"it used all of the {LIMIT_MIB} MiB of memory it is allowed")
    assert groups(base) == []


def test_shared_memory_is_allowed_where_it_is_counted(tmp_path: Path, base: Path) -> None:
    """Two processes of a bot may share some; as bots are started, with the filter of system calls."""
    assert base
    code = """
import mmap, os
shared = mmap.mmap(-1, 4096)
if os.fork() == 0:
    shared[:5] = b"hello"
    os._exit(0)
os.wait()
print(shared[:5])
"""
    assert ran(tmp_path / "bot", code, limits=SMALL).out == "b'hello'\n"


def test_files_are_counted_as_without_a_group(tmp_path: Path, base: Path) -> None:
    """A tmpfs takes any number of empty files, so they are limited."""
    assert base
    code = """
import time
for number in range(10_500): open(f"/tmp/{number}", "w").close()
print("done", flush=True)
time.sleep(600)
"""
    scratch = Limits(memory_mib=LIMIT_MIB, tasks=24, processes=False, scratch_mib=16)
    with started(folder_of(tmp_path / "bot", bot_py=code), limits=scratch) as process:
        assert os.read(process.stdout, 100).startswith(b"done")
        assert "files in /tmp, allowed are 10000" in process.group.limit_violation()


def test_tasks_are_counted_by_the_group(tmp_path: Path, base: Path) -> None:
    """The limit is one more than the bot's, for the sandbox's first process."""
    with started(folder_of(tmp_path / "bot", bot_py="input()"), limits=SMALL):
        (group,) = groups(base)

        assert (group / "pids.max").read_text() == f"{SMALL.tasks + 1}\n"
        assert eventually(lambda: int((group / "pids.current").read_text()) == 2)
        assert (group / "memory.max").read_text() == f"{LIMIT_MIB << 20}\n"
        assert (group / "memory.oom.group").read_text() == "1\n"


def test_the_clock_counts_children_that_have_ended(tmp_path: Path, base: Path) -> None:
    """0.2 s a move are 0.2 s on the clock, which the clock of the bot's own process does not know."""
    assert base
    with talking(folder_of(tmp_path / "bot", bot_py=BURN), limits=FORKING) as (channel, process):
        ask(channel)
        body = process.group
        assert isinstance(body, sandbox.Sandbox)
        before_s, own_before_s = process.group.cpu(), body._read_cpu()
        for move in range(1, 4):
            ask(channel)
            time.sleep(2 * cgroup._AUDIT_S)

            assert process.group.cpu() - before_s >= 0.2 * move
        assert body._read_cpu() - own_before_s < 0.5
        assert process.group.cpu() - before_s < 2.0


def test_the_clock_of_an_honest_bot_is_that_of_its_process(tmp_path: Path, base: Path) -> None:
    """The group adds nothing to speak of to a bot that is one process."""
    assert base
    code = "import time\nwhile True:\n input(); end = time.process_time() + 0.1\n while time.process_time() < end: pass\n print(1, flush=True)"  # noqa: E501
    with talking(folder_of(tmp_path / "bot", bot_py=code), limits=BOT) as (channel, process):
        for _ in range(3):
            ask(channel)
        time.sleep(2 * cgroup._AUDIT_S)
        body = process.group
        assert isinstance(body, sandbox.Sandbox)
        both_s, own_s = process.group.cpu(), body._read_cpu()

    assert 0.3 <= own_s <= both_s < own_s + 0.02


def test_whatever_is_left_in_a_group_is_killed_with_it(base: Path) -> None:
    """Here it is a process outside of any sandbox, in a session of its own."""
    group = cgroup.make_group(SMALL)
    assert group is not None
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as sleeper:
        assert sleeper.stdout is not None
        sleeper.stdout.readline()
        group.enter(sleeper.pid)
        group.remove()

        assert sleeper.wait(timeout=20) == -signal.SIGKILL
    assert eventually(lambda: not groups(base))
