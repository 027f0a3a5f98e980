"""The system call filter of a sandboxed bot, as a BPF program for `bwrap --seccomp`.

Rule: an allow list, see `calls`. A call that is not listed does not exist (ENOSYS), by its name or its number, in
this kernel or in those to come. Two things are refused in the words that programs and their authors know: new processes
(EPERM) and sockets (EAFNOSUPPORT). A call by the numbers of another processor or of the x32 interface ends the bot.
"""

import contextlib
import os
from errno import EAFNOSUPPORT, ENOSYS, EPERM
from functools import cache
from types import ModuleType
from typing import Any, Final

from arena.errors import HarnessFault
from arena.process.sandbox import calls
from arena.process.sandbox.calls import When

_BINARY_TREE: Final = 2
"""Value of libseccomp's CTL_OPTIMIZE: a call is found by its number in 8 steps instead of 200."""


def number_of(name: str) -> int:
    """Return the number of a call on this processor, below 0 if there is none."""
    seccomp = _load_seccomp()
    number = int(seccomp.resolve_syscall(seccomp.Arch.NATIVE, name))
    return number if number >= 0 else calls.NEW_CALLS.get(name, -1)


@cache
def compile_filter(
    *, is_play: bool, processes: bool, counts_shared_memory: bool = False, arch: str = "NATIVE"
) -> bytes:
    """Return the filter as an array of `struct sock_filter`, 8 bytes each. `arch`: see pyseccomp.Arch.

    With `processes` the program may fork. With `counts_shared_memory` it may have shared anonymous memory, which a
    control group then counts and which no count of resident pages includes.
    """
    parts = [
        (calls.CALLS, calls.BY_ARGUMENT, True),
        (calls.PROCESS_CALLS, calls.MORE_OF_PROCESSES, processes),
        (calls.BUILD_CALLS, calls.MORE_OF_BUILDS, not is_play),
        (frozenset[str](), calls.COUNTED_SHARED_MEMORY, counts_shared_memory),
    ]
    names = frozenset[str]().union(*(names for names, _, is_wanted in parts if is_wanted))
    seccomp = _load_seccomp()
    filters = _Filter(arch)
    for name in sorted(names):
        filters.add(seccomp.ALLOW, name)
    for _, by_argument, is_wanted in parts:
        for name, rows in by_argument.items() if is_wanted else ():
            for row in rows if name not in names else ():
                filters.add(seccomp.ALLOW, name, *row)
    if not processes:
        filters.add(seccomp.ERRNO(EPERM), "fork")
        filters.add(seccomp.ERRNO(EPERM), "vfork")
        filters.add(seccomp.ERRNO(EPERM), "clone", calls.NOT_A_THREAD)
    for name, row in calls.DONE.items() if is_play else ():
        filters.add(seccomp.ERRNO(0), name, *row)
    families = calls.FAMILIES_OF_PROCESSES if processes else ()
    filters.allow_sockets(families if is_play else calls.FAMILIES_OF_BUILDS)
    return filters.export()


class _Filter:
    """A filter of libseccomp for one kind of processor, which at first allows nothing."""

    def __init__(self, arch: str) -> None:
        self._seccomp = seccomp = _load_seccomp()
        self._arch = getattr(seccomp.Arch, arch)
        self._filter = seccomp.SyscallFilter(seccomp.ERRNO(ENOSYS))
        if self._arch != seccomp.Arch.NATIVE:
            self._filter.remove_arch(seccomp.Arch.NATIVE)
            self._filter.add_arch(self._arch)
        self._filter.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
        with contextlib.suppress(OSError):  # a libseccomp older than 2.5: the same filter, slower
            self._filter.set_attr(seccomp.Attr.CTL_OPTIMIZE, _BINARY_TREE)

    def add(self, action: int, name: str, *conditions: When | Any) -> None:
        """Add a rule for the call `name` if all conditions hold; a condition may also be an Arg of pyseccomp.

        No rule if the processor does not have the call.
        """
        seccomp = self._seccomp
        native, number = (seccomp.resolve_syscall(arch, name) for arch in (seccomp.Arch.NATIVE, self._arch))
        if number < 0:
            native = number = calls.NEW_CALLS.get(name, -1)
        masked = [
            seccomp.Arg(it.argument, seccomp.MASKED_EQ, *it[1:]) if isinstance(it, When) else it for it in conditions
        ]
        if number >= 0:
            self._filter.add_rule_exactly(action, native, *masked)

    def allow_sockets(self, families: tuple[int, ...]) -> None:
        """Allow sockets of these families only: AF_VSOCK and others reach out of the network namespace."""
        seccomp, unsupported = self._seccomp, self._seccomp.ERRNO(EAFNOSUPPORT)
        last = max(families, default=-1)
        self.add(unsupported, "socket", *([seccomp.Arg(0, seccomp.GT, last)] if families else []))
        for family in range(last + 1):
            self.add(seccomp.ALLOW if family in families else unsupported, "socket", seccomp.Arg(0, seccomp.EQ, family))

    def export(self) -> bytes:
        """Return the filter as bytes for the kernel."""
        with os.fdopen(os.memfd_create("arena-filter"), "rb") as file:
            self._filter.export_bpf(file)
            file.seek(0)
            return file.read()


def _load_seccomp() -> ModuleType:
    """Import pyseccomp; raises HarnessFault, with a remedy, if it or libseccomp cannot be used."""
    try:
        import pyseccomp  # noqa: PLC0415 - it loads a library that may be missing
    except ImportError:
        raise HarnessFault("no Python package pyseccomp: `pip install pyseccomp`") from None
    except (OSError, RuntimeError, AttributeError) as error:
        raise HarnessFault(f"no libseccomp.so.2 that can be used ({error}): `apt-get install libseccomp2`") from None
    return pyseccomp  # type: ignore[no-any-return]
