"""Section 6: the leaderboard of a league of a million stored matches, as a person asks for it, and after one more.

Rule: the matches are made up, the store is real. They go in by bulk, as rows; the last block goes in through
MatchStore, and everything comes out through `arena`. A second league has few matches of many players.
"""

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
from commands import ARENA, cpu_s
from measure import interleaved
from tables import Figure, Goal, Row, Table

from arena.league.schedule import Pairing, pairings
from arena.league.state import LeagueState, state_of
from arena.league.tournament import Player, Tournament
from arena.match.columns import PlayedBlock, pack_blocks
from arena.match.record import Termination, join_packed
from arena.match.results import MatchKey, MatchResult, canonical_ranks, rotate
from arena.match.settings import ClockSettings
from arena.operations.leagues import league_table, publish
from arena.process.manifest import BotSpec, Manifest
from arena.standings.ranks import in_schedule_order
from arena.standings.ratings import RatingSettings, rate
from arena.store import database, rows
from arena.store.matches import MatchStore

_PLAYERS: Final = 12
_MANY_PLAYERS: Final = 300
_MATCHES: Final = 1_000_000
_QUICK_MATCHES: Final = 100_000
_WHOLE: Final = Goal("<", 10)
_AT_ONCE: Final = Goal("<", 3)
_ONE_BY_ONE: Final = Goal("<", 20)
_BARE: Final = "ten million additions in a loop of Python: the speed of this machine"
_SAMPLES: Final = 200
"""The number of different blocks of a pairing; all its blocks are copies of these."""

_RECORD: Final = join_packed("json+zlib", "0" * 64, bytes(32))

