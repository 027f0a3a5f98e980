"""The table of a league, computed from what is stored of it. Rule: ratings are never believed, always derived."""

from collections import defaultdict
from collections.abc import Sequence

from arena.league.schedule import pairings
from arena.league.state import LeagueState, Stored, state_of
from arena.league.tournament import Tournament, luck_origin
from arena.match.results import PairingRanks
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


def table(store: MatchStore, state: LeagueState) -> tuple[Standings, tuple[Timing, ...]]:
    """Standings and use of time after all stored matches of the league."""
    played, kept = store.tallied(state.spans), store.checkpoints(state.tournament.name)
    found, _ = standings_after(state.tournament, played, state.scheduled, kept)
    return found, timing_of(entrants(state.tournament), played)


def publish(store: MatchStore, state: LeagueState) -> tuple[Standings, tuple[Timing, ...]]:
    """Do what `table` does, and store the standings for `verify`, with the checkpoints the next table starts at."""
    played, kept = store.tallied(state.spans), store.checkpoints(state.tournament.name)
    found, checkpoints = standings_after(state.tournament, played, state.scheduled, kept)
    store.save_standings(state.tournament.name, standings_json(found), checkpoints)
    return found, timing_of(entrants(state.tournament), played)


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
    """The standings of a tournament after `results`, which are in schedule order, of its first blocks only."""
    state = state_of(tournament, _stored(tournament, results))
    known = [(span.pairing.key, span.pairing.names) for span in state.spans]
    return standings_after(tournament, tallied(results, known), state.scheduled)[0]


def _stored(tournament: Tournament, results: Sequence[MatchResult]) -> Stored:
    by_players: defaultdict[frozenset[str], list[MatchResult]] = defaultdict(list)
    for result in results:
        by_players[frozenset(result.players)].append(result)
    names = {pairing.key: pairing.names for pairing in pairings(tournament)}

    def found(key: str, end: int) -> PairingRanks:
        seats = len(names[key])
        played = [["-" * seats] * seats for _ in range(end)]
        numbers: dict[int, int] = {}
        for one in by_players[frozenset(names[key])]:
            block = numbers.setdefault(one.block, len(numbers))
            if block < end:
                played[block][names[key].index(one.players[0])] = "".join(map(str, one.ranks))
        blocks = min(end, len(numbers))
        return PairingRanks(names[key], range(blocks), "".join("".join(course) for course in played[:blocks]))

    return lambda blocks: {key: found(key, end) for key, end in blocks.items()}
