"""Section 6: the leaderboard of a league of a hundred thousand stored matches, as a person asks for it.

Rule: the matches are made up, the store is real: everything goes in through MatchStore and comes out through `arena`.
"""

import contextlib
import os
import random
import time
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Final

from commands import ARENA, wall_s
from measure import interleaved
from tables import Figure, Goal, Table

from arena.league.ratings import RatingSettings
from arena.league.results import MatchSummary, PlayedBlock, PlayedMatch
from arena.league.schedule import Pairing, fixture, match_count, pairings
from arena.league.tournament import Player, Tournament
from arena.match.record import PackedRecord
from arena.match.terms import ClockSettings
from arena.process.manifest import BotSpec, Manifest
from arena.store import database
from arena.store.matches import MatchStore

_PLAYERS: Final = 12
_MATCHES: Final = 100_000
_GOAL: Final = Goal("<", 2)
_BLOCKS_PER_TRANSACTION: Final = 2000


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Wall time of `arena leaderboard` and `arena league status`, with the database on the disk and in memory."""
    results = scratch / "leaderboard-results"
    tournament = _tournament()
    start_s = time.perf_counter()
    _fill(results, tournament)
    filled_s = time.perf_counter() - start_s
    tail = ("--results", str(results))
    commands = {
        "arena leaderboard": (*ARENA, "leaderboard", *tail),
        "arena league status": (*ARENA, "league", "status", *tail),
    }
    samples = interleaved(
        {
            f"{name}, {state}": partial(timed, results, *command)
            for name, command in commands.items()
            for state, timed in (("cold", _cold_s), ("warm", _warm_s))
        },
        1 if is_quick else 4,
        warm_ups=0,
    )
    rows = tuple((name, Figure(median(times), 2, _GOAL), _span(times)) for name, times in samples.items())
    size = database.path_in(results).stat().st_size / 1e6
    notes = (
        f"{match_count(tournament)} matches of {_PLAYERS} players, {size:.0f} MB; filled in {filled_s:.1f} s",
        "cold: the kernel was asked to drop the database file from memory first",
    )
    return [Table(title="Leaderboard", headers=("whole command", "median s", "min-max s"), rows=rows, notes=notes)]


def _span(times: list[float]) -> str:
    return f"{min(times):.2f}-{max(times):.2f}"


def _warm_s(_: Path, *command: str) -> float:
    return wall_s(*command)


def _cold_s(results: Path, *command: str) -> float:
    with database.path_in(results).open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return wall_s(*command)


def _tournament() -> Tournament:
    pairs = _PLAYERS * (_PLAYERS - 1) // 2
    return Tournament(
        name="synthetic",
        game="shanghaien",
        options={},
        players=tuple(_player(number) for number in range(_PLAYERS)),
        seed="benchmark",
        cycles=-(-_MATCHES // (2 * pairs)),
        chunk_blocks=20,
        clock=ClockSettings(),
        rating=RatingSettings(draw_probability=0.04),
    )


def _player(number: int) -> Player:
    name = f"bot{number:02}"
    manifest = Manifest(name=name, command=("./bot",))
    digest = sha256(name.encode()).hexdigest()
    return Player(name=name, bot=BotSpec(manifest=manifest, source="", folder="", digest=digest))


def _fill(results: Path, tournament: Tournament) -> None:
    skill = {player.name: 2.0 * number for number, player in enumerate(tournament.players)}
    with contextlib.closing(database.open_for_writing(results)) as connection:
        store = MatchStore(connection, results)
        store.save_league(tournament)
        batch: list[PlayedBlock] = []
        for block in _blocks(tournament, skill):
            batch.append(block)
            if len(batch) == _BLOCKS_PER_TRANSACTION:
                store.save(batch)
                batch.clear()
        store.save(batch)


def _blocks(tournament: Tournament, skill: dict[str, float]) -> Iterator[PlayedBlock]:
    rng = random.Random(1)
    pairs = pairings(tournament)
    for number in range(tournament.cycles):
        for pairing in pairs:
            matches = tuple(_match(rng, pairing, rotation, skill) for rotation in (0, 1))
            yield PlayedBlock(fixture=fixture(tournament, pairing, number), matches=matches)


def _match(rng: random.Random, pairing: Pairing, rotation: int, skill: dict[str, float]) -> PlayedMatch:
    """A plausible match: 20 to 60 points, the better player wins more often, one in a thousand forfeits."""
    first, second = (pairing.players[(seat + rotation) % 2].name for seat in (0, 1))
    scores = tuple(max(0, round(rng.gauss(40 + skill[name], 12))) for name in (first, second))
    at_fault = rng.randrange(2) if rng.random() < 0.001 else -1
    if at_fault >= 0:
        ranks = (1, 0) if at_fault == 0 else (0, 1)
    else:
        ranks = (int(scores[0] < scores[1]), int(scores[1] < scores[0]))
    summary = MatchSummary(
        ranks=ranks,
        scores=None if at_fault >= 0 else scores,
        termination="normal" if at_fault < 0 else "timeout",
        at_fault=at_fault,
        moves=(rng.randrange(40, 70), rng.randrange(40, 70)),
        time_ms=(round(rng.uniform(1, 50), 3), round(rng.uniform(1, 50), 3)),
        slowest_ms=(round(rng.uniform(0.1, 5), 3), round(rng.uniform(0.1, 5), 3)),
    )
    body = rng.randbytes(32)
    return PlayedMatch(
        rotation=rotation,
        summary=summary,
        record=PackedRecord(codec="json+zlib", digest=body.hex(), body=body),
    )
