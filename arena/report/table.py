"""The table of a league, computed from what is stored of it. Rule: ratings are never believed, always derived."""

from collections.abc import Mapping, Sequence

from arena.league.state import LeagueState, state_of
from arena.league.tournament import Tournament, luck_origin
from arena.match.results import MatchResult, PairingRanks
from arena.standings.ranks import in_schedule_order, ranks_of
from arena.standings.ratings import rate
from arena.standings.rows import Entrant
from arena.standings.sums import PairingSums, sums_of
from arena.standings.table import Standings, Timing, standings, standings_json, timing
from arena.store.matches import MatchStore


def entrants(tournament: Tournament) -> tuple[Entrant, ...]:
    """The players of a tournament as the table names them."""
    return tuple(
        Entrant(name=player.name, bot=player.bot.name, version=player.bot.manifest.version, hash=player.bot.digest)
        for player in tournament.players
    )


def table(store: MatchStore, state: LeagueState) -> tuple[Standings, tuple[Timing, ...]]:
    """Standings and use of time after all stored matches of the league."""
    sums = store.sums(state.blocks, state.ranks)
    return standings_after(state, sums), timing(entrants(state.tournament), sums)


def publish(store: MatchStore, state: LeagueState) -> tuple[Standings, tuple[Timing, ...]]:
    """Do what `table` does, and store the standings for `verify`."""
    found, use = table(store, state)
    store.save_standings(state.tournament.name, standings_json(found))
    return found, use


def standings_after(state: LeagueState, sums: PairingSums) -> Standings:
    """The standings of a league of which `sums` are those of all stored matches."""
    tournament = state.tournament
    field = entrants(tournament)
    ratings = rate((one.name for one in field), in_schedule_order(state.ranks.values()), tournament.rating)
    luck = luck_origin(tournament)
    return standings(field, sums, ratings, tournament.rating, scheduled=state.scheduled, luck=luck)


def standings_of(tournament: Tournament, results: Sequence[MatchResult]) -> Standings:
    """The standings of a tournament after `results`, in any order."""
    found = ranks_of(results)

    def stored(blocks: Mapping[str, int]) -> dict[str, PairingRanks]:
        return {key: found[key].between(0, end) for key, end in blocks.items() if key in found}

    return standings_after(state_of(tournament, stored), sums_of(results))
