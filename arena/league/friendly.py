"""A few matches between two players outside any league: the same blocks, luck and table, but nothing is stored.

Rule: a friendly is a tournament of two whose results stay in memory.
"""

from collections.abc import Generator
from typing import Any

from arena.league.pool import helpers
from arena.league.ratings import RatingSettings
from arena.league.results import result_of, rotate, summarise
from arena.league.schedule import fixture, match_spec, pairings
from arena.league.standings import MatchResult
from arena.league.tournament import Player, Tournament
from arena.league.worker import contestant
from arena.match.contestant import Contestant
from arena.match.record import MatchRecord
from arena.match.referee import play
from arena.match.terms import ClockSettings
from arena.process import reaper
from arena.process.limits import Isolation

Played = Generator[tuple[MatchRecord, MatchResult], None, None]
"""Matches as they end; closing it ends the bots."""


def friendly(
    players: tuple[Player, Player], *, game: str, options: dict[str, Any], clock: ClockSettings, seed: str, blocks: int
) -> Tournament:
    """The tournament of two."""
    return Tournament(
        name="friendly",
        game=game,
        options=options,
        players=players,
        seed=seed,
        cycles=blocks,
        chunk_blocks=20,
        clock=clock,
        rating=RatingSettings(),
        luck=False,
    )


def seat_both(tournament: Tournament, isolation: Isolation, *, keep_transcript: bool = False) -> list[Contestant]:
    """The two players as contestants, in the order of their pairing; nothing is started yet."""
    (pairing,) = pairings(tournament)
    return [
        contestant(player, tournament.setting, isolation, keep_transcript=keep_transcript) for player in pairing.players
    ]


def play_here(tournament: Tournament, contestants: list[Contestant], isolation: Isolation) -> Played:
    """Play match after match in this process between what `seat_both` made: the record and the result of each."""
    pairs = pairings(tournament)
    (pairing,) = pairs
    reaper.become_subreaper()
    try:
        for block in range(tournament.cycles):
            for rotation in range(len(contestants)):
                spec = match_spec(tournament, fixture(tournament, pairing, block), rotation, isolation)
                record = play(spec, rotate(contestants, rotation))
                result = result_of(summarise(record), pairs, order=0, block=block, rotation=rotation)
                yield record, result
    finally:
        for each in contestants:
            each.close(grace_s=0.0)
        reaper.kill_descendants(spare=frozenset(helpers()))
