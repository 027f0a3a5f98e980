"""The table of a league, computed from what is stored of it. Rule: ratings are never believed, always derived."""

from collections.abc import Sequence

from arena.league.schedule import is_open_ended, match_count, rounds_after, spans
from arena.league.tournament import Tournament, luck_origin
from arena.standings.checkpoint import Checkpoint, rated
from arena.standings.rows import Entrant
from arena.standings.table import (
    MatchResult,
    Standings,
    Timing,
    standings,
    standings_json,
    tallied,
    timing_of,
)
from arena.standings.tally import Tallied
from arena.store.matches import MatchStore


def entrants(tournament: Tournament) -> tuple[Entrant, ...]:
    """The players of a tournament as the table names them."""
    return tuple(
        Entrant(name=player.name, bot=player.bot.name, version=player.bot.manifest.version, hash=player.bot.digest)
        for player in tournament.players
    )


def table(store: MatchStore, tournament: Tournament) -> tuple[Standings, tuple[Timing, ...]]:
    """Standings and use of time after all stored matches of the tournament."""
    played = store.tallied(tournament)
    found, _ = standings_after(tournament, played, scheduled(store, tournament), store.checkpoints(tournament.name))
    return found, timing_of(entrants(tournament), played)


def publish(store: MatchStore, tournament: Tournament) -> tuple[Standings, tuple[Timing, ...]]:
    """Do what `table` does, and store the standings for `verify`, with the checkpoints the next table starts at."""
    played, kept = store.tallied(tournament), store.checkpoints(tournament.name)
    found, checkpoints = standings_after(tournament, played, scheduled(store, tournament), kept)
    store.save_standings(tournament.name, standings_json(found), checkpoints)
    return found, timing_of(entrants(tournament), played)


def scheduled(store: MatchStore, tournament: Tournament) -> int:
    """Matches of the whole tournament; where results decide how many, of the rounds known by now."""
    if is_open_ended(tournament):
        return sum(each.matches for each in store.rounds(tournament))
    return match_count(tournament)


def standings_after(
    tournament: Tournament, played: Sequence[Tallied], scheduled: int, kept: Sequence[Checkpoint] = ()
) -> tuple[Standings, tuple[Checkpoint, ...]]:
    """The standings of a tournament of so many matches after what its pairings have played; and new checkpoints.

    `played` is in the order in which pairings first met, `kept` are former checkpoints. Nothing is believed without
    them: `arena verify` calls this with matches that were counted again.
    """
    field = entrants(tournament)
    courses = [(one.players, one.tally.outcomes) for one in played]
    ratings, checkpoints = rated((one.name for one in field), courses, tournament.rating, kept)
    luck = luck_origin(tournament)
    return standings(field, played, ratings, tournament.rating, scheduled=scheduled, luck=luck), checkpoints


def standings_of(tournament: Tournament, results: Sequence[MatchResult]) -> Standings:
    """The standings of a tournament after `results`, as `rounds_after` takes them."""
    known = [span.pairing for span in spans(rounds_after(tournament, results))]
    pairings = [(each.key, tuple(player.name for player in each.players)) for each in known]
    return standings_after(tournament, tallied(results, pairings), match_count(tournament, results))[0]
