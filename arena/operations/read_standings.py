"""The standings of a league, computed from its stored matches."""

import msgspec

from arena.operations.leagues import league_table, load_league
from arena.operations.request import Request
from arena.standings.table import Standings, Timing
from arena.store.folder import open_store


class ReadStandings(Request, frozen=True):
    """The standings of `league`; None for the only one there is."""

    league: str | None = None


class LeagueStandings(msgspec.Struct, frozen=True):
    """The table, the use of time of each player, and sentences on how the league goes on or what ended it."""

    standings: Standings
    timing: tuple[Timing, ...]
    news: tuple[str, ...]


def read_standings(request: ReadStandings) -> LeagueStandings:
    """Compute the standings. SpecError if there is no such league."""
    with open_store(request.results) as store:
        state = load_league(store, request.league)
        return LeagueStandings(*league_table(store, state), state.news)
