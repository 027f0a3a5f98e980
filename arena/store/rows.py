"""Matches as rows: the layout of the tables, and the way from columns to rows and back.

Rule: a column holds what a query asks for, in whole numbers; a row that no match can have is DamagedStore and names the
match. Points and margins stand beside ranks and scores although they follow from them, so that SQLite can add them.

`seat` is in the order of places before blocks: a query by pairing and place reads its rows one after the other.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from arena.errors import DamagedStore
from arena.match.columns import Machine, MatchColumns, result_from
from arena.match.record import PackedRecord
from arena.match.results import MatchKey, MatchResult


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

MACHINE_TABLES: Final = """
    CREATE TABLE machine (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL CHECK (typeof(name) = 'text'),
        speed REAL NOT NULL CHECK (typeof(speed) = 'real'), UNIQUE (name, speed)
    );
    CREATE TABLE played_on (
        pairing INTEGER NOT NULL REFERENCES pairing, block INTEGER NOT NULL,
        machine INTEGER NOT NULL REFERENCES machine, PRIMARY KEY (pairing, block)
    ) WITHOUT ROWID
"""
"""The machines of blocks that a cluster played; the others were played on the driver's."""
_PLAYED_ON: Final = "INSERT OR IGNORE INTO played_on SELECT ?, ?, id FROM machine WHERE (name, speed) = (?, ?)"
_MACHINES: Final = (
    "SELECT name, speed, count(*) FROM pairing p JOIN played_on o ON o.pairing = p.id"
    " JOIN machine m ON m.id = o.machine WHERE p.key = ? AND o.block < ? GROUP BY m.id"
)

UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, TypeError, ValueError, AttributeError)
"""Raised by values that are not those that were stored: in form, in their bytes, in their type."""
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


class NewMatch(NamedTuple):
    """A match to be inserted: the id of its pairing, its key, its columns, and the machine, if that is told."""

    pairing: int
    key: MatchKey
    columns: MatchColumns
    machine: Machine | None = None


def insert(connection: sqlite3.Connection, matches: Iterable[NewMatch]) -> None:
    """Insert the rows of matches that are not there, within the caller's transaction."""
    own, seats, pardons = list[tuple[Any, ...]](), list[tuple[Any, ...]](), list[tuple[Any, ...]]()
    ran_on: dict[tuple[int, int], Machine] = {}
    for pairing, (_, block, rotation), columns, machine in matches:
        own.append((pairing, block, rotation, *columns[:6]))
        seats += [(pairing, place, block, rotation, *each) for place, each in enumerate(columns.seats)]
        pardons += [(pairing, block, rotation, *each) for each in columns.pardons]
        if machine is not None:
            ran_on[pairing, block] = machine
    connection.executemany("INSERT INTO match VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", own)
    connection.executemany("INSERT INTO seat VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", seats)
    if pardons:
        connection.executemany("INSERT INTO pardon VALUES (?, ?, ?, ?, ?, ?)", pardons)
    if ran_on:
        connection.executemany("INSERT OR IGNORE INTO machine (name, speed) VALUES (?, ?)", {*ran_on.values()})
        connection.executemany(_PLAYED_ON, [(*block, *machine) for block, machine in ran_on.items()])


def machines(connection: sqlite3.Connection, blocks: Mapping[str, int]) -> Counter[Machine]:
    """The number of blocks by machine: of each pairing, by its key, the blocks below that number."""
    found = Counter[Machine]()
    for block in blocks.items():
        for name, speed, count in connection.execute(_MACHINES, block):
            found[Machine(name, speed)] += count
    return found


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
    last: tuple[Any, ...] = ()
    for match in connection.execute(_WITH_RECORD if with_records else _ALONE, (pairing, *blocks)):
        place = MatchKey(key, *match[:2])
        if match[:2] <= last:  # pages that lead in a circle have no last one
            raise damaged(str(place), "it is there again")
        last = match[:2]
        try:
            columns = _columns(match, [next(own, ()) for own in seats], pardons.pop(place, []))
            result = result_from(place, players, columns)
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


def _columns(match: tuple[Any, ...], seats: list[Any], pardons: list[Any]) -> MatchColumns:
    """The columns of a match. ValueError if a row of a seat is missing."""
    for own in seats:
        if own[:2] != match[:2]:
            raise ValueError("its seats are not there")
    return MatchColumns._make((*match[2:8], tuple([own[2:] for own in seats]), tuple(pardons)))


def _record(codec: Any, digest: Any, body: Any) -> PackedRecord:
    if [type(value) for value in (codec, digest, body)] != [str, str, bytes]:
        raise ValueError("its record is no record")
    return PackedRecord(codec=codec, digest=digest, body=body)
