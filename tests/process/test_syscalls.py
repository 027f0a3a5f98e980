"""The filter: read as the kernel reads it, and call by call as a bot, a bot with processes, and a build meet it."""

import errno
import fcntl
import json
import mmap
import os
import re
import signal
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import pyseccomp
import pytest
from support.golden import Golden
from support.process_boxes import BOT, FORKING, ask, built, folder_of, in_a_box, ran, talking

from arena.errors import Crashed
from arena.process.limits import Limits
from arena.process.sandbox import syscalls

pytestmark = in_a_box

X86_64, I386, AARCH64 = 0xC000_003E, 0x4000_0003, 0xC000_00B7
"""Of struct seccomp_data, `arch`."""
X32: Final = 0x4000_0000
_ERRNO, _ALLOW, _KILL_PROCESS = 0x0005_0000, 0x7FFF_0000, 0x8000_0000
_ARGUMENTS_FROM: Final = 16
"""Offset in struct seccomp_data; the number is at 0, the architecture at 4."""


class NeedsArguments(Exception):
    """The error of a program that looks at an argument when none were given."""


def verdict(program: bytes, number: int, arguments: Sequence[int] | None = None, *, arch: int = X86_64) -> str:
    """Return `allowed`, `killed`, the error by number (`errno 38`), or `by argument` if none were given."""
    try:
        found = _run(program, number, arguments, arch)
    except NeedsArguments:
        return "by argument"
    if found == _ALLOW:
        return "allowed"
    return "killed" if found == _KILL_PROCESS else f"errno {found - _ERRNO}"


def _run(program: bytes, number: int, arguments: Sequence[int] | None, arch: int) -> int:
    """Run the program; return its value. Raises ValueError for an instruction that libseccomp is not known to use."""
    data = struct.pack("<IIQ6Q", number, arch, 0, *[word & (2**64 - 1) for word in arguments or [0] * 6])
    code = list(struct.iter_unpack("<HBBI", program))
    accumulator = at = 0
    while True:
        operation, if_true, if_false, constant = code[at]
        at += 1
        if operation == 0x20:  # ld [k]
            if constant >= _ARGUMENTS_FROM and arguments is None:
                raise NeedsArguments
            (accumulator,) = struct.unpack_from("<I", data, constant)
        elif operation == 0x54:  # and k
            accumulator &= constant
        elif operation == 0x05:  # ja
            at += constant
        elif operation in {0x15, 0x25, 0x35, 0x45}:  # jeq, jgt, jge, jset
            holds = {
                0x15: accumulator == constant,
                0x25: accumulator > constant,
                0x35: accumulator >= constant,
                0x45: bool(accumulator & constant),
            }[operation]
            at += if_true if holds else if_false
        elif operation == 0x06:  # ret k
            return int(constant)
        else:
            raise ValueError(f"instruction {operation:#x}")


GOLDEN: Final = Path(__file__).parents[1] / "golden"
KINDS: Final = {"play": (True, False), "processes": (True, True), "build": (False, True)}
"""Name in the golden files -> is_play, processes."""
WORDS: Final = {
    "allowed": "allowed",
    "by argument": "by argument",
    f"errno {errno.ENOSYS}": "-",
    f"errno {errno.EPERM}": "EPERM",
    f"errno {errno.EAFNOSUPPORT}": "EAFNOSUPPORT",
    "errno 0": "done",
}
ARCHITECTURES: Final = [("X86_64", X86_64), ("AARCH64", AARCH64)]
HEADER: Final = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
LAST: Final = 1100
"""Far beyond the kernel's table, which ends below 500."""
MISSING: Final = f"errno {errno.ENOSYS}"

