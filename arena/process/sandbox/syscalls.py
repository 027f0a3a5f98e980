"""The system call filter of a sandboxed bot, as a BPF program for `bwrap --seccomp`.

Rule: a deny list. The namespaces isolate; this closes what is not namespaced: the ways to new namespaces, the
seldom-used corners of the kernel, memory that no limit sees, and what a bot could free itself with from being frozen
(a session or process group of its own) or use as a channel to another bot (locks).
"""

import os
from collections.abc import Iterable
from errno import EAFNOSUPPORT, ENOSYS, EPERM
from functools import cache
from signal import SIGCONT
from socket import AF_INET, AF_INET6, AF_UNIX
from types import ModuleType
from typing import Any, Final

from arena.errors import HarnessFault

_NAMESPACE_FLAGS: Final = (
    0x00000080,
    0x00020000,
    0x02000000,
    0x04000000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
"""CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET."""
_CLONE_THREAD: Final = 0x00010000
_EXIT_SIGNAL: Final = 0xFF
"""Bits of clone's flags that name the signal by which a parent hears of the child's death."""
_ALWAYS: Final = (
    # other processes
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp"),
    # the kernel's corners
    *("bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "personality", "lookup_dcookie"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "swapon", "swapoff", "reboot"),
    *("settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "acct", "quotactl", "syslog", "vhangup", "iopl"),
    *("ioperm", "modify_ldt", "nfsservctl", "open_by_handle_at", "fanotify_init"),
    # mounts and namespaces
    *("mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick"),
    *("mount_setattr", "unshare", "setns"),
    # placement in memory and on cores
    *("mbind", "set_mempolicy", "migrate_pages", "move_pages", "set_mempolicy_home_node"),
)
_OF_PLAY: Final = (
    *("setsid", "setpgid", "sched_setaffinity", "sched_setscheduler", "sched_setattr", "sched_setparam"),
    *("timer_create", "inotify_init", "inotify_init1"),
)
"""A build may do this; a bot may not: it stays one process group on the cores it was given, no timer wakes it with
SIGCONT while it is frozen, and it does not hear when another bot opens a file that both see.
"""
_MISSING: Final = ("io_uring_setup", "io_uring_enter", "io_uring_register", "clone3")
"""Said not to exist, so that the C library takes its other way (clone3's flags cannot be looked into)."""
_MISSING_IN_PLAY: Final = ("memfd_create", "memfd_secret", "shmget", "flock")
_NEW: Final = {"process_madvise": 440, "mount_setattr": 442, "memfd_secret": 447, "set_mempolicy_home_node": 450}
"""Numbers, equal on all processors, of calls younger than the libseccomp of many a machine."""
_FILE_COMMANDS: Final = (5, 6, 7, 36, 37, 38, 1024, 1026, 10)
"""F_GETLK, F_SETLK, F_SETLKW, the same for open file descriptions; F_SETLEASE, F_NOTIFY; F_SETSIG."""
_LOW_HALF: Final = 0xFFFF_FFFF
"""Of a register: the kernel does not look at the other half of these arguments, so the filter must not either."""
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_AF_NETLINK: Final = 16
"""Python has the name on Linux only, and `arena doctor` shall speak everywhere."""
_LOCAL: Final = (AF_UNIX, _AF_NETLINK)
_INTERNET: Final = (AF_INET, AF_INET6)
"""For builds, some of which talk to a server of their own. In play nobody is there to talk to, and what is buffered for
a connection with oneself is memory of the kernel that no limit sees.
"""


def filter_for_play(*, processes: bool) -> int:
    """A file descriptor of the filter, to be closed by the caller; with `processes` the bot may fork."""
    return _memfd(_program(is_play=True, processes=processes))


def filter_for_build() -> int:
    """The same for a build: compilers start processes, lock files and lead groups; the rest stays closed."""
    return _memfd(_program(is_play=False, processes=True))


def _memfd(program: bytes) -> int:
    fd = os.memfd_create("arena-filter")
    os.write(fd, program)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


@cache
def _program(*, is_play: bool, processes: bool) -> bytes:
    seccomp = _library()
    filters = seccomp.SyscallFilter(seccomp.ALLOW)
    refuse, missing = seccomp.ERRNO(EPERM), seccomp.ERRNO(ENOSYS)
    _deny(seccomp, filters, refuse, _ALWAYS)
    _deny(seccomp, filters, missing, _MISSING)
    for flag in _NAMESPACE_FLAGS:
        filters.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    for command in (_TIOCSTI, _TIOCLINUX):
        filters.add_rule(refuse, "ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, _LOW_HALF, command))
    _deny_sockets(seccomp, filters, _LOCAL if is_play else (*_LOCAL, *_INTERNET))
    if is_play:
        _deny(seccomp, filters, refuse, _OF_PLAY)
        _deny(seccomp, filters, missing, _MISSING_IN_PLAY)
        filters.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, _EXIT_SIGNAL, SIGCONT))
        for command in _FILE_COMMANDS:
            filters.add_rule(refuse, "fcntl", seccomp.Arg(1, seccomp.MASKED_EQ, _LOW_HALF, command))
    if not processes:
        _deny(seccomp, filters, refuse, ("fork", "vfork"))
        filters.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD, 0))
    fd = os.memfd_create("arena-filter")
    with os.fdopen(fd, "rb") as file:
        filters.export_bpf(file)
        file.seek(0)
        return file.read()


def _deny_sockets(seccomp: ModuleType, filters: Any, allowed: tuple[int, ...]) -> None:
    """Leave `allowed` (in a network namespace of its own); AF_VSOCK and the like reach beyond every namespace."""
    unsupported, last = seccomp.ERRNO(EAFNOSUPPORT), max(allowed)
    filters.add_rule(unsupported, "socket", seccomp.Arg(0, seccomp.GT, last))
    for family in set(range(last)).difference(allowed):
        filters.add_rule(unsupported, "socket", seccomp.Arg(0, seccomp.EQ, family))


def _deny(seccomp: ModuleType, filters: Any, action: int, names: Iterable[str]) -> None:
    for name in names:
        number = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)
        number = number if number >= 0 else _NEW.get(name, number)
        if number >= 0:  # a processor without it has no number for it either
            filters.add_rule(action, number)


def _library() -> ModuleType:
    try:
        import pyseccomp  # noqa: PLC0415 - it loads a library that may be missing
    except (ImportError, OSError, RuntimeError) as error:
        raise HarnessFault(
            f"the sandbox needs the Python package pyseccomp and the library libseccomp.so.2 ({error}):"
            " `pip install pyseccomp`, `apt-get install libseccomp2`"
        ) from None
    return pyseccomp  # type: ignore[no-any-return]
