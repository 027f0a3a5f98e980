"""Section 7: what a bot that hangs costs, and what a bot that floods its output costs in memory.

Rule: the clock is small and known, and time counts from the moment the fatal request was written, as the referee's own
transcript has it. Memory is the growth of this process's resident set while it referees the match.
"""

import re
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
from benchbots import ours
from measure import interleaved
from recording import SHANGHAIEN, match_of, seated
from tables import Figure, Goal, Row, Table

from arena.match.contestant import Contestant
from arena.match.record import MatchRecord
from arena.match.referee import play
from arena.match.terms import ClockSettings

_BUDGET_S: Final = 0.25
_WALL_S: Final = 0.4
_FLOOD_S: Final = 0.6
_GOAL_S: Final = Goal("<=", 0.1)
_GOAL_MB: Final = Goal("<=", 10)
_REQUEST: Final = b'{"type":"request"'
_FLOODS: Final = {
    "stray": "stdout: text that is no message",
    "stale": "stdout: answers to another request",
    "newlines": "stdout: empty lines",
    "endless": "stdout: a line without end",
    "stderr": "stderr: text",
}


class Ending(msgspec.Struct, frozen=True):
    """How a match with a hostile bot ended. Seconds count from the request; megabytes are growth at the peak."""

    termination: str
    elapsed_s: float
    cpu_s: float
    grown_mb: float


def measure(_: Path, *, is_quick: bool) -> list[Table]:
    """Two tables: hangs against their clock, floods against memory."""
    return [_hang_table(3 if is_quick else 7), _flood_table(1 if is_quick else 3)]


def _hang_table(rounds: int) -> Table:
    cpu = ClockSettings(move_ms=_BUDGET_S * 1000, bank_ms=0.0, wall_ms=60_000)
    wall = ClockSettings(move_ms=_BUDGET_S * 1000, bank_ms=0.0, wall_ms=_WALL_S * 1000)
    samples = interleaved(
        {"spin": _match("spin", cpu), "sleep": _match("sleep", wall)},
        rounds,
    )
    spins, sleeps = samples["spin"], samples["sleep"]
    rows = (
        _hang_row("a bot that spins", "CPU", _BUDGET_S, [one.cpu_s for one in spins], spins),
        _hang_row("a bot that sleeps", "wall", _WALL_S, [one.elapsed_s for one in sleeps], sleeps),
    )
    headers = (
        "a hang",
        "clock",
        "budget s",
        "beyond the clock s\nby that clock",
        "beyond the budget s\nwall",
        "ended as",
    )
    notes = (
        "from the request to the end of play(), the bot's process killed and reaped",
        "the wall time of a spinning bot contains what others take of its core; its own clock does not",
    )
    return Table(title="Hang: time until the match is over", headers=headers, rows=rows, notes=notes)


def _hang_row(label: str, clock: str, budget_s: float, used_s: list[float], endings: list[Ending]) -> Row:
    return (
        label,
        clock,
        Figure(budget_s, 2),
        Figure(median(used_s) - budget_s, 4, _GOAL_S),
        Figure(median(one.elapsed_s for one in endings) - budget_s, 3, _GOAL_S),
        ", ".join(sorted({one.termination for one in endings})),
    )


def _flood_table(rounds: int) -> Table:
    clock = ClockSettings(move_ms=_FLOOD_S * 500, bank_ms=_FLOOD_S * 500, wall_ms=_FLOOD_S * 2000)
    samples = interleaved({how: _match(how, clock) for how in _FLOODS}, rounds, warm_ups=0)
    rows = tuple(
        (
            _FLOODS[how],
            Figure(max(one.grown_mb for one in endings), 1, _GOAL_MB),
            Figure(median(one.elapsed_s for one in endings), 2),
            Figure(median(one.cpu_s for one in endings), 2),
            ", ".join(sorted({one.termination for one in endings})),
        )
        for how, endings in samples.items()
    )
    headers = ("a flood", "growth of the\nreferee MB", "wall s", "bot CPU s", "ended as")
    notes = (
        f"each bot has {_FLOOD_S:g} s of CPU time and {2 * _FLOOD_S:g} s of wall time for its move, and floods on",
    )
    return Table(title="Flood: memory of the referee", headers=headers, rows=rows, notes=notes)


def _match(how: str, clock: ClockSettings) -> Callable[[], Ending]:
    """A match of the bot that behaves in this way against an instant one."""

    def ended() -> Ending:
        bots = (ours("hostile.py"), ours("instant.py"))  # the second one ignores the argument
        with seated(SHANGHAIEN, bots, clock, (how,)) as contestants:
            before_mb = _resident_mb("VmRSS")
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts again from here
            record = play(match_of(SHANGHAIEN, clock), contestants)
            return _ending(record, contestants[0], time.monotonic(), before_mb)

    return ended


def _ending(record: MatchRecord, bot: Contestant, now_s: float, before_mb: float) -> Ending:
    """A flood pushes the request out of the transcript; then what the clock of the move says must do."""
    asked_s = [when for when, way, line in bot.transcript if way == ">" and line.startswith(_REQUEST)]
    return Ending(
        termination=record.termination.value,
        elapsed_s=now_s - asked_s[-1] if asked_s else record.seats[0].wall_ms / 1000,
        cpu_s=record.seats[0].cpu_ms / 1000,
        grown_mb=max(0.0, _resident_mb("VmHWM") - before_mb),
    )


def _resident_mb(field: str) -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    found = re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)
    assert found is not None, f"no {field} in /proc/self/status"
    return int(found[1]) / 1024
