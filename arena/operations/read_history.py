"""The history of a league: the standings at the end of each of its runs."""

from arena.errors import SpecError
from arena.league.history import EndedRun
from arena.operations.request import Request
from arena.store.folder import open_store


class ReadHistory(Request, frozen=True, kw_only=True):
    """The runs of `league` that have ended; None for the only league there is."""

    league: str | None = None


def read_history(request: ReadHistory) -> tuple[str, tuple[EndedRun, ...]]:
    """Return the name of the league and its runs, the first one first.

    SpecError for an unknown league, and without a name unless there is exactly one.
    """
    with open_store(request.results) as store:
        names = [request.league] if request.league else store.leagues()
        if len(names) != 1:
            raise SpecError(f"which league? known: {', '.join(names) or 'none'}")
        store.league(names[0])
        return names[0], store.runs(names[0])
