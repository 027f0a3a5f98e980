"""The matches of a league, one by one: lines for people, and CSV or JSON for programs.

Rule: as many matches as there are pass through, a piece of text at a time; nothing is kept of them. Names and all text
that was stored are hostile input, as on every page (see `formats`).
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Final

from arena.match.results import LUCK_UNIT, MatchResult
from arena.report.formats import csv_pieces, json_text
from arena.text import printable

MATCH_FORMATS: Final = ("table", "csv", "json")
_ABOUT_THE_MATCH: Final = ("id", "pairing", "block", "rotation", "termination", "at_fault", "isolation", "luck_version")
_MEASURED: Final = ("moves", "time_us", "slowest_us", "startup_us", "idle_us", "timeouts_by_load")
_BY_SEAT: Final = ("player", "rank", "score", "luck", *_MEASURED, "pardoned")
_measured = attrgetter(*_MEASURED)
_IN_A_PIECE: Final = 1000


def match_list(results: Iterable[MatchResult], *, seats: int, form: str) -> Iterator[str]:
    """The matches of a league with that many seats in one of `MATCH_FORMATS`, as pieces of text that end with a line.

    `csv` has a line for each match under a header. `json` is an array with one match a line: one document for those
    who read it whole, and lines for those who do not.
    """
    if form == "csv":
        columns = (*_ABOUT_THE_MATCH, *(f"{name}_{seat}" for name in _BY_SEAT for seat in range(seats)))
        yield from csv_pieces(columns, map(_row, results))
    elif form == "json":
        yield from _array(json_text(_object(one)) for one in results)
    else:
        yield from _pieces(f"{_line(one)}\n" for one in results)


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


def _row(one: MatchResult) -> Iterator[object]:
    values = tuple(_object(one).values())
    nothing = (None,) * len(one.players)
    return chain(values[: len(_ABOUT_THE_MATCH)], *(own or nothing for own in values[len(_ABOUT_THE_MATCH) :]))


def _object(one: MatchResult) -> dict[str, Any]:
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
