"""Ways to go on for a bot that is stopped: each that the kernel has is refused, or leads nowhere."""

import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path
from typing import Final

import msgspec
import pytest
from support.process_boxes import BOT, FORKING, ask, bot_in, cpu_of_all_s, folder_of, in_a_box, talking
from support.waiting import load

from arena.process import launch
from arena.process.channel import ProcessChannel
from arena.process.launch import Confinement
from arena.process.limits import Limits

pytestmark = in_a_box

RACING: Final = Path(__file__).parents[1] / "hostile" / "bots" / "racing.c"
ROUNDS: Final = 4
WAIT_S: Final = 0.1
MOST_BURNT: Final = 0.2
"""Share of the waits: a stop takes effect at once, or with the next tick of a busy machine. Who evades it burns all."""


def burnt(folder: Path, *command: str, limits: Limits) -> float:
    """Return the CPU time of all its processes while stopped, as a share of that time."""
    burnt_s = 0.0
    with talking(folder, *command, limits=limits) as (channel, process):
        ask(channel)
        for _ in range(ROUNDS):
            ask(channel)
            before_s = cpu_of_all_s(process)
            time.sleep(WAIT_S)
            burnt_s += cpu_of_all_s(process) - before_s
    return burnt_s / (ROUNDS * WAIT_S)


@pytest.fixture(scope="module")
def racing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the folder of a program that races with the stop."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    folder = folder_of(tmp_path_factory.mktemp("racing") / "bot")
    subprocess.run(["cc", "-O1", "-pthread", "-o", folder / "racing", RACING], check=True, timeout=60)
    return folder


@pytest.mark.parametrize(
    ("way", "threads", "limits"),
    [
        ("kill", 1, BOT),
        ("kill", 3, BOT),
        ("tkill", 3, BOT),
        ("tgkill", 3, BOT),
        ("group", 3, FORKING),
        ("all", 3, FORKING),
        ("pidfd", 3, FORKING),
        ("queue", 3, FORKING),
        ("thread-queue", 3, FORKING),
    ],
)
def test_a_stop_cannot_be_thrown_away(racing: Path, way: str, threads: int, limits: Limits) -> None:
    """The bot's own threads send SIGCONT in the moment of the stop, in vain."""
    assert burnt(racing, "./racing", way, str(threads), limits=limits) < MOST_BURNT


MANY: Final = msgspec.structs.replace(BOT, tasks=64)
THREADS: Final = 60
"""With the two of the sandbox and the bot's first one, nearly all that it may have."""


@pytest.mark.parametrize("load_of_a_core", [0, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("affinity", ["one core", "all cores"])
def test_sixty_honest_threads_have_never_taken_anything(racing: Path, affinity: str, load_of_a_core: int) -> None:
    """All work when the stop comes, watched from the start, at ten times the load of the cores."""
    cores, seen = os.sched_getaffinity(0), 0
    with load(load_of_a_core):
        os.sched_setaffinity(0, {max(cores)} if affinity == "one core" else cores)
        try:
            with talking(racing, "./racing", "none", str(THREADS), limits=MANY) as (channel, process):
                channel._standstill._watched_stops = 64
                for number in range(20 if load_of_a_core else 10):
                    ask(channel)
                    seen += channel._standstill._is_seen
                    time.sleep(0.001 * (number % 5))
                used_s = process.group.cpu()
        finally:
            os.sched_setaffinity(0, cores)

    assert used_s > 0.01
    assert seen > 0
    assert channel.taken_s == 0.0


def test_a_stop_that_was_thrown_away_is_repeated(racing: Path) -> None:
    """Where no filter stands around the bot: it races once, and then finds itself watched."""
    bare = launch.start(bot_in(racing, "./racing", "kill", "3"), (), Confinement(isolation="none", limits=BOT))
    shares = []
    try:
        channel = ProcessChannel(bare, limit=BOT.line_bytes)
        for _ in range(2 * ROUNDS):
            ask(channel)
            before_s = bare.group.cpu()
            time.sleep(WAIT_S)
            shares.append((bare.group.cpu() - before_s) / WAIT_S)
    finally:
        bare.kill()

    assert statistics.median(shares[1:]) < MOST_BURNT  # on a machine that is busy enough a stop may come too late


BURNING: Final = """
import ctypes, fcntl, mmap, os, signal, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
def burn():
    while True:
        pass
def attempt(call, *arguments):
    try:
        call(*arguments)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\\n")
def before():
    pass
def each_time():
    pass
"""
ANSWERING: Final = """
before()
threading.Thread(target=burn, daemon=True).start()
for line in sys.stdin:
    each_time()
    print(line, end="", flush=True)
"""
WAYS: Final = {
    "a child's death": """
def before():
    for signal_number in (18, 18 | 0x4000):
        if libc.syscall(clone, signal_number, 0, 0, 0, 0) == 0:
            time.sleep(0.3)
            os._exit(0)
def each_time():
    if os.fork() == 0:
        time.sleep(0.01)
        os._exit(0)
""",
    "timers of a process": """
def before():
    for kind, number in ((signal.ITIMER_REAL, 14), (signal.ITIMER_VIRTUAL, 26), (signal.ITIMER_PROF, 27)):
        signal.signal(number, lambda *_: None)
        signal.setitimer(kind, 0.002, 0.002)
""",
    "input": """
def before():
    for fd in (0, 1, *os.pipe()):
        attempt(fcntl.fcntl, fd, 10, 18)
        attempt(fcntl.fcntl, fd, 8, os.getpid())
        attempt(fcntl.fcntl, fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)
""",
    "an orphaned group": """
def before():
    if os.fork() == 0:
        attempt(os.setpgid, 0, 0)
        if os.fork() == 0:
            burn()
        time.sleep(0.05)
        os._exit(0)
def each_time():
    if os.fork() == 0:
        if os.fork() == 0:
            burn_for = time.monotonic() + 0.3
            while time.monotonic() < burn_for:
                pass
        os._exit(0)
""",
    "a parent's death": """
def before():
    parent = os.getpid()
    if os.fork() == 0:
        libc.prctl(1, 18)
        burn()
""",
    "a terminal": """
def before():
    for path in ("/dev/ptmx", "/dev/pts/ptmx", "/dev/tty", "/dev/console"):
        attempt(os.open, path, os.O_RDWR)
    for request in (0x540E, 0x5410, 0x5422):
        attempt(fcntl.ioctl, 0, request, 0)
""",
    "a child": """
def before():
    parent = os.getpid()
    if os.fork() == 0:
        while True:
            attempt(os.kill, parent, 18)
            attempt(os.kill, 1, 18)
            time.sleep(0.0005)
""",
    "a new program": """
def before():
    def again():
        time.sleep(0.004)
        while True:
            attempt(os.execv, "/nothing", ["x"])
    threading.Thread(target=again, daemon=True).start()
""",
    "a wait for a child": """
def before():
    def wait():
        while True:
            os.posix_spawn("/bin/true", ["true"], {})
    threading.Thread(target=wait, daemon=True).start()
""",
    "ignored signals": """
def before():
    for number in range(1, 65):
        attempt(signal.signal, number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, range(1, 65))
""",
    "another group": """
def before():
    for leave in (os.setsid, lambda: os.setpgid(0, 0)):
        if os.fork() == 0:
            attempt(leave)
            burn()
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_else_wakes_a_stopped_bot(tmp_path: Path, way: str) -> None:
    """A bot with processes has more calls to try."""
    folder = folder_of(tmp_path, bot_py=f"{BURNING}{WAYS[way]}{ANSWERING}")

    assert burnt(folder, limits=FORKING) < MOST_BURNT
