"""Escape attempts: a program that tries to break out of the sandbox it runs in, and prints the results.

Rule: the Python for bots runs it alone (`python3 -I -S -c`), so it imports the standard library only and knows nothing
of arena. A group is one function, which makes one attempt after the other; each attempt is counted once it has been
made, and comes with the breach, or nothing.
"""

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import sys
import threading
import zlib
from collections.abc import Callable
from typing import Any

Facts = dict[str, Any]
"""The decoys and the facts of this machine, from the self-test."""
Ways = dict[str, str]
"""Attempt -> breach, empty if the attempt failed."""
LIBC = ctypes.CDLL(None, use_errno=True)
REFUSALS = {errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT}
"""Errors of a refused call: it did not reach the kernel, or the program lacks a right."""
SENSELESS = (ctypes.c_long(-1),) * 6
SETTINGS = {"PATH", "HOME", "LANG", "PYTHONHASHSEED", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PWD", "LC_CTYPE"}
PLACES = ("/", "/bot", "/dev", "/dev/shm", "/tmp", "/var/tmp", "/usr", "/etc", "/run", "/proc", "/proc/sys")
OWN_FILES = ("mem", "exe", "oom_score_adj", "clear_refs", "coredump_filter", "autogroup", "comm", "timerslack_ns")
FOLDERS_OF_A_PROCESS = {"fd", "fdinfo", "map_files", "ns"}
PROT_READ_WRITE, MAP_SHARED, MAP_PRIVATE, MAP_ANONYMOUS, MAP_LOCKED, MAP_HUGETLB = 3, 1, 2, 0x20, 0x2000, 0x40000
PAGE_BYTES = 4096
CLONE_NEWUSER, CLONE_VM = 0x10000000, 0x100
TIOCSTI = 0x5412
SO_COOKIE = 57


def parse_table(text: str) -> dict[str, int]:
    """Return the numbers by name of a text like `NAME=1 OTHER=2`."""
    return {name: int(number) for name, _, number in (word.partition("=") for word in text.split())}


FAMILIES = parse_table("AF_NETLINK=16 AF_PACKET=17 AF_ALG=38 AF_VSOCK=40")
ADVICE = parse_table("WILLNEED=3 MERGEABLE=12 HUGEPAGE=14 COLD=20 PAGEOUT=21 POPULATE_READ=22 COLLAPSE=25")
FCNTL = parse_table("GETLK=5 SETLK=6 SETOWN=8 SETSIG=10 OFD_GETLK=36 SETLEASE=1024 NOTIFY=1026 SETPIPE_SZ=1031")
PRCTL = parse_table("SET_PDEATHSIG=1 SET_DUMPABLE=4 SET_TIMERSLACK=29 MCE_KILL_GET=34 GET_THP_DISABLE=42")


def breach_of(attempt: Callable[..., str], *arguments: Any) -> str:
    """Make an attempt; return its breach, empty if the kernel refuses."""
    try:
        return attempt(*arguments)
    except OSError:
        return ""


def open_file(path: str, flags: int) -> str:
    """Open a file with these flags; return the breach."""
    os.close(os.open(path, flags | os.O_NONBLOCK))
    return f"opened {path}"


def list_folder(path: str, but: tuple[str, ...] = ()) -> str:
    """List a folder; return the breach if it has entries that do not lead to a path of `but`."""
    names = [name for name in os.listdir(path) if not any(root.startswith(f"{path}/{name}") for root in but)]
    return f"sees {len(names)} entries of {path}" if names else ""


def look_into(path: str) -> str:
    """Read a file or list a folder; return the breach."""
    return list_folder(path) if os.path.isdir(path) else open_file(path, os.O_RDONLY)


def files_outside(facts: Facts) -> Ways:
    """Try to see files of the harness and of this machine; folders of named runtimes may be visible."""
    but = tuple(facts["runtimes"])
    tried = {path: breach_of(list_folder, path, but) for path in facts["folders"]}
    for path in (facts["file"], "/etc/passwd", "/etc/shadow", "/etc/machine-id"):
        tried[path] = breach_of(open_file, path, os.O_RDONLY)
    return tried


def places_to_write(_facts: Facts) -> Ways:
    """Try to write a file in any folder."""

    def write_into(folder: str) -> str:
        path = os.path.join(folder, "arena-escape")
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        os.unlink(path)
        return f"wrote to {folder}"

    return {place: breach_of(write_into, place) for place in PLACES}


def files_of_processes(_facts: Facts) -> Ways:
    """Try to open files of /proc for writing: memory and program of another process, the own OOM score, all others."""
    paths = [f"/proc/{who}/{name}" for who in ("1", "self") for name in OWN_FILES]
    tried = {path: breach_of(open_file, path, os.O_WRONLY) for path in paths}
    others = []
    for place, folders, names in os.walk("/proc"):
        folders[:] = [name for name in folders if name not in FOLDERS_OF_A_PROCESS]
        others += [path for name in names if (path := os.path.join(place, name)) not in tried]
    found = [path for path in others if breach_of(open_file, path, os.O_WRONLY)]
    return tried | {"all other files of /proc": f"opened {', '.join(found[:5])}" if found else ""}


def counters(facts: Facts) -> Ways:
    """Try to read files of the kernel that show the activity of the whole machine: each with its breach, or empty."""
    tried = {f"/proc/{name}": breach_of(look_into, f"/proc/{name}") for name in facts["covered"]}
    for path, text in facts["synthetic"].items():
        tried[path] = breach_of(
            lambda path=path, text=text: "" if checksum(path) == text else f"reads the machine's {path}"
        )
    known = {*facts["covered"], *facts["constant"], *(path[6:] for path in facts["synthetic"])}
    names = [name for name in os.listdir("/proc") if not name.isdigit() and name not in known]
    found = [name for name in names if breach_of(look_into, f"/proc/{name}")]
    return tried | {"files that no list knows": f"reads {', '.join(found)}" if found else ""}


def checksum(path: str) -> int:
    """Return the CRC-32 of a file."""
    with open(path, "rb") as file:
        return zlib.crc32(file.read())


def network(facts: Facts) -> Ways:
    """Try to connect to programs of this machine, and to get sockets that leave a network namespace."""

    def connect(family: int, address: Any) -> str:
        """Connect to an address; return the breach."""
        with socket.socket(family) as connection:
            connection.settimeout(0.2)
            return "" if connection.connect_ex(address) else "connected to a program outside"

    def ask(family: int) -> str:
        """Ask for a raw socket of this family; return the breach, also if the request passed the filter and failed."""
        try:
            socket.socket(family, socket.SOCK_RAW).close()
        except OSError as refusal:
            return "" if refusal.errno in REFUSALS else "may ask for it"
        return "has a socket of it"

    tried = {
        "AF_INET": breach_of(connect, socket.AF_INET, ("127.0.0.1", facts["port"])),
        "AF_UNIX": breach_of(connect, socket.AF_UNIX, "\0" + facts["name"]),
    }
    return tried | {name: ask(number) for name, number in FAMILIES.items()}


def other_processes(facts: Facts) -> Ways:
    """Try to see or signal processes outside; the harness is left out if its id is also that of a process inside."""
    mine = {1, os.getpid()}
    seen = {int(name) for name in os.listdir("/proc") if name.isdigit()} - mine

    def reach() -> str:
        if facts["pid"] in mine:
            return ""
        os.kill(facts["pid"], 0)
        return "can signal processes outside"

    return {"seeing them": f"sees {len(seen)} processes outside" if seen else "", "signals": breach_of(reach)}


def namespaces(facts: Facts) -> Ways:
    """Compare the namespaces with those of the harness."""
    own = {name: os.readlink(f"/proc/self/ns/{name}") for name in facts["namespaces"]}
    return {name: ("shares the harness's" if own[name] == text else "") for name, text in facts["namespaces"].items()}


def environment(facts: Facts) -> Ways:
    """Look for environment variables of the harness."""
    strange = set(os.environ) - SETTINGS

    def of_first() -> str:
        """Read the environment of the sandbox's first process; return the breach."""
        with open("/proc/1/environ", encoding="utf-8") as file:
            return "sees settings of the harness: /proc/1/environ" if facts["token"] in file.read() else ""

    own = f"sees settings of the harness: {', '.join(sorted(strange))}" if strange else ""
    return {"its own": own, "the first process's": breach_of(of_first)}


def limits(facts: Facts) -> Ways:
    """Compare the hard rlimits with the expected ones."""
    hard = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1] for name in facts["limits"]}
    return {name: ("" if 0 <= hard[name] <= most else "has no limit") for name, most in facts["limits"].items()}


