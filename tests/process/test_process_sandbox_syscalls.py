"""The filter, call by call, as a bot, a bot with processes, and a build meet it."""

import errno
import json
from pathlib import Path

import msgspec
import pyseccomp
import pytest
from process_boxes import BOT, FORKING, built, folder_of, in_a_box, ran

from arena.process.sandbox import syscalls

pytestmark = in_a_box

TRY = """
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
found = {}
for name, number in json.load(open("calls.json")).items():
    ctypes.set_errno(0)
    answer = libc.syscall(number, *[ctypes.c_long(-1)] * 6)
    found[name] = ctypes.get_errno() if answer == -1 else 0
print(json.dumps(found))
"""
CREATING = ("fork", "vfork")
HARMLESS = ("getpid", "getrandom", "sched_yield", "gettid")


def numbers(*names: str) -> dict[str, int]:
    """Those that this processor has."""
    found = {name: pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name) for name in names}
    return {
        name: syscalls._NEW.get(name, number) for name, number in found.items() if number >= 0 or name in syscalls._NEW
    }


def answers(folder: Path, calls: dict[str, int], limits: msgspec.Struct = BOT) -> dict[str, int]:
    """What the kernel says to each call with senseless arguments: 0, or the error."""
    folder_of(folder, calls_json=json.dumps(calls))
    found = ran(folder, TRY, limits=limits)  # type: ignore[arg-type]
    return dict(json.loads(found.out.splitlines()[-1]))


@pytest.mark.parametrize("limits", [BOT, FORKING], ids=["alone", "processes"])
def test_what_is_closed_to_bots(tmp_path: Path, limits: msgspec.Struct) -> None:
    """Each call of the lists, whatever its arguments."""
    refused = numbers(*syscalls._ALWAYS, *syscalls._OF_PLAY)
    missing = numbers(*syscalls._MISSING, *syscalls._MISSING_IN_PLAY)

    found = answers(tmp_path, refused | missing, limits)

    assert {name: found[name] for name in refused} == dict.fromkeys(refused, errno.EPERM)
    assert {name: found[name] for name in missing} == dict.fromkeys(missing, errno.ENOSYS)
    assert len(refused) > 50


def test_new_processes_are_closed_to_bots_without_them(tmp_path: Path) -> None:
    """All three ways; threads are another thing."""
    clone = numbers("clone")

    assert set(answers(tmp_path, numbers(*CREATING)).values()) == {errno.EPERM}
    assert set(answers(tmp_path, clone).values()) == {errno.EPERM}


def test_what_is_harmless_is_open(tmp_path: Path) -> None:
    """A deny list: all else passes."""
    found = answers(tmp_path, numbers(*HARMLESS))

    assert errno.EPERM not in found.values()
    assert errno.ENOSYS not in found.values()


def test_what_is_closed_to_builds(tmp_path: Path) -> None:
    """The corners of the kernel, but not what compilers do to each other."""
    refused = numbers(*syscalls._ALWAYS)
    allowed = numbers("setpgid", "flock", "memfd_create", "timer_create")
    folder = folder_of(tmp_path / "run", try_py=TRY, calls_json=json.dumps(refused | allowed))
    found = json.loads((built(folder, "python3 try.py > found") / "found").read_text())

    assert {name: found[name] for name in refused} == dict.fromkeys(refused, errno.EPERM)
    assert not {errno.EPERM, errno.ENOSYS} & {found[name] for name in allowed}


@pytest.mark.parametrize(
    ("family", "expected"),
    [("AF_UNIX", 0), *((name, errno.EAFNOSUPPORT) for name in ("AF_INET", "AF_INET6", "AF_VSOCK", "AF_ALG"))],
)
def test_families_of_sockets(tmp_path: Path, family: str, expected: int) -> None:
    """Those that end in the box, and those that would not."""
    code = f"""
import socket
try:
    socket.socket(socket.{family}, socket.SOCK_STREAM)
    print(0)
except OSError as error:
    print(error.errno)
"""

    assert ran(tmp_path, code).out == f"{expected}\n"


@pytest.mark.parametrize("high", [0, 1 << 32, 0xFFFFFFFF << 32])
def test_the_upper_half_of_an_argument_does_not_deceive(tmp_path: Path, high: int) -> None:
    """The kernel looks at 32 bits of a command, a family, and so does the filter."""
    calls = numbers("fcntl", "ioctl", "socket")
    code = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    libc.syscall(number, *map(ctypes.c_long, arguments))
    return ctypes.get_errno()
fcntl, ioctl, socket = {[*calls.values()]}
print(call(fcntl, 0, {high} | 10, 18), call(ioctl, 0, {high} | 0x5412, 0), call(socket, {high} | 40, 1, 0))
"""
    assert ran(tmp_path, code).out == f"{errno.EPERM} {errno.EPERM} {errno.EAFNOSUPPORT}\n"


@pytest.mark.skipif(pyseccomp.system_arch() != pyseccomp.Arch.X86_64, reason="of x86-64")
@pytest.mark.parametrize("way", ["syscall(0x40000000 + 39)", "int80"])
def test_calls_by_other_doors_end_the_bot(tmp_path: Path, way: str) -> None:
    """Numbers of the x32 interface, and of 32-bit programs, mean other calls."""
    machine = "b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3'"  # mov eax, 20; int 0x80; ret
    code = (
        f"import ctypes\nprint(ctypes.CDLL(None).{way})"
        if way != "int80"
        else f"""
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write({machine})
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""
    )
    found = ran(tmp_path, code)

    assert (found.out, found.ending) == ("", "was ended by signal 31 (SIGSYS)")
