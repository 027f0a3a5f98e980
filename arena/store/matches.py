"""Leagues and matches in the database.

Rule: exactly once. A block is written whole or not at all, in one transaction with its records; what is there already
stays as it is. Results come out in schedule order, whatever the order in which they came in.
"""

import contextlib
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from arena.errors import DamagedStore, SpecError
from arena.games.api import BOOK
from arena.league.history import EndedRun, ended_run
from arena.league.openings import LIMIT, read_openings
from arena.league.tournament import Tournament, decode_tournament, without_machine_settings
from arena.match.columns import Machine, PlayedBlock
from arena.match.record import split_packed
from arena.match.results import MatchKey, MatchResult, PairingRanks
from arena.store import database, files, history, rows, times
from arena.store.judgements import JudgementCache
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
    """A secret of a league's luck, or the entry of a public seed; `origin` is `drawn`, `file` or `public`.

    `revealed_at` is UTC in ISO 8601, None before.
    """

    commitment: str
    origin: str
    revealed_at: str | None = None


class Snapshot(msgspec.Struct, frozen=True):
    """The end of a run of a league: the tournament with its players then, and the standings that were published.

    `number` counts from 1. `ended_at` is UTC in ISO 8601; nothing else depends on the clock.
    """

    number: int
    ended_at: str
    tournament: Tournament
    standings: bytes

    @property
    def matches(self) -> int:
        """The number of matches of the standings."""
        return ended_run(self.number, self.ended_at, self.standings, self.tournament, None).matches


_BOOKS: Final = "openings"


