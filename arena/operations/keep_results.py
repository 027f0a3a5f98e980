"""A copy of a results folder, and the close of a run, which makes it a part of the history before it is complete."""

from pathlib import Path

from arena.errors import SpecError
from arena.league.history import EndedRun
from arena.league.state import state_of
from arena.operations.leagues import publish
from arena.operations.request import Request
from arena.store.folder import copy_folder, open_store_for_writing


class CopyResults(Request, frozen=True, kw_only=True):
    """A copy in the new folder `out`, for others, or with the secrets of luck as a backup."""

    out: Path
    secrets: bool = False


class CloseLeague(Request, frozen=True, kw_only=True):
    """The run of `league` to close."""

    league: str


def copy_results(request: CopyResults) -> None:
    """Copy a results folder, also while a league runs: the matches stored by now, and all that belongs to them.

    SpecError if `out` exists, or nothing is stored.
    """
    copy_folder(request.results, request.out, with_secrets=request.secrets)


def close_league(request: CloseLeague) -> EndedRun:
    """Make the standings of the matches stored by now a part of the history; return the run.

    The next run draws new luck if it takes submitted bots. SpecError for an unknown league, or one without a match.
    """
    with open_store_for_writing(request.results) as store:
        state = state_of(store.league(request.league), store.ranks)
        if not state.stored:
            raise SpecError(f"league {request.league}: no match is stored, so there is no run to close")
        publish(store, state, is_closed=True)
        return store.runs(request.league)[-1]
