"""Leagues for these tests: tournaments of nim whose bots need not exist, and blocks as if they had been played."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from arena.league.driver import PlayedBlocks
from arena.league.schedule import Fixture, Job, pairings
from arena.league.tournament import Player, Tournament
from arena.league.worker import OnFinished
from arena.match.columns import PlayedBlock, pack_blocks
from arena.match.results import MatchKey, MatchResult, rotate
from arena.process.manifest import read_bot
from support.bot_source import bot_script
from support.made_matches import match_result, tournament

ROOT = Path(__file__).parents[2]
RANDOM = ROOT / "bots" / "random"
SLOW_BOT = bot_script(
    'matches % len(m["legal"])',
    start="matches = 0",
    each='matches += m["type"] == "match_start"',
    asked="time.sleep(0.02)",
)


class FakeBackend:
    """Plays at once, in the order of `play`, which may raise; knows how it ended."""

    def __init__(self, play: Callable[[Job], list[PlayedBlock]], slots: int = 3) -> None:
        self._play = play
        self.slots = slots
        self.flights: list[Future[PlayedBlocks]] = []
        self.closed: list[bool] = []

    def submit(self, job: Job, on_finished: OnFinished) -> "Future[PlayedBlocks]":  # noqa: ARG002 - it shows no progress
        future: Future[PlayedBlocks] = Future()
        self.flights.append(future)
        try:
            future.set_result(self._play(job))
        except Exception as error:  # noqa: BLE001 - what an executor does
            future.set_exception(error)
        return future

    def close(self, *, is_interrupted: bool) -> None:
        self.closed.append(is_interrupted)


def players_of(folder: Path, source: str) -> tuple[Player, ...]:
    """Two players whose bots have that source."""
    script = folder / "bot.py"
    script.write_text(source)
    return tuple(Player(name=name, bot=read_bot(script)) for name in ("ann", "bob"))


def real_tournament(folder: Path, **changes: Any) -> Tournament:
    """A league between `random` and a bot that thinks 20 ms and plays by the matches that its process has seen."""
    script = folder / "slow.py"
    script.write_text(SLOW_BOT)
    entered = (Player(name="random", bot=read_bot(RANDOM)), Player(name="slow", bot=read_bot(script)))
    return tournament(players=entered, **changes)


def match(key: MatchKey, players: Sequence[str], scores: Sequence[int]) -> MatchResult:
    """A match of the pairing of these players, by place, that ended with these scores, by seat."""
    return match_result(key, rotate(players, key.rotation), scores)


def played(job: Job) -> list[PlayedBlock]:
    """The job as if seat 0 had won each match."""
    return [played_block(fixture, job.pairing.names) for fixture in job.fixtures]


def played_block(fixture: Fixture, players: Sequence[str] = ("ann", "bob")) -> PlayedBlock:
    key = MatchKey(fixture.pairing, fixture.block, 0)
    matches = [match(key._replace(rotation=rotation), players, (1, 0)) for rotation in (0, 1)]
    return next(pack_blocks(matches))


def numbers(blocks: list[PlayedBlock]) -> list[tuple[str, int]]:
    """Which blocks these are."""
    return [(block.pairing, block.block) for block in blocks]


def everything(league: Tournament, pairing_keys: list[str]) -> set[tuple[str, int]]:
    """All blocks of a league with these pairings."""
    return {(key, block) for key in pairing_keys for block in range(league.cycles)}


def all_blocks(league: Tournament) -> set[tuple[str, int]]:
    """All blocks of a league."""
    return everything(league, [pair.key for pair in pairings(league)])
