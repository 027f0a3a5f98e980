"""Leagues and matches in the database.

Rule: exactly once. A block is written whole or not at all, in one transaction with its records; what is there already
stays as it is. Results come out in schedule order, whatever the order in which they came in.
"""

import contextlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import msgspec

from arena.errors import DamagedStore, SpecError
from arena.league.tournament import Tournament, portable
from arena.match.columns import Machine, PlayedBlock
from arena.match.record import split_packed
from arena.match.results import MatchKey, MatchResult, PairingRanks
from arena.store import database, history, rows
from arena.store.view import Connection
from arena.text import counted

if TYPE_CHECKING:
    from arena.standings.match_table import MatchTable
    from arena.standings.sums import PairingSums

_MATCHES_OF_BLOCKS: Final = (
    "SELECT pairing, number AS block, ended.key AS rotation FROM block,"
    " json_each(CASE WHEN json_valid(ends) THEN ends ELSE '[]' END) ended WHERE ended.type != 'null'"
)


class LeagueSecret(msgspec.Struct, frozen=True):
    """A secret of a league's luck, or what a public seed stands for: `origin` is `drawn`, `file` or `public`.

    `revealed_at` is UTC in ISO 8601, None before.
    """

    commitment: str
    origin: str
    revealed_at: str | None = None


