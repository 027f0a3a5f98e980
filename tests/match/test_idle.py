"""The idle bank with real processes: who sleeps is found, who works or is kept from working is not charged."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.bot_source import bot_script, scripted_player
from support.golden import Golden
from support.scripted_bot import CLOCK, house, match_of
from support.waiting import load

from arena.match.record import MatchRecord, SeatRecord
from arena.match.settings import ClockSettings, MatchSettings

pytestmark = pytest.mark.process

BURN = """
import threading
def burn(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass

"""
RELAY = """
import queue
there, back = queue.SimpleQueue(), queue.SimpleQueue()

def echo():
    while True:
        back.put(there.get())

threading.Thread(target=echo, daemon=True).start()

def relay(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        there.put(1)
        back.get()
"""


def played(folder: Path, thought: str, *, before: str = "", requests: int = 6, **clock: Any) -> MatchRecord:
    """Play a match in which the bot, in seat 0, is asked so often at most."""
    settings: ClockSettings = msgspec.structs.replace(CLOCK, **({"move_ms": 1000.0, "startup_ms": 30_000.0} | clock))
    script = bot_script(start=BURN + before, asked=thought)
    bot = scripted_player(folder / "bot.py", script, MatchSettings("nim", {}, settings))
    try:
        options = {"heaps": [1] * (2 * requests - 1)}
        return match_of(bot, house(settings), clock=settings, options=options)
    finally:
        bot.close(grace_s=0.0)


def seat(record: MatchRecord) -> SeatRecord:
    assert record.termination.value == "normal", record.fault
    return record.seats[0]


def idle_ms(own: SeatRecord) -> float:
    return own.idle_ms or 0.0


DRIP = """
import os

def drip(fd, text, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        os.write(fd, text)
        time.sleep(0.008)
"""


DRIPS = [(2, b"."), (1, b"\n"), (1, b" "), (1, b'{"type":"action","id":0,"action":0}\n')]


@pytest.mark.parametrize("thought", ["time.sleep(0.2)", *(f"drip({fd}, {text!r}, 0.2)" for fd, text in DRIPS)])
def test_a_bot_that_sleeps_runs_into_its_idle_bank(tmp_path: Path, thought: str, golden: Golden) -> None:
    """0.2 s in each answer: a bank of 0.5 s is empty in the third or fourth, whatever is written every 8 ms."""
    record = played(tmp_path, thought, before=DRIP, idle_ms=500)

    assert record.termination.value == "timeout"
    assert record.fault is not None
    golden(record.fault.message)
    assert 3 <= record.seats[0].moves <= 5
    assert idle_ms(record.seats[0]) > 500


def test_idle_time_is_shown_in_the_record(tmp_path: Path) -> None:
    """A bot may sleep as long as its bank lasts; what is noted is no more than it slept, and half of it at least."""
    own = seat(played(tmp_path, "time.sleep(0.2)", requests=5))

    assert own.moves * 100 < idle_ms(own) <= own.wall_ms - own.cpu_ms
    assert (own.startup_ms or 0.0) > 0


def test_a_lock_is_as_good_as_a_sleep(tmp_path: Path) -> None:
    """A thread that waits for a lock is idle, also beside another thread that waits."""
    wait = "threading.Event().wait(0.3)"
    own = seat(played(tmp_path, wait, before=f"threading.Thread(target=lambda: {wait.replace('0.3', '99')}).start()"))

    assert idle_ms(own) > 600


@pytest.mark.parametrize(
    ("before", "thought"),
    [
        pytest.param("", "burn(0.15)", marks=pytest.mark.slow),
        ("", "thread = threading.Thread(target=burn, args=(0.15,)); thread.start(); thread.join()"),
        pytest.param(RELAY, "relay(0.15)", marks=pytest.mark.slow),
    ],
    ids=["alone", "a new thread each time", "two threads in turns"],
)
def test_a_bot_that_works_is_never_idle_however_busy_the_machine_is(tmp_path: Path, before: str, thought: str) -> None:
    """Beside two other programs on each core it takes three times as long, and is neither late nor idle."""
    with load(2):  # every process waits for two thirds of its time
        own = seat(played(tmp_path, thought, before=before, move_ms=200.0, bank_ms=200.0))

    assert own.wall_ms > 0.95 * own.cpu_ms > 5 * 130  # after an answer the bot runs on, and pays for it
    assert idle_ms(own) < 0.05 * own.wall_ms  # a look may fall between two threads, when one wakes the other


def test_no_bank_where_wall_time_decides(tmp_path: Path) -> None:
    """There every second counts already, so idle time is not measured."""
    record = played(tmp_path, "time.sleep(0.2)", requests=3, idle_ms=1, decides="wall")

    assert seat(record).idle_ms is msgspec.UNSET
    assert record.clock.idle_ms is msgspec.UNSET


def test_answers_within_ten_milliseconds_are_not_looked_at(tmp_path: Path) -> None:
    """A bot that answers at once has no idle time, whatever its bank."""
    assert seat(played(tmp_path, "pass", idle_ms=0, requests=10)).idle_ms is msgspec.UNSET