TRY = """
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
found = {}
for number in json.load(open("calls.json")):
    ctypes.set_errno(0)
    answer = libc.syscall(number, *[ctypes.c_long(-1)] * 6)
    found[number] = ctypes.get_errno() if answer == -1 else 0
print(json.dumps(found))
"""
NOT_TO_BE_TRIED: Final = {"pause", "rt_sigreturn", "exit", "exit_group", "fork", "vfork", "uretprobe", "uprobe"}
"""With senseless arguments they do what they say; the last two end in SIGILL before the kernel asks any filter."""
native: Final = pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86-64")


def program(kind: str, arch: str = "X86_64", *, counts_shared_memory: bool = False) -> bytes:
    """Return the filter of one of the three kinds."""
    is_play, processes = KINDS[kind]
    arch = "NATIVE" if getattr(pyseccomp.Arch, arch) == pyseccomp.system_arch() else arch
    return syscalls.compile_filter(
        is_play=is_play, processes=processes, counts_shared_memory=counts_shared_memory, arch=arch
    )


def golden(arch: str) -> dict[int, tuple[str, list[str]]]:
    """Return name and verdicts of the three kinds by number."""
    lines = (GOLDEN / f"syscalls-{arch.lower()}.txt").read_text(encoding="ascii").splitlines()
    table = {}
    for line in lines[1:]:
        number, name, *words = re.split(r"  +", line.strip().replace(" ", "  ", 1))
        table[int(number)] = (name, words)
    return table


@pytest.mark.parametrize(("arch", "token"), ARCHITECTURES, ids=["x86_64", "aarch64"])
def test_every_call_of_the_kernel_is_as_the_golden_file_has_it(arch: str, token: int) -> None:
    """It has a line for each call of the kernel, so that a change of the list is reviewed."""
    for number, (name, words) in golden(arch).items():
        found = [WORDS[verdict(program(kind, arch), number, arch=token)] for kind in KINDS]

        assert (name, found) == (name, words), number


@pytest.mark.parametrize(("arch", "token"), ARCHITECTURES, ids=["x86_64", "aarch64"])
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_no_kernel_knows_yet_are_missing(kind: str, arch: str, token: int) -> None:
    """These are all numbers without a line in the golden file."""
    filters, known = program(kind, arch), golden(arch)

    found = {verdict(filters, number, arch=token) for number in range(LAST) if number not in known}

    assert found == {MISSING}
    assert {verdict(filters, number, arch=token) for number in (2**30 - 1, -1 & 0x3FFF_FFFF)} == {MISSING}


@pytest.mark.parametrize("kind", KINDS)
def test_other_processors_and_the_x32_interface_are_killed(kind: str) -> None:
    """Their numbers mean other calls."""
    filters = program(kind)

    assert {verdict(filters, number, arch=I386) for number in range(LAST)} == {"killed"}
    assert {verdict(filters, number, arch=AARCH64) for number in range(LAST)} == {"killed"}
    assert {verdict(filters, number | X32) for number in range(LAST)} == {"killed"}


@pytest.mark.skipif(not HEADER.is_file(), reason=f"no {HEADER}")
def test_the_golden_file_has_all_names_of_the_kernel_of_this_machine() -> None:
    """They come from the kernel's headers."""
    names = re.findall(r"#define __NR_(\w+) (\d+)", HEADER.read_text(encoding="ascii"))
    known = golden("X86_64")
    here = {int(number): name for name, number in names if int(number) in known}

    assert len(here) > 350
    assert here == {number: known[number][0] for number in here}


def number_of(name: str) -> int:
    """Return the number of a call on x86-64, from the golden file."""
    return next(number for number, (known, _) in golden("X86_64").items() if known == name)


def at(index: int, *values: int) -> list[tuple[int, ...]]:
    """Return arguments that are 0 except one."""
    return [(*[0] * index, value, *[0] * (5 - index)) for value in values]


