"""Time of a bot in its box. One that burns 0.2 s a move is charged at least 0.2 s, whatever it burns them in."""

import os
import statistics
import time
from pathlib import Path

import pytest
from support.process_boxes import ask, box_with, boxed, folder_of, in_a_box, on_x86_64, talking, without

from arena.process.sandbox import syscalls

pytestmark = in_a_box
BURN = """
import sys, threading, time
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
for line in sys.stdin:
    threads = [threading.Thread(target=burn, args=(float(word),)) for word in line.split()[1:]]
    for thread in threads: thread.start()
    burn(float(line.split()[0]))
    for thread in threads: thread.join()
    print("done", flush=True)
"""


@pytest.mark.parametrize("line", [b"0.05", b"0 0.05", b"0.02 0.015 0.015"], ids=["main", "thread", "three"])
def test_the_clock_counts_all_threads_of_the_bot(tmp_path: Path, line: bytes) -> None:
    """50 ms of work are 50 ms on the clock, with little on top, however long they took."""
    with talking(folder_of(tmp_path, bot_py=BURN)) as (channel, process):
        ask(channel, b"0")
        measured = []
        for _ in range(3):
            before_s = process.group.cpu()
            ask(channel, line)
            measured.append(process.group.cpu() - before_s)

    assert 0.045 < statistics.median(measured) < 0.080


def test_a_sleeping_bot_uses_no_time(tmp_path: Path) -> None:
    """It has not waited for a core either, unless the machine was busy each time."""
    code = "import time\nwhile True: input(); time.sleep(0.05); print(1, flush=True)\n"
    cpu_s, delayed_s = [], []
    with talking(folder_of(tmp_path, bot_py=code)) as (channel, process):
        ask(channel)
        for _ in range(5):
            cpu_s.append(-process.group.cpu())
            delayed_s.append(-process.group.delayed_s())
            ask(channel)
            cpu_s[-1] += process.group.cpu()
            delayed_s[-1] += process.group.delayed_s()

    assert min(cpu_s) < 0.02
    assert min(delayed_s) < 0.045


def test_the_clock_of_a_bot_that_is_gone_stands(tmp_path: Path) -> None:
    """Its last reading is kept."""
    with talking(folder_of(tmp_path, bot_py=BURN)) as (channel, process):
        ask(channel, b"0.02")
        before_s = process.group.cpu(), process.group.delayed_s()
        process.kill()

    assert (process.group.cpu(), process.group.delayed_s()) == before_s


def test_a_bot_kept_waiting_by_others_is_seen_to_be(tmp_path: Path) -> None:
    """It delays itself here: its threads share one core, which it cannot leave."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        with talking(folder_of(tmp_path, bot_py=BURN)) as (channel, process):
            os.sched_setaffinity(0, cores)
            ask(channel, b"0")
            before_s, begin_s = process.group.delayed_s(), time.monotonic()
            ask(channel, b"0.03 0.03 0.03")
            elapsed_s = time.monotonic() - begin_s

            assert elapsed_s > 0.089
            assert 0.0 < process.group.delayed_s() - before_s <= elapsed_s
    finally:
        os.sched_setaffinity(0, cores)


BURNT_S = 0.2
BURNING = f"""
import ctypes, os, sys, threading, time
def line():
    said = b""
    while not said.endswith(b"\\n"):
        more = os.read(0, 1)
        if not more: os._exit(0)
        said += more
    return said.strip()
def burn(seconds={BURNT_S}):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
def say(): os.write(1, b"done\\n")
END_OF_THREAD = {{"x86_64": 60, "aarch64": 93}}[os.uname().machine]
def end_this_thread():
    while threading.active_count() < 2: time.sleep(0.001)
    ctypes.CDLL(None).syscall(END_OF_THREAD, 0)
"""
LOOP = "\n  line(); burn(); say()\n"
WAYS = {
    "a thread that outlives the first": f"""
def play():
 while True:{LOOP}
threading.Thread(target=play).start()
end_this_thread()
""",
    "another program in its place": """
line(); burn(); say()
os.execv(sys.executable, [sys.executable, "bot.py"])
""",
    "another program, by a thread that outlives the first": """
def play():
 line(); burn(); say()
 os.execv(sys.executable, [sys.executable, "bot.py"])
threading.Thread(target=play).start()
end_this_thread()
""",
    "before the program that answers": """
line(); burn()
os.execv("/bin/sh", ["sh", "-c", "echo done; exec " + sys.executable + " bot.py"])
""",
    "threads that have ended": """
while True:
  line()
  for _ in range(100):
    thread = threading.Thread(target=burn, args=(0.00205,))
    thread.start(); thread.join()
  say()
""",
}
FIRST_PROCESS = f"""
import os, time
input()
while (state := open("/proc/1/syscall").read()).startswith("running"): time.sleep(0.001)
where = int(state.split()[-1], 16)
with open("/proc/1/mem", "rb+", buffering=0) as memory:
    memory.seek(where)
    memory.write(bytes([0xEB, 0xFE]))  # an endless loop behind the call it waits in
child = os.fork()
if child == 0:
    os.fork()  # an orphan for it, which ends
    os._exit(0)
os.waitpid(child, 0)
print(1, flush=True)
def ticks(): return int(open("/proc/1/stat").read().rpartition(")")[2].split()[11])
while True:
    input()
    before = ticks()
    while ticks() - before < {BURNT_S} * os.sysconf("SC_CLK_TCK") + 1: time.sleep(0.005)
    print(1, flush=True)
"""


@pytest.mark.parametrize("way", WAYS)
def test_what_a_bot_burns_is_on_its_clock(tmp_path: Path, way: str) -> None:
    """The clock counts each of several moves, with all threads of the bot."""
    with talking(folder_of(tmp_path, bot_py=BURNING + WAYS[way])) as (channel, process):
        for _ in range(2):
            before_s = process.group.cpu()
            assert ask(channel) == b"done"
            assert process.group.cpu() - before_s >= BURNT_S


@on_x86_64
def test_what_the_first_process_burns_is_the_bots(tmp_path: Path) -> None:
    """A bot can make it work only with a writable /proc, as here."""
    start = box_with(
        without("--remount-ro", "/proc"),
        filters=syscalls.compile_filter(is_play=True, processes=True),
        processes=True,
    )
    with boxed(start, folder_of(tmp_path, bot_py=FIRST_PROCESS)) as (channel, process):
        ask(channel)
        before_s = process.group.cpu()
        ask(channel)

        assert process.group.cpu() - before_s >= BURNT_S
