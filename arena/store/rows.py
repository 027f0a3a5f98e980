"""Matches as rows: the layout of the tables, and the way from a result to its rows and back.

Rule: a column holds what a query asks for, in whole numbers; a row that no match can have is DamagedStore and names the
match. Points and margins stand beside ranks and scores although they follow from them, so that SQLite can add them;
whoever reads a match compares them.

`seat` is in the order of places before blocks: a query by pairing and place reads its rows one after the other.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any, Final

import msgspec

from arena.errors import DamagedStore
from arena.match.record import PackedRecord, Termination
from arena.match.results import MatchKey, MatchResult, margins_of, points, rotate, score_unit


def _whole(column: str, least: int = 0) -> str:
    """A column of whole numbers from `least` on: without a check SQLite takes text there, and fractions."""
    return f"{column} INTEGER NOT NULL CHECK (typeof({column}) = 'integer' AND {column} >= {least})"


def _known(column: str, more: str = "") -> str:
    """A column of whole numbers of either sign, or NULL."""
    return f"{column} INTEGER CHECK (typeof({column}) IN ('integer', 'null'){more})"


MATCH_TABLES: Final = f"""
    CREATE TABLE match (
        pairing INTEGER NOT NULL REFERENCES pairing, {_whole("block")}, {_whole("rotation")},
        ranks TEXT NOT NULL CHECK (ranks GLOB '*0*'), termination TEXT NOT NULL,
        {_known("at_fault", " AND (at_fault IS NULL) = (termination = 'normal')")},
        isolation TEXT NOT NULL, luck_version TEXT NOT NULL, {_whole("score_unit", 1)},
        PRIMARY KEY (pairing, block, rotation)
    ) WITHOUT ROWID;
    CREATE TABLE seat (
        pairing INTEGER NOT NULL REFERENCES pairing, {_whole("place")}, {_whole("block")}, {_whole("rotation")},
        {_whole("points")}, {_known("score")}, {_known("margin", " AND (margin IS NULL) = (score IS NULL)")},
        {_known("luck")}, {_whole("moves")}, {_whole("time_us")}, {_whole("slowest_us")}, {_whole("startup_us")},
        {_whole("idle_us")}, {_whole("timeouts_by_load")},
        PRIMARY KEY (pairing, place, block, rotation),
        FOREIGN KEY (pairing, block, rotation) REFERENCES match
    ) WITHOUT ROWID;
    CREATE TABLE pardon (
        pairing INTEGER NOT NULL REFERENCES pairing, {_whole("block")}, {_whole("rotation")}, {_whole("place")},
        code TEXT NOT NULL, {_whole("count", 1)}, PRIMARY KEY (pairing, block, rotation, place, code),
        FOREIGN KEY (pairing, block, rotation) REFERENCES match
    ) WITHOUT ROWID
