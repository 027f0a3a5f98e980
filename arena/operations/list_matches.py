"""The stored matches of a league, one after the other."""

import contextlib
from collections.abc import Iterator

from arena.league.progress import steps_of
from arena.match.results import MatchResult
from arena.operations.events import OnEvent, Progress, ignore
from arena.operations.leagues import load_league
from arena.operations.request import Request
from arena.store.folder import open_store


class ListMatches(Request, frozen=True, kw_only=True):
    """The matches of `league`, or of the only one; with `faults` those with a fault alone, and with their records.

    `records`: with their records.
    """

    league: str | None = None
    faults: bool = False
    records: bool = False


@contextlib.contextmanager
def list_matches(request: ListMatches, on: OnEvent = ignore) -> Iterator[tuple[int, Iterator[MatchResult]]]:
    """Yield the number of seats, and an iterator that reads the matches by pairing, block and rotation.

    The results are open, and the iterator usable, inside `with` only. Its progress is an event.
    """
    with open_store(request.results) as store:
        state = load_league(store, request.league)
        results = store.matches(state.blocks) if request.records else store.results(state.blocks)
        matches = steps_of(results, "matches", state.stored, lambda *step: on(Progress(*step)))
        if request.faults:
            matches = (store.match(str(one.key)) for one in matches if one.at_fault is not None or one.pardoned)
        yield state.tournament.seats, matches
