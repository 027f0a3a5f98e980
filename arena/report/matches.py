"""The matches of a league, one by one: lines for people, and CSV or JSON for programs.

Rule: as many matches as there are pass through, a piece of text at a time; nothing is kept of them. Names and all text
that was stored are hostile input, as on every page (see `formats`).
"""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import chain, islice
from operator import attrgetter
from textwrap import wrap
from typing import Any, Final

from msgspec import UNSET

from arena.match.record import MatchRecord, RefusedAnswer
from arena.match.results import LUCK_UNIT, MatchResult
from arena.report.formats import csv_pieces, json_text
from arena.text import counted, printable

MATCH_FORMATS: Final = ("table", "csv", "json")
_ABOUT_THE_MATCH: Final = ("id", "pairing", "block", "rotation", "termination", "at_fault", "isolation", "luck_version")
_MEASURED: Final = ("moves", "time_us", "slowest_us", "startup_us", "idle_us", "timeouts_by_load")
_BY_SEAT: Final = ("player", "rank", "score", "luck", *_MEASURED, "pardoned")
_measured = attrgetter(*_MEASURED)
_IN_A_PIECE: Final = 1000


def match_list(
    results: Iterable[MatchResult],
    *,
    seats: int,
    form: str,
    record_of: Callable[[MatchResult], MatchRecord] | None = None,
    width: int | None = None,
) -> Iterator[str]:
    """The matches of a league with that many seats in one of `MATCH_FORMATS`, as pieces of text that end with a line.

    `csv` has a line for each match under a header. `json` is an array with one match a line: one document for those
    who read it whole, and lines for those who do not.

    With `record_of` each match tells the reasons of its faults: below its line, broken at `width`; in `csv` and `json`
    as the last values, by seat.
    """
    if form == "csv":
        by_seat = _BY_SEAT if record_of is None else (*_BY_SEAT, "reasons")
        columns = (*_ABOUT_THE_MATCH, *(f"{name}_{seat}" for name in by_seat for seat in range(seats)))
        yield from csv_pieces(columns, (_row(one, record_of) for one in results))
    elif form == "json":
        yield from _array(json_text(_object(one, record_of)) for one in results)
    else:
        yield from _pieces(f"{line}\n" for one in results for line in _lines(one, record_of, width))


def fault_reasons(record: MatchRecord) -> tuple[tuple[str, ...], ...]:
    """By seat: a sentence for each fault, as far as a record keeps them, the one that ended the match last."""
    reasons = []
    for seat, entry in enumerate(record.seats):
        told = [refusal_sentence(each) for each in (() if entry.refusals is UNSET else entry.refusals)]
        more = 0 if entry.faults is UNSET else sum(entry.faults.values()) - len(told)
        told += [f"and {counted(more, 'more fault')} after which the game went on"] if more > 0 else []
        fault = record.fault
        if fault is not None and fault.seat == seat:
            stderr = fault.stderr.strip().splitlines()
            details = [f"{record.termination}: {fault.message}", f"got {fault.got}" if fault.got else ""]
            details += [f"the last line of its stderr: {stderr[-1]}"] if stderr else []
            told.append("; ".join(filter(None, details)))
        reasons.append(tuple(map(printable, told)))
    return tuple(reasons)


def refusal_sentence(refused: RefusedAnswer) -> str:
    """`for step 12: illegal_action (no_room): the piece has no room`."""
    reason = f" ({refused.reason})" if refused.reason else ""
    return f"for step {refused.step}: {refused.code}{reason}: {refused.message}"


def _lines(one: MatchResult, record_of: Callable[[MatchResult], MatchRecord] | None, width: int | None) -> list[str]:
    """The line of a match, and below it the reasons of its faults, if they are asked for."""
    lines = [_line(one)]
    for name, told in zip(one.players, () if record_of is None else fault_reasons(record_of(one)), strict=False):
        for sentence in told:
            text = f"    {_printable(name)}: {sentence}"
            lines += [text] if width is None else wrap(text, width, subsequent_indent=" " * 6)
    return lines


def _line(one: MatchResult) -> str:
    """`82f1...-0-1  greedy v random  12:7  normal`."""
    seats = [_printable(name) for name in one.players]
    scores = "-" if one.scores is None else ":".join(map(str, one.scores))
    guilty = "" if one.at_fault is None else f" by {seats[one.at_fault]}"
    pardons = [
        f"{count} {code} by {name}"
        for name, counts in zip(seats, one.pardoned, strict=False)
        for code, count in counts.items()
    ]
    pardoned = f"  went on after {', '.join(pardons)}" if pardons else ""
    return f"{one.key}  {' v '.join(seats)}  {scores}  {one.termination}{guilty}{pardoned}"


def _row(one: MatchResult, record_of: Callable[[MatchResult], MatchRecord] | None) -> Iterator[object]:
    values = tuple(_object(one, record_of).values())
    nothing = (None,) * len(one.players)
    return chain(values[: len(_ABOUT_THE_MATCH)], *(own or nothing for own in values[len(_ABOUT_THE_MATCH) :]))


def _object(one: MatchResult, record_of: Callable[[MatchResult], MatchRecord] | None) -> dict[str, Any]:
    return {
        "id": str(one.key),
        **one.key._asdict(),
        **{name: getattr(one, name) for name in ("termination", "at_fault", "isolation")},
        "luck_version": one.luck_version or None,
        "players": one.players,
        "ranks": one.ranks,
        "scores": None if one.scores is None else [_number(score) for score in one.scores],
        "luck": [own / LUCK_UNIT for own in one.luck] or None,
        **dict(zip(_MEASURED, _measured(one), strict=True)),
        "pardoned": one.pardoned or [{}] * len(one.players),
        **({} if record_of is None else {"reasons": fault_reasons(record_of(one))}),
    }


def _number(score: Fraction) -> float:
    return score.numerator if score.denominator == 1 else float(score)


_printable = lru_cache(maxsize=4096)(printable)


def _array(objects: Iterator[str]) -> Iterator[str]:
    first = next(objects, None)
    if first is None:
        return iter(["[]\n"])
    return _pieces(chain([f"[\n{first}"], (f",\n{each}" for each in objects), ["\n]\n"]))


def _pieces(lines: Iterator[str]) -> Iterator[str]:
    while piece := "".join(islice(lines, _IN_A_PIECE)):
        yield piece