THREAD = 0x3D0F00
"""CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID, as pthread_create has it."""
THREAD_OF_GO = 0x50F00
PRIVATE, SHARED, ANONYMOUS = mmap.MAP_PRIVATE, mmap.MAP_SHARED, mmap.MAP_ANONYMOUS
NAMESPACES = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
ALL, PROCESS_CALLS, BUILD_CALLS, NONE = ("play", "processes", "build"), ("processes", "build"), ("build",), ()
SIGNALS = [number for number in range(1, 65) if number != signal.SIGCONT]
CONDITIONS = [
    ("mmap", at(3, PRIVATE, PRIVATE | ANONYMOUS, SHARED, PRIVATE | 0x20000, PRIVATE | 0x4000, PRIVATE | 0x10), ALL),
    ("mmap", at(3, SHARED | ANONYMOUS, 3 | ANONYMOUS, 3, 8 | ANONYMOUS), NONE),
    ("mmap", at(3, PRIVATE | ANONYMOUS | 0x40000, PRIVATE | 0x2000, SHARED | 0x2000, SHARED | 0x40000), NONE),
    ("madvise", at(2, 4, 8, 10, 15, 16, 18, 102, 103), ALL),
    ("madvise", at(2, 3, 9, 12, 13, 14, 20, 21, 22, 23, 24, 25, 100, 101, -1), NONE),
    ("clone", at(0, THREAD, THREAD_OF_GO, THREAD | 0x400000), ALL),
    ("clone", at(0, THREAD & ~0x400, THREAD & ~0x100, THREAD & ~0x800, THREAD | 0x2000, THREAD | 0x800000), NONE),
    ("clone", at(0, *(THREAD | flag for flag in NAMESPACES), *(flag | 17 for flag in NAMESPACES)), NONE),
    ("clone", at(0, 0x1200011, 0x4111, 0x5111), PROCESS_CALLS),
    ("clone", at(0, 0, signal.SIGCONT, 0x4100 | signal.SIGCONT, 0x8000 | 17, 0x2000 | 17), NONE),
    ("openat", at(2, os.O_RDONLY, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, os.O_PATH, os.O_DIRECTORY), ALL),
    ("openat", at(2, os.O_DIRECT, os.O_DIRECT | os.O_RDWR), NONE),
    ("open", at(1, os.O_DIRECT), NONE),
    ("fcntl", at(1, fcntl.F_DUPFD, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_DUPFD_CLOEXEC), ALL),
    ("fcntl", [(0, fcntl.F_SETFL, os.O_NONBLOCK, 0, 0, 0)], ALL),
    ("fcntl", [(0, fcntl.F_SETFL, os.O_DIRECT, 0, 0, 0), (0, fcntl.F_SETFL, os.O_DIRECT | 2048, 0, 0, 0)], NONE),
    ("fcntl", at(1, fcntl.F_SETLK, fcntl.F_SETLKW, fcntl.F_OFD_SETLK, fcntl.F_SETPIPE_SZ), BUILD_CALLS),
    ("fcntl", at(1, fcntl.F_SETLEASE, fcntl.F_NOTIFY, fcntl.F_SETSIG, fcntl.F_SETOWN, 1033, 1036), NONE),
    ("ioctl", at(1, 0x5401, 0x5413, 0x5421, 0x541B), ALL),
    ("ioctl", at(1, 0x40049409), BUILD_CALLS),
    ("ioctl", at(1, 0x5412, 0x541C, 0x5431, 0x80045430, 0xC020660B), NONE),
    ("prctl", at(0, 15, 16), ALL),
    ("prctl", at(0, 1, 4, 22, 35, 36, 53, 62), NONE),
    ("close_range", at(2, 0, 4), ALL),
    ("close_range", at(2, 2, 6), NONE),
    ("msync", at(2, mmap.PAGESIZE & 0, 1, 2), ALL),
    ("msync", at(2, 4, 6), BUILD_CALLS),
    ("socketpair", at(0, socket.AF_UNIX), ALL),
    ("socketpair", at(0, socket.AF_INET, 30), NONE),
    ("socket", at(0, socket.AF_UNIX), PROCESS_CALLS),
    ("socket", at(0, socket.AF_INET, socket.AF_INET6), BUILD_CALLS),
    ("socket", at(0, 0, 3, 16, 17, 38, 40, 45, 0x7FFFFFFF), NONE),
    *((name, at(1, 0, *SIGNALS), ALL) for name in ("kill", "tkill")),
    ("tgkill", at(2, 0, *SIGNALS), ALL),
    ("pidfd_send_signal", at(1, 0, *SIGNALS), PROCESS_CALLS),
    ("rt_sigqueueinfo", at(1, *SIGNALS), BUILD_CALLS),
    ("rt_tgsigqueueinfo", at(2, *SIGNALS), BUILD_CALLS),
    *((name, at(1, signal.SIGCONT), NONE) for name in ("kill", "tkill", "pidfd_send_signal", "rt_sigqueueinfo")),
    *((name, at(2, signal.SIGCONT), NONE) for name in ("tgkill", "rt_tgsigqueueinfo")),
    ("getsockopt", [(0, socket.SOL_SOCKET, known, 0, 0, 0) for known in (socket.SO_TYPE, socket.SO_ERROR, 39)], ALL),
    (
        "getsockopt",
        [(0, socket.SOL_SOCKET, 57, 0, 0, 0), (0, socket.SOL_SOCKET, 71, 0, 0, 0), (0, 6, 3, 0, 0, 0)],
        BUILD_CALLS,
    ),
    ("setsockopt", [(0, socket.SOL_SOCKET, socket.SO_REUSEADDR, 0, 0, 0)], PROCESS_CALLS),
    ("setsockopt", [(0, socket.SOL_SOCKET, socket.SO_SNDBUF, 0, 0, 0), (0, 6, 2, 0, 0, 0)], BUILD_CALLS),
]


