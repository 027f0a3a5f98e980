"""A few matches between two players outside any league: the same blocks, luck and table, but nothing is stored.

Rule: a friendly is a tournament of two whose results stay in memory.
"""

from collections.abc import Iterator
from typing import Any

from arena.league.pool import helpers
from arena.league.ratings import RatingSettings
from arena.league.results import result_of, rotate, summarise
from arena.league.schedule import Pairing, fixture, pairings
from arena.league.standings import MatchResult
from arena.league.tournament import Player, Tournament
from arena.league.worker import contestant
from arena.match.contestant import Contestant
from arena.match.record import MatchRecord
from arena.match.referee import play
from arena.match.terms import ClockSettings, MatchSpec
from arena.process import reaper


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
    )


def play_here(
    tournament: Tournament, *, keep_transcript: bool = False
) -> Iterator[tuple[MatchRecord, MatchResult, list[Contestant]]]:
    """Play match after match in this process: the record, the result, and the contestants by seat."""
    pairs = pairings(tournament)
    (pairing,) = pairs
    reaper.become_subreaper()
    contestants = [
        contestant(
            player,
            game=tournament.game,
            options=tournament.options,
            clock=tournament.clock,
            keep_transcript=keep_transcript,
        )
        for player in pairing.players
    ]
    try:
        for block in range(tournament.cycles):
            for rotation in range(len(contestants)):
                seated = rotate(contestants, rotation)
                record = play(_spec(tournament, pairing, block, rotation), seated)
                result = result_of(summarise(record), pairs, order=0, block=block, rotation=rotation)
                yield record, result, seated
    finally:
        for each in contestants:
            each.close(grace_s=0.0)
        reaper.kill_descendants(spare=frozenset(helpers()))


def _spec(tournament: Tournament, pairing: Pairing, block: int, rotation: int) -> MatchSpec:
    planned = fixture(tournament, pairing, block)
    return MatchSpec(
        match=planned.match_id(rotation),
        game=tournament.game,
        options=tournament.options,
        seed=planned.seed,
        clock=tournament.clock,
    )
