"""The results folder as a place to read and write leagues: stored matches, and the record of one."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from arena.errors import CheckFailed, SpecError
from arena.match.record import MatchRecord, unpack
from arena.match.results import MatchResult
from arena.store import database
from arena.store.matches import MatchStore


@contextlib.contextmanager
def stored(results: Path) -> Iterator[MatchStore]:
    """Open the stored matches of a results folder for reading, as one snapshot. SpecError if there are none."""
    with database.reading(results) as connection:
        if connection is None:
            raise SpecError(f"nothing is stored in {results} yet; `arena league run FILE` plays a league")
        store = MatchStore(connection, results)
        with store.snapshot():
            yield store


@contextlib.contextmanager
def writable(results: Path) -> Iterator[MatchStore]:
    """Open the stored matches of a results folder for its only writer."""
    with (
        database.writer_lock(results),
        contextlib.closing(database.open_for_writing(results)) as connection,
    ):
        yield MatchStore(connection, results)


def record_of(match: MatchResult) -> MatchRecord:
    """Return the record of a stored match. CheckFailed if its bytes are none."""
    try:
        return unpack(match.record)
    except (ValueError, msgspec.MsgspecError) as error:
        raise CheckFailed(f"match {match.key}: {error}") from None
