"""/proc in a box: nothing in it can be written, and nothing in it tells what the machine or another bot is doing."""

import ctypes
import json
import os
import threading
from pathlib import Path

from support.process_boxes import ask, folder_of, in_a_box, ran, talking

from arena.process.sandbox import kernel_files

pytestmark = in_a_box

READ_ALL = """
import json, os, sys, zlib
def read_all():
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit() or os.path.islink(f"/proc/{name}"):
            continue
        paths = [f"/proc/{name}"] if not os.path.isdir(f"/proc/{name}") else [
            os.path.join(place, each) for place, _, names in os.walk(f"/proc/{name}") for each in names]
        for path in paths:
            try:
                with open(path, "rb") as file:
                    found[path] = zlib.crc32(file.read(1 << 16))
            except OSError:
                pass
    return found
for line in sys.stdin:
    print(json.dumps(read_all()), flush=True)
"""
STILL_OPEN = kernel_files.CONSTANT | {Path(path).name for path in kernel_files.synthetic_contents(0)}
TALKATIVE = ("loadavg", "vmstat", "uptime", "interrupts", "softirqs", "sys", "pressure", "buddyinfo", "zoneinfo")


def test_only_constant_files_of_the_kernel_can_be_read(tmp_path: Path) -> None:
    """Every file outside the processes' own folders is on the list, also on kernels with more of them."""
    with talking(folder_of(tmp_path, bot_py=READ_ALL)) as (channel, _):
        seen = json.loads(ask(channel))

    readable = {Path(path).parts[2] for path in seen}
    assert readable - STILL_OPEN == set()
    assert {"stat", "meminfo", "cpuinfo", "version"} <= readable


def test_no_file_of_the_kernel_changes_with_what_the_machine_does(tmp_path: Path) -> None:
    """All are read twice, with asynchronous reads, files, threads, memory and work in between."""
    with talking(folder_of(tmp_path, bot_py=READ_ALL)) as (channel, _):
        before = json.loads(ask(channel))
        _be_busy()
        after = json.loads(ask(channel))

    assert {path for path in before if before[path] != after.get(path)} == set()
    assert before.keys() == after.keys()


def test_what_is_covered_here_would_tell() -> None:
    """The list is not empty by mistake: these files show the load of the machine."""
    covered = {Path(word).name for word in kernel_files.cover_arguments() if word.startswith("/proc/")}

    assert {name for name in TALKATIVE if Path("/proc", name).exists()} <= covered
    assert not covered & STILL_OPEN


def _be_busy() -> None:
    """Do what a bot could do to send a message to another one."""
    held = [threading.Thread(target=sum, args=(range(100_000),)) for _ in range(20)]
    for thread in held:
        thread.start()
    files = [os.open("/dev/null", os.O_RDONLY) for _ in range(200)]
    context = ctypes.c_ulong(0)
    ctypes.CDLL(None).syscall({"x86_64": 206, "aarch64": 0}[os.uname().machine], 500, ctypes.byref(context))
    bytearray(b"x") * (32 << 20)
    for thread in held:
        thread.join()
    for file in files:
        os.close(file)


def test_synthetic_tell_of_the_cores_and_of_the_memory_allowed(tmp_path: Path) -> None:
    """They show all cores, idle, and 128 MiB."""
    said = ran(
        tmp_path,
        "import os\nlines = open('/proc/stat').read().splitlines()\n"
        "print(sum(line[:3] == 'cpu' for line in lines) - 1, {sum(map(int, line.split()[1:])) for line in lines[:3]})\n"
        "print(open('/proc/meminfo').readline().split()[1], 'MHz' in open('/proc/cpuinfo').read())\n",
    ).out

    assert said.splitlines() == [f"{os.cpu_count()} {{0}}", f"{128 << 10} False"]


def test_devices_are_those_that_need_no_terminal(tmp_path: Path) -> None:
    """The devices exist and work."""
    said = ran(
        tmp_path,
        "import os\nprint(sorted(os.listdir('/dev')))\n"
        "print(len(open('/dev/random', 'rb').read(8)))\n"
        "print(open('/dev/null', 'wb').write(b'x'), os.path.realpath('/dev/stdin')[:6])\n",
    ).out

    assert said.splitlines() == [
        "['fd', 'null', 'random', 'shm', 'stderr', 'stdin', 'stdout', 'urandom']",
        "8",
        "1 /proc/",
    ]