"""
"""Names of players by place are JSON in `pairing.players`; scores and margins count in parts of 1 / `score_unit`."""

UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, TypeError, ValueError, AttributeError)
"""Raised by values that are not those that were stored: in form, in their bytes, in their type."""
_KINDS: Final = frozenset((int, type(None)))
WHOLE: Final = 1 << 62
"""More blocks than a pairing can have."""

_MATCH: Final = "m.block, m.rotation, ranks, termination, at_fault, isolation, luck_version, score_unit"
_WITH_RECORD: Final = (
    f"SELECT {_MATCH}, codec, digest, body FROM match m LEFT JOIN record r"  # noqa: S608 - our own text
    " ON (r.pairing, r.block, r.rotation) = (m.pairing, m.block, m.rotation)"
    " WHERE m.pairing = ? AND m.block >= ? AND m.block < ? ORDER BY m.block, m.rotation"
)
_ALONE: Final = (
    f"SELECT {_MATCH}, NULL, NULL, NULL FROM match m"  # noqa: S608 - our own text
    " WHERE pairing = ? AND block >= ? AND block < ? ORDER BY block, rotation"
)
_SEAT: Final = (
    "SELECT block, rotation, points, score, margin, luck, moves, time_us, slowest_us, startup_us, idle_us,"
    " timeouts_by_load FROM seat WHERE pairing = ? AND place = ? AND block >= ? AND block < ? ORDER BY block, rotation"
)
_PARDON: Final = (
    "SELECT block, rotation, place, code, count FROM pardon WHERE pairing = ? AND block >= ? AND block < ?"
    " ORDER BY block, rotation, place, code"
)


def insert(connection: sqlite3.Connection, pairing: int, one: MatchResult) -> bool:
    """Insert the rows of a result within the caller's transaction; False, and nothing, if the match is there."""
    key, unit = one.key, score_unit(one.scores or ())
    row = (
        *(pairing, key.block, key.rotation, "".join(map(str, one.ranks)), one.termination.value, one.at_fault),
        *(one.isolation, one.luck_version, unit),
    )
    if not connection.execute("INSERT OR IGNORE INTO match VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row).rowcount:
        return False
    places = [(seat + key.rotation) % len(one.ranks) for seat in range(len(one.ranks))]
    none = (None,) * len(places)
    by_seat = zip(
        one.points,
        none if one.scores is None else [int(score * unit) for score in one.scores],
        none if one.margins is None else [int(margin * unit) for margin in one.margins],
        one.luck or none,
        *(one.moves, one.time_us, one.slowest_us, one.startup_us, one.idle_us, one.timeouts_by_load),
        strict=True,
    )
    connection.executemany(
        "INSERT INTO seat VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(pairing, place, key.block, key.rotation, *own) for place, own in zip(places, by_seat, strict=True)],
    )
    if one.pardoned:
        counts = zip(places, one.pardoned, strict=True)
        pardons = [(place, code, count) for place, own in counts for code, count in own.items()]
        where = (pairing, key.block, key.rotation)
        connection.executemany("INSERT INTO pardon VALUES (?, ?, ?, ?, ?, ?)", [(*where, *each) for each in pardons])
    return True


def read_matches(
    connection: sqlite3.Connection, key: str, first: int = 0, end: int = WHOLE, *, with_records: bool = False
) -> Iterator[tuple[MatchResult, PackedRecord | None]]:
    """The matches of some blocks of the pairing with that key, by block and rotation.

    Without `with_records`, and where a record is missing, there is None. DamagedStore names the match that is damaged.
    """
    row = connection.execute("SELECT id, players FROM pairing WHERE key = ?", (key,)).fetchone()
    if row is None:
        return
    pairing, players = row[0], names(key, row[1])
    blocks = (first, end)
    seats = [iter(connection.execute(_SEAT, (pairing, place, *blocks))) for place in range(len(players))]
    pardons: defaultdict[MatchKey, list[Any]] = defaultdict(list)
    for block, rotation, *pardon in connection.execute(_PARDON, (pairing, *blocks)):
        pardons[MatchKey(key, block, rotation)].append(pardon)
    for match in connection.execute(_WITH_RECORD if with_records else _ALONE, (pairing, *blocks)):
        place = MatchKey(key, *match[:2])
        try:
            result = _result(place, players, match, [next(own, ()) for own in seats], pardons.pop(place, []))
            record = None if match[8] is None else _record(*match[8:])
        except UNREADABLE as error:
            raise damaged(str(place), error) from None
        yield result, record
    for place in pardons:
        raise damaged(str(place), "its faults are counted, and the match is not there")


def names(key: str, text: Any) -> tuple[str, ...]:
    """The players of a pairing by place, from its column."""
    try:
        return msgspec.json.decode(text, type=tuple[str, ...])
    except UNREADABLE as error:
        raise DamagedStore(f"the players of pairing {key} cannot be read: {error}; run `arena verify`") from None


def all_names(columns: Sequence[tuple[str, Any]]) -> list[tuple[str, ...]]:
    """The players of many pairings, by key and column, decoded at once."""
    try:
        text = f"[{','.join([text for _, text in columns])}]"
        found = msgspec.json.decode(text, type=list[tuple[str, ...]])
    except UNREADABLE:
        found = []
    return found if len(found) == len(columns) else [names(key, text) for key, text in columns]


def damaged(match: str, reason: object) -> DamagedStore:
    """The error for a stored match that cannot be."""
    return DamagedStore(f"match {match} cannot be read: {reason}; it was edited or damaged: run `arena verify`")


def _result(
    key: MatchKey, players: tuple[str, ...], match: tuple[Any, ...], seats: list[Any], pardons: list[Any]
) -> MatchResult:
    """The result of these rows. ValueError or TypeError if they are not those of one match."""
    # A million matches are read at once: whole numbers are compared before any becomes a fraction.
    block, rotation, text, termination, at_fault, isolation, version, unit = match[:8]
    for own in seats:
        if own[:2] != (block, rotation):
            raise ValueError("its seats are not there")
    if not 0 <= rotation < len(players):
        raise ValueError("its rotation is none of the pairing")
    by_seat = rotate(seats, rotation)
    if type(isolation) is not str or type(version) is not str:
        raise TypeError("its isolation or its luck version is no text")
    if not _KINDS.issuperset(map(type, chain(*by_seat))):
        raise TypeError("a value of a seat is no whole number")
    if type(unit) is not int or unit < 1:
        raise ValueError(f"scores count in parts of 1 / {unit}")
    _, _, gained, parts, margins, luck, *counts = zip(*by_seat, strict=True)
    ranks, due = _ranks(text)
    scores, due_margins = _scored(parts, unit)
    is_luck_whole = None not in luck if version else {*luck} == {None}
    if gained != due or margins != due_margins or not is_luck_whole:
        raise ValueError("its points, margins and luck do not fit its ranks, scores and version")
    if min(map(min, counts)) < 0:
        raise ValueError("a count or a time is below 0")
    pardoned = _pardoned(pardons, rotation, len(players)) if pardons else ()
    named = (key, rotate(players, rotation), ranks, scores, _termination(termination), at_fault, isolation)
    # Fields of results have the order of the columns.
    found: tuple[Any, ...] = (*named, *counts, luck if version else (), version, pardoned)
    return MatchResult(*found)


_termination = lru_cache(Termination)


@lru_cache(maxsize=4096)
def _ranks(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ranks by seat, and the points they are worth."""
    ranks = tuple(map(int, text))
    return ranks, points(ranks)


@lru_cache(maxsize=1 << 14)
def _scored(parts: tuple[int | None, ...], unit: int) -> tuple[tuple[Fraction, ...] | None, tuple[int | None, ...]]:
    """Scores in parts of 1 / `unit` -> the scores, and the margins in the same parts; nothing without scores."""
    known = [part for part in parts if part is not None]
    if not known:
        return None, parts
    return tuple([Fraction(part, unit) for part in known]), margins_of(known)


def _pardoned(rows: Iterable[tuple[int, str, int]], rotation: int, seats: int) -> tuple[dict[str, int], ...]:
    counts: list[dict[str, int]] = [{} for _ in range(seats)]
    for place, code, count in rows:
        if not 0 <= place < seats:
            raise ValueError(f"faults are counted for place {place} of {seats}")
        counts[(place - rotation) % seats][code] = count
    return tuple(counts) if any(counts) else ()


def _record(codec: Any, digest: Any, body: Any) -> PackedRecord:
    if [type(value) for value in (codec, digest, body)] != [str, str, bytes]:
        raise ValueError("its record is no record")
    return PackedRecord(codec=codec, digest=digest, body=body)