@pytest.mark.parametrize(("name", "samples", "kinds"), CONDITIONS)
@pytest.mark.parametrize("high", [0, 1 << 32, 0xFFFF_FFFF << 32], ids=["", "high-bit", "high-bits"])
def test_arguments(name: str, samples: list[tuple[int, ...]], kinds: tuple[str, ...], high: int) -> None:
    """They are allowed as listed; bits in the upper half, which the kernel ignores, allow nothing more."""
    number = number_of(name)

    for arguments in samples:
        deceptive = [word | high for word in arguments]
        found = {kind for kind in KINDS if verdict(program(kind), number, deceptive) == "allowed"}

        assert found <= set(kinds), (name, arguments)
        if not high or name != "socket":
            assert found == set(kinds), (name, arguments)


def test_shared_memory_is_open_where_a_control_group_counts_it() -> None:
    """Nothing else is opened by that."""
    [flags] = at(3, SHARED | ANONYMOUS)

    for kind in KINDS:
        counted, uncounted = program(kind, counts_shared_memory=True), program(kind)
        assert verdict(counted, number_of("mmap"), flags) == "allowed"
        differing = [n for n in range(LAST) if verdict(counted, n) != verdict(uncounted, n)]
        assert differing == []


def expected(kind: str, number: int) -> int | None:
    """Return the error of the filter if all arguments are -1; None if the kernel answers."""
    word, _, error = verdict(program(kind), number, [-1] * 6).partition(" ")
    return int(error) if word == "errno" else None


def tried(found: dict[str, int], kind: str) -> None:
    """Check that the kernel's answers to all numbers are those that the filter predicts."""
    for number, error in found.items():
        if (foreseen := expected(kind, int(number))) is not None:
            assert error == foreseen, number
        elif int(number) != number_of("futex"):  # which answers so itself, to what it shall not do
            assert error != errno.ENOSYS, number
    assert len(found) > 580