Sample = tuple[MatchResult, ...]
"""The matches of a block by rotation."""


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Measure the CPU time of ratings and table from nothing, then of commands, some after one block more.

    The last blocks of the last pairing are kept back for the latter.
    """
    matches, rounds = (_QUICK_MATCHES, 1) if is_quick else (_MATCHES, 5)
    results, pair, many = (scratch / name for name in ("leaderboard", "two-players", "many-players"))
    tournament = synthetic(_PLAYERS, cycles=-(-matches // (_PLAYERS * (_PLAYERS - 1))))
    last = pairings(tournament)[-1]
    kept_back = range(tournament.cycles - rounds, tournament.cycles)
    _fill(results, tournament, kept_back)
    _fill(pair, synthetic(2, cycles=matches // 2), ())
    _fill(many, synthetic(_MANY_PLAYERS, cycles=1), ())
    rng = random.Random(3)
    more = (_block(block, _sample(rng, last)) for block in kept_back)
    commands: dict[str, tuple[Callable[[], float], Goal | None]] = {
        "arena leaderboard": (_command(results, "leaderboard"), None),
        "arena leaderboard after one block more": (partial(_after_one, results, more), _AT_ONCE),
        "arena league status": (_command(results, "league status"), None),
        "arena stats bot00, two players": (_command(pair, "stats bot00"), _ONE_BY_ONE),
        "arena league matches --format csv, two players": (_command(pair, "league matches --format csv"), _ONE_BY_ONE),
    }
    for words in ("leaderboard", "stats bot00", "matrix"):
        commands[f"arena {words}, {_MANY_PLAYERS} players"] = (_command(many, words), _AT_ONCE)
    times = interleaved({name: call for name, (call, _) in commands.items()} | {_BARE: _bare_s}, rounds, warm_ups=0)
    goals = {name: goal for name, (_, goal) in commands.items()}
    rows = [(name, Figure(median(seconds), 2, goals.get(name)), _span(seconds)) for name, seconds in times.items()]
    notes = (
        f"{matches} matches of {_PLAYERS} players, and of two; {_MANY_PLAYERS} players: a cycle of 2 matches a pair",
        f"user and system time; {rounds} runs of each command, in turns",
        "after one block more: stored through MatchStore, as `arena league run` does; nothing was kept",
    )
    table = (*_from_nothing(results, tournament), *rows)
    return [Table(title="Leaderboard", headers=("what", "median CPU s", "min-max s"), rows=table, notes=notes)]


def _from_nothing(results: Path, tournament: Tournament) -> list[Row]:
    """Measure in this process the ratings from the stored ranks, and the whole table."""
    with writing(results) as store:
        states: list[LeagueState] = []
        read_s = _timed(lambda: states.append(state_of(tournament, store.ranks)))
        (state,) = states
        names = [player.name for player in tournament.players]
        ranks = [span.ranks for span in state.spans]
        rated_s = _timed(lambda: rate(names, in_schedule_order(ranks), tournament.rating))
        added_s = _timed(lambda: store.sums(state.blocks))
        table_s = _timed(lambda: league_table(store, state))
        publish(store, state)
    return [
        ("all ratings from stored ranks", Figure(read_s + rated_s, 2, _WHOLE), f"{read_s:.2f} read, rest folded"),
        ("sums of all matches", Figure(added_s, 2), ""),
        ("ratings and table from nothing", Figure(read_s + table_s, 2, _WHOLE), ""),
    ]


def _command(results: Path, words: str) -> Callable[[], float]:
    return partial(cpu_s, *ARENA, *words.split(), "--results", str(results))


def _after_one(results: Path, more: Iterator[PlayedBlock]) -> float:
    with writing(results) as store:
        store.save([next(more)])
    return _command(results, "leaderboard")()


def _bare_s() -> float:
    return _timed(_ten_million_additions)


def _ten_million_additions() -> None:
    total = 0
    for number in range(10**7):
        total += number


def _timed(call: Callable[[], object]) -> float:
    start_s = time.process_time()
    call()
    return time.process_time() - start_s


def _span(times: list[float]) -> str:
    return f"{min(times):.2f}-{max(times):.2f}"


@contextlib.contextmanager
def writing(results: Path) -> Iterator[MatchStore]:
    """Open the store of a results folder for writing."""
    with contextlib.closing(database.open_for_writing(results)) as connection:
        yield MatchStore(connection, results)


def synthetic(players: int, *, cycles: int) -> Tournament:
    """Return a league of made-up bots in which every pair plays."""
    return Tournament(
        name="synthetic",
        game="shanghaien",
        options={},
        players=tuple(_player(number) for number in range(players)),
        seed="benchmark",
        cycles=cycles,
        chunk_blocks=20,
        clock=ClockSettings(),
        rating=RatingSettings(draw_probability=0.04),
    )


def _player(number: int) -> Player:
    name = f"bot{number:02}"
    manifest = Manifest(name=name, command=("./bot",))
    digest = sha256(name.encode()).hexdigest()
    return Player(name=name, bot=BotSpec(manifest=manifest, source="", folder="", digest=digest))


def _fill(results: Path, tournament: Tournament, kept_back: Sequence[int]) -> None:
    """Store all matches, drawn from samples, except blocks `kept_back` of the last pairing; without a history."""
    rng, field = random.Random(2), pairings(tournament)
    with writing(results) as store:
        store.save_league(tournament)
    connection = database.open_for_writing(results)
    connection.execute("PRAGMA synchronous=OFF")
    with contextlib.closing(connection), database.transaction(connection, database.path_in(results)):
        for number, pairing in enumerate(field, start=1):
            players = msgspec.json.encode(pairing.names).decode()
            connection.execute("INSERT INTO pairing VALUES (?, ?, ?)", (number, pairing.key, players))
            without = kept_back if pairing is field[-1] else ()
            samples = [_sample(rng, pairing) for _ in range(min(_SAMPLES, tournament.cycles))]
            for block in range(tournament.cycles):
                if block not in without:
                    rows.insert(connection, [(number, _block(block, rng.choice(samples)))])


def _block(block: int, sample: Sample) -> PlayedBlock:
    matches = (msgspec.structs.replace(match, key=match.key._replace(block=block), record=_RECORD) for match in sample)
    return next(pack_blocks(matches))


def _sample(rng: random.Random, pairing: Pairing) -> Sample:
    return tuple(_match(rng, pairing, rotation) for rotation in (0, 1))


def _match(rng: random.Random, pairing: Pairing, rotation: int) -> MatchResult:
    """Return a plausible match: 20 to 60 points, luck, better players win more often, one in a thousand forfeits."""
    players = rotate(pairing.names, rotation)
    skills = [2.0 * int(name.removeprefix("bot")) for name in players]
    scores = [max(0, round(rng.gauss(40 + skill, 12))) for skill in skills]
    at_fault = rng.randrange(2) if rng.random() < 0.001 else None
    luck = rng.randrange(-400_000, 400_000)
    return MatchResult(
        key=MatchKey(pairing.key, 0, rotation),
        players=players,
        ranks=canonical_ranks(
            [-score for score in scores] if at_fault is None else [int(at_fault == seat) for seat in (0, 1)]
        ),
        scores=tuple(map(Fraction, scores)) if at_fault is None else None,
        termination=Termination.NORMAL if at_fault is None else Termination.TIMEOUT,
        at_fault=at_fault,
        isolation="sandbox",
        moves=(rng.randrange(40, 70), rng.randrange(40, 70)),
        time_us=(rng.randrange(1000, 50_000), rng.randrange(1000, 50_000)),
        slowest_us=(rng.randrange(100, 5000), rng.randrange(100, 5000)),
        startup_us=(20_000, 20_000),
        idle_us=(0, 0),
        timeouts_by_load=(0, 0),
        luck=(luck, -luck),
        luck_version="2",
    )
