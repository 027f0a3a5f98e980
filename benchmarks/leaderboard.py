"""Section 6: the leaderboard of a league of a million stored matches, as a person asks for it, and after one more.

Rule: the matches are made up, the store is real. They go in by bulk, as a database of an older layout, so that bringing
it up to date is measured, too; the last block goes in through MatchStore, and everything comes out through `arena`.
"""

import contextlib
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
from commands import ARENA, wall_s
from measure import interleaved
from tables import Figure, Goal, Row, Table

from arena.league.results import MatchSummary, PlayedBlock, PlayedMatch
from arena.league.schedule import Pairing, fixture, match_count, pairings
from arena.league.state import state_of
from arena.league.tournament import Player, Tournament
from arena.match.record import PackedRecord
from arena.match.secret_luck import Secret
from arena.match.terms import ClockSettings
from arena.process.manifest import BotSpec, Manifest
from arena.report.table import publish, standings_after, table
from arena.standings.checkpoint import rated
from arena.standings.ratings import RatingSettings
from arena.store import database
from arena.store.matches import MatchStore

_PLAYERS: Final = 12
_MATCHES: Final = 1_000_000
_QUICK_MATCHES: Final = 100_000
_WHOLE: Final = Goal("<", 10)
_AFTER_ONE: Final = Goal("<", 1)
_SAMPLES: Final = 200
"""Different blocks of a pairing, of which all its blocks are drawn."""

_RECORD: Final = PackedRecord(codec="json+zlib", digest="0" * 64, body=bytes(32))

