"""System calls: those that bots and builds may use, with conditions on arguments, and those that no bot may have.

Rule: an allow list, pure data for `syscalls`. A call is allowed because a language runtime or a program in the sandbox
needs it; all others do not exist for a bot (ENOSYS), those of kernels to come included. Kept out on purpose, even
though some programs would use them:

- the state of the page cache (mincore, cachestat, fadvise64, readahead, preadv2, fsync, mlock ...), a covert channel to
  later matches. `madvise` may free memory; advice that moves pages of files is out, and so is advice on huge pages,
  because the filter cannot see whether the memory is a file's, and huge pages of a file are seen by all who map it;
- memory that no count of resident pages shows: System V and POSIX IPC, memfd, vmsplice and splice, shared mappings
  without a file, huge pages, larger pipes and sockets, unaccepted connections, descriptors in messages, and tables of
  open files that a thread has for itself (`clone` without CLONE_FILES, `close_range` with CLOSE_RANGE_UNSHARE);
- ways out of being frozen or clocked (SIGCONT, setsid, timer_create, sched_set*), other processes, namespaces, mounts,
  locks;
- numbers that the kernel counts by user, and so for all bots of a user together: queued signals (a limit), descriptors
  in messages (sendmsg, sendmmsg);
- the cookie of a socket (SO_COOKIE), a number in turn that nearly no other program takes: an exact message to the next
  process.

The kernel looks at the lower 32 bits of all the arguments compared here, so the conditions look at no more.
"""

import os
from typing import Final, NamedTuple


class When(NamedTuple):
    """A condition on a call: argument number `argument`, from 0, has `value` in the bits of `mask`."""

    argument: int
    mask: int
    value: int


Rows = tuple[tuple[When, ...], ...]
"""A call is allowed if all conditions of one of the rows hold."""

_WORD: Final = 0xFFFF_FFFF
_O_DIRECT: Final = os.O_DIRECT
"""Its bit depends on the processor."""


def _split_names(text: str) -> frozenset[str]:
    return frozenset(text.split())


CALLS: Final = _split_names(
    # input and output on what is open
    """
    read write readv writev pread64 pwrite64 preadv pwritev lseek _llseek close dup dup2 dup3 pipe pipe2
    poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
    eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime
    """
    # files and folders; nothing but scratch can be written to, and the kernel's EROFS says that best
    """
    stat lstat fstat newfstatat fstatat64 statx statfs fstatfs access faccessat faccessat2 readlink readlinkat
    getdents getdents64 getcwd chdir fchdir umask mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2
    link linkat symlink symlinkat truncate ftruncate fallocate chmod fchmod fchmodat utime utimes futimesat utimensat
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
    """
    # memory
    "brk munmap mremap mprotect membarrier "
    # threads, signals, the end
    """
    futex set_robust_list set_tid_address gettid sched_yield sched_getaffinity sched_getparam sched_getscheduler
    sched_get_priority_max sched_get_priority_min getpriority rseq arch_prctl riscv_hwprobe riscv_flush_icache
    rt_sigaction rt_sigprocmask rt_sigpending rt_sigsuspend rt_sigtimedwait rt_sigreturn sigaltstack
    pause alarm getitimer setitimer restart_syscall execve exit exit_group wait4 waitid
    """
    # time
    "clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times getcpu "
    # who and where
    """
    getpid getppid getpgrp getpgid getsid getuid geteuid getgid getegid getresuid getresgid getgroups capget
    uname sysinfo getrusage getrlimit setrlimit prlimit64 getrandom
    """
    # both ends of a pair of sockets
    "sendto recvfrom shutdown getsockname getpeername "
)
"""Calls that a bot may make, with any arguments."""

PROCESS_CALLS: Final = _split_names(
    """
    fork vfork pidfd_open bind listen accept accept4 connect recvmsg recvmmsg
    setuid setgid setreuid setregid setresuid setresgid
    """
)
"""More calls for a bot with `processes: true`, and for a build. `make` sets its user ids to their present values."""

BUILD_CALLS: Final = _split_names(
    """
    setsid setpgid setpriority sched_setaffinity sched_setscheduler sched_setparam sched_setattr sched_getattr
    timer_create timer_settime timer_gettime timer_getoverrun timer_delete
    inotify_init inotify_init1 inotify_add_watch inotify_rm_watch flock setsockopt getsockopt
    fsync fdatasync msync sendfile copy_file_range splice tee creat mknod mknodat fchmodat2
    chown fchown lchown fchownat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr
    """
)
"""More calls for a build: compilers lock files, lead process groups and write to a disk."""