class MatchStore:
    """The stored matches of a results folder; `results` is where the database lies."""

    def __init__(self, connection: Connection, results: Path) -> None:
        self._connection = connection
        self._path = database.path_in(results)

    def save_league(self, tournament: Tournament) -> None:
        """Remember the tournament under its name, without what belongs to this machine.

        Standings published of another version of it are forgotten.
        """
        text = msgspec.json.encode(portable(tournament))
        query = (
            "INSERT INTO league (name, tournament, digest) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
            " standings = CASE WHEN tournament = excluded.tournament THEN standings END,"
            " tournament = excluded.tournament, digest = excluded.digest"
        )
        self._write(query, tournament.name, text, sha256(text).hexdigest())

    def save_standings(self, league: str, standings: bytes) -> None:
        """Remember the standings as they were last published, for `verify` to compare."""
        self._write("UPDATE league SET standings = ? WHERE name = ?", standings, league)

    def published(self, league: str) -> bytes | None:
        """The standings as they were last published."""
        found = self._read("SELECT standings FROM league WHERE name = ?", league)
        return found[0][0] if found else None

    def league(self, name: str) -> Tournament:
        """The tournament of that name. SpecError lists the known ones; DamagedStore if it is not what was saved."""
        stored = self._read("SELECT CAST(tournament AS BLOB), digest FROM league WHERE name = ?", name)
        if not stored:
            known = ", ".join(self.leagues()) or "none"
            advice = "; give the name of the league, not its file" if name.endswith((".yaml", ".yml")) else ""
            raise SpecError(f'no league "{name}" in {self._path}; known: {known}{advice}')
        text, digest = stored[0]
        try:
            found = msgspec.json.decode(text, type=Tournament)
        except rows.UNREADABLE as error:
            raise self._edited(name, f" ({error})") from None
        if sha256(text).hexdigest() != digest or found.name != name:
            raise self._edited(name)
        return found

    def _edited(self, league: str, reason: str = "") -> DamagedStore:
        return DamagedStore(
            f"{self._path}: league {league}: the stored tournament is not what was saved: it was edited or damaged"
            f"{reason}; `arena league run FILE` stores it anew from the tournament's file, and its matches are kept"
        )

    def secrets(self, league: str) -> tuple[LeagueSecret, ...]:
        """The secrets under which the league drew its luck, the first one first; the last one gives new blocks.

        Public seeds are none of them.
        """
        return tuple(self._secrets_with("league = ? AND origin != 'public' ORDER BY number", league))

    def secret(self, commitment: str) -> LeagueSecret | None:
        """The secret of that commitment, or the public seed, in the first league that has it; None without any."""
        return next(self._secrets_with("commitment = ? ORDER BY league", commitment), None)

    def _secrets_with(self, condition: str, value: str) -> Iterator[LeagueSecret]:
        query = f"SELECT commitment, origin, revealed_at FROM secret WHERE {condition}"  # noqa: S608 - our own text
        return (LeagueSecret(*row) for row in self._read(query, value))

    def add_secret(self, league: str, commitment: str, origin: str) -> None:
        """The league draws new blocks under another secret; nothing happens if it is one of its secrets."""
        query = "INSERT OR IGNORE INTO secret SELECT ?, count(*), ?, ?, NULL FROM secret WHERE league = ?"
        self._write(query, league, commitment, origin, league)

    def mark_revealed(self, commitment: str, revealed_at: str) -> None:
        """Remember that everybody may know the secret from now on, whichever leagues draw under it."""
        query = "UPDATE secret SET revealed_at = ? WHERE commitment = ? AND revealed_at IS NULL"
        self._write(query, revealed_at, commitment)

    def leagues(self) -> list[str]:
        """Names of all leagues, sorted."""
        return [str(name) for (name,) in self._read("SELECT name FROM league ORDER BY name")]

    def save(self, blocks: Iterable[PlayedBlock]) -> None:
        """Store these blocks in one transaction; those that are there already are left alone."""
        with database.transaction(self._connection, self._path):
            new = list(self._new_blocks(blocks))
            rows.insert(self._connection, new)
            entries = [
                (pairing, MatchKey(block.pairing, block.block, rotation), split_packed(record)[1])
                for pairing, block in new
                for rotation, record in enumerate(block.records)
                if record
            ]
            history.append(self._connection, entries)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that is read inside is of one moment, whatever a league stores meanwhile."""
        if self._connection.in_transaction:
            yield
            return
        self._connection.renew()
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

    def blocks(self, spans: Mapping[str, rows.Span]) -> Iterator[PlayedBlock]:
        """The stored blocks of these pairings, by pairing and number; without records.

        DamagedStore names the block that is not what was stored.
        """
        with database.translating_sqlite_errors(self._path):
            yield from rows.read_blocks(self._connection, spans)

    def ranks(self, blocks: Mapping[str, int]) -> dict[str, PairingRanks]:
        """The ranks of all stored matches of these pairings, by key: of each its blocks below that number.

        In the order of `blocks`; a pairing without a match is left out. DamagedStore names a block that cannot be.
        """
        stored: dict[str, tuple[tuple[str, ...], list[int], list[str]]] = {}
        for block in self.blocks(_spans(blocks)):
            _, numbers, ranks = stored.setdefault(block.pairing, (block.players, [], []))
            numbers.append(block.block)
            ranks.append(sys.intern(block.ranks))  # few differ, and there are millions
        return {
            key: PairingRanks(
                players, range(len(numbers)) if numbers[-1] == len(numbers) - 1 else numbers, "".join(ranks)
            )
            for key, (players, numbers, ranks) in stored.items()
        }

    def forfeits(self, blocks: Mapping[str, int]) -> int:
        """The number of the same matches that somebody forfeited."""
        return sum(block.forfeits for block in self.blocks(_spans(blocks)))

    def table(self, blocks: Mapping[str, int]) -> "MatchTable":
        """The match table of the same blocks; with the same errors. ValueError for unequal numbers of seats."""
        from arena.standings.match_table import table_of_blocks  # noqa: PLC0415 - most commands do not need numpy

        try:
            return table_of_blocks(self.blocks(_spans(blocks)))
        except (ValueError, TypeError, OverflowError):
            for _ in self.results(blocks):
                pass
            raise

    def sums(self, blocks: Mapping[str, int]) -> "PairingSums":
        """The sums of the same matches."""
        from arena.standings.sums import sums_of  # noqa: PLC0415 - as in `table`

        return sums_of(self.table(blocks))

    def machines(self, blocks: Mapping[str, int]) -> Counter[Machine]:
        """The number of blocks of these pairings by machine; those that a cluster played, as far as it is stored."""
        with database.translating_sqlite_errors(self._path):
            return rows.machines(self._connection, blocks)

    def results(self, blocks: Mapping[str, int], first: Mapping[str, int] | None = None) -> Iterator[MatchResult]:
        """The same matches one by one, by pairing in the order of `blocks`, block and rotation.

        `first`: the number of the first block of a pairing, if not 0.
        """
        for block in self.blocks(_spans(blocks, first or {})):
            yield from _results(block)

    def in_schedule_order(self, blocks: Mapping[str, int]) -> list[MatchResult]:
        """The same by block, pairing in the order of `blocks`, and rotation."""
        order = {key: number for number, key in enumerate(blocks)}
        return sorted(self.results(blocks), key=lambda one: (one.key.block, order[one.key.pairing], one.key.rotation))

    def matches(self, blocks: Mapping[str, int]) -> Iterator[MatchResult]:
        """The same with their records; a match without a record is left out."""
        return self._played(_spans(blocks))

    def orphans(self, known: Mapping[str, int]) -> Iterator[MatchResult]:
        """The stored matches that are not among these: other pairings, or blocks from that number on."""
        keys = [str(key) for (key,) in self._read("SELECT key FROM pairing ORDER BY key")]
        return self._played(_spans(dict.fromkeys(keys, rows.WHOLE), known))

    def match(self, match_id: str) -> MatchResult:
        """The match of that id. SpecError if there is none."""
        with contextlib.suppress(ValueError):
            key = MatchKey.read(match_id)
            for found in self._played({key.pairing: (key.block, key.block + 1)}):
                if found.key == key:
                    return found
        raise SpecError(
            f'no match "{match_id}" in {self._path}; `arena league matches NAME` lists the ids. `arena match` keeps'
            " the last 50, `arena play` none, `arena league run` all"
        )

    def _played(self, spans: Mapping[str, rows.Span]) -> Iterator[MatchResult]:
        for block in self.blocks(spans):
            with database.translating_sqlite_errors(self._path):
                whole = rows.with_records(self._connection, block)
            yield from (match for match in _results(whole) if match.record)

    def entries(self) -> Iterator[history.Entry]:
        """Which matches were stored, in the order of their commits."""
        with database.translating_sqlite_errors(self._path):
            yield from history.entries(self._connection)

    def head(self) -> history.Head:
        """The number of matches that were ever stored, and the root of their history."""
        with database.translating_sqlite_errors(self._path):
            return history.head(self._connection)

    def orphans_of(self, table: str, other: str) -> int:
        """Matches, of all leagues and of none, that `table` has and `other` lacks: `block`, `record`, `history`."""
        of = defaultdict(lambda: "SELECT pairing, block, rotation FROM {}", block=_MATCHES_OF_BLOCKS)
        query = f"SELECT count(*) FROM ({of[table].format(table)} EXCEPT {of[other].format(other)})"  # noqa: S608 - ours
        return int(self._read(query)[0][0])

    def integrity_errors(self) -> list[str]:
        """The errors that SQLite itself finds in the file: pages, constraints, rows of matches that are not there."""
        with database.translating_sqlite_errors(self._path):
            found = [text for (text,) in database.collect_in_thread(self._connection, "PRAGMA integrity_check(5)")]
        lost = Counter(table for table, *_ in self._read("PRAGMA foreign_key_check"))
        found += [f"{counted(number, 'row')} of {table} without a match or a pairing" for table, number in lost.items()]
        return found[found[:1] == ["ok"] :]

    def _read(self, query: str, *values: Any) -> list[Any]:
        """The rows that a query finds."""
        with database.translating_sqlite_errors(self._path):
            return self._connection.collect(query, values)

    def _write(self, query: str, *values: Any) -> None:
        """Execute one statement in a transaction of its own."""
        with database.transaction(self._connection, self._path):
            self._connection.execute(query, values)

    def _new_blocks(self, blocks: Iterable[PlayedBlock]) -> Iterator[tuple[int, PlayedBlock]]:
        """The blocks that are not there, each once, with the ids of their pairings."""
        ids: dict[tuple[str, tuple[str, ...]], int] = {}
        seen = set[tuple[int, int]]()
        for block in blocks:
            named = (block.pairing, block.players)
            pairing = ids[named] = ids.get(named) or self._pairing(*named)
            place = (pairing, block.block)
            query = "SELECT 1 FROM block WHERE (pairing, number) = (?, ?)"
            if place not in seen and not self._connection.execute(query, place).fetchone():
                yield pairing, block
            seen.add(place)

    def _pairing(self, key: str, players: tuple[str, ...]) -> int:
        """The id of a pairing, whose players are those from now on."""
        self._connection.execute(
            "INSERT INTO pairing (key, players) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET"
            " players = excluded.players WHERE players <> excluded.players",
            (key, msgspec.json.encode(players).decode()),
        )
        (found,) = self._connection.execute("SELECT id FROM pairing WHERE key = ?", (key,)).fetchone()
        return int(found)


def _spans(blocks: Mapping[str, int], first: Mapping[str, int] = MappingProxyType({})) -> dict[str, rows.Span]:
    return {key: (first.get(key, 0), end) for key, end in blocks.items()}


def _results(block: PlayedBlock) -> tuple[MatchResult, ...]:
    try:
        return block.results
    except rows.UNREADABLE as error:
        raise rows.damaged(f"block {block.pairing}-{block.block}", error) from None
