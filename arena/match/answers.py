"""Whether the answers and faults that a record counts are those of its steps.

Rule: each answer is a step of its seat's own, a fault that was pardoned, or the one that ended the match. In a decision
of several seats all answer before anything happens, so an answer may be lost with a match that another forfeits.
"""

from collections import Counter
from collections.abc import Collection
from typing import Final

from msgspec import UNSET

from arena.match.record import (
    LAST_TIMEOUT,
    PARDONABLE,
    REFUSALS_KEPT,
    ActionStep,
    MatchRecord,
    SeatRecord,
    Termination,
)

_REFUSALS: Final = 2
"""Refused answers to one request, after which something stands in."""


def answer_count_error(record: MatchRecord, awaited: Collection[int], *, is_lenient: bool) -> str:
    """What is wrong, in a sentence; empty if all fits. `awaited` are the seats that had to act at a forfeit."""
    for seat, entry in enumerate(record.seats):
        faults = {} if entry.faults is UNSET else entry.faults
        if problem := _of_seat(record, seat, faults, is_awaited=seat in awaited, is_lenient=is_lenient):
            return problem
        told = () if entry.refusals is UNSET else entry.refusals
        if len(told) > REFUSALS_KEPT or Counter(each.code for each in told) - Counter(faults):
            return f"recorded {len(told)} refusals of seat {seat} with faults {faults}"
        if problem := _by_request(entry):
            return f"recorded {problem} of seat {seat}"
    return ""


def _by_request(entry: SeatRecord) -> str:
    """What does not fit the sums of a seat in its use of time by request; nothing for older records."""
    times = entry.requests
    if times is UNSET:
        return ""
    each = (times.cpu_us, times.wall_us, times.idle_us or (0,) * entry.moves, times.stderr or (0,) * entry.moves)
    if any(len(values) != entry.moves or min(values, default=0) < 0 for values in each):
        return f"{[len(values) for values in each]} times and bytes by request for {entry.moves} answers"
    cpu_us, wall_us, idle_us, _ = each
    slowest_us = max(cpu_us if entry.decides == "cpu" else wall_us, default=0)
    sums = (sum(cpu_us), sum(wall_us), slowest_us, sum(idle_us))
    recorded_ms = (entry.cpu_ms, entry.wall_ms, entry.slowest_ms, 0.0 if entry.idle_ms is UNSET else entry.idle_ms)
    if tuple(us / 1000 for us in sums) != recorded_ms:
        return f"times {recorded_ms} ms, and by request {sums} us in all"
    discarded: Counter[str] = Counter()
    for one in times.discarded:
        discarded[one.kind] += one.count
    return "" if discarded == entry.ignored else f"discarded lines {entry.ignored}, and by request {dict(discarded)}"


def _of_seat(record: MatchRecord, seat: int, faults: dict[str, int], *, is_awaited: bool, is_lenient: bool) -> str:
    if faults and (not is_lenient or not set(faults) <= set(PARDONABLE) or min(faults.values()) < 1):
        return f"recorded faults {faults} of seat {seat}, which nobody pardons"
    steps = [step for step in record.steps if isinstance(step, ActionStep) and step.seat == seat and not step.forced]
    stood_in = Counter(step.fallback_for for step in steps if step.fallback_for)
    own = len(steps) - stood_in.total()
    is_open = is_awaited or (record.fault is not None and record.fault.seat == seat)
    pardoned = sum(faults.values())
    if not 0 <= record.seats[seat].moves - own - pardoned <= is_open:
        counted = f"{own} times" + (f", with {pardoned} faults" if is_lenient else "")
        return f"recorded {record.seats[seat].moves} answers of seat {seat}, which acted {counted}"
    late = faults.get(Termination.TIMEOUT, 0)
    if late >= LAST_TIMEOUT:
        return f"recorded {late} pardoned timeouts of seat {seat}; number {LAST_TIMEOUT} forfeits the match"
    refused, given_up = pardoned - late, stood_in.total() - stood_in[Termination.TIMEOUT]
    least, most = _REFUSALS * given_up, (_REFUSALS - 1) * given_up + len(steps) + _REFUSALS * is_open
    is_late_told = 0 <= late - stood_in[Termination.TIMEOUT] <= is_open
    if not is_late_told or not least <= refused <= most or stood_in - Counter(faults):
        return f"recorded faults {faults} of seat {seat}, for which {dict(stood_in)} stood in"
    return ""
