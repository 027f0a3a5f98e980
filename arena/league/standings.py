"""Standings and matrix of a league by its stored matches. Rule: ratings are always derived."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from arena.league.state import LeagueState, state_of
from arena.league.tournament import Tournament, luck_origin
from arena.match.results import MatchResult, PairingRanks
from arena.standings.match_table import match_table
from arena.standings.ranks import in_schedule_order
from arena.standings.ratings import Rating, advance, newcomers, rate, recentre
from arena.standings.rows import Entrant
from arena.standings.sums import PairingSums, sums_of
from arena.standings.table import Standings, Timing, standings, timing

if TYPE_CHECKING:
    from arena.standings.matrix import HeadToHead


def entrants(tournament: Tournament) -> tuple[Entrant, ...]:
    """Return the players of a tournament as the standings name them."""
    return tuple(
        Entrant(name=player.name, bot=player.bot.name, version=player.bot.manifest.version, hash=player.bot.digest)
        for player in tournament.players
    )


def standings_after(state: LeagueState, sums: PairingSums) -> Standings:
    """Compute the standings of a league; `sums` are those of all its stored matches."""
    tournament = state.tournament
    field = entrants(tournament)
    ratings = rate((entrant.name for entrant in field), in_schedule_order(state.ranks.values()), tournament.rating)
    luck = luck_origin(tournament)
    return standings(field, sums, ratings, tournament.rating, scheduled=state.scheduled, luck=luck)


def standings_and_timing(state: LeagueState, sums: PairingSums) -> tuple[Standings, tuple[Timing, ...]]:
    """Compute the standings of a league, and the use of time of each player."""
    return standings_after(state, sums), timing(entrants(state.tournament), sums)


def standings_of(tournament: Tournament, results: Sequence[MatchResult]) -> tuple[Standings, tuple[Timing, ...]]:
    """Compute standings and use of time of a tournament after `results`, in any order, that are stored nowhere."""
    sums = sums_of(match_table(results))
    ranks = dict(zip(sums.table.keys, sums.table.pairing_ranks, strict=True))

    def read_ranks(blocks: Mapping[str, int]) -> dict[str, PairingRanks]:
        """Return the ranks of `results`, as a store does."""
        return {key: ranks[key].between(0, end) for key, end in blocks.items() if key in ranks}

    return standings_and_timing(state_of(tournament, read_ranks), sums)


def ratings_over_time(state: LeagueState, parts: int) -> Iterator[tuple[int, dict[str, Rating]]]:
    """Yield (matches so far, ratings), without matches first, then after each of `parts` parts of about equal size.

    Matches are in the order of the schedule; the last ratings are those of the standings.
    """
    settings = state.tournament.rating
    results = [*in_schedule_order(state.ranks.values())]
    beliefs = newcomers((player.name for player in state.tournament.players), settings)
    yield 0, recentre(beliefs, settings)
    ends = sorted({len(results) * part // parts for part in range(1, parts + 1)} - {0})
    for start, end in pairwise([0, *ends]):
        beliefs = advance(beliefs, results[start:end], settings)
        yield end, recentre(beliefs, settings)


def matrix_of(state: LeagueState, *, top: int | None, only: Sequence[str]) -> "HeadToHead":
    """Return the results of the best `top` players of a league against each other; of all if `top` is None.

    If `only` names players, of these instead.
    """
    from arena.standings.matrix import compare_players  # noqa: PLC0415 - no league that runs asks for it

    tournament, ranks = state.tournament, [span.ranks for span in state.spans]
    names = [player.name for player in tournament.players]
    return compare_players(tournament.name, names, ranks, tournament.rating, top=top, only=tuple(only))
