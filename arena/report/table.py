"""The table of a league, computed from what is stored of it. Rule: ratings are never stored, always derived."""

from arena.league.schedule import match_count
from arena.league.standings import Entrant, MatchResult, Standings, Timing, standings, timing
from arena.league.tournament import Tournament
from arena.store.matches import MatchStore


def entrants(tournament: Tournament) -> tuple[Entrant, ...]:
    """The players of a tournament as the table names them."""
    return tuple(
        Entrant(name=player.name, bot=player.bot.name, version=player.bot.manifest.version, hash=player.bot.digest)
        for player in tournament.players
    )


def table(store: MatchStore, tournament: Tournament) -> tuple[Standings, tuple[Timing, ...]]:
    """Standings and use of time after all stored matches of the tournament."""
    results = store.results(tournament)
    return standings_of(tournament, results), timing(entrants(tournament), results)


def standings_of(tournament: Tournament, results: list[MatchResult]) -> Standings:
    """The standings of a tournament after `results`, which are in schedule order."""
    return standings(entrants(tournament), results, tournament.rating, scheduled=match_count(tournament))
