"""Ranks of pairings, straight from the column: SQLite joins those of a million matches in a quarter of a second.

Rule: rows are read by pairing in the order of the primary key, which a test asks SQLite's planner about; counts and
sums of blocks and rotations tell in the same statement whether a match is missing. Ranks are handed out only if the
points of their seats, which are stored in another table, come to the same sums: all pages refuse the same damage.
`arena.store.sums` compares the points itself; callers who ask for sums within the snapshot take `unchecked_ranks`.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from operator import mul
from typing import Any, Final, NamedTuple

from arena.errors import DamagedStore
from arena.match.results import PairingRanks, canonical_ranks, points
from arena.standings.ranks import matches_of, no_match
from arena.store import rows
from arena.store.view import Connection

_MATCHES: Final = (
    "SELECT pairing, count(*), sum(block), sum(rotation), max(block), group_concat(ranks, '') FROM match"
    " WHERE {} GROUP BY pairing"
)
_POINTS: Final = (
    "SELECT pairing, sum(points), sum(points * points * (1 + rotation)) FROM seat WHERE {} GROUP BY pairing, place"
)
_EACH: Final = "SELECT block, rotation, ranks FROM match WHERE pairing = ? AND block < ? ORDER BY block, rotation"


class Wanted(NamedTuple):
    """A pairing of which the blocks below `blocks` are asked for; `last` is the number of its last stored one."""

    id: int
    key: str
    players: tuple[str, ...]
    blocks: int
    last: int


def wanted(connection: Connection, blocks: Mapping[str, int]) -> list[Wanted]:
    """Those of the pairings that have matches, in the order given."""
    query = "SELECT key, id, players, (SELECT max(block) FROM match WHERE pairing = p.id) FROM pairing p"
    known = {row[0]: row for row in connection.collect(query) if row[0] in blocks and row[3] is not None}
    asked = [(end, *known[key]) for key, end in blocks.items() if key in known]
    for _, key, *_, last in asked:
        if type(last) is not int:
            raise DamagedStore(f"a block of pairing {key} has a number that is none; run `arena verify`")
    players = rows.all_names([(key, text) for _, key, _, text, _ in asked])
    return [
        Wanted(number, key, names, end, last) for (end, key, number, _, last), names in zip(asked, players, strict=True)
    ]


def ranks(connection: sqlite3.Connection, asked: Sequence[Wanted]) -> dict[str, PairingRanks]:
    """The ranks of these pairings, those without a match left out."""
    found = unchecked_ranks(connection, asked)
    stored: defaultdict[int, list[int]] = defaultdict(list)
    for one, *sums in selected(connection, _POINTS, conditions(asked)):
        stored[one] += sums
    for due in asked:
        if due.key in found and stored[due.id] != _points(found[due.key]):
            raise first_damage(connection, due)
    return found


def unchecked_ranks(connection: sqlite3.Connection, asked: Sequence[Wanted]) -> dict[str, PairingRanks]:
    """The same, each of them ranks that a match can have; whether they fit the points of the seats is left open."""
    found: dict[int, PairingRanks] = {}
    by_id = {one.id: one for one in asked}
    sound: set[tuple[int, str]] = set()
    for one, count, blocks, rotations, last, text in selected(connection, _MATCHES, conditions(asked)):
        due = by_id[one]
        seats = len(due.players)
        size = last + 1
        is_whole = (count, blocks, rotations) == (
            seats * size,
            seats * size * last // 2,
            size * seats * (seats - 1) // 2,
        )
        if is_whole and len(text) == count * seats:
            own = PairingRanks(due.players, range(size), text)
        else:
            own = _with_holes(connection, due)
        found[one] = own
        if (seats, own.ranks) not in sound:
            if not all(_points_of(course, seats) for course in {*own.courses}):
                raise first_damage(connection, due)
            sound.add((seats, own.ranks))
    return {one.key: found[one.id] for one in asked if one.id in found}


Condition = tuple[str, tuple[int, int]]
"""Pairings and blocks in SQL, and its parameters."""


def conditions(asked: Sequence[Wanted]) -> list[Condition]:
    """One for each pairing; one for all of those that are neighbours and asked for whole."""
    whole = sorted(one.id for one in asked if one.last < one.blocks)
    runs = [[number for _, number in run] for _, run in groupby(enumerate(whole), key=lambda pair: pair[1] - pair[0])]
    return [("pairing BETWEEN ? AND ?", (run[0], run[-1])) for run in runs] + [
        ("pairing = ? AND block < ?", (one.id, one.blocks)) for one in asked if one.last >= one.blocks
    ]


def selected(
    connection: sqlite3.Connection, query: str, where: Sequence[Condition], parameters: Sequence[Any] = ()
) -> Iterator[tuple[Any, ...]]:
    """The rows of a query under each of the conditions."""
    for condition, ends in where:
        yield from connection.execute(query.format(condition), (*ends, *parameters))


def _with_holes(connection: sqlite3.Connection, due: Wanted) -> PairingRanks:
    """The ranks of a pairing in which matches are missing. DamagedStore names one that is damaged."""
    seats = len(due.players)
    courses: defaultdict[int, list[str]] = defaultdict(lambda: [no_match(seats)] * seats)
    for block, rotation, own in connection.execute(_EACH, (due.id, due.blocks)):
        if rotation not in range(seats) or type(block) is not int or type(own) is not str or len(own) != seats:
            raise first_damage(connection, due)
        courses[block][rotation] = own
    return PairingRanks(due.players, list(courses), "".join("".join(course) for course in courses.values()))


def _points(found: PairingRanks) -> list[int]:
    """The sums of `_POINTS`, place after place."""
    courses = Counter(found.courses)
    columns = zip(*[_points_of(course, len(found.players)) or () for course in courses], strict=True)
    return [sum(map(mul, column, courses.values())) for column in columns]


@lru_cache(maxsize=4096)
def _points_of(course: str, seats: int) -> tuple[int, ...] | None:
    """The same of one block; None for ranks that no match can have."""
    sums = [0] * (2 * seats)
    try:
        for rotation, ranking in enumerate(matches_of(course, seats)):
            if ranking is not None and canonical_ranks(ranking) != ranking:
                return None
            for seat, own in enumerate(points(ranking) if ranking else ()):
                place = (seat + rotation) % seats
                sums[2 * place] += own
                sums[2 * place + 1] += own * own * (1 + rotation)
    except ValueError:
        return None
    return tuple(sums)


def first_damage(connection: sqlite3.Connection, *asked: Wanted) -> DamagedStore:
    """The error that names the first match of the pairings that is not what was stored."""
    for due in asked:
        for _ in rows.read_matches(connection, due.key, 0, due.blocks):
            pass
    keys = ", ".join(due.key for due in asked)
    return DamagedStore(f"the matches of pairing {keys} contradict each other; run `arena verify`")
