"""The canary: a program that tries to break out of the box it runs in, and says what it managed.

Rule: it is run by the Python for bots, alone (`python3 -I -S -c`), so it imports the standard library only and knows
nothing of arena. Each attempt is one function; it returns what it found open, or nothing.
"""

import ctypes
import errno
import json
import os
import resource
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

Facts = dict[str, Any]
"""What there is to reach for; see the probe."""
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER = 0x10000000
PTRACE_DETACH = 17
SETTINGS = {"PATH", "HOME", "LANG", "PYTHONHASHSEED", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PWD", "LC_CTYPE"}


def files_outside(facts: Facts) -> str:
    """A file of the harness."""
    try:
        with open(facts["file"], encoding="utf-8") as file:
            return f"read {facts['file']}: {len(file.read())} characters"
    except OSError:
        return ""


def places_to_write(_facts: Facts) -> str:
    """Anywhere at all."""
    found = []
    for place in ("/", "/bot", "/dev", "/dev/shm", "/tmp", "/var/tmp", "/usr", "/etc", "/proc/sys"):
        path = os.path.join(place, "arena-canary")
        try:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            os.unlink(path)
            found.append(place)
        except OSError:
            pass
    return f"wrote to {', '.join(found)}" if found else ""


def network(facts: Facts) -> str:
    """A program that listens on this machine."""
    for family, address in ((socket.AF_INET, ("127.0.0.1", facts["port"])), (socket.AF_UNIX, "\0" + facts["name"])):
        try:
            with socket.socket(family) as connection:
                connection.settimeout(0.2)
                if connection.connect_ex(address) == 0:
                    return f"connected to a program outside ({family.name})"
        except OSError:
            pass  # no socket at all, or no way to that address
    return ""


def other_processes(facts: Facts) -> str:
    """The harness itself, and whoever else there is. In a container its number may be that of a process in the box."""
    mine = {1, os.getpid()}
    seen = {int(name) for name in os.listdir("/proc") if name.isdigit()} - mine
    try:
        if facts["pid"] not in mine:
            os.kill(facts["pid"], 0)
            return "can signal processes outside"
    except OSError:
        pass
    return f"sees {len(seen)} processes outside" if seen else ""


def namespaces(facts: Facts) -> str:
    """The views of the machine that it shares with the harness."""
    shared = [name for name, text in facts["namespaces"].items() if os.readlink(f"/proc/self/ns/{name}") == text]
    return f"shares the harness's namespaces {', '.join(shared)}" if shared else ""


def environment(facts: Facts) -> str:
    """The settings of the harness."""
    strange = set(os.environ) - SETTINGS
    try:
        with open("/proc/1/environ", encoding="utf-8") as file:
            text = file.read()
    except OSError:
        text = ""
    if facts["token"] in text or strange:
        return f"sees settings of the harness: {', '.join(sorted(strange)) or '/proc/1/environ'}"
    return ""


def processes(_facts: Facts) -> str:
    """A process of its own."""
    try:
        if os.fork() == 0:
            os._exit(0)
    except OSError:
        return ""
    return "can start processes"


def tasks(facts: Facts) -> str:
    """More threads than allowed."""
    wait = threading.Event()
    started = []
    try:
        for _ in range(facts["tasks"] + 1):
            thread = threading.Thread(target=wait.wait)
            thread.start()
            started.append(thread)
    except RuntimeError:
        return ""
    finally:
        wait.set()
    return f"started {len(started)} threads, allowed are {facts['tasks']} tasks"


def limits(facts: Facts) -> str:
    """Core dumps, and memory without an end."""
    found = []
    if resource.getrlimit(resource.RLIMIT_CORE)[1] != 0:
        found.append("core dumps")
    if resource.getrlimit(resource.RLIMIT_DATA)[1] != facts["data"]:
        found.append("memory")
    return f"has no limit of {', '.join(found)}" if found else ""


def calls(_facts: Facts) -> str:
    """System calls that would free it from being frozen or limited."""
    attempts: dict[str, Callable[[], int]] = {
        "setsid": lambda: LIBC.setsid(),
        "setpgid": lambda: LIBC.setpgid(0, 0),
        "unshare": lambda: LIBC.unshare(CLONE_NEWUSER),
        "ptrace": lambda: _is_answered(LIBC.ptrace(PTRACE_DETACH, 1, 0, 0)),
        "memfd_create": lambda: LIBC.memfd_create(b"x", 0),
        "keyctl": lambda: LIBC.syscall(250 if os.uname().machine == "x86_64" else 219, 0, -3, 0),
        "sched_setaffinity": lambda: LIBC.sched_setaffinity(0, 8, ctypes.byref(ctypes.c_ulong(1))),
    }
    found = [name for name, attempt in attempts.items() if attempt() >= 0]
    return f"may call {', '.join(found)}" if found else ""


def _is_answered(_: int) -> int:
    """0 if the kernel looked at the call and found no process for it; harmless, as PTRACE_TRACEME would not be."""
    return 0 if ctypes.get_errno() == errno.ESRCH else -1


def rights(_facts: Facts) -> str:
    """What would let it out by other ways."""
    with open("/proc/self/status", encoding="ascii") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    found = []
    if int(status["CapEff"], 16) or int(status["CapBnd"], 16):
        found.append("capabilities")
    if status["NoNewPrivs"] != "1":
        found.append("a way to new privileges")
    if status["Seccomp"] != "2":
        found.append("no system call filter")
    return f"has {', '.join(found)}" if found else ""


ATTEMPTS = (
    ("files", files_outside),
    ("writing", places_to_write),
    ("network", network),
    ("other processes", other_processes),
    ("namespaces", namespaces),
    ("environment", environment),
    ("limits", limits),
    ("rights", rights),
    ("system calls", calls),
    ("own processes", processes),
    ("tasks", tasks),
)


def main() -> None:
    """Print what each attempt found, as JSON."""
    facts = json.loads(sys.argv[1])
    print(json.dumps({name: attempt(facts) for name, attempt in ATTEMPTS}))


main()
