"""Bots that want to talk: to programs of this machine, to the world, to another bot."""

import ctypes
import fcntl
import os
import socket
import time
from pathlib import Path

from bot_player import FACTS, attempt, play

SHARED = "/usr/lib/os-release"
"""A file that all bots see."""


def connected(family: int, address: object) -> str:
    """The address, if somebody listens there."""
    with socket.socket(family) as connection:
        connection.settimeout(0.1)
        connection.connect(address)  # type: ignore[arg-type]
        connection.sendall(b"hello from inside")
        return str(address)


@attempt
def tcp() -> str:
    """A server of this machine."""
    return connected(socket.AF_INET, ("127.0.0.1", FACTS["port"]))


@attempt
def abstract_socket() -> str:
    """A server that has a name and no file."""
    return connected(socket.AF_UNIX, "\0" + FACTS["mark"])


@attempt
def path_socket() -> str:
    """A server that has a file."""
    return connected(socket.AF_UNIX, FACTS["socket"])


@attempt
def vsock() -> str:
    """The host, from a virtual machine: no network namespace holds this family."""
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM):
        return "a socket of the family"


@attempt
def internet() -> str:
    """A parcel to the world."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        return str(connection.sendto(b"anybody there?", ("192.0.2.1", 53)))


@attempt
def raw_packets() -> str:
    """What others send."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3):
        return "a raw socket"


@attempt
def lock_channel() -> str:
    """A bit for another bot: whether a file that both see is locked."""
    with Path(SHARED).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return "flock"


@attempt
def record_lock_channel() -> str:
    """The same with the locks of POSIX."""
    with Path(SHARED).open("rb") as file:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return "fcntl"


@attempt
def hidden_lock_channel() -> str:
    """The same with bits in the command that the kernel does not look at, but a filter may."""
    libc, lock = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(64)
    with Path(SHARED).open("rb") as file:
        number = {"x86_64": 72, "aarch64": 25}[os.uname().machine]
        if libc.syscall(number, file.fileno(), ctypes.c_ulong(1 << 32 | fcntl.F_SETLK), lock) < 0:
            raise OSError(ctypes.get_errno(), "fcntl")
        return "fcntl"


@attempt
def lease_channel() -> str:
    """The same with a lease: the other one hears of it when it opens the file, or cannot have one itself."""
    with Path(SHARED).open("rb") as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        return "a lease"


@attempt
def watch_channel() -> str:
    """The same with inotify: every time somebody opens the file it hears of it."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    if watch < 0 or libc.inotify_add_watch(watch, SHARED.encode(), 0x20) < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    Path(SHARED).read_bytes()
    time.sleep(0.001)
    return f"{len(os.read(watch, 4096))} bytes of events"


@attempt
def directory_watch_channel() -> str:
    """The same with dnotify, the older way."""
    folder = os.open("/usr/lib", os.O_RDONLY)
    fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
    return "a watch"


if __name__ == "__main__":
    play()
