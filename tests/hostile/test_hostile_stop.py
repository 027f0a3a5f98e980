"""A bot that finds a way to run on while it is stopped, which no filter knows: it pays, and is ended."""

import signal
import time
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace
from support.golden import Golden
from support.hostile_play import CLOCK, PONDERS, Guest, against, bot_with

from arena.match.baseline import BaselinePlayer
from arena.match.participant import ActionRequest
from arena.match.record import MatchRecord
from arena.match.settings import ClockSettings
from arena.process.clock import read_cpu
from arena.protocol.messages import Answer

pytestmark = pytest.mark.process

PATIENT: Final = replace(CLOCK, move_ms=20_000, wall_ms=60_000)
ENOUGH_S: Final = 0.05


class Rival(BaselinePlayer):
    """A rival that takes its time, and stands for the unknown way: it wakes the stopped bot up to `times` times.

    The bot is awake until it has used a good deal of CPU time.
    """

    def __init__(self, guest: Guest, times: int) -> None:
        super().__init__()
        self._guest, self._times = guest, times

    def ask(self, request: ActionRequest) -> Answer:
        """Wake the bot first."""
        if self._times:
            self._times -= 1
            group = self._guest.processes[0].group
            [pid] = group.bot_pids()
            before_s = read_cpu(pid) or 0.0
            group.signal(signal.SIGCONT)
            while (read_cpu(pid) or 0.0) < before_s + ENOUGH_S:
                time.sleep(0.001)
        return super().ask(request)


def played(place: Path, code: str, times: int, clock: ClockSettings) -> tuple[MatchRecord, float]:
    """A match of nim of a bot with that program, and the time that it was found to have taken."""
    with Guest(bot_with(place, code), clock=clock) as guest:
        record = against(guest.bot_player, Rival(guest, times), options={"heaps": [1] * 12}, clock=clock)
        talk = guest.bot_player._talk
        return record, 0.0 if talk is None else talk.channel.taken_s


@pytest.mark.parametrize("decides", ["cpu", "wall"])
def test_a_bot_that_runs_on_at_two_requests_is_ended(tmp_path: Path, decides: str, golden: Golden) -> None:
    """The first time makes it watched; then its stops are confirmed, and all that it uses is counted."""
    record, _ = played(tmp_path, PONDERS, 99, replace(PATIENT, decides=decides))

    assert record.termination.value == "protocol_violation"
    assert record.fault is not None
    golden(record.fault.message, without=r"\d+ ms")
    assert record.seats[0].moves <= 5


@pytest.mark.parametrize("decides", ["cpu", "wall"])
def test_a_bot_that_ran_on_once_pays(tmp_path: Path, decides: str) -> None:
    """By whatever decides: once is an accident, and costs its time."""
    record, taken_s = played(tmp_path, PONDERS, 2, replace(PATIENT, decides=decides))

    (seat, _) = record.seats
    assert record.termination.value == "normal", record.fault
    assert seat.requests
    assert taken_s >= ENOUGH_S
    spent_us = seat.requests.wall_us if decides == "wall" else seat.requests.cpu_us
    assert max(spent_us) >= taken_s * 1e6
