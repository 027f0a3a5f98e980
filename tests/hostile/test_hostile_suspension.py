"""Bots that want a match to be played again: they try to make the referee late, so that it takes itself for suspended.

Wall time decides and each may take 3 s for its only answer, so that all of them have time enough for 2 s of mischief.
"""

import time
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.hostile_play import Guest, against, bot_with

from arena.match.record import MatchRecord
from arena.match.settings import ClockSettings
from arena.process.launch import Confinement
from arena.process.limits import Limits
from arena.process.suspension import WATCH

pytestmark = [pytest.mark.process, pytest.mark.slow]

CLOCK = ClockSettings(decides="wall", move_ms=6000, bank_ms=0, startup_ms=20_000)
DEEDS = """
import json, mmap, os, signal, sys, threading, time

END_S = 0.0

def until_end(deed):
    global END_S
    END_S = time.monotonic() + 3.0
    deed()

def again(step):
    while time.monotonic() < END_S:
        step()

def in_threads(count, step):
    threads = [threading.Thread(target=again, args=(step,)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def hogs():
    for _ in range(40):
        if os.fork() == 0:
            again(lambda: None)
            os._exit(0)
    again(lambda: time.sleep(0.01))

def fresh_pages():
    with mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        for place in range(0, 64 << 20, 4096):
            memory[place] = 1

def memory():
    again(fresh_pages)

def hold_the_pipe():
    # while it must wait for its memory: a write from pages that are not there yet keeps the pipe locked until they are
    with mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as nothing:
        os.write(2, nothing)

def memory_and_pipe():
    threading.Thread(target=in_threads, args=(8, fresh_pages)).start()
    in_threads(8, hold_the_pipe)

def flood():
    again(lambda: os.write(2, b"x" * (1 << 16)))

def signals():
    for target in (-1, 1, os.getppid()):
        for number in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN):
            try:
                os.kill(target, number)
            except OSError:
                pass

def half_a_line():
    os.write(1, b"{")
    again(lambda: time.sleep(0.2))
    os.write(1, b"}")
"""


def played(folder: Path, deed: str) -> MatchRecord:
    """A match in which the bot is asked once."""
    bot = bot_with(folder, DEEDS + bot_script(asked="until_end(globals()[sys.argv[1]])"))
    with Guest(bot, deed, clock=CLOCK, confinement=Confinement(limits=Limits(scratch_mib=0))) as guest:
        return against(guest.bot_player, options={"heaps": [1, 1, 1]}, clock=CLOCK)


@pytest.mark.parametrize("deed", ["hogs", "memory", "memory_and_pipe", "flood", "signals", "half_a_line"])
def test_no_bot_makes_the_referee_believe_that_it_was_suspended(tmp_path: Path, deed: str) -> None:
    """Whatever comes of the match, it counts: the referee knows what kept it."""
    WATCH.start()
    begin_s = time.monotonic()

    record = played(tmp_path, deed)

    assert WATCH.since(begin_s) == 0.0
    assert record.termination.value != "void"
    assert record.seats[0].moves >= 1
