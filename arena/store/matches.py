"""Leagues and matches in the database.

Rule: exactly once. A block is written whole or not at all, in one transaction with its records; what is there already
stays as it is. Results come out in schedule order, whatever the order in which they came in.
"""

import contextlib
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from arena.errors import DamagedStore, SpecError
from arena.league.results import MatchSummary, PlayedBlock, result_of
from arena.league.schedule import Pairing
from arena.league.state import Span
from arena.league.tournament import OLD_FORMAT, Tournament, portable
from arena.match.record import PackedRecord
from arena.match.results import PairingRanks
from arena.standings.checkpoint import Checkpoint
from arena.standings.table import MatchResult
from arena.standings.tally import Tallied, Tally
from arena.store import database, history, tallies

_summary_encoder = msgspec.json.Encoder()
_OLD_RULES: Final = "1"
"""Of every game in arena 0.1.0, which stored no version of the rules with a league."""
_summary_decoder = msgspec.json.Decoder(MatchSummary)


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


class LeagueSecret(msgspec.Struct, frozen=True):
    """A secret of a league's luck, or what a public seed stands for: `origin` is `drawn`, `file` or `public`.

    `revealed_at` is UTC in ISO 8601, None before.
    """

    commitment: str
    origin: str
    revealed_at: str | None = None


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

    def save_standings(self, league: str, standings: bytes, checkpoints: Iterable[Checkpoint] = ()) -> None:
        """Remember the standings as they were last published, for `verify` to compare, and where ratings may go on."""
        with database.speaking_for(self._path), database.transaction(self._connection):
            self._connection.execute("UPDATE league SET standings = ? WHERE name = ?", (standings, league))
            tallies.save_checkpoints(self._connection, league, checkpoints)

    def checkpoints(self, league: str) -> tuple[Checkpoint, ...]:
        """Where the ratings of the league may go on; whether one still fits is for its user to see."""
        with self._reading("a checkpoint"), database.speaking_for(self._path):
            return tuple(tallies.checkpoints(self._connection, league))

    def published(self, league: str) -> bytes | None:
        """The standings as they were last published."""
        with database.speaking_for(self._path):
            row = self._connection.execute("SELECT standings FROM league WHERE name = ?", (league,)).fetchone()
        return None if row is None else row[0]

    def league(self, name: str) -> Tournament:
        """The tournament of that name. SpecError lists the known ones; DamagedStore if it is not what was saved."""
        query = "SELECT CAST(tournament AS BLOB), digest FROM league WHERE name = ?"
        with database.speaking_for(self._path):
            row = self._connection.execute(query, (name,)).fetchone()
        if row is None:
            known = ", ".join(self.leagues()) or "none"
            raise SpecError(f'no league "{name}" in {self._path}; known: {known}')
        try:
            found = _decoded(row[0])
        except tallies.UNREADABLE as error:
            raise self._edited(name, f" ({error})") from None
        if sha256(row[0]).hexdigest() != row[1] or found.name != name:
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
        return tuple(self._secrets("league = ? AND origin != 'public' ORDER BY number", league))

    def secret(self, commitment: str) -> LeagueSecret | None:
        """The secret of that commitment, or the public seed, in the first league that has it; None without any."""
        return next(self._secrets("commitment = ? ORDER BY league", commitment), None)

    def _secrets(self, condition: str, value: str) -> Iterator[LeagueSecret]:
        query = f"SELECT commitment, origin, revealed_at FROM secret WHERE {condition}"  # noqa: S608 - our own text
        with database.speaking_for(self._path):
            yield from [LeagueSecret(*row) for row in self._connection.execute(query, (value,))]

    def add_secret(self, league: str, commitment: str, origin: str) -> None:
        """The league draws new blocks under another secret; nothing happens if it is one of its secrets."""
        query = "INSERT OR IGNORE INTO secret SELECT ?, count(*), ?, ?, NULL FROM secret WHERE league = ?"
        with database.speaking_for(self._path), database.transaction(self._connection):
            self._connection.execute(query, (league, commitment, origin, league))

    def mark_revealed(self, commitment: str, revealed_at: str) -> None:
        """Remember that everybody may know the secret from now on, whichever leagues draw under it."""
        query = "UPDATE secret SET revealed_at = ? WHERE commitment = ? AND revealed_at IS NULL"
        with database.speaking_for(self._path), database.transaction(self._connection):
            self._connection.execute(query, (revealed_at, commitment))

    def leagues(self) -> list[str]:
        """Names of all leagues, sorted."""
        with database.speaking_for(self._path):
            return [str(name) for (name,) in self._connection.execute("SELECT name FROM league ORDER BY name")]

    def save(self, blocks: Iterable[PlayedBlock]) -> None:
        """Store these blocks in one transaction, with their tallies; what is there already is left alone."""
        new: defaultdict[str, tallies.Matches] = defaultdict(dict)
        committed: list[history.NewEntry] = []
        with database.speaking_for(self._path), database.transaction(self._connection):
            for block in blocks:
                if added := self._save_block(block, committed):
                    new[block.fixture.pairing][block.fixture.block] = added
            for key, matches in new.items():
                tallies.add(self._connection, key, matches)
            history.append(self._connection, committed)

    def tallied(self, spans: Iterable[Span]) -> tuple[Tallied, ...]:
        """What is stored of a league, added up by pairing, in the order of its spans."""
        return self._tallies(spans, tallies.stored)

    def recounted(self, spans: Iterable[Span]) -> tuple[Tallied, ...]:
        """The same counted again from the summaries of all its matches."""
        return self._tallies(spans, tallies.recounted)

    def results(self, spans: Sequence[Span]) -> list[MatchResult]:
        """What is stored of a league, in schedule order: by block, pairing, rotation."""
        return self._results(
            [span.pairing for span in spans],
            [(order, span.pairing.key, 0, span.blocks) for order, span in enumerate(spans)],
        )

    def ranks(self, blocks: Mapping[str, int]) -> dict[str, PairingRanks]:
        """The ranks of all stored matches of these pairings, by key: of each its blocks below that number."""
        query = (
            "SELECT block, rotation, summary FROM match JOIN pairing ON pairing.id = match.pairing"
            " WHERE key = ? AND block < ? ORDER BY block, rotation"
        )
        found = {}
        with self._reading("a match summary"), database.speaking_for(self._path):
            for key, end in blocks.items():
                courses: defaultdict[int, dict[int, str]] = defaultdict(dict)
                for block, rotation, summary in self._connection.execute(query, (key, end)):
                    ranks = _summary_decoder.decode(summary).ranks
                    courses[block][rotation] = "".join(map(str, ranks))
                seats = max((len(ranks) for course in courses.values() for ranks in course.values()), default=0)
                whole = (course.get(rotation, "-" * seats) for course in courses.values() for rotation in range(seats))
                found[key] = PairingRanks((), tuple(courses), "".join(whole))
        return found

    def _results(self, pairs: Sequence[Pairing], parts: Iterable[tuple[int, str, int, int]]) -> list[MatchResult]:
        """The results of some blocks; a part is a place in `pairs`, that key, the first block, and the one after."""
        query = (
            "SELECT block, ?, rotation, summary FROM match"
            " JOIN pairing ON pairing.id = match.pairing WHERE key = ? AND block >= ? AND block < ?"
        )
        rows: list[tuple[int, int, int, bytes]] = []
        with database.speaking_for(self._path):
            for part in parts:
                rows += self._connection.execute(query, part)
        rows.sort()
        with self._reading("a match summary"):
            return [
                result_of(_summary_decoder.decode(encoded), pairs, order=order, block=block, rotation=rotation)
                for block, order, rotation, encoded in rows
            ]

    def matches(self, blocks: Mapping[str, int]) -> Iterator[StoredMatch]:
        """All stored matches of these pairings with their records: of each its blocks below that number."""
        for key, end in blocks.items():
            yield from self._stored("key = ? AND m.block < ?", (key, end))

    def orphans(self, blocks: Mapping[str, int]) -> Iterator[StoredMatch]:
        """All other stored matches: of other pairings, and of these from that block on."""
        with database.speaking_for(self._path):
            keys = [key for (key,) in self._connection.execute("SELECT key FROM pairing ORDER BY key")]
        for key in keys:
            yield from self._stored("key = ? AND m.block >= ?", (key, blocks.get(key, 0)))

    def match(self, match_id: str) -> StoredMatch:
        """The match of that id. SpecError if there is none."""
        parts = match_id.split("-")
        if len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit():
            condition = "key = ? AND m.block = ? AND m.rotation = ?"
            for found in self._stored(condition, (parts[0], int(parts[1]), int(parts[2]))):
                return found
        raise SpecError(f'no match "{match_id}" in {self._path}; `arena league matches NAME` lists the ids')

    def entries(self) -> Iterator[history.Entry]:
        """Which matches were stored, in the order of their commits."""
        with database.speaking_for(self._path):
            yield from history.entries(self._connection)

    def head(self) -> history.Head:
        """The number of matches that were ever stored, and the root of their history."""
        with database.speaking_for(self._path):
            return history.head(self._connection)

    def matches_without_entry(self) -> int:
        """Stored matches that are not in the history."""
        query = (
            "SELECT count(*) FROM (SELECT pairing, block, rotation FROM record"
            " EXCEPT SELECT pairing, block, rotation FROM history)"
        )
        with database.speaking_for(self._path):
            return int(self._connection.execute(query).fetchone()[0])

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

    def _save_block(self, block: PlayedBlock, committed: list[history.NewEntry]) -> dict[int, MatchSummary]:
        """Store a block; the summaries of its matches that were not there, by rotation; `committed` gets these, too."""
        execute = self._connection.execute
        execute("INSERT OR IGNORE INTO pairing (key) VALUES (?)", (block.fixture.pairing,))
        (pairing,) = execute("SELECT id FROM pairing WHERE key = ?", (block.fixture.pairing,)).fetchone()
        new: dict[int, MatchSummary] = {}
        for match in block.matches:
            key = (pairing, block.fixture.block, match.rotation)
            summary = _summary_encoder.encode(match.summary)
            if execute("INSERT OR IGNORE INTO match VALUES (?, ?, ?, ?)", (*key, summary)).rowcount:
                packed = match.record
                row = (*key, packed.codec, packed.digest, packed.body)
                execute("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?)", row)
                new[match.rotation] = match.summary
                place = (block.fixture.block, match.rotation, packed.digest)
                committed.append(history.NewEntry(pairing, block.fixture.pairing, *place))
        return new

    def _tallies(
        self, spans: Iterable[Span], tally: Callable[[sqlite3.Connection, str, int, int], Tally]
    ) -> tuple[Tallied, ...]:
        with self._reading("a match summary or tally"), database.speaking_for(self._path):
            return tuple(
                Tallied(
                    players=pairing.names,
                    tally=tally(self._connection, pairing.key, len(pairing.players), blocks),
                )
                for pairing, blocks in ((span.pairing, span.blocks) for span in spans)
            )

    @contextlib.contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        try:
            yield
        except tallies.UNREADABLE as error:
            raise DamagedStore(f"{self._path}: {what} cannot be read: {error}; run `arena verify`") from None

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
                except tallies.UNREADABLE as error:
                    raise DamagedStore(f"match {key}-{block}-{rotation} cannot be read: {error}") from None
                if [type(value) for value in (codec, digest, body)] != [str, str, bytes]:
                    raise DamagedStore(f"match {key}-{block}-{rotation} cannot be read: its record is no record")
                packed = PackedRecord(codec=codec, digest=digest, body=body)
                yield StoredMatch(pairing=key, block=block, rotation=rotation, summary=read, record=packed)


class _Format(msgspec.Struct, frozen=True):
    """As much of a stored tournament as tells which arena stored it: 0.1.0 wrote no format."""

    format: str = OLD_FORMAT


def _decoded(text: bytes) -> Tournament:
    found = msgspec.json.decode(text, type=Tournament)
    if msgspec.json.decode(text, type=_Format).format != OLD_FORMAT:
        return found
    return msgspec.structs.replace(found, format=OLD_FORMAT, rules=_OLD_RULES)
