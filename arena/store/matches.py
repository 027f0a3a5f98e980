"""Leagues and matches in the database.

Rule: exactly once. A block is written whole or not at all, in one transaction with its records; what is there already
stays as it is. Results come out in schedule order, whatever the order in which they came in.
"""

import contextlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from arena.errors import DamagedStore, SpecError
from arena.league.tournament import Tournament, portable
from arena.match.columns import Machine, PlayedBlock
from arena.match.results import MatchKey, MatchResult, PairingRanks, PlayedMatch
from arena.store import database, history, rows
from arena.store.ranks import Wanted, ranks, unchecked_ranks, wanted
from arena.store.view import Connection
from arena.text import counted

if TYPE_CHECKING:
    from arena.standings.profile import PlayerColumns
    from arena.standings.sums import PairingSums

_R = TypeVar("_R")


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
        self._asked: tuple[dict[str, int], list[Wanted]] = {}, []

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
            raise SpecError(f'no league "{name}" in {self._path}; known: {known}')
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
        """Store these blocks in one transaction; matches that are there already are left alone."""
        with database.transaction(self._connection, self._path):
            found = list(self._new_matches(blocks))
            rows.insert(self._connection, [new for new, _ in found])
            records = [(new.pairing, *new.key[1:], *record) for new, record in found]
            self._connection.executemany("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?)", records)
            history.append(self._connection, [(new.pairing, new.key, digest) for new, (_, digest, _) in found])

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
            self._asked = {}, []
            self._connection.execute("ROLLBACK")

    def _aggregated(self, blocks: Mapping[str, int], read: Callable[[Connection, Sequence[Wanted]], _R]) -> _R:
        """The reader's answer about these pairings, which are looked up once a snapshot."""
        with database.translating_sqlite_errors(self._path), self.snapshot():
            if not blocks.items() <= self._asked[0].items():
                self._asked = dict(blocks), wanted(self._connection, blocks)
            return read(self._connection, [one for one in self._asked[1] if one.key in blocks])

    def ranks(self, blocks: Mapping[str, int]) -> dict[str, PairingRanks]:
        """The ranks of all stored matches of these pairings, by key: of each its blocks below that number.

        In the order of `blocks`; a pairing without a match is left out. DamagedStore names a match that cannot be.
        """
        return self._aggregated(blocks, ranks)

    def unchecked_ranks(self, blocks: Mapping[str, int]) -> dict[str, PairingRanks]:
        """The same for callers who hand them to `sums` within the snapshot, which compares them with the points."""
        return self._aggregated(blocks, unchecked_ranks)

    def sums(
        self, blocks: Mapping[str, int], known: Mapping[str, PairingRanks] = MappingProxyType({})
    ) -> "PairingSums":
        """The sums of the same matches; in the same order, and with the same errors.

        Ranks that are `known`, from the same snapshot, are not read again.
        """
        from arena.store.sums import sums  # noqa: PLC0415 - numpy takes 0.1 s that most commands do not need

        return self._aggregated(blocks, partial(sums, known=known))

    def columns(
        self, player: str, blocks: Mapping[str, int], known: Mapping[str, PairingRanks]
    ) -> "list[PlayerColumns]":
        """The matches of a player's pairings as columns; ranks and sums are known, from the same snapshot."""
        from arena.store.columns import columns  # noqa: PLC0415 - as in `sums`

        return self._aggregated(blocks, lambda *of: [*columns(of[0], of[1], player, known)])

    def machines(self, blocks: Mapping[str, int]) -> Counter[Machine]:
        """The number of blocks of these pairings by machine; those that a cluster played, as far as it is stored."""
        with database.translating_sqlite_errors(self._path):
            return rows.machines(self._connection, blocks)

    def results(self, blocks: Mapping[str, int], first: Mapping[str, int] | None = None) -> Iterator[MatchResult]:
        """The same matches one by one, by pairing in the order of `blocks`, block and rotation.

        `first`: the number of the first block of a pairing, if not 0.
        """
        with database.translating_sqlite_errors(self._path):
            for key, end in blocks.items():
                start = 0 if first is None else first.get(key, 0)
                yield from (result for result, _ in rows.read_matches(self._connection, key, start, end))

    def in_schedule_order(self, blocks: Mapping[str, int]) -> list[MatchResult]:
        """The same by block, pairing in the order of `blocks`, and rotation."""
        order = {key: number for number, key in enumerate(blocks)}
        return sorted(self.results(blocks), key=lambda one: (one.key.block, order[one.key.pairing], one.key.rotation))

    def matches(self, blocks: Mapping[str, int]) -> Iterator[PlayedMatch]:
        """The same with their records; a match without a record is left out."""
        for key, end in blocks.items():
            yield from self._played(key, 0, end)

    def orphans(self, known: Mapping[str, int]) -> Iterator[PlayedMatch]:
        """The stored matches that are not among these: other pairings, or blocks from that number on."""
        for (key,) in self._read("SELECT key FROM pairing ORDER BY key"):
            yield from self._played(key, known.get(key, 0), rows.WHOLE)

    def match(self, match_id: str) -> PlayedMatch:
        """The match of that id. SpecError if there is none."""
        with contextlib.suppress(ValueError):
            key = MatchKey.read(match_id)
            for found in self._played(key.pairing, key.block, key.block + 1):
                if found.result.key == key:
                    return found
        raise SpecError(
            f'no match "{match_id}" in {self._path}; `arena league matches NAME` lists the ids. `arena match` keeps'
            " the last 50, `arena play` none, `arena league run` all"
        )

    def _played(self, key: str, first: int, end: int) -> Iterator[PlayedMatch]:
        with database.translating_sqlite_errors(self._path):
            for result, record in rows.read_matches(self._connection, key, first, end, with_records=True):
                if record is not None:
                    yield PlayedMatch(result, record)

    def entries(self) -> Iterator[history.Entry]:
        """Which matches were stored, in the order of their commits."""
        with database.translating_sqlite_errors(self._path):
            yield from history.entries(self._connection)

    def head(self) -> history.Head:
        """The number of matches that were ever stored, and the root of their history."""
        with database.translating_sqlite_errors(self._path):
            return history.head(self._connection)

    def orphans_of(self, table: str, other: str) -> int:
        """Matches, of all leagues and of none, that `table` has and `other` lacks: `match`, `record`, `history`."""
        of = "SELECT pairing, block, rotation FROM"
        query = f"SELECT count(*) FROM ({of} {table} EXCEPT {of} {other})"  # noqa: S608 - names of our own tables
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

    def _new_matches(self, blocks: Iterable[PlayedBlock]) -> Iterator[tuple[rows.NewMatch, tuple[str, str, bytes]]]:
        """The matches of these blocks that are not there, each once, with their records."""
        ids: dict[tuple[str, tuple[str, ...]], int] = {}
        seen = defaultdict[tuple[int, int], set[int]](set)
        for block in blocks:
            named = (block.pairing, block.players)
            pairing = ids[named] = ids.get(named) or self._pairing(*named)
            place = (pairing, block.block)
            if place not in seen:
                query = "SELECT rotation FROM match WHERE (pairing, block) = (?, ?)"
                seen[place].update(rotation for (rotation,) in self._connection.execute(query, place))
            for rotation, columns, record in block.storable:
                if rotation not in seen[place]:
                    seen[place].add(rotation)
                    key = MatchKey(block.pairing, block.block, rotation)
                    yield rows.NewMatch(pairing, key, columns, block.machine), record

    def _pairing(self, key: str, players: tuple[str, ...]) -> int:
        """The id of a pairing, whose players are those from now on."""
        self._connection.execute(
            "INSERT INTO pairing (key, players) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET"
            " players = excluded.players WHERE players <> excluded.players",
            (key, msgspec.json.encode(players).decode()),
        )
        (found,) = self._connection.execute("SELECT id FROM pairing WHERE key = ?", (key,)).fetchone()
        return int(found)
