"""Bots that hold memory which is in no count of resident pages, or which the whole machine has little of."""

import ctypes
import mmap
import os
import socket
from pathlib import Path

from bot_player import attempt, play

LIBC = ctypes.CDLL(None, use_errno=True)
MACHINE = os.uname().machine
CALLS = {
    "x86_64": "semget=64 semctl=66 msgget=68 msgctl=71 mq_open=240 io_setup=206"
    " vmsplice=278 splice=275 tee=276 sendfile=40",
    "aarch64": "semget=190 semctl=191 msgget=186 msgctl=187 mq_open=180 io_setup=0"
    " vmsplice=75 splice=76 tee=77 sendfile=71",
}[MACHINE]
NUMBERS = {"memfd_secret": 447, "close_range": 436}
NUMBERS |= {name: int(number) for name, number in (word.split("=") for word in CALLS.split())}
MIB = 1 << 20
IPC_REMOVE = 0
kept: list[object] = []


def called(what: str, *arguments: object) -> int:
    """The kernel's answer to a call."""
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    answer = LIBC.syscall(NUMBERS[what], *words)
    if answer < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return int(answer)


def hidden(pages: mmap.mmap) -> str:
    """Fill it, and let go of the pages: they stay, and are nobody's."""
    for start in range(0, len(pages), MIB):
        pages[start : start + MIB] = b"x" * MIB
        pages.madvise(mmap.MADV_DONTNEED, start, MIB)
    is_there = pages[:1] == b"x"
    kept.append(pages)
    return f"{len(pages) // MIB} MiB still there" if is_there else ""


@attempt
def shared_pages() -> str:
    """Shared memory without a file."""
    return hidden(mmap.mmap(-1, 96 * MIB))


@attempt
def shared_pages_of_zero() -> str:
    """The same by /dev/zero, for the kernel makes a file of its own for each mapping of that."""
    with Path("/dev/zero").open("r+b", buffering=0) as file:
        return hidden(mmap.mmap(file.fileno(), 96 * MIB))


@attempt
def read_only_pages_of_zero() -> str:
    """The same, only looked at: each look takes a page."""
    with Path("/dev/zero").open("rb", buffering=0) as file:
        pages = mmap.mmap(file.fileno(), 96 * MIB, mmap.MAP_SHARED, mmap.PROT_READ)
    kept.append(pages)
    return f"{len(pages[:: mmap.PAGESIZE])} pages"


@attempt
def huge_pages() -> str:
    """Of the machine's reserve."""
    kept.append(mmap.mmap(-1, 2 * MIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000))
    return "2 MiB"


@attempt
def semaphores() -> str:
    """Sets of them, 64 GB by the kernel's default."""
    found = called("semget", 0, 32000, 0o1600)
    called("semctl", found, 0, IPC_REMOVE)
    return f"set {found}"


@attempt
def messages() -> str:
    """Queues of them."""
    found = called("msgget", 0, 0o1600)
    called("msgctl", found, IPC_REMOVE, 0)
    return f"queue {found}"


@attempt
def posix_messages() -> str:
    """The newer kind."""
    return f"queue {called('mq_open', ctypes.c_char_p(b'queue'), 0o102, 0o600, 0)}"


@attempt
def gifts() -> str:
    """Pages given to a pipe."""
    pages = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages[:1] = b"x"
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    vector = (ctypes.c_size_t * 2)(address, mmap.PAGESIZE)
    kept.append(pages)
    return f"{called('vmsplice', os.pipe()[1], vector, 1, 0)} bytes"


@attempt
def pages_of_a_file() -> str:
    """Of a file to a full pipe, which keeps them in memory, each large one by a small piece of it."""
    found = []
    for name in ("splice", "sendfile", "tee"):
        file, (reading, writing) = os.open("/usr/lib/os-release", os.O_RDONLY), os.pipe()
        arguments = {
            "splice": (file, 0, writing, 0, 4096, 0),
            "sendfile": (writing, file, 0, 4096),
            "tee": (reading, os.pipe()[1], 4096, 2),
        }
        try:
            found.append(f"{name} {called(name, *arguments[name])}")
        except OSError as refusal:
            if refusal.errno == 11:
                found.append(name)
    return ", ".join(found)


@attempt
def secret_pages() -> str:
    """Pages that the kernel itself does not see."""
    return f"descriptor {called('memfd_secret', 0)}"


@attempt
def events() -> str:
    """All of the machine's asynchronous reads, whose number other bots see."""
    context = ctypes.c_ulong(0)
    return f"{called('io_setup', 1000, ctypes.byref(context))} for 1000"


@attempt
def larger_pipes() -> str:
    """Sixteen times as much in each."""
    import fcntl  # noqa: PLC0415 - none of the others needs it

    return f"{fcntl.fcntl(os.pipe()[1], 1031, MIB)} bytes"


@attempt
def larger_sockets() -> str:
    """Twice as much in each."""
    socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MIB)
    return "a larger buffer"


@attempt
def waiting_connections() -> str:
    """Calls that nobody answers: each holds what was sent, and none an open file."""
    server = socket.socket(socket.AF_UNIX)
    server.bind("\0waiting")
    server.listen(4096)
    total = 0
    for _number in range(600):
        with socket.socket(socket.AF_UNIX) as calling:
            calling.setblocking(False)
            calling.connect("\0waiting")
            total += calling.send(b"x" * MIB)
    kept.append(server)
    return f"{total / MIB:.0f} MiB"


@attempt
def files_in_the_post() -> str:
    """Open files that are sent and not received count for nobody's number of open files."""
    here, there = socket.socketpair()
    kept.extend((here, there))
    for _number in range(20):
        ends = os.pipe()
        socket.send_fds(here, [b"x"], list(ends))
        for end in ends:
            os.close(end)
    return "40 files"


@attempt
def own_table() -> str:
    """A thread with a table of open files of its own, and so 256 more."""
    return f"close_range {called('close_range', 200, 200, 2)}"


@attempt
def terminals() -> str:
    """Of 4096 on the machine, whose number other bots see."""
    first, second = os.openpty()
    kept.extend((first, second))
    return os.ttyname(second)


if __name__ == "__main__":
    play()
