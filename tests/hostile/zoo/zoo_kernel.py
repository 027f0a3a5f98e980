"""Bots that want more of the kernel: other processes, new namespaces, its seldom-used corners, higher limits."""

import ctypes
import os
import resource
import signal
import time
from pathlib import Path

from zoo_player import FACTS, answer, attempt, instead_of, play

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"keyctl": 250, "bpf": 321, "perf": 298, "uffd": 323, "clone": 56},
    "aarch64": {"keyctl": 219, "bpf": 280, "perf": 241, "uffd": 282, "clone": 220},
}[os.uname().machine]
BUFFER = ctypes.create_string_buffer(256)
NEW_USER = 0x10000000
BLOCKS: list[bytes] = []
injected: list[bool] = []


def called(what: str, *arguments: object) -> str:
    """Whether the kernel takes a call, by its number or by a function of the C library."""
    function = getattr(LIBC, what, None)
    result = function(*arguments) if function else LIBC.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return f"{what} gives {result}"


@attempt
def kill_outside() -> str:
    """A process outside."""
    os.kill(FACTS["canary"], signal.SIGTERM)
    return "sent a signal"


@attempt
def kill_all() -> str:
    """Everything it may signal but itself; in its box there is nobody."""
    os.kill(-1, signal.SIGKILL)
    return "sent a signal to others"


@attempt
def trace_outside() -> str:
    """A process outside, stopped and held."""
    return called("ptrace", 16, FACTS["canary"], 0, 0)


@attempt
def trace_first() -> str:
    """The first process of its box."""
    return called("ptrace", 16, 1, 0, 0)


@attempt
def trace_me() -> str:
    """To look dead to whoever waits for it."""
    return called("ptrace", 0, 0, 0, 0)


@attempt
def memory_outside() -> str:
    """The memory of a process outside."""
    with Path(f"/proc/{FACTS['canary']}/mem").open("rb+", buffering=0):
        return "opened it"


@attempt
def new_user_namespace() -> str:
    """Be root in a world of its own."""
    return called("unshare", NEW_USER)


@attempt
def clone_user_namespace() -> str:
    """The same with a child."""
    return called("clone_user", NUMBERS["clone"], NEW_USER | signal.SIGCHLD, 0, 0, 0, 0)


@attempt
def keyctl() -> str:
    """The keyring of the session."""
    return called("keyctl_", NUMBERS["keyctl"], 0, -3, 0)


@attempt
def io_uring() -> str:
    """System calls that no filter sees."""
    return called("io_uring_setup_", 425, 4, BUFFER)


@attempt
def bpf() -> str:
    """A program in the kernel."""
    return called("bpf_", NUMBERS["bpf"], 0, BUFFER, 48)


@attempt
def perf() -> str:
    """What the machine is doing."""
    return called("perf_", NUMBERS["perf"], BUFFER, 0, -1, -1, 0)


@attempt
def userfaultfd() -> str:
    """Stop the kernel in the middle of a read."""
    return called("userfaultfd_", NUMBERS["uffd"], 1)


@attempt
def own_session() -> str:
    """Out of the process group that is frozen and killed."""
    try:
        return called("setsid")
    except OSError:
        return called("setpgid", 0, 0)


@attempt
def affinity() -> str:
    """Another core."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return "chose a core"


@attempt
def priority() -> str:
    """Before all others."""
    os.nice(-5)
    return "nicer to itself"


@attempt
def realtime() -> str:
    """The same, for ever."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return "SCHED_FIFO"


@attempt
def raise_limits() -> str:
    """More memory, tasks, files."""
    found = []
    for kind in (resource.RLIMIT_DATA, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_CORE):
        soft, hard = resource.getrlimit(kind)
        try:
            resource.setrlimit(kind, (soft, hard + 1))
            found.append(str(kind))
        except (OSError, ValueError):
            continue
    return ", ".join(found)


@attempt
def spare_me() -> str:
    """Let the kernel take others when memory runs out."""
    Path("/proc/self/oom_score_adj").write_text("-1000", encoding="ascii")
    return "never taken"


@attempt
def type_ahead() -> str:
    """Characters for whoever sits at the terminal."""
    return called("ioctl", 0, 0x5412, BUFFER)


@attempt
def be_root() -> str:
    """By asking."""
    if os.getuid() == 0:
        return "is root"
    os.setuid(0)
    return "became root"


@instead_of("request")
def core_dump(_: object) -> None:
    """Leave a file as large as its memory."""
    BLOCKS.append(b"x" * (1 << 20))
    os.abort()


@instead_of("request")
def work_in_first_process(message: dict[str, int]) -> None:
    """An endless loop over the system call that bwrap's first process waits in, which begins with the next thaw.

    So that process, whose work one may forget to count, could think for the bot while the bot sleeps.
    """
    if not injected:
        injected.append(True)
        while (state := Path("/proc/1/syscall").read_text(encoding="ascii")).startswith("running"):
            time.sleep(0.001)
        where = int(state.split()[-1], 16)
        with Path("/proc/1/mem").open("rb+", buffering=0) as memory:
            memory.seek(where - 2)
            memory.write(b"\xeb\xfe")
    else:
        while _ticks_of_first_process() < 25:  # a quarter of a second, however busy the machine is
            time.sleep(0.01)
    answer(message)


def _ticks_of_first_process() -> int:
    return int(Path("/proc/1/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11])


if __name__ == "__main__":
    play()
