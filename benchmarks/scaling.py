"""A league on one worker, on twice as many, and so on up to a worker a core: matches a second, and forfeits by load.

Rule: the same measurements as `league` and `fair`, for machines with many cores. All counts of workers are measured in
turns, so that a machine that changes its speed changes them alike.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from benchbots import instant
from fairness import CLOCK, play_thinkers
from leagues import Case, League, Sample, Samples, busy_loops, peer, start_workers
from measure import error_of_median, interleaved
from tables import Figure, Goal, Row, Table

_SCALING: Final = Goal(">=", 0.95)
_NO_FORFEIT: Final = Goal("<=", 0)


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Measure by number of workers, beside fastchess if it is there."""
    bots, notes = instant(scratch)
    language = next(iter(bots))  # C, if there is a compiler
    counts = worker_counts(len(os.sched_getaffinity(0)))
    rounds, seconds, games, matches = (3, 1.3, 80, 20) if is_quick else (5, 4.5, 120, 100)
    measures: dict[str, Callable[[], Sample]] = {}
    with start_workers(counts[-1]) as backend:
        for count in counts:
            case = Case(language, count, has_luck=True)
            measures[f"loops, {count}"] = partial(busy_loops, count)
            measures[f"league, {count}"] = League(scratch, backend, case, bots[language], seconds).play
            if program := os.environ.get("FASTCHESS"):
                measures[f"fastchess, {count}"] = peer(Path(program), case, scratch, games * count)
        samples = interleaved(measures, rounds)
    rows = tuple(_row(count, samples, matches * count) for count in counts)
    headers = (
        "workers",
        "matches stored\na second",
        "times those of 1,\nof loops / 1",
        "request, us of\na worker",
        "request / move\nof fastchess",
        "time forfeits\nof thinkers",
        "of them\nby load",
    )
    notes += (
        f"two instant bots in {language}, as a league is by default; medians of {rounds} in turns",
        f"thinkers: Nim, {matches} matches a worker, {CLOCK.move_ms:g} ms a move without a bank, 80 % of it used",
        "by load: wall time decided, and the bot waited for a core for longer than it was late",
    )
    if f"fastchess, {counts[0]}" not in samples:
        notes += ("without fastchess: `--fastchess PROGRAM` names the built program",)
    return [Table(title="Scaling: from one worker to one a core", headers=headers, rows=rows, notes=notes)]


def worker_counts(cores: int) -> list[int]:
    """Return 1, 2, 4 and so on below the number of cores, and that number."""
    return [*(2**power for power in range(cores.bit_length()) if 2**power < cores), cores]


def _row(count: int, samples: Samples, matches: int) -> Row:
    """Return the figures of a number of workers; the thinkers play now, when nothing else runs."""
    rates, singles = ([sample.matches_per_s for sample in samples[f"league, {number}"]] for number in (count, 1))
    one, all_loops = ([sample.time for sample in samples[f"loops, {number}"]] for number in (1, count))
    work = [count * single / many for single, many in zip(one, all_loops, strict=True)]
    scaling = [rate / single / done for rate, single, done in zip(rates, singles, work, strict=True)]
    times = [sample.time for sample in samples[f"league, {count}"]]
    moves = [sample.time for sample in samples.get(f"fastchess, {count}", ())]
    results, _ = play_thinkers(count, matches)
    late = [result for result in results if result.termination == "timeout"]
    return (
        str(count),
        Figure(median(rates), 0, error=error_of_median(rates)),
        Figure(median(scaling), 2, _SCALING if count > 1 else None, error_of_median(scaling)),
        Figure(median(times), error=error_of_median(times)),
        Figure(median(times) / median(moves), 2) if moves else "not measured",
        Figure(len(late), 0, _NO_FORFEIT),
        Figure(sum(sum(result.timeouts_by_load) for result in late), 0),
    )
