"""The requests of a match by the steps to which they led, and the text on stderr that came with each.

Rule: a request has no step of its own in a record. It led to an action of its seat, or it was refused and the request
after it led to one; so requests and steps are counted off against each other, with the faults that the record tells.
"""

from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from arena.errors import OutOfTime
from arena.match.record import ActionStep, MatchRecord, SeatRecord, StderrText


def requests_by_step(record: MatchRecord) -> dict[int, tuple[int, ...]]:
    """By index of a step: the numbers, from 1, of the requests to its seat that led to it. Forced steps have none.

    A seat whose record does not tell which of its requests were refused has no entries.
    """
    found: dict[int, tuple[int, ...]] = {}
    for seat, entry in enumerate(record.seats):
        if _tells_faults(entry):
            found.update(_of_seat(record, seat, entry))
    return found


def requests_of(record: MatchRecord, seat: int) -> dict[int, tuple[int, ...]]:
    """The same of one seat."""
    found = requests_by_step(record)
    return {at: found[at] for at in found if isinstance(own := record.steps[at], ActionStep) and own.seat == seat}


def answer_steps(record: MatchRecord, seat: int) -> tuple[int, ...]:
    """The steps, from 1, for which that seat was asked, as far as the record tells."""
    return tuple(index + 1 for index in sorted(requests_of(record, seat)))


def _tells_faults(entry: SeatRecord) -> bool:
    if entry.requests is UNSET:
        return False
    told = () if entry.lines is UNSET else entry.lines.told
    return entry.faults is UNSET or len({fault.request for fault in told}) >= sum(entry.faults.values())


def _of_seat(record: MatchRecord, seat: int, entry: SeatRecord) -> Iterator[tuple[int, tuple[int, ...]]]:
    """A refused answer is followed by another request, a timeout or a second refusal by the fallback action."""
    codes = {} if entry.lines is UNSET else {fault.request: fault.code for fault in entry.lines.told}
    first = 1
    for index, step in enumerate(record.steps):
        if not isinstance(step, ActionStep) or step.seat != seat or step.forced:
            continue
        last = first
        if codes.get(first, OutOfTime.code) != OutOfTime.code:
            last += 1
        yield index, tuple(range(first, last + 1))
        first = last + 1


class StderrByStep(msgspec.Struct, frozen=True):
    """The kept stderr of a seat: `before` its first answer, `at` a step by its index, and the `rest` after the last."""

    before: str
    at: dict[int, str]
    rest: str


def stderr_by_step(record: MatchRecord) -> tuple[StderrByStep, ...]:
    """By seat; all is empty where the record keeps none."""
    by_step = requests_by_step(record)
    return tuple(_stderr(record, seat, entry, by_step) for seat, entry in enumerate(record.seats))


def _stderr(record: MatchRecord, seat: int, entry: SeatRecord, by_step: dict[int, tuple[int, ...]]) -> StderrByStep:
    texts: tuple[StderrText, ...] = () if entry.stderr is UNSET else entry.stderr
    owners = {
        number: index
        for index, numbers in by_step.items()
        if isinstance(step := record.steps[index], ActionStep) and step.seat == seat
        for number in numbers
    }
    at: dict[int, str] = {}
    before = rest = ""
    for each in texts:
        if each.request in owners:
            at[owners[each.request]] = at.get(owners[each.request], "") + each.text
        elif each.request < 1:
            before += each.text
        else:
            rest += each.text
    return StderrByStep(before, at, rest)
