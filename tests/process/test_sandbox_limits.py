"""What the box keeps a bot to: memory, tasks, files, scratch, lines."""

import json
import resource
from functools import partial
from pathlib import Path

import msgspec
import pytest
from support.process_boxes import (
    BOT,
    FORKING,
    as_ordinary_user,
    ask,
    folder_of,
    in_a_box,
    open_to_all,
    ran,
    resident_mib,
    started,
    talking,
)
from support.waiting import eventually

from arena.errors import Crashed
from arena.process.limits import Limits

pytestmark = in_a_box

SCRATCH = msgspec.structs.replace(BOT, scratch_mib=1)
CROWD = msgspec.structs.replace(FORKING, tasks=64, memory_mib=512)
SPEAK = "print(input(), flush=True)\n"

NAMED = "import ctypes\nctypes.CDLL(None).prctl(15, b'VmRSS: 0 ', 0, 0, 0)\nx = bytearray(b'x') * (160 << 20)\n"
BETWEEN = "x = bytearray(b'x') * (160 << 20)\n"
SOCKETS = """
import os, socket
kept = []
for _ in range(5):
    if os.fork() == 0:
        for _ in range(110):
            kept.append(socket.socketpair())
            for end in kept[-1]:
                end.setblocking(False)
                end.send(b"x" * (1 << 20))
        break
"""
CONNECTIONS = """
import socket
kept = [socket.socket(socket.AF_UNIX)]
kept[0].bind("\\0here")
kept[0].listen(4096)
for _ in range(1200):
    with socket.socket(socket.AF_UNIX) as calling:
        calling.setblocking(False)
        calling.connect("\\0here")
        calling.send(b"x" * (1 << 20))
"""


def test_the_limits_as_the_bot_reads_them(tmp_path: Path) -> None:
    """Soft and hard limits are equal, so that none can be raised."""
    names = ("DATA", "NOFILE", "CORE", "NPROC", "FSIZE", "SIGPENDING")
    code = f"import json, resource as r\nprint(json.dumps([r.getrlimit(getattr(r, 'RLIMIT_' + n)) for n in {names}]))"

    found = ran(tmp_path, code)

    assert json.loads(found.out) == [[256 << 20] * 2, [256] * 2, [0] * 2, [24] * 2, [16 << 20] * 2, [64] * 2]


def test_what_is_less_than_the_limit_may_be_used(tmp_path: Path) -> None:
    """The memory may be one block."""
    found = ran(tmp_path, "x = bytearray(b'x' * (80 << 20))\nprint(len(x))")

    assert found.out == f"{80 << 20}\n"


@pytest.mark.parametrize(
    ("hog", "is_forking"),
    [(BETWEEN, False), (NAMED, False), (SOCKETS, True), (CONNECTIONS, True)],
    ids=["between", "named", "sockets", "unaccepted"],
)
def test_memory_beyond_the_limit_ends_the_bot(tmp_path: Path, hog: str, is_forking: bool) -> None:
    """Any kind of memory counts, and the bot gets little more than its limit."""
    folder = folder_of(tmp_path, bot_py=f"input()\n{hog}{SPEAK}")
    limits = FORKING if is_forking else BOT

    with talking(folder, limits=limits) as (channel, process):
        with pytest.raises(Crashed, match=r"it used \d+ MiB of memory, allowed are 128 MiB"):
            ask(channel)
        used_mib = resident_mib(process)

    assert used_mib < 128 + 300  # the watch looks every 20 to 50 ms; a page fault takes a quarter of a microsecond


@pytest.mark.parametrize("is_forking", [False, True])
def test_tasks_are_counted_in_the_box_alone(tmp_path: Path, is_forking: bool) -> None:
    """Threads and processes together, bwrap's own two included; what runs outside does not count."""
    threads = """
import threading
stop = threading.Event()
n = 0
try:
    while n < 100:
        threading.Thread(target=stop.wait).start()
        n += 1
except RuntimeError:
    pass
stop.set()
print(n)
"""
    forks = """
import os, time
n = 0
try:
    while n < 100:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        n += 1
except OSError:
    pass
print(n, flush=True)
os.kill(0, 9)
"""
    found = ran(tmp_path, forks if is_forking else threads, limits=FORKING if is_forking else BOT)

    assert 24 - 4 <= int(found.out) < 24


def test_scratch_has_the_size_that_was_agreed(tmp_path: Path) -> None:
    """In /tmp, and once more in /dev/shm for multiprocessing; nowhere else."""
    code = """
import os
for place in ("/tmp", "/dev/shm", "/bot", "/"):
    done = 0
    try:
        with open(place + "/x", "wb", buffering=0) as file:
            while done < 64 << 20:
                done += file.write(b"x" * 65536)
    except OSError as error:
        print(place, done, error.strerror)
"""
    found = ran(tmp_path, code, limits=SCRATCH)

    assert found.out.splitlines() == [
        f"/tmp {1 << 20} No space left on device",
        f"/dev/shm {1 << 20} No space left on device",
        "/bot 0 Read-only file system",
        "/ 0 Read-only file system",
    ]