def rights(_facts: Facts) -> Ways:
    """Check that there are no capabilities and no way to new privileges, and that a filter of system calls is set."""
    with open("/proc/self/status", encoding="ascii") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    return {
        "capabilities": "has some" if int(status["CapEff"], 16) or int(status["CapBnd"], 16) else "",
        "new privileges": "has a way to them" if status["NoNewPrivs"] != "1" else "",
        "the filter": "has none" if status["Seccomp"] != "2" else "",
    }


def passes_filter(call: Callable[..., int], *arguments: Any) -> str:
    """Make a call; return the breach if it passed the filter, even if the kernel then failed it."""
    ctypes.set_errno(0)
    return "may call it" if call(*arguments) >= 0 or ctypes.get_errno() not in REFUSALS else ""


def system_call(number: int, *arguments: Any) -> int:
    """Make a system call by its number."""
    return int(LIBC.syscall(ctypes.c_long(number), *arguments))


def map_page(flags: int) -> int | None:
    """Map a page of anonymous memory with these flags; return its address, None if that fails."""
    LIBC.mmap.restype = ctypes.c_void_p
    place = LIBC.mmap(None, ctypes.c_size_t(PAGE_BYTES), PROT_READ_WRITE, flags | MAP_ANONYMOUS, -1, ctypes.c_long(0))
    return None if place == ctypes.c_void_p(-1).value else int(place)