Samples = list[tuple[MatchSummary, ...]]
"""Blocks of a pairing, as summaries by rotation."""


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Time to compute ratings and table from nothing, then the commands of a person, some with one block more before.

    The last blocks of the last pairing are kept back for that.
    """
    results = scratch / "leaderboard-results"
    tournament, rounds = _tournament(_QUICK_MATCHES if is_quick else _MATCHES), 1 if is_quick else 5
    *others, last = pairings(tournament)
    rng = random.Random(1)
    samples = {pairing.key: [_sample(rng, pairing) for _ in range(_SAMPLES)] for pairing in (*others, last)}
    kept_back = range(tournament.cycles - rounds, tournament.cycles)
    filled_s = _timed(lambda: _fill(results, tournament, samples, {last.key: kept_back}))
    migrated_s = _timed(lambda: database.open_for_writing(results).close())
    more = (
        PlayedBlock(fixture(Secret.public("1"), last, block), _matches(samples[last.key], rng)) for block in kept_back
    )
    rows = [*_from_nothing(results, tournament), *_commands(results, more, rounds)]
    size = database.path_in(results).stat().st_size / 1e6
    notes = (
        f"{match_count(tournament)} matches of {_PLAYERS} players, {size:.0f} MB; filled in {filled_s:.1f} s",
        f"brought up to date from layout 2 in {migrated_s:.1f} s: every summary read and tallied",
        "cold: the kernel was asked to drop the database file from memory first",
        "after one block more: stored through MatchStore, as `arena league run` does; nobody looked since",
    )
    return [Table(title="Leaderboard", headers=("what", "median s", "min-max s"), rows=tuple(rows), notes=notes)]


def _from_nothing(results: Path, tournament: Tournament) -> list[Row]:
    """In this process: ratings from the stored tallies, with and without the rest of the table."""
    with _writing(results) as store:
        state = state_of(tournament, store.ranks)
        played = [(one.players, one.tally.outcomes) for one in store.tallied(state.spans)]
        names = [player.name for player in tournament.players]
        recounted_s = _timed(lambda: standings_after(tournament, store.recounted(state.spans), state.scheduled))
        read_s = _timed(lambda: store.tallied(state.spans))
        rated_s = _timed(lambda: rated(names, played, tournament.rating))
        table_s = _timed(lambda: table(store, state))
        publish(store, state)
    return [
        ("all ratings from stored outcomes", Figure(read_s + rated_s, 2, _WHOLE), f"{read_s:.2f} read, rest folded"),
        ("whole table without a checkpoint", Figure(table_s, 2, _WHOLE), ""),
        ("whole table from the summaries of all matches", Figure(recounted_s, 2, _WHOLE), "believing nothing else"),
    ]


def _commands(results: Path, more: Iterator[PlayedBlock], rounds: int) -> list[Row]:
    leaderboard = (*ARENA, "leaderboard", "--results", str(results))
    status = (*ARENA, "league", "status", "--results", str(results))
    found = interleaved(
        {
            "arena leaderboard": partial(wall_s, *leaderboard),
            "arena leaderboard, cold": partial(_cold_s, results, *leaderboard),
            "arena leaderboard after one block more": partial(_after_one_s, results, more, *leaderboard),
            "arena league status": partial(wall_s, *status),
        },
        rounds,
        warm_ups=0,
    )
    with contextlib.closing(database.open_for_writing(results)) as connection:
        connection.execute("DELETE FROM checkpoint")
    found["arena leaderboard without a checkpoint"] = [wall_s(*leaderboard) for _ in range(rounds)]
    goals = {name: _AFTER_ONE for name in found if "one block" in name}
    return [(name, Figure(median(times), 2, goals.get(name)), _span(times)) for name, times in found.items()]


def _after_one_s(results: Path, more: Iterator[PlayedBlock], *command: str) -> float:
    with _writing(results) as store:
        store.save([next(more)])
    return wall_s(*command)


def _timed(call: Callable[[], object]) -> float:
    start_s = time.perf_counter()
    call()
    return time.perf_counter() - start_s


def _span(times: list[float]) -> str:
    return f"{min(times):.2f}-{max(times):.2f}"


def _cold_s(results: Path, *command: str) -> float:
    with database.path_in(results).open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return wall_s(*command)


@contextlib.contextmanager
def _writing(results: Path) -> Iterator[MatchStore]:
    with contextlib.closing(database.open_for_writing(results)) as connection:
        yield MatchStore(connection, results)


def _tournament(matches: int) -> Tournament:
    pairs = _PLAYERS * (_PLAYERS - 1) // 2
    return Tournament(
        name="synthetic",
        game="shanghaien",
        options={},
        players=tuple(_player(number) for number in range(_PLAYERS)),
        seed="benchmark",
        cycles=-(-matches // (2 * pairs)),
        chunk_blocks=20,
        clock=ClockSettings(),
        rating=RatingSettings(draw_probability=0.04),
    )


def _player(number: int) -> Player:
    name = f"bot{number:02}"
    manifest = Manifest(name=name, command=("./bot",))
    digest = sha256(name.encode()).hexdigest()
    return Player(name=name, bot=BotSpec(manifest=manifest, source="", folder="", digest=digest))


def _fill(results: Path, tournament: Tournament, samples: Mapping[str, Samples], without: Mapping[str, range]) -> None:
    """Store all matches but those `without`, drawn from `samples`, the way a former version did: without tallies."""
    with _writing(results) as store:
        store.save_league(tournament)
    connection = sqlite3.connect(database.path_in(results))
    connection.execute("PRAGMA synchronous=OFF")
    rng = random.Random(2)
    for number, pairing in enumerate(pairings(tournament), start=1):
        connection.execute("INSERT INTO pairing VALUES (?, ?)", (number, pairing.key))
        blocks = [each for each in range(tournament.cycles) if each not in without.get(pairing.key, ())]
        keys = [(number, block, rotation) for block in blocks for rotation in (0, 1)]
        encoded = [[msgspec.json.encode(summary) for summary in sample] for sample in samples[pairing.key]]
        drawn = [summary for sample in rng.choices(encoded, k=len(blocks)) for summary in sample]
        rows = ((*key, summary) for key, summary in zip(keys, drawn, strict=True))
        connection.executemany("INSERT INTO match VALUES (?, ?, ?, ?)", rows)
        records = ((*key, _RECORD.codec, _RECORD.digest, _RECORD.body) for key in keys)
        connection.executemany("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?)", records)
    tables = ("tally", "checkpoint", "secret", "history")
    for part in ("TRIGGER match_update", "TRIGGER match_delete", *(f"TABLE {name}" for name in tables)):
        connection.execute(f"DROP {part}")
    connection.execute("PRAGMA user_version=2")
    connection.commit()
    connection.close()


def _sample(rng: random.Random, pairing: Pairing) -> tuple[MatchSummary, ...]:
    return tuple(_summary(rng, [player.name for player in pairing.players], rotation) for rotation in (0, 1))


def _matches(samples: Samples, rng: random.Random) -> tuple[PlayedMatch, ...]:
    return tuple(PlayedMatch(rotation, summary, _RECORD) for rotation, summary in enumerate(rng.choice(samples)))


def _summary(rng: random.Random, names: Sequence[str], rotation: int) -> MatchSummary:
    """A plausible match: 20 to 60 points, the better player wins more often, one in a thousand forfeits."""
    skills = [2.0 * int(names[(seat + rotation) % 2].removeprefix("bot")) for seat in (0, 1)]
    scores = tuple(max(0, round(rng.gauss(40 + skill, 12))) for skill in skills)
    at_fault = rng.randrange(2) if rng.random() < 0.001 else -1
    if at_fault >= 0:
        ranks = (1, 0) if at_fault == 0 else (0, 1)
    else:
        ranks = (int(scores[0] < scores[1]), int(scores[1] < scores[0]))
    return MatchSummary(
        ranks=ranks,
        scores=None if at_fault >= 0 else scores,
        termination="normal" if at_fault < 0 else "timeout",
        at_fault=at_fault,
        moves=(rng.randrange(40, 70), rng.randrange(40, 70)),
        time_ms=(round(rng.uniform(1, 50), 3), round(rng.uniform(1, 50), 3)),
        slowest_ms=(round(rng.uniform(0.1, 5), 3), round(rng.uniform(0.1, 5), 3)),
        isolation="sandbox",
    )
