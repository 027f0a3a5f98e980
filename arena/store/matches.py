"""Leagues and matches in the database.

Rule: exactly once. A block is written whole or not at all, in one transaction with its records; what is there already
stays as it is. Results come out in schedule order, whatever the order in which they came in.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

import msgspec

from arena.errors import DamagedStore, SpecError
from arena.league.results import MatchSummary, PlayedBlock, result_of
from arena.league.schedule import pairings
from arena.league.standings import MatchResult
from arena.league.tournament import Tournament, portable
from arena.match.record import PackedRecord
from arena.store import database

_summary_encoder = msgspec.json.Encoder()
_summary_decoder = msgspec.json.Decoder(MatchSummary)
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, TypeError)
"""What decoding raises for a value that is not what was stored: in form, in its bytes, in its type."""


class StoredMatch(msgspec.Struct, frozen=True):
    """One stored match: where it belongs, its summary, and its record as stored."""

    pairing: str
    block: int
    rotation: int
    summary: MatchSummary
    record: PackedRecord

    @property
    def match_id(self) -> str:
        """The id people use."""
        return f"{self.pairing}-{self.block}-{self.rotation}"


class MatchStore:
    """The stored matches of a results folder; `results` is where the database lies."""

    def __init__(self, connection: sqlite3.Connection, results: Path) -> None:
        self._connection = connection
        self._path = database.path_in(results)

    def save_league(self, tournament: Tournament) -> None:
        """Remember the tournament under its name, without what belongs to this machine.

        Standings published of another version of it are forgotten.
        """
        text = msgspec.json.encode(portable(tournament))
        with database.speaking_for(self._path), database.transaction(self._connection):
            self._connection.execute(
                "INSERT INTO league (name, tournament, digest) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
                " standings = CASE WHEN tournament = excluded.tournament THEN standings END,"
                " tournament = excluded.tournament, digest = excluded.digest",
                (tournament.name, text, sha256(text).hexdigest()),
            )

    def save_standings(self, league: str, standings: bytes) -> None:
        """Remember the standings as they were last published, for `verify` to compare."""
        with database.speaking_for(self._path), database.transaction(self._connection):
            self._connection.execute("UPDATE league SET standings = ? WHERE name = ?", (standings, league))

    def published(self, league: str) -> bytes | None:
        """The standings as they were last published."""
        with database.speaking_for(self._path):
            row = self._connection.execute("SELECT standings FROM league WHERE name = ?", (league,)).fetchone()
        return None if row is None else row[0]

    def league(self, name: str) -> Tournament:
        """The tournament of that name. SpecError lists the known ones."""
        with database.speaking_for(self._path):
            row = self._connection.execute("SELECT tournament FROM league WHERE name = ?", (name,)).fetchone()
        if row is None:
            known = ", ".join(self.leagues()) or "none"
            raise SpecError(f'no league "{name}" in {self._path}; known: {known}')
        try:
            return msgspec.json.decode(row[0], type=Tournament)
        except _UNREADABLE as error:
            raise DamagedStore(f"{self._path}: league {name}: {error}") from None

    def is_edited(self, league: str) -> bool:
        """Whether the stored tournament is not what was saved; what an older version of arena saved has no digest."""
        with database.speaking_for(self._path):
            query = "SELECT CAST(tournament AS BLOB), digest FROM league WHERE name = ?"
            row = self._connection.execute(query, (league,)).fetchone()
        return row is not None and row[1] is not None and sha256(row[0]).hexdigest() != row[1]

    def leagues(self) -> list[str]:
        """Names of all leagues, sorted."""
        with database.speaking_for(self._path):
            return [name for (name,) in self._connection.execute("SELECT name FROM league ORDER BY name")]

    def save(self, blocks: Iterable[PlayedBlock]) -> None:
        """Store these blocks in one transaction; blocks that are there already are left alone."""
        with database.speaking_for(self._path), database.transaction(self._connection):
            for block in blocks:
                self._save_block(block)

    def finished(self, tournament: Tournament) -> dict[str, set[int]]:
        """Blocks of the tournament that are stored, by pairing key; what lies beyond its cycles is not of it."""
        with database.speaking_for(self._path):
            return {pairing.key: self._blocks(pairing.key, tournament.cycles) for pairing in pairings(tournament)}

    def forfeits(self, tournament: Tournament) -> int:
        """Stored matches of the tournament that ended with a forfeit."""
        query = (
            "SELECT count(*) FROM match JOIN pairing ON pairing.id = match.pairing"
            " WHERE key = ? AND block < ? AND json_extract(CAST(summary AS TEXT), '$.at_fault') >= 0"
        )
        with database.speaking_for(self._path):
            return sum(
                self._connection.execute(query, (pairing.key, tournament.cycles)).fetchone()[0]
                for pairing in pairings(tournament)
            )

    def results(self, tournament: Tournament) -> list[MatchResult]:
        """What is stored of the tournament, in schedule order: by cycle, pairing, rotation."""
        pairs = pairings(tournament)
        rows: list[tuple[int, int, int, bytes]] = []
        with database.speaking_for(self._path):
            for order, pairing in enumerate(pairs):
                query = (
                    "SELECT block, ?, rotation, summary FROM match"
                    " JOIN pairing ON pairing.id = match.pairing WHERE key = ? AND block < ?"
                )
                rows += self._connection.execute(query, (order, pairing.key, tournament.cycles))
        rows.sort()
        try:
            return [
                result_of(_summary_decoder.decode(encoded), pairs, order=order, block=block, rotation=rotation)
                for block, order, rotation, encoded in rows
            ]
        except _UNREADABLE as error:
            raise DamagedStore(f"{self._path}: a match summary cannot be read: {error}; run `arena verify`") from None

    def matches(self, tournament: Tournament) -> Iterator[StoredMatch]:
        """All stored matches of the tournament with their records, by pairing."""
        for pairing in pairings(tournament):
            yield from self._stored("key = ? AND m.block < ?", (pairing.key, tournament.cycles))

    def orphans(self, leagues: Iterable[Tournament]) -> Iterator[StoredMatch]:
        """Stored matches that are of none of these leagues."""
        cycles: dict[str, int] = {}
        for league in leagues:
            for pairing in pairings(league):
                cycles[pairing.key] = max(league.cycles, cycles.get(pairing.key, 0))
        with database.speaking_for(self._path):
            keys = [key for (key,) in self._connection.execute("SELECT key FROM pairing ORDER BY key")]
        for key in keys:
            yield from self._stored("key = ? AND m.block >= ?", (key, cycles.get(key, 0)))

    def match(self, match_id: str) -> StoredMatch:
        """The match of that id. SpecError if there is none."""
        parts = match_id.split("-")
        if len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit():
            condition = "key = ? AND m.block = ? AND m.rotation = ?"
            for found in self._stored(condition, (parts[0], int(parts[1]), int(parts[2]))):
                return found
        raise SpecError(f'no match "{match_id}" in {self._path}; `arena league matches NAME` lists the ids')

    def bare_matches(self) -> int:
        """Matches whose record is missing, in all leagues and outside of them."""
        query = (
            "SELECT count(*) FROM match m LEFT JOIN record r"
            " ON (r.pairing, r.block, r.rotation) = (m.pairing, m.block, m.rotation) WHERE r.pairing IS NULL"
        )
        with database.speaking_for(self._path):
            return int(self._connection.execute(query).fetchone()[0])

    def loose_records(self) -> int:
        """Records whose match is missing, in all leagues."""
        query = (
            "SELECT count(*) FROM record r LEFT JOIN match m"
            " ON (r.pairing, r.block, r.rotation) = (m.pairing, m.block, m.rotation) WHERE m.pairing IS NULL"
        )
        with database.speaking_for(self._path):
            return int(self._connection.execute(query).fetchone()[0])

    def integrity_errors(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        with database.speaking_for(self._path):
            found = [text for (text,) in self._connection.execute("PRAGMA integrity_check(5)")]
        return [] if found == ["ok"] else found

    def _blocks(self, key: str, cycles: int) -> set[int]:
        query = (
            "SELECT DISTINCT block FROM match JOIN pairing ON pairing.id = match.pairing WHERE key = ? AND block < ?"
        )
        return {block for (block,) in self._connection.execute(query, (key, cycles))}

    def _save_block(self, block: PlayedBlock) -> None:
        execute = self._connection.execute
        execute("INSERT OR IGNORE INTO pairing (key) VALUES (?)", (block.fixture.pairing,))
        (pairing,) = execute("SELECT id FROM pairing WHERE key = ?", (block.fixture.pairing,)).fetchone()
        for match in block.matches:
            key = (pairing, block.fixture.block, match.rotation)
            summary = _summary_encoder.encode(match.summary)
            if execute("INSERT OR IGNORE INTO match VALUES (?, ?, ?, ?)", (*key, summary)).rowcount:
                packed = match.record
                row = (*key, packed.codec, packed.digest, packed.body)
                execute("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?)", row)

    def _stored(self, condition: str, parameters: tuple[object, ...]) -> Iterator[StoredMatch]:
        query = (
            "SELECT key, m.block, m.rotation, summary, codec, digest, body FROM match m"  # noqa: S608 - our own text
            " JOIN pairing ON pairing.id = m.pairing"
            f" JOIN record r ON (r.pairing, r.block, r.rotation) = (m.pairing, m.block, m.rotation) WHERE {condition}"
        )
        with database.speaking_for(self._path):
            for key, block, rotation, summary, codec, digest, body in self._connection.execute(query, parameters):
                try:
                    read = _summary_decoder.decode(summary)
                except _UNREADABLE as error:
                    raise DamagedStore(f"match {key}-{block}-{rotation} cannot be read: {error}") from None
                if [type(value) for value in (codec, digest, body)] != [str, str, bytes]:
                    raise DamagedStore(f"match {key}-{block}-{rotation} cannot be read: its record is no record")
                packed = PackedRecord(codec=codec, digest=digest, body=body)
                yield StoredMatch(pairing=key, block=block, rotation=rotation, summary=read, record=packed)
