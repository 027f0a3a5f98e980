"""The kernel's reading of a filter: what a program for `bwrap --seccomp` says of a call, without making the call."""

import struct
from collections.abc import Sequence
from typing import Final

X86_64, I386, AARCH64 = 0xC000_003E, 0x4000_0003, 0xC000_00B7
"""Of struct seccomp_data, `arch`."""
X32: Final = 0x4000_0000
_ERRNO, _ALLOW, _KILL_PROCESS = 0x0005_0000, 0x7FFF_0000, 0x8000_0000
_ARGUMENTS_FROM: Final = 16
"""Offset in struct seccomp_data; the number is at 0, the architecture at 4."""


class NeedsArguments(Exception):
    """The program looks at an argument, and none were given."""


def verdict(program: bytes, number: int, arguments: Sequence[int] | None = None, *, arch: int = X86_64) -> str:
    """`allowed`, `killed`, the name of an error by number (`errno 38`), or `by argument` where none were given."""
    try:
        found = _run(program, number, arguments, arch)
    except NeedsArguments:
        return "by argument"
    if found == _ALLOW:
        return "allowed"
    return "killed" if found == _KILL_PROCESS else f"errno {found - _ERRNO}"


def _run(program: bytes, number: int, arguments: Sequence[int] | None, arch: int) -> int:
    """The value it returns. ValueError for an instruction that libseccomp is not known to use."""
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
