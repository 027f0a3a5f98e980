"""Leagues of a results folder, as several operations need them."""

from typing import TYPE_CHECKING

from arena.errors import SpecError
from arena.league.state import LeagueState, Stored, state_of
from arena.store.matches import MatchStore

if TYPE_CHECKING:
    from arena.standings.table import Standings, Timing


def one_league(store: MatchStore, name: str | None, read_ranks: Stored | None = None) -> LeagueState:
    """Return the state of the league of that name, or of the only one. SpecError lists the known ones.

    `read_ranks` is `store.ranks` unless the caller has another way to read them.
    """
    names = [name] if name else store.leagues()
    if len(names) != 1:
        raise SpecError(f"which league? known: {', '.join(names) or 'none'}")
    return state_of(store.league(names[0]), read_ranks or store.ranks)


def league_table(store: MatchStore, state: LeagueState) -> "tuple[Standings, tuple[Timing, ...]]":
    """Compute standings and use of time from all stored matches of the league."""
    from arena.league.standings import standings_and_timing  # noqa: PLC0415 - numpy is for tables only

    return standings_and_timing(state, store.sums(state.blocks, state.ranks))