@pytest.mark.parametrize("kept", [0, 1000])
def test_stderr_is_kept_as_agreed(tmp_path: Path, kept: int) -> None:
    """Its beginning and its end are kept, however long it is."""
    code = (
        "import sys\nsys.stderr.write('a' * 300000 + 'b' * 300000)\nsys.stderr.flush()\n" + SPEAK + "\nsys.stdin.read()"
    )
    limits = msgspec.structs.replace(BOT, stderr_bytes=kept)

    with talking(folder_of(tmp_path, bot_py=code), limits=limits) as (channel, _):
        answer = ask(channel)
        said = channel.stderr()

    assert answer == b"go"
    assert said.replace("\n", "").startswith("a" * (kept // 2) + "...")
    assert said.rstrip("\n").endswith("..." + "\n" * bool(kept) + "b" * (kept // 2))
    assert "bytes left out" in said


HOLDER = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
for _ in range(int(input())):
    os.kill(os.getpid(), signal.SIGRTMIN)
print("held", flush=True)
input()
"""
READER = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
for _ in range(int(input())):
    os.kill(os.getpid(), signal.SIGRTMIN)
queued = 0
while signal.sigtimedwait({signal.SIGRTMIN}, 0):
    queued += 1
print(queued, flush=True)
input()
"""
PIPES = """
import os, time
children = int(input())
ready, done = os.pipe()
for _ in range(children):
    if os.fork() == 0:
        kept = [os.pipe() for _ in range(110)]
        os.write(done, b".")
        while True:
            time.sleep(60)
kept = []
try:
    while not children:
        kept.append(os.pipe())
except OSError:
    pass
for _ in range(children):
    os.read(ready, 1)
print("held", flush=True)
input()
"""
PIPE_SIZE = """
import fcntl, os
while True:
    input()
    print(fcntl.fcntl(os.pipe()[0], 1032), flush=True)
"""
MOST = 300
"""Of the user, set here; far more than two bots may have, and so few that a test can fill them up."""
PYTHON_OF_ALL = "/usr/bin/python3"
"""An ordinary user may be unable to read root's own."""


@pytest.mark.skipif(not Path(PYTHON_OF_ALL).exists(), reason=f"no {PYTHON_OF_ALL}")
def test_queued_signals_of_one_bot_are_not_seen_by_another(tmp_path: Path) -> None:
    """The kernel adds those of a user, over all namespaces; so both boxes are an ordinary user's."""
    place = open_to_all(tmp_path)
    holder, reader = (folder_of(place / name, bot_py=code) for name, code in (("holder", HOLDER), ("reader", READER)))

    def two_boxes() -> str:
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (MOST, MOST))
        found = []
        for held in (0, MOST):
            with (
                talking(holder, PYTHON_OF_ALL, "bot.py") as (sender, _),
                talking(reader, PYTHON_OF_ALL, "bot.py") as (receiver, _),
            ):
                ask(sender, str(held).encode())
                found.append(ask(receiver, str(MOST).encode()).decode())
        return " ".join(found)

    assert as_ordinary_user(two_boxes) == "64 64"


@pytest.mark.skipif(not Path(PYTHON_OF_ALL).exists(), reason=f"no {PYTHON_OF_ALL}")
def test_pipes_of_one_bot_are_seen_by_another_only_with_processes(tmp_path: Path) -> None:
    """The kernel counts their pages by user, and makes new ones small beyond 16384."""
    open_to_all(tmp_path)
    holder, reader = (folder_of(tmp_path / name, bot_py=code) for name, code in (("a", PIPES), ("b", PIPE_SIZE)))

    def two_boxes(limits: Limits, children: int) -> str:
        with (
            talking(holder, PYTHON_OF_ALL, "bot.py", limits=limits) as (sender, _),
            talking(reader, PYTHON_OF_ALL, "bot.py") as (receiver, _),
        ):
            before = ask(receiver)
            ask(sender, str(children).encode())
            return f"{before.decode()} {ask(receiver).decode()}"

    assert as_ordinary_user(partial(two_boxes, BOT, 0)) == "65536 65536"
    assert as_ordinary_user(partial(two_boxes, CROWD, 40)) == "65536 8192"


def test_limits_of_the_harness_are_left_alone(tmp_path: Path) -> None:
    """They are set on the sandbox from outside, not on this process."""
    kinds = (resource.RLIMIT_DATA, resource.RLIMIT_NOFILE, resource.RLIMIT_CORE, resource.RLIMIT_NPROC)
    before = [resource.getrlimit(kind) for kind in kinds]

    with started(folder_of(tmp_path, bot_py="input()")) as process:
        assert eventually(lambda: process.group.cpu() > 0)

    assert [resource.getrlimit(kind) for kind in kinds] == before