def arguments(facts: Facts) -> Ways:
    """Try calls that a bot may make with arguments that are forbidden."""
    page, size = ctypes.c_void_p(map_page(MAP_PRIVATE)), ctypes.c_size_t(PAGE_BYTES)
    tried = {f"madvise {name}": passes_filter(LIBC.madvise, page, size, number) for name, number in ADVICE.items()}
    tried["mmap locked"] = "may call it" if map_page(MAP_PRIVATE | MAP_LOCKED) else ""
    if not facts["counts_shared_memory"]:
        tried["mmap shared and anonymous"] = "may call it" if map_page(MAP_SHARED) else ""
    reading, writing = os.pipe()
    lock = ctypes.create_string_buffer(64)
    for name, number in FCNTL.items():
        third = lock if "LK" in name else ctypes.c_long(PAGE_BYTES if "PIPE" in name else 0)
        tried[f"fcntl F_{name}"] = passes_filter(LIBC.fcntl, writing, number, third)
    for name, number in PRCTL.items():
        answer = LIBC.prctl(number, int(name == "SET_DUMPABLE"), 0, 0, 0)
        tried[f"prctl PR_{name}"] = "may call it" if answer >= 0 else ""
    tried["ioctl TIOCSTI"] = passes_filter(LIBC.ioctl, reading, ctypes.c_ulong(TIOCSTI), ctypes.c_char_p(b"x"))
    with socket.socketpair()[0] as one:
        length = ctypes.byref(ctypes.c_int(ctypes.sizeof(lock)))
        tried["getsockopt SO_COOKIE"] = passes_filter(
            LIBC.getsockopt, one.fileno(), socket.SOL_SOCKET, SO_COOKIE, lock, length
        )
    tried["open O_DIRECT"] = breach_of(open_file, "/proc/self/exe", os.O_RDONLY | os.O_DIRECT)
    flags = ctypes.c_long(CLONE_NEWUSER | CLONE_VM | 1 << 16)
    tried["clone into a user namespace"] = passes_filter(system_call, facts["clone"], flags, *[0] * 4)
    tried["kill with SIGCONT"] = passes_filter(LIBC.kill, os.getpid(), int(signal.SIGCONT))
    tried["tgkill with SIGCONT"] = passes_filter(system_call, facts["tgkill"], *[os.getpid()] * 2, int(signal.SIGCONT))
    os.close(reading)
    os.close(writing)
    return tried


def system_calls(facts: Facts) -> Ways:
    """Try the calls that no bot may make."""
    return {name: passes_filter(system_call, number, *SENSELESS) for name, number in facts["calls"].items()}


def processes(_facts: Facts) -> Ways:
    """Try to start a process."""

    def fork() -> str:
        if os.fork() == 0:
            os._exit(0)
        return "can start processes"

    return {
        "fork": breach_of(fork),
        "posix_spawn": breach_of(lambda: f"started {os.posix_spawn('/bin/true', ['true'], {})}"),
    }


def tasks(facts: Facts) -> Ways:
    """Try to start more threads than allowed."""
    wait = threading.Event()
    threads = [threading.Thread(target=wait.wait) for _ in range(facts["tasks"] + 1)]
    breach = f"started {len(threads)} threads, allowed are {facts['tasks']} tasks"
    try:
        for thread in threads:
            thread.start()
    except RuntimeError:
        breach = ""
    wait.set()
    return {"threads": breach}


GROUPS = {
    "files": files_outside,
    "writing": places_to_write,
    "files of processes": files_of_processes,
    "counters of the machine": counters,
    "network": network,
    "other processes": other_processes,
    "namespaces": namespaces,
    "environment": environment,
    "limits": limits,
    "rights": rights,
    "arguments of calls": arguments,
    "calls": system_calls,
    "own processes": processes,
    "tasks": tasks,
}
"""The groups in their order: threads come last, and processes after all groups that a child would disturb."""
print(json.dumps({name: group(json.loads(sys.argv[1])) for name, group in GROUPS.items()}))
