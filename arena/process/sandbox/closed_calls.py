"""System calls that no bot may have, by group, with their numbers on this machine: what the canary tries, one by one.

Rule: those by which programs have got out of sandboxes like this one, have hidden or kept something in the kernel, or
could. The filter allows a list and knows none of these; here they are named, so that a hole in the list has a name.
Calls that the kernel refuses to everybody but root (modules, reboot ...) are left out: the canary could not tell.
"""

from typing import Final

from arena.process.sandbox import syscalls

GROUPS: Final = {
    "calls: other processes": (
        "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp rt_sigqueueinfo"
    ),
    "calls: groups, cores, timers": (
        "setsid setpgid setpriority sched_setaffinity sched_setscheduler sched_setattr sched_setparam ioprio_set"
        " timer_create inotify_init1 flock"
    ),
    "calls: namespaces and mounts": (
        "unshare setns mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig fsmount"
        " fspick mount_setattr listmount statmount name_to_handle_at open_by_handle_at quotactl quotactl_fd"
    ),
    "calls: the kernel": (
        "bpf perf_event_open userfaultfd keyctl add_key request_key io_uring_setup io_uring_enter io_uring_register"
        " seccomp personality modify_ldt swapon adjtimex clock_adjtime clock_settime settimeofday sethostname"
        " landlock_create_ruleset lsm_set_self_attr lsm_list_modules pkey_alloc clone3"
    ),
    "calls: hidden memory": (
        "memfd_create memfd_secret shmget shmat semget semop msgget msgsnd mq_open mq_unlink vmsplice splice tee"
        " sendfile copy_file_range remap_file_pages mlock mlock2 mlockall mbind set_mempolicy migrate_pages move_pages"
        " set_mempolicy_home_node io_setup io_submit io_destroy"
    ),
    "calls: the page cache": "mincore cachestat fadvise64 readahead preadv2 pwritev2 sync_file_range syncfs",
    "calls: attributes of files": (
        "setxattr fsetxattr setxattrat removexattrat file_setattr chown fchown fchownat mknodat"
    ),
}
_YOUNG: Final = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "landlock_create_ruleset": 444,
    "memfd_secret": 447,
    "process_mrelease": 448,
    "set_mempolicy_home_node": 450,
    "cachestat": 451,
    "statmount": 457,
    "listmount": 458,
    "lsm_set_self_attr": 460,
    "lsm_list_modules": 461,
    "setxattrat": 463,
    "removexattrat": 466,
    "open_tree_attr": 467,
    "file_setattr": 469,
}
"""Numbers, equal on all processors, of calls that the libseccomp of many a machine does not know."""


def numbers() -> dict[str, dict[str, int]]:
    """Group -> name -> number, of the calls that this processor has. HarnessFault where libseccomp is missing."""
    found = {
        group: {name: syscalls.number_of(name, _YOUNG.get(name, -1)) for name in names.split()}
        for group, names in GROUPS.items()
    }
    return {group: {name: number for name, number in calls.items() if number >= 0} for group, calls in found.items()}