NEW_CALLS: Final = {
    name: int(number)
    for name, number in (
        word.split("=")
        for word in """
        io_uring_setup=425 io_uring_enter=426 io_uring_register=427 open_tree=428 move_mount=429 fsopen=430 fsconfig=431
        fsmount=432 fspick=433 clone3=435 close_range=436 pidfd_getfd=438 faccessat2=439 process_madvise=440
        epoll_pwait2=441 mount_setattr=442 quotactl_fd=443 landlock_create_ruleset=444 memfd_secret=447
        process_mrelease=448 set_mempolicy_home_node=450 cachestat=451 fchmodat2=452 statmount=457 listmount=458
        lsm_set_self_attr=460 lsm_list_modules=461 setxattrat=463 removexattrat=466 open_tree_attr=467 file_setattr=469
        """.split()  # noqa: SIM905 - thirty strings with quotes are harder to read
    )
}
"""Numbers, equal on all processors, of calls that an older libseccomp does not know."""


def _rows_of_values(argument: int, *values: int) -> Rows:
    """Return conditions that allow each of these values of an argument."""
    return tuple((When(argument, _WORD, value),) for value in values)


_PRIVATE, _SHARED, _ANONYMOUS, _MAP_TYPE = 0x02, 0x01, 0x20, 0x0F
_LOCKED_OR_HUGE: Final = 0x2000 | 0x4_0000
_MMAP: Final = (
    (When(3, _MAP_TYPE | _LOCKED_OR_HUGE, _PRIVATE),),
    # of a file: one of scratch, whose size is limited, or one that cannot be written to
    (When(3, _MAP_TYPE | _LOCKED_OR_HUGE | _ANONYMOUS, _SHARED),),
)
_MMAP_SHARED: Final = ((When(3, _MAP_TYPE | _LOCKED_OR_HUGE | _ANONYMOUS, _SHARED | _ANONYMOUS),),)
_CLONE_FIELDS: Final = {"vm": 0x100, "files": 0x400, "sighand": 0x800, "thread": 0x1_0000}
_CLONE_THREAD: Final = _CLONE_FIELDS["thread"]
_NEW_NAMESPACES: Final = 0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. The bit of NEWTIME is the exit signal's here."""
_STRANGE_CLONES: Final = _NEW_NAMESPACES | 0x2000 | 0x8000 | 0x80_0000
"""And CLONE_PTRACE, CLONE_PARENT, CLONE_UNTRACED."""
_EXIT_SIGNAL: Final = 0xFF
_SIGCHLD: Final = 17
_ALL_OF_A_THREAD: Final = sum(_CLONE_FIELDS.values())
_THREADS: Final = ((When(0, _ALL_OF_A_THREAD | _STRANGE_CLONES | _EXIT_SIGNAL, _ALL_OF_A_THREAD),),)
_PROCESSES: Final = ((When(0, _CLONE_THREAD | _STRANGE_CLONES | _EXIT_SIGNAL, _SIGCHLD),),)
"""`clone` of a child whose end is signalled by SIGCHLD, not by SIGCONT, which would resume a suspended bot."""

_MADVISE: Final = _rows_of_values(2, 0, 1, 2, 4, 8, 10, 11, 15, 16, 17, 18, 19, 102, 103)
"""NORMAL, RANDOM, SEQUENTIAL, DONTNEED, FREE, (DONT|DO)FORK, NOHUGEPAGE, (DONT|DO)DUMP, (WIPE|KEEP)ONFORK, GUARD_*."""
_MS_SYNC: Final = 4
_F_SETFL: Final = 4
_FCNTL: Final = (*_rows_of_values(1, 0, 1, 2, 3, 1030, 1032), (When(1, _WORD, _F_SETFL), When(2, _O_DIRECT, 0)))
"""F_DUPFD, F_(GET|SET)FD, F_GETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ; F_SETFL. No locks, leases, watches, owners."""
_FCNTL_OF_BUILDS: Final = _rows_of_values(1, 5, 6, 7, 36, 37, 38, 1031)
"""F_GETLK, F_SETLK, F_SETLKW, the same for open file descriptions, F_SETPIPE_SZ."""
_IOCTL: Final = _rows_of_values(1, *range(0x5401, 0x5405), 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C_542A)
"""TC(GET|SET)S*, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO, FIO(N)CLEX, TCGETS2: is it a terminal, is there input?"""
_IOCTL_OF_BUILDS: Final = _rows_of_values(1, 0x4004_9409, 0x4020_940D, 0x8008_6601)
"""FICLONE, FICLONERANGE, FS_IOC_GETFLAGS, for `cp`."""
_PRCTL: Final = _rows_of_values(0, 3, 15, 16, 21, 23, 39, 50, 51, 0x5356_4D41)
"""PR_GET_DUMPABLE, (SET|GET)_NAME, GET_SECCOMP, CAPBSET_READ, GET_NO_NEW_PRIVS, SVE_(SET|GET)_VL, SET_VMA."""
_SIGCONT: Final = 18
_SIGNAL_BITS: Final = 7
"""Bits of a signal's number; a call with a larger number does not exist (ENOSYS)."""


def _signals_but_sigcont(argument: int) -> Rows:
    """Return conditions that allow all signals but SIGCONT, which would discard a pending SIGSTOP.

    Each row allows the signals that differ from SIGCONT in one certain bit.
    """
    higher_bits = _WORD & ~((1 << _SIGNAL_BITS) - 1)
    bits = [1 << number for number in range(_SIGNAL_BITS)]
    return tuple((When(argument, higher_bits | bit, ~_SIGCONT & bit),) for bit in bits)


