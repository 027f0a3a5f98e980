"""The time between an answer and the next request: quick bots get no signal, and nobody gets any of it for nothing."""

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace
from support.hostile_play import CLOCK, NIM, PLAYS, PONDERS, Guest, against, bot_with

from arena.match import run_on
from arena.match.record import MatchRecord
from arena.match.referee import hello_for
from arena.match.settings import ClockSettings
from arena.process import channel

pytestmark = pytest.mark.process

PATIENT: Final = replace(CLOCK, move_ms=5_000, wall_ms=20_000)
HEAPS: Final[dict[str, Any]] = {"heaps": [15, 15, 15, 15]}
THINKS_ON: Final = f"""\
import time
{PLAYS}
    end_s = time.process_time() + {2 * run_on.QUIET_S}
    while time.process_time() < end_s:
        pass
"""


class Table:
    """Two bots that play nim, one counter a move, and the signals that stopped or woke them since `count_signals`.

    `first` is the match before that.
    """

    first: MatchRecord

    def __init__(self, guests: tuple[Guest, Guest], clock: ClockSettings) -> None:
        self.guests = guests
        self.signals: Counter[int] = Counter()
        self._clock = clock

    def play(self) -> MatchRecord:
        """A match, which ends as it should."""
        record = against(*(guest.bot_player for guest in self.guests), options=HEAPS, clock=self._clock)
        assert record.termination.value == "normal", record.fault
        return record

    def count_signals(self) -> None:
        """Of all processes, at the place through which every signal to a bot goes."""
        for guest in self.guests:
            group = guest.processes[0].group
            send = group.signal

            def counted(number: int, send: Callable[[int], None] = send) -> None:
                self.signals[number] += 1
                send(number)

            group.signal = counted  # type: ignore[method-assign]


@contextmanager
def table(place: Path, *codes: str, clock: ClockSettings = PATIENT) -> Iterator[Table]:
    """A table with bots of these programs, who have played one match."""
    bots = [bot_with(place, code, f"bot{number}.py") for number, code in enumerate(codes)]
    hello = hello_for(NIM, HEAPS, clock.startup_ms)
    with Guest(bots[0], clock=clock, hello=hello) as first, Guest(bots[1], clock=clock, hello=hello) as second:
        made = Table((first, second), clock)
        made.first = made.play()
        made.count_signals()
        yield made


def requests_of(record: MatchRecord) -> list[int]:
    """The wall time of each request, of both seats, in microseconds."""
    return list(chain.from_iterable(seat.requests.wall_us for seat in record.seats if seat.requests))


def test_quick_bots_get_no_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But at the start and the end of a match. Both limits are raised, so that no busy machine makes them seem slow."""
    for module in (run_on, channel):
        monkeypatch.setattr(module, "QUICK_S", 20.0)
    monkeypatch.setattr(run_on, "QUIET_S", 5.0)
    with table(tmp_path, PLAYS, PLAYS) as made:
        record = made.play()
        signals = made.signals.copy()

    assert len(requests_of(record)) > 30
    assert signals[signal.SIGSTOP] <= 2 * len(made.guests) + 1  # after `ready`, at the end, and at the first answer
    assert signals[signal.SIGCONT] <= 2 * len(made.guests) + 1


def test_where_wall_time_decides_each_answer_is_followed_by_a_stop(tmp_path: Path) -> None:
    """A bot that ran on could take the core from the one on move."""
    with table(tmp_path, PLAYS, PLAYS, clock=replace(PATIENT, decides="wall")) as made:
        record = made.play()

    assert made.signals[signal.SIGSTOP] >= len(requests_of(record)) > 30


def test_a_bot_that_thinks_on_is_stopped_at_each_answer(tmp_path: Path) -> None:
    """It has used more than a millisecond after the one before, and pays for that."""
    with table(tmp_path, THINKS_ON, PLAYS) as made:
        record = made.play()

    (seat, _) = record.seats
    assert seat.requests
    assert sum(seat.requests.cpu_us) > seat.moves * run_on.QUIET_S * 1e6
    assert made.signals[signal.SIGSTOP] >= seat.moves - 1 > 15


def test_a_bot_pays_for_all_that_it_uses(tmp_path: Path) -> None:
    """Its CPU clock went on by no more than what its requests and its start were charged, microseconds apart."""
    with table(tmp_path, PONDERS, PLAYS) as made:
        player = made.guests[0].bot_player
        before_s = player.account.cpu_since
        record = made.play()
        after_s = player.account.cpu_since

    (seat, _) = record.seats
    assert before_s is not None
    assert after_s is not None
    assert seat.requests
    charged_s = sum(seat.requests.cpu_us) / 1e6 + float(seat.startup_ms or 0) / 1000
    assert charged_s >= after_s - before_s - seat.moves * 1e-6
