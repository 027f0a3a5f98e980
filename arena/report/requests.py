"""A stored match request by request: the use of time, and every line that went over the wire.

Rule: times are printed as they are recorded; banks are those that the bot was told, so that nothing is added up twice.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import UNSET
from tabulate import tabulate

from arena.errors import CheckFailed
from arena.match.reconstruction import SeatTranscript, lines_of
from arena.match.record import MatchRecord, Requests
from arena.text import printable

_HEADERS: Final = ("request", "CPU ms", "wall ms", "idle ms", "bank ms", "stderr", "discarded")


def time_lines(record: MatchRecord) -> Iterator[str]:
    """A table of each seat, a line a request. CheckFailed if the record does not keep times by request."""
    if all(entry.requests is UNSET for entry in record.seats):
        raise CheckFailed(f"{record.match}: arena {record.arena} stored it without times by request")
    try:
        by_seat = lines_of(record)
    except CheckFailed as error:
        yield f"no banks: {error}"
        by_seat = ()
    for seat, entry in enumerate(record.seats):
        yield ""
        yield f"seat {seat} {entry.player}, by request: bank, what the bot was told before it; stderr, bytes until then"
        if entry.requests is not UNSET:
            rows = _rows(entry.requests, _banks(by_seat[seat]) if by_seat else {})
            yield from tabulate(rows, _HEADERS, floatfmt=".3f").splitlines()


def wire_lines(record: MatchRecord) -> Iterator[str]:
    """Every line both ways, seat by seat: the number of its request, `>` to the bot or `<` from it, the line.

    CheckFailed if they cannot be made again.
    """
    for seat, told in enumerate(lines_of(record)):
        yield ""
        yield f"seat {seat} {told.player}, {_exactness(told)}"
        for number, way, line in told.lines:
            yield f"{max(number, 0):>4} {way} {printable(line.decode('utf-8', 'backslashreplace'))}"


def _exactness(told: SeatTranscript) -> str:
    if told.left_out:
        return f"all lines but {told.left_out} of the bot's own, which said more than a record keeps:"
    return (
        "all lines as they went over the wire:" if told.is_exact else "all lines, but NOT as they went over the wire:"
    )


def _banks(told: SeatTranscript) -> dict[int, float]:
    """By request: milliseconds that the bank held before it."""
    requests = {n: line for n, way, line in told.lines if way == ">" and line.startswith(b'{"type":"request"')}
    return {number: msgspec.json.decode(line)["clock"]["bank_ms"] for number, line in requests.items()}


def _rows(requests: Requests, banks: dict[int, float]) -> Iterator[tuple[object, ...]]:
    stderr = 0
    for at, (cpu_us, wall_us) in enumerate(zip(requests.cpu_us, requests.wall_us, strict=True)):
        idle_us = requests.idle_us[at] if requests.idle_us else 0
        stderr += requests.stderr[at] if requests.stderr else 0
        discarded = ", ".join(f"{each.count} {each.kind}" for each in requests.discarded if each.request == at + 1)
        yield at + 1, cpu_us / 1000, wall_us / 1000, idle_us / 1000, banks.get(at + 1), stderr, discarded