_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_SOL_SOCKET, _SO_REUSEADDR = 1, 2
_GETSOCKOPT: Final = tuple(
    (When(1, _WORD, _SOL_SOCKET), *row) for row in _rows_of_values(2, 2, 3, 4, 7, 8, 17, 30, 38, 39)
)
"""SO_(REUSEADDR|TYPE|ERROR|SNDBUF|RCVBUF|PEERCRED|ACCEPTCONN|PROTOCOL|DOMAIN): what a socket is. No SO_COOKIE."""

BY_ARGUMENT: Final[dict[str, Rows]] = {
    "mmap": _MMAP,
    "mmap2": _MMAP,
    "madvise": _MADVISE,
    "msync": ((When(2, _MS_SYNC, 0),),),
    "open": ((When(1, _O_DIRECT, 0),),),
    "openat": ((When(2, _O_DIRECT, 0),),),
    "close_range": ((When(2, 2, 0),),),
    "clone": _THREADS,
    "fcntl": _FCNTL,
    "fcntl64": _FCNTL,
    "ioctl": _IOCTL,
    "prctl": _PRCTL,
    "socketpair": _rows_of_values(0, _AF_UNIX),
    "getsockopt": _GETSOCKOPT,
    "kill": _signals_but_sigcont(1),
    "tkill": _signals_but_sigcont(1),
    "tgkill": _signals_but_sigcont(2),
}
"""Calls of a bot with conditions on their arguments."""
MORE_OF_PROCESSES: Final[dict[str, Rows]] = {
    "clone": _PROCESSES,
    "pidfd_send_signal": _signals_but_sigcont(1),
    "setsockopt": ((When(1, _WORD, _SOL_SOCKET), When(2, _WORD, _SO_REUSEADDR)),),  # multiprocessing's listeners
}
MORE_OF_BUILDS: Final[dict[str, Rows]] = {
    "ioctl": _IOCTL_OF_BUILDS,
    "fcntl": _FCNTL_OF_BUILDS,
    "fcntl64": _FCNTL_OF_BUILDS,
    "rt_sigqueueinfo": _signals_but_sigcont(1),
    "rt_tgsigqueueinfo": _signals_but_sigcont(2),
}
COUNTED_SHARED_MEMORY: Final[dict[str, Rows]] = {"mmap": _MMAP_SHARED, "mmap2": _MMAP_SHARED}
"""Allowed only if a control group counts such memory: no count of resident pages includes it."""

DONE: Final[dict[str, tuple[When, ...]]] = {"fsync": (), "fdatasync": (), "msync": (When(2, _MS_SYNC, _MS_SYNC),)}
"""Calls of a bot that succeed without reaching the kernel, because a bot can write only to memory."""
FAMILIES_OF_PROCESSES: Final = (_AF_UNIX,)
"""Families of sockets for a bot with processes; a bot without them has no `socket` at all."""
FAMILIES_OF_BUILDS: Final = (_AF_UNIX, _AF_INET, _AF_INET6)
"""Some builds talk to a server of their own."""
NOT_A_THREAD: Final = When(0, _CLONE_THREAD, 0)
"""A `clone` that starts a process: a bot is told that it may not (EPERM), instead of that there is no such thing."""

FORBIDDEN_CALLS: Final = _split_names(
    # other processes
    "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp rt_sigqueueinfo "
    # groups, cores, timers
    """
    setsid setpgid setpriority sched_setaffinity sched_setscheduler sched_setattr sched_setparam ioprio_set
    timer_create inotify_init1 flock
    """
    # namespaces and mounts
    """
    unshare setns mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick
    mount_setattr listmount statmount name_to_handle_at open_by_handle_at quotactl quotactl_fd
    """
    # the kernel
    """
    bpf perf_event_open userfaultfd keyctl add_key request_key io_uring_setup io_uring_enter io_uring_register
    seccomp personality modify_ldt swapon adjtimex clock_adjtime clock_settime settimeofday sethostname
    landlock_create_ruleset lsm_set_self_attr lsm_list_modules pkey_alloc clone3
    """
    # hidden memory
    """
    memfd_create memfd_secret shmget shmat semget semop msgget msgsnd mq_open mq_unlink vmsplice splice tee sendfile
    copy_file_range remap_file_pages mlock mlock2 mlockall mbind set_mempolicy migrate_pages move_pages
    set_mempolicy_home_node io_setup io_submit io_destroy
    """
    # the page cache
    "mincore cachestat fadvise64 readahead preadv2 pwritev2 sync_file_range syncfs "
    # attributes of files
    "setxattr fsetxattr setxattrat removexattrat file_setattr chown fchown fchownat mknodat "
)
"""Calls that are known ways out of a sandbox, or to hide or keep data in the kernel: the self-test tries each one.

The filter does not use this list, which gives a hole in the allow list a name. Calls that the kernel refuses to
everybody but root (modules, reboot ...) are left out.
"""
