"""Bots that want all the memory there is, each in another kind of it. What they got they hold until they are ended."""

import contextlib
import ctypes
import fcntl
import mmap
import os
import socket
import threading
import time
from pathlib import Path

from bot_player import Message, answer, attempt, for_ever, instead_of, play, start

LIBC = ctypes.CDLL(None, use_errno=True)
WANTED_MIB = 256
NO_RESERVE = 0x4000
slowly: list[mmap.mmap] = []
MIB = 1 << 20
BLOCK = b"x" * MIB


def hold(take: "list[object]") -> None:
    """Nothing more; the memory stays in use."""
    assert take
    for_ever()


@instead_of("request")
def private(_: Message) -> None:
    """Pages of its own."""
    taken: list[object] = []
    try:
        while len(taken) < WANTED_MIB:
            taken.append(bytearray(BLOCK))
    except MemoryError:
        pass
    hold(taken)


@instead_of("request")
def little_by_little(message: Message) -> None:
    """Some in each move, none of which is long enough for anybody to look."""
    slowly.append(mmap.mmap(-1, 18 * MIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    slowly[-1].write(BLOCK * 18)
    answer(message, note="BROKE: 72 MiB" if len(slowly) >= 4 else "")


def grow() -> None:
    """As fast as it goes."""
    while True:
        slowly.append(mmap.mmap(-1, MIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        slowly[-1].write(BLOCK)


@instead_of("request")
def grow_meanwhile(message: Message) -> None:
    """Take memory after each answer, when nobody looks."""
    answer(message, note="BROKE: 200 MiB" if len(slowly) >= 200 else "kept")
    if threading.active_count() == 1:
        threading.Thread(target=grow, daemon=True).start()


@start
def leaderless() -> None:
    """Go on in another thread when the first one is over; by the number of the process there is no memory any more."""
    if threading.current_thread() is threading.main_thread():
        threading.Thread(target=play).start()
        LIBC.syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)


instead_of("request", "leaderless")(little_by_little)


@instead_of("request")
def eight_processes(_: Message) -> None:
    """A share each, below the limit of one process."""
    for _number in range(8):
        if os.fork() == 0:
            hold([bytearray(BLOCK * (WANTED_MIB // 8))])
    for_ever()


@instead_of("request")
def one_number(_: Message) -> None:
    """One object that is too large at once."""
    os.write(2, b"asking for 64 GiB\n")
    hold([bytearray(64 << 30)])


@attempt
def memfd() -> str:
    """Files without a place, which no limit of a process counts."""
    file = os.memfd_create("hog")
    return f"{os.write(file, BLOCK)} bytes in a memfd"


@attempt
def system_v() -> str:
    """Shared memory of System V."""
    segment = LIBC.shmget(0, WANTED_MIB * MIB, 0o1600)
    if segment < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    LIBC.shmctl(segment, 0, None)
    return f"segment {segment}"


@attempt
def scratch_files() -> str:
    """More than the 16 MiB of scratch it asked for, in each of the two places."""
    total = 0
    for place in ("/tmp", "/dev/shm"):
        try:
            for number in range(8):
                with Path(f"{place}/{number}").open("wb", buffering=0) as file:
                    for _number in range(4):
                        total += file.write(BLOCK)
        except OSError:
            continue
    return f"{total >> 20} MiB" if total > 2 * 16 * MIB else ""


@attempt
def page_tables() -> str:
    """Memory to read only, so much of it that the tables for it are large; what is read there takes no page."""
    taken = []
    for _number in range(8):
        taken.append(mmap.mmap(-1, 16 << 30, NO_RESERVE | mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ))
        taken[-1][:: 2 * MIB]
        tables_mib = _status("VmPTE") >> 10
        if tables_mib > 3 * 48:
            time.sleep(0.2)
            return f"{tables_mib} MiB"
    return ""


def _status(field: str) -> int:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.partition(f"{field}:")[2].split()[0])


@attempt
def sockets() -> str:
    """Full connections to itself."""
    total, held = 0, []
    server = socket.create_server(("127.0.0.1", 0), backlog=200)
    for _number in range(100):
        connection = socket.create_connection(server.getsockname())
        connection.setblocking(False)
        held += [connection, server.accept()[0]]
        with contextlib.suppress(BlockingIOError):
            while True:
                total += connection.send(BLOCK)
    return f"{total >> 20} MiB" if total > 3 * 48 * MIB else ""


@attempt
def local_sockets() -> str:
    """The same without a network."""
    total, held = 0, []
    with contextlib.suppress(OSError):
        while True:
            held.append(socket.socketpair())
            for end in held[-1]:
                end.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        total += end.send(BLOCK)
    return f"{total >> 20} MiB" if total > 3 * 48 * MIB else ""


@attempt
def pipes() -> str:
    """Full pipes, as many as there can be and as large as they can be made."""
    total, kept = 0, []
    try:
        while total < WANTED_MIB * MIB:
            kept.append(os.pipe())
            with contextlib.suppress(OSError):
                fcntl.fcntl(kept[-1][1], 1031, MIB)
            os.set_blocking(kept[-1][1], False)
            total += os.write(kept[-1][1], BLOCK)
    except OSError:
        pass
    return f"{total >> 20} MiB" if total > 8 * MIB else ""


if __name__ == "__main__":
    play()