def to_be_tried() -> str:
    """Return the numbers as JSON."""
    known = golden("X86_64")
    return json.dumps([number for number in range(601) if known.get(number, ("",))[0] not in NOT_TO_BE_TRIED])


@native
@pytest.mark.parametrize(("kind", "limits"), [("play", BOT), ("processes", FORKING)])
def test_every_number_from_inside(tmp_path: Path, kind: str, limits: Limits) -> None:
    """The numbers 0 to 600 are called with senseless arguments."""
    folder_of(tmp_path, calls_json=to_be_tried())
    found = ran(tmp_path, TRY, limits=limits)

    tried(json.loads(found.out.splitlines()[-1]), kind)


@native
def test_every_number_from_inside_a_build(tmp_path: Path) -> None:
    """As for a bot, with the filter of builds."""
    folder = folder_of(tmp_path / "run", try_py=TRY, calls_json=to_be_tried())

    tried(json.loads((built(folder, "python3 try.py > found") / "found").read_text()), "build")


def test_what_is_written_to_scratch_is_safe_at_once(tmp_path: Path) -> None:
    """`fsync` and its like succeed, because there is nothing to do: scratch is memory."""
    code = """
import mmap, os
with open("/tmp/x", "w+b") as file:
    file.write(b"x" * 4096)
    file.flush()
    os.fsync(file.fileno())
    os.fdatasync(file.fileno())
    pages = mmap.mmap(file.fileno(), 4096)
    pages[:1] = b"y"
    pages.flush()
    print(os.pread(file.fileno(), 2, 0))
"""
    found = ran(tmp_path, code, limits=msgspec.structs.replace(BOT, scratch_mib=1))

    assert (found.out, found.err) == ("b'yx'\n", "")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="of x86-64")
@pytest.mark.parametrize("way", ["syscall(0x40000000 + 39)", "int80"])
def test_calls_by_other_ways_end_the_bot(tmp_path: Path, way: str) -> None:
    """Numbers of the x32 interface, and of 32-bit programs, mean other calls; a thread's call ends all of it."""
    machine = "b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3'"  # mov eax, 20; int 0x80; ret
    call = (
        f"ctypes.CDLL(None).{way}"
        if way != "int80"
        else "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()"
    )
    code = f"""
import ctypes, mmap, threading
page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
page.write({machine})
thread = threading.Thread(target=lambda: print({call}))
thread.start()
thread.join()
print("alive")
"""
    found = ran(tmp_path, code)

    assert (found.out, found.ending) == ("", "was ended by signal 31 (SIGSYS)")


def test_the_documentation_counts_right() -> None:
    """It has the number of calls of each kind."""
    words = [kinds for _, kinds in golden("X86_64").values()]
    counts = [sum(kinds[place] in {"allowed", "by argument", "done"} for kinds in words) for place in range(3)]
    text = " ".join((Path(__file__).parents[2] / "docs" / "sandbox.md").read_text(encoding="utf-8").split())

    play, processes, build = counts
    assert f"{play} of {len(words)} on x86-64, {processes} with `processes: true`, and {build} in a build" in text


def test_a_bot_that_ends_by_a_missing_call_hears_where_they_are_named(tmp_path: Path, golden: Golden) -> None:
    """Python's own words are "Function not implemented"; that file has the names."""
    folder = folder_of(tmp_path, bot_py="input()\nimport mmap\nmmap.mmap(-1, 4096)\n")

    with talking(folder) as (channel, _), pytest.raises(Crashed) as caught:
        ask(channel)

    golden(caught.value.hint)
    text = (Path(__file__).parents[2] / "protocol.md").read_text(encoding="utf-8")
    assert "(docs/process.md#system-calls)" in text.partition("## The process")[2].partition("\n## ")[0]
    page = (Path(__file__).parents[2] / "docs" / "process.md").read_text(encoding="utf-8")
    assert "`MAP_SHARED | MAP_ANONYMOUS`" in page.partition("## System calls")[2]
