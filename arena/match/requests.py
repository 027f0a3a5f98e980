"""The requests of a match by the steps to which they led, the bank at each, and the text on stderr that came with it.

Rule: a request has no step of its own in a record. It led to an action of its seat, or it was refused and the request
after it led to one; so requests and steps are counted off against each other, with the faults in the record.
"""

import msgspec
from msgspec import UNSET

from arena.errors import CheckFailed, OutOfTime, SpecError
from arena.match.record import ActionStep, MatchRecord, SeatRecord
from arena.protocol.messages import ClockTerms
from arena.text import unknown


def requests_of(record: MatchRecord, seat: int) -> dict[int, tuple[int, ...]]:
    """Return the numbers, from 1, of the requests to that seat, by the index of the step to which they led.

    Forced steps have none. The index after the last step has the requests that the seat's fault left without an action.
    A human has no entries.
    """
    again, moves = _repeated_requests(record.seats[seat]), record.seats[seat].moves
    numbers: dict[int, tuple[int, ...]] = {}
    if again is None:
        return numbers
    first = 1
    for index, step in enumerate(record.steps):
        if isinstance(step, ActionStep) and step.seat == seat and not step.forced:
            last = first + (first in again)
            numbers[index] = tuple(range(first, last + 1))
            first = last + 1
    if record.fault is not None and record.fault.seat == seat and moves >= first:
        numbers[len(record.steps)] = tuple(range(first, moves + 1))
    return numbers


def requests_by_step(record: MatchRecord) -> dict[int, tuple[int, ...]]:
    """Return the numbers of the requests of all seats, by the index of the step to which they led.

    A number, from 1, is that of its seat. Requests that led to no step are left out.
    """
    return {
        index: numbers
        for seat in range(len(record.seats))
        for index, numbers in requests_of(record, seat).items()
        if index < len(record.steps)
    }


def answer_steps(record: MatchRecord, seat: int) -> tuple[int, ...]:
    """Return the steps, from 1, for which that seat was asked, as far as the record shows; none for a human.

    The last may be one more than the record has: the step that the seat owed when its fault ended the match.
    """
    return tuple(index + 1 for index in sorted(requests_of(record, seat)))


def seat_of(record: MatchRecord, player: str) -> int:
    """Return the seat of the player of that name, or of that number. SpecError names the players."""
    names = record.players
    if player in names:
        return names.index(player)
    if player.isdecimal() and int(player) < len(names):
        return int(player)
    raise SpecError(f"match {record.match}: {unknown('player', player, names)}")


def require_answer(record: MatchRecord, seat: int, step: int) -> None:
    """Raise SpecError if the seat was not asked for that step, with the steps around it for which it was.

    CheckFailed if the record does not contain for which steps it was asked.
    """
    steps = answer_steps(record, seat)
    if step in steps:
        return
    if not steps and record.seats[seat].moves:
        raise CheckFailed(
            f"{record.match}: its record does not tell which request led to which step; ask without --step"
        )
    near = sorted(sorted(steps, key=lambda other: abs(other - step))[:6])
    answered = f"it answered at steps {', '.join(map(str, near))}" if near else "it answered at no step"
    others = " and others" if len(near) < len(steps) else ""
    player = record.seats[seat].player
    raise SpecError(f"--step {step}: {player} was not asked for that step, of {len(record.steps)}; {answered}{others}")


def banks_us(entry: SeatRecord, terms: ClockTerms) -> list[int]:
    """Return the microseconds in the bank of a seat before each request and after the last; `terms`: the match's clock.

    Empty for a human.
    """
    again = _repeated_requests(entry)
    if entry.requests is UNSET or again is None:
        return []
    clock = terms if entry.lines is UNSET else entry.lines.clock or terms
    full_us = left_us = round(clock.move_ms * 1000)
    banks, increment_us = [round(clock.bank_ms * 1000)], round((clock.increment_ms or 0) * 1000)
    for number, used_us in enumerate(entry.requests.deciding_us(entry.decides), start=1):
        gained_us = 0 if number in again else increment_us
        banks.append(max(0, banks[-1] - max(0, used_us - left_us)) + gained_us)
        left_us = max(0, left_us - used_us) if number in again else full_us
    return banks


def _repeated_requests(entry: SeatRecord) -> set[int] | None:
    """Return the requests whose answer was refused and asked for once more, in the rest of the move time.

    A timeout and a second refusal in a row are followed by the fallback action. None for a human.
    """
    if entry.requests is UNSET or entry.lines is UNSET:
        return None
    again = set[int]()
    for fault in entry.lines.told:
        if fault.code != OutOfTime.code and not fault.is_fatal and fault.request - 1 not in again:
            again.add(fault.request)
    return again


class StderrByStep(msgspec.Struct, frozen=True):
    """The kept stderr of a seat: `before` its first answer, `at` a step by its index, and the `rest` after the last."""

    before: str
    at: dict[int, str]
    rest: str


def stderr_by_step(record: MatchRecord) -> tuple[StderrByStep, ...]:
    """Return the kept stderr by seat; all is empty where the record keeps none."""
    return tuple(_stderr_of_seat(record, seat) for seat in range(len(record.seats)))


def _stderr_of_seat(record: MatchRecord, seat: int) -> StderrByStep:
    """Return the kept stderr of a seat by the steps to which its requests led."""
    owners = {number: index for index, numbers in requests_of(record, seat).items() for number in numbers}
    texts: dict[int, str] = {}
    start, end = -1, len(record.steps)
    for part in record.seats[seat].stderr or ():
        index = start if part.request < 1 else owners.get(part.request, end)
        texts[index] = texts.get(index, "") + part.text
    return StderrByStep(before=texts.pop(start, ""), rest=texts.pop(end, ""), at=texts)
