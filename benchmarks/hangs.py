"""Section 7: what a bot that hangs costs, and what a bot that floods its output costs in time and memory."""

from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from hostile_match import Ending, ending, ending_in_fresh_process
from measure import interleaved
from tables import Figure, Goal, Row, Table

from arena.match.settings import ClockSettings

_BUDGET_S: Final = 0.25
_WALL_S: Final = 0.4
_GOAL_S: Final = Goal("<=", 0.1)
_SPIN: Final = ClockSettings(move_ms=_BUDGET_S * 1000, bank_ms=0.0, wall_ms=60_000)
_SLEEP: Final = ClockSettings(move_ms=_BUDGET_S * 1000, bank_ms=0.0, wall_ms=_WALL_S * 1000)
_MUTE: Final = ClockSettings(startup_ms=_WALL_S * 1000)

_FLOOD_CPU_S: Final = 0.6
_FLOOD_WALL_S: Final = 1.2
_GOAL_MB: Final = Goal("<=", 10)
_FLOOD: Final = ClockSettings(move_ms=_FLOOD_CPU_S * 1000, bank_ms=0.0, wall_ms=_FLOOD_WALL_S * 1000)
_FLOODS: Final = {
    "stray": "stdout: text that is no message",
    "stale": "stdout: answers to another request",
    "newlines": "stdout: empty lines",
    "endless": "stdout: a line without end",
    "stderr": "stderr: text",
}


def measure(_: Path, *, is_quick: bool) -> list[Table]:
    """Measure hangs against their clock, and floods against memory: two tables."""
    return [_hang_table(3 if is_quick else 9), _flood_table(1 if is_quick else 3)]


def _hang_table(rounds: int) -> Table:
    settings = {"spin": _SPIN, "sleep": _SLEEP, "mute": _MUTE}
    samples = interleaved({manner: partial(ending, manner, clock) for manner, clock in settings.items()}, rounds)
    spins, sleeps, mutes = samples["spin"], samples["sleep"], samples["mute"]
    rows = (
        _hang_row("a bot that spins", "CPU", _BUDGET_S, [end.bot_cpu_s for end in spins], spins),
        _hang_row("a bot that sleeps", "wall", _WALL_S, [end.elapsed_s for end in sleeps], sleeps),
        _hang_row("a bot that never says hello", "wall", _WALL_S, [end.elapsed_s for end in mutes], mutes),
    )
    headers = ("a hang", "clock", "has\ns", "beyond it s,\nby that clock", "beyond it s,\nwall", "ended as")
    notes = (
        "from the line it does not answer to the end of play(), the bot's process killed and reaped",
        "the wall time of a spinning bot contains what others take of its core; its own clock does not",
    )
    return Table(title="Hang: time until the match is over", headers=headers, rows=rows, notes=notes)


def _hang_row(label: str, clock: str, has_s: float, used_s: list[float], endings: list[Ending]) -> Row:
    return (
        label,
        clock,
        Figure(has_s, 2),
        Figure(median(used_s) - has_s, 4, _GOAL_S),
        Figure(median(end.elapsed_s for end in endings) - has_s, 4, _GOAL_S),
        _terminations(endings),
    )


def _flood_table(rounds: int) -> Table:
    measures = {manner: partial(ending_in_fresh_process, manner, _FLOOD) for manner in _FLOODS}
    samples = interleaved(measures, rounds, warm_ups=0)
    rows = tuple(_flood_row(_FLOODS[manner], endings) for manner, endings in samples.items())
    headers = (
        "a flood until the end",
        "growth of the\nreferee MB",
        "wall\ns",
        "beyond the\nbackstop s",
        "bot\nCPU s",
        "referee\nCPU s",
        "ended as",
    )
    notes = (
        f"for its move the bot has {_FLOOD_CPU_S:g} s of CPU time and {_FLOOD_WALL_S:g} s of wall time, the backstop",
        "growth: the largest of all samples, each in a process of its own after one match in peace",
    )
    return Table(title="Flood: memory of the referee", headers=headers, rows=rows, notes=notes)


def _flood_row(label: str, endings: list[Ending]) -> Row:
    wall_s = median(end.elapsed_s for end in endings)
    return (
        label,
        Figure(max(end.grown_mb for end in endings), 1, _GOAL_MB),
        Figure(wall_s, 2),
        Figure(max(0.0, wall_s - _FLOOD_WALL_S), 3, _GOAL_S),
        Figure(median(end.bot_cpu_s for end in endings), 2),
        Figure(median(end.referee_cpu_s for end in endings), 2),
        _terminations(endings),
    )


def _terminations(endings: list[Ending]) -> str:
    return ", ".join(sorted({end.termination for end in endings}))