class MatchStore:
    """The leagues and matches stored in the database of a results folder, and what judges think of the matches."""

    def __init__(self, connection: Connection, results: Path) -> None:
        self._connection = connection
        self._path, self._results = database.path_in(results), results
        self.judgements = JudgementCache(results)
        self._hidden: frozenset[tuple[str, int]] = frozenset()

    def save_league(self, tournament: Tournament) -> None:
        """Store the tournament under its name, without the settings of this machine, and its book as a file.

        Standings published of another version of it are deleted.
        """
        if tournament.book:
            files.make_folder(self._results, _BOOKS)
            files.replace_plain(self._results, _book_name(tournament), tournament.book.data)
        text = msgspec.json.encode(without_machine_settings(tournament))
        query = (
            "INSERT INTO league (name, tournament, digest) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
            " standings = CASE WHEN tournament = excluded.tournament THEN standings END,"
            " tournament = excluded.tournament, digest = excluded.digest"
        )
        self._write(query, tournament.name, text, sha256(text).hexdigest())

    def save_standings(self, league: str, standings: bytes) -> None:
        """Store the standings as they were last published, for `verify` to compare."""
        self._write("UPDATE league SET standings = ? WHERE name = ?", standings, league)

    def published_standings(self, league: str) -> bytes | None:
        """Return the standings as they were last published; None before."""
        stored = self._read("SELECT standings FROM league WHERE name = ?", league)
        return stored[0][0] if stored else None

    def league(self, name: str) -> Tournament:
        """Load the tournament of that name. SpecError lists the known names; DamagedStore if it was edited."""
        stored = self._read("SELECT CAST(tournament AS BLOB), digest FROM league WHERE name = ?", name)
        if not stored:
            known = ", ".join(self.leagues()) or "none"
            advice = "; give the name of the league, not its file" if name.endswith((".yaml", ".yml")) else ""
            raise SpecError(f'no league "{name}" in {self._path}; known: {known}{advice}')
        text, digest = stored[0]
        try:
            tournament = decode_tournament(text)
        except rows.UNREADABLE as error:
            raise self._edited_error(name, f" ({error})") from None
        if sha256(text).hexdigest() != digest or tournament.name != name:
            raise self._edited_error(name)
        return tournament

    def with_book(self, tournament: Tournament) -> Tournament:
        """Return the tournament with its stored book, if it has one. DamagedStore if the book was edited."""
        if not isinstance(tournament.options.get(BOOK), dict):
            return tournament
        name = _book_name(tournament)
        try:
            book = read_openings(tournament.game, files.read_plain(self._results, name, LIMIT), name)
        except FileNotFoundError:
            return tournament
        except SpecError as error:
            raise DamagedStore(str(error)) from None
        if book.identity != tournament.options[BOOK]:
            raise DamagedStore(f"{self._results / name}: it is not the book that was saved: edited or damaged")
        return replace(tournament, book=book)

    def _edited_error(self, league: str, reason: str = "") -> DamagedStore:
        """Return the error for a stored tournament that is not what was saved."""
        return DamagedStore(
            f"{self._path}: league {league}: the stored tournament is not what was saved: it was edited or damaged"
            f"{reason}; `arena league run FILE` stores it anew from the tournament's file, and its matches are kept"
        )

    def add_snapshot(self, tournament: Tournament, standings: bytes, ended_at: str) -> None:
        """Store the end of a run; do nothing if the tournament and its standings are those of the last one.

        `ended_at` is UTC in ISO 8601; a time before the end of the last run is replaced by that.
        """
        former = self.snapshots(tournament.name)
        text = msgspec.json.encode(without_machine_settings(tournament))
        if former and (msgspec.json.encode(former[-1].tournament), former[-1].standings) == (text, standings):
            return
        ended_at = max(ended_at, former[-1].ended_at) if former else ended_at  # the clock may have gone back
        digest = sha256(b"\n".join((ended_at.encode(), text, standings))).hexdigest()
        row = (tournament.name, len(former) + 1, ended_at, text, standings, digest)
        with database.transaction(self._connection, self._path):
            self._connection.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?)", row)
            self._connection.execute("UPDATE league SET runs = ? WHERE name = ?", (row[1], row[0]))

    def snapshots(self, league: str) -> tuple[Snapshot, ...]:
        """Return the ends of a league's runs, the first one first. DamagedStore if one was edited or deleted."""
        query = (
            "SELECT number, ended_at, CAST(tournament AS BLOB), CAST(standings AS BLOB), digest FROM snapshot"
            " WHERE league = ? ORDER BY number"
        )
        known: list[Snapshot] = []
        for place, (number, ended_at, text, standings, digest) in enumerate(self._read(query, league), start=1):
            try:
                content = b"\n".join((ended_at.encode(), text, standings))
                tournament = decode_tournament(text)
                ended_run(number, ended_at, standings, tournament, None)
                is_sound = (number, tournament.name, digest) == (place, league, sha256(content).hexdigest())
            except rows.UNREADABLE:
                is_sound = False
            if not is_sound:
                raise DamagedStore(f"{self._path}: league {league}: run {place} of its history was edited or damaged")
            known.append(Snapshot(number, ended_at, tournament, standings))
        stored = self._read("SELECT runs FROM league WHERE name = ?", league)
        if stored != [(len(known),)] and (known or stored):
            reason = f"the last ones of its history are gone: {counted(len(known), 'run is', 'runs are')} there"
            raise DamagedStore(f"{self._path}: league {league}: {reason}")
        return tuple(known)

    def runs(self, league: str) -> tuple[EndedRun, ...]:
        """Return the runs of a league that have ended, with their standings. DamagedStore as from `snapshots`.

        Among the changes are the hand-ins of its players that were corrected since the run before.
        """
        known, runs = self.snapshots(league), list[EndedRun]()
        corrections = [times.Correction(*row) for row in self._read(times.CORRECTIONS)]
        former, begun = None, ""
        for one in known:
            run = ended_run(one.number, one.ended_at, one.standings, one.tournament, former)
            names = {player.bot.name for player in one.tournament.players}
            made = (correction for correction in corrections if begun < correction.made_at <= one.ended_at)
            changes = [str(correction) for correction in made if correction.name in names]
            runs.append(msgspec.structs.replace(run, changes=(*run.changes, *changes)))
            former, begun = one.tournament, one.ended_at
        return tuple(runs)

    def hand_ins(self) -> list[tuple[str, str, str | None, str]]:
        """Return bot, time (UTC, ISO 8601), version and hash of each accepted hand-in, the first one first.

        A bot that was withdrawn has no version.
        """
        columns = "hand_in.name, CAST(at AS TEXT), version, digest"
        query = f"SELECT {columns} FROM hand_in LEFT JOIN bot USING (digest) ORDER BY at"  # noqa: S608 - our own text
        return self._read(query)

    def tournaments(self, league: str) -> list[Tournament]:
        """Return the tournament of that name, then those of its former runs, the latest first, with their players."""
        return [self.league(league), *(snapshot.tournament for snapshot in reversed(self.snapshots(league)))]

    def secrets(self, league: str) -> tuple[LeagueSecret, ...]:
        """Return the secrets of the league's luck from the first to the last, which gives new blocks.

        Public seeds are not among them.
        """
        return tuple(self._secrets_with("league = ? AND origin != 'public' ORDER BY number", league))

    def secret(self, commitment: str) -> LeagueSecret | None:
        """Return the secret (or public seed) of that commitment in the first league that has it; None without any."""
        return next(self._secrets_with("commitment = ? ORDER BY league", commitment), None)

    def _secrets_with(self, condition: str, value: str) -> Iterator[LeagueSecret]:
        """Read the secrets, or entries of public seeds, for which an SQL condition with one `value` holds."""
        query = f"SELECT commitment, origin, revealed_at FROM secret WHERE {condition}"  # noqa: S608 - our own text
        return (LeagueSecret(*row) for row in self._read(query, value))

    def add_secret(self, league: str, commitment: str, origin: str) -> None:
        """Make the league draw new blocks under another secret; do nothing if the league has it already."""
        query = "INSERT OR IGNORE INTO secret SELECT ?, count(*), ?, ?, NULL FROM secret WHERE league = ?"
        self._write(query, league, commitment, origin, league)

    def mark_revealed(self, commitment: str, revealed_at: str) -> None:
        """Record that the secret is public from now on, in every league that draws under it."""
        query = "UPDATE secret SET revealed_at = ? WHERE commitment = ? AND revealed_at IS NULL"
        self._write(query, revealed_at, commitment)

    def leagues(self) -> list[str]:
        """Return the names of all leagues, sorted."""
        return [str(name) for (name,) in self._read("SELECT name FROM league ORDER BY name")]

    def save(self, blocks: Iterable[PlayedBlock]) -> None:
        """Store these blocks in one transaction; blocks that are stored already stay as they are."""
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

    def remove_bots(self, digests: Collection[str]) -> None:
        """Take the bots with these hashes off the list, and delete what they wrote to stderr, in one transaction."""
        self._connection.execute("PRAGMA secure_delete=ON")
        with database.transaction(self._connection, self._path):
            for digest in digests:
                self._connection.execute("INSERT OR IGNORE INTO removal VALUES (?)", (digest,))
                self._connection.execute("DELETE FROM bot WHERE digest = ?", (digest,))
            rows.remove_stderr(self._connection, digests)

    def copy(self, folder: Path) -> None:
        """Write a copy of the database into an empty folder."""
        with contextlib.closing(sqlite3.connect(database.path_in(folder))) as target:
            self._connection.backup(target)

    def hide_later(self, blocks: Mapping[str, int], matches: int) -> None:
        """Hide from all reads the blocks that came later than the first `matches` stored ones, among those of `blocks`.

        `blocks` are the numbers of blocks by pairing, as for `ranks`; an empty mapping ends the hiding. DamagedStore
        if the history cannot be read.
        """
        try:
            keys = [MatchKey.read(entry.match) for entry in self.entries()] if blocks else []
        except rows.UNREADABLE as error:
            raise rows.damaged("the history of stored matches", error) from None
        places = [(key.pairing, key.block) for key in keys if key.block < blocks.get(key.pairing, 0)]
        self._hidden = frozenset(places[matches:])

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Make all reads inside see one state of the database, whatever a league stores meanwhile; not for writing."""
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
        """Yield the stored blocks of these pairings, by pairing and number, without records.

        DamagedStore names the block that is not what was stored.
        """
        with database.translating_sqlite_errors(self._path):
            for block in rows.read_blocks(self._connection, spans):
                if not self._hidden or (block.pairing, block.block) not in self._hidden:
                    yield block

    def ranks(self, blocks: Mapping[str, int]) -> dict[str, PairingRanks]:
        """Return the ranks of all stored matches by pairing; `blocks` gives the end of each pairing's block numbers.

        The result is in the order of `blocks`; a pairing without a match is left out. DamagedStore names a damaged
        block.
        """
        stored: dict[str, tuple[tuple[str, ...], list[int], list[str]]] = {}
        for block in self.blocks(_spans(blocks)):
            _, numbers, ranks = stored.setdefault(block.pairing, (block.players, [], []))
            numbers.append(block.block)
            ranks.append(sys.intern(block.ranks))  # few distinct texts among millions of blocks
        return {
            key: PairingRanks(
                players, range(len(numbers)) if numbers[-1] == len(numbers) - 1 else numbers, "".join(ranks)
            )
            for key, (players, numbers, ranks) in stored.items()
        }

    def forfeits(self, blocks: Mapping[str, int]) -> int:
        """Count the forfeited matches among `blocks` (as for `ranks`)."""
        return sum(block.forfeits for block in self.blocks(_spans(blocks)))

    def table(self, blocks: Mapping[str, int]) -> "MatchTable":
        """Make the match table of `blocks` (as for `ranks`).

        Raises DamagedStore for a damaged block, ValueError for unequal numbers of seats.
        """
        from arena.standings.match_table import table_of_blocks  # noqa: PLC0415 - most commands do not need numpy

        try:
            return table_of_blocks(self.blocks(_spans(blocks)))
        except (ValueError, TypeError, OverflowError):
            for _ in self.results(blocks):
                pass
            raise

    def sums(self, blocks: Mapping[str, int]) -> "PairingSums":
        """Add up the matches of `blocks` (as for `ranks`), pairing by pairing."""
        from arena.standings.sums import sums_of  # noqa: PLC0415 - as in `table`

        return sums_of(self.table(blocks))

    def machines(self, blocks: Mapping[str, int]) -> Counter[Machine]:
        """Count `blocks` (as for `ranks`) by machine; only those that a cluster played have a machine stored."""
        with database.translating_sqlite_errors(self._path):
            return rows.machines(self._connection, blocks)

    def results(self, blocks: Mapping[str, int], first: Mapping[str, int] | None = None) -> Iterator[MatchResult]:
        """Yield the matches of `blocks` (as for `ranks`) by pairing in the order given, block and rotation.

        `first`: the number of the first block of a pairing, if not 0.
        """
        for block in self.blocks(_spans(blocks, first or {})):
            yield from _results_of(block)

    def in_schedule_order(self, blocks: Mapping[str, int]) -> list[MatchResult]:
        """Return the matches of `blocks` (as for `ranks`) by block, pairing in the order given, and rotation."""
        order = {key: number for number, key in enumerate(blocks)}
        return sorted(self.results(blocks), key=lambda one: (one.key.block, order[one.key.pairing], one.key.rotation))

    def matches(self, blocks: Mapping[str, int]) -> Iterator[MatchResult]:
        """Yield the matches of `blocks` (as for `ranks`) with their records; skip matches without a record."""
        return self._matches_with_records(_spans(blocks))

    def orphans(self, known: Mapping[str, int]) -> Iterator[MatchResult]:
        """Yield the stored matches outside `known`: those of other pairings, or of blocks from its number on."""
        keys = [str(key) for (key,) in self._read("SELECT key FROM pairing ORDER BY key")]
        return self._matches_with_records(_spans(dict.fromkeys(keys, rows.WHOLE), known))

    def match(self, match_id: str) -> MatchResult:
        """Load the match of that id with its record. SpecError if there is none."""
        with contextlib.suppress(ValueError):
            key = MatchKey.read(match_id)
            for result in self._matches_with_records({key.pairing: (key.block, key.block + 1)}):
                if result.key == key:
                    return result
        raise SpecError(
            f'no match "{match_id}" in {self._path}; `arena league matches NAME` lists the ids. `arena match` keeps'
            " the last 50, `arena play` none, `arena league run` all"
        )

    def _matches_with_records(self, spans: Mapping[str, rows.Span]) -> Iterator[MatchResult]:
        """Yield the matches of these spans of blocks with their records; skip matches without a record."""
        for block in self.blocks(spans):
            with database.translating_sqlite_errors(self._path):
                whole = rows.with_records(self._connection, block)
            yield from (match for match in _results_of(whole) if match.record)

    def entries(self) -> Iterator[history.Entry]:
        """Yield the history of stored matches, in the order of their commits."""
        with database.translating_sqlite_errors(self._path):
            yield from history.entries(self._connection)

    def head(self) -> history.Head:
        """Return the number of matches that were ever stored, and the root of their history."""
        with database.translating_sqlite_errors(self._path):
            return history.head(self._connection)

    def orphans_of(self, table: str, other: str) -> int:
        """Count the matches of all leagues that `table` has and `other` lacks: `block`, `record` or `history`."""
        of = defaultdict(lambda: "SELECT pairing, block, rotation FROM {}", block=_MATCHES_OF_BLOCKS)
        query = f"SELECT count(*) FROM ({of[table].format(table)} EXCEPT {of[other].format(other)})"  # noqa: S608 - ours
        return int(self._read(query)[0][0])

    def integrity_errors(self) -> list[str]:
        """Return the errors that SQLite finds in the file: pages, constraints, rows of missing matches."""
        with database.translating_sqlite_errors(self._path):
            lines = [text for (text,) in database.collect_in_thread(self._connection, "PRAGMA integrity_check(5)")]
        lost = Counter(table for table, *_ in self._read("PRAGMA foreign_key_check"))
        lines += [f"{counted(number, 'row')} of {table} without a match or a pairing" for table, number in lost.items()]
        return lines[lines[:1] == ["ok"] :]

    def _read(self, query: str, *values: Any) -> list[Any]:
        """Return the rows of a query."""
        with database.translating_sqlite_errors(self._path):
            return self._connection.collect(query, values)

    def _write(self, query: str, *values: Any) -> None:
        """Execute one statement in a transaction of its own."""
        with database.transaction(self._connection, self._path):
            self._connection.execute(query, values)

    def _new_blocks(self, blocks: Iterable[PlayedBlock]) -> Iterator[tuple[int, PlayedBlock]]:
        """Yield the blocks that are not stored yet, once each, with the ids of their pairings."""
        ids: dict[tuple[str, tuple[str, ...]], int] = {}
        seen = set[tuple[int, int]]()
        for block in blocks:
            identity = (block.pairing, block.players)
            pairing = ids[identity] = ids.get(identity) or self._pairing_id(*identity)
            place = (pairing, block.block)
            query = "SELECT 1 FROM block WHERE (pairing, number) = (?, ?)"
            if place not in seen and not self._connection.execute(query, place).fetchone():
                yield pairing, block
            seen.add(place)

    def _pairing_id(self, key: str, players: tuple[str, ...]) -> int:
        """Store the pairing, or replace the stored players of a known key if they differ; return its id."""
        self._connection.execute(
            "INSERT INTO pairing (key, players) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET"
            " players = excluded.players WHERE players <> excluded.players",
            (key, msgspec.json.encode(players).decode()),
        )
        (pairing_id,) = self._connection.execute("SELECT id FROM pairing WHERE key = ?", (key,)).fetchone()
        return int(pairing_id)


def _spans(blocks: Mapping[str, int], first: Mapping[str, int] = MappingProxyType({})) -> dict[str, rows.Span]:
    """Return the span of block numbers of each pairing, from `first` or 0 to before the number in `blocks`."""
    return {key: (first.get(key, 0), end) for key, end in blocks.items()}


def _results_of(block: PlayedBlock) -> tuple[MatchResult, ...]:
    """Return the matches of a block. DamagedStore if its columns are those of no block."""
    try:
        return block.results
    except rows.UNREADABLE as error:
        raise rows.damaged(f"block {block.pairing}-{block.block}", error) from None


def _book_name(tournament: Tournament) -> str:
    """Return the file of the tournament's book below the results folder."""
    return f"{_BOOKS}/{Path(str(tournament.options[BOOK].get('sha256'))).name}"
