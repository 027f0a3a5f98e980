"""The results folder as a place to read and write leagues."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from arena.errors import SpecError
from arena.store import database
from arena.store.matches import MatchStore


@contextlib.contextmanager
def open_store(results: Path) -> Iterator[MatchStore]:
    """Open the stored matches of a results folder for reading, as one snapshot. SpecError if there are none."""
    with database.reading(results) as connection:
        if connection is None:
            raise SpecError(f"nothing is stored in {results} yet; `arena league run FILE` plays a league")
        store = MatchStore(connection, results)
        with store.snapshot():
            yield store


@contextlib.contextmanager
def open_store_for_writing(results: Path) -> Iterator[MatchStore]:
    """Open the stored matches of a results folder for its only writer."""
    with (
        database.writer_lock(results),
        contextlib.closing(database.open_for_writing(results)) as connection,
    ):
        yield MatchStore(connection, results)
