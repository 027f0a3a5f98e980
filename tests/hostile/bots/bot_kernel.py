"""Bots that want more of the kernel: other processes, new namespaces, its seldom-used corners, higher limits."""

import ctypes
import os
import resource
import signal
from pathlib import Path

from bot_player import FACTS, attempt, instead_of, play

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"keyctl": 250, "bpf": 321, "perf": 298, "uffd": 323, "clone": 56},
    "aarch64": {"keyctl": 219, "bpf": 280, "perf": 241, "uffd": 282, "clone": 220},
}[os.uname().machine]
BUFFER = ctypes.create_string_buffer(256)
NEW_USER = 0x10000000
BLOCKS: list[bytes] = []


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
    os.kill(FACTS["victim"], signal.SIGTERM)
    return "sent a signal"


@attempt
def kill_all() -> str:
    """Everything it may signal but itself; in its box there is nobody."""
    os.kill(-1, signal.SIGKILL)
    return "sent a signal to others"


@attempt
def trace_outside() -> str:
    """A process outside, stopped and held."""
    return called("ptrace", 16, FACTS["victim"], 0, 0)


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
    with Path(f"/proc/{FACTS['victim']}/mem").open("rb+", buffering=0):
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
    """More of each thing that is limited."""
    found = []
    for name in ("DATA", "NPROC", "NOFILE", "CORE", "FSIZE", "SIGPENDING"):
        kind = getattr(resource, f"RLIMIT_{name}")
        soft, hard = resource.getrlimit(kind)
        try:
            resource.setrlimit(kind, (soft, hard + 1))
            found.append(name)
        except (OSError, ValueError):
            continue
    return ", ".join(found)


@attempt
def spare_me() -> str:
    """Let the kernel take others when memory runs out."""
    Path("/proc/self/oom_score_adj").write_text("0", encoding="ascii")
    return "taken as late as any other"


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


@attempt
def be_first() -> str:
    """The first process of its box, by writing to its memory: so it outlives the match, and no clock counts it."""
    with Path("/proc/1/mem").open("rb+", buffering=0):
        return "opened it"


@attempt
def change_first() -> str:
    """The program that the first process of every box runs."""
    with Path("/proc/1/exe").open("rb+", buffering=0):
        return "opened it"


@attempt
def write_to_itself() -> str:
    """Its own code, by the file that ignores what is read-only."""
    with Path("/proc/self/mem").open("rb+", buffering=0):
        return "opened it"


@attempt
def hear_the_machine() -> str:
    """Counters of the whole machine, in which another bot may leave a message."""
    found = []
    for name in ("sys/fs/aio-nr", "sys/fs/file-nr", "loadavg", "vmstat", "diskstats", "pressure/cpu", "uptime"):
        try:
            Path("/proc", name).read_bytes()
            found.append(name)
        except OSError:
            continue
    return ", ".join(found)


if __name__ == "__main__":
    play()
