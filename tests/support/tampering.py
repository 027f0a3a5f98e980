"""The database of a results folder behind the back of arena."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from arena.store import database, history


@contextmanager
def opened(place: Path) -> Iterator[sqlite3.Connection]:
    """The database of a results folder, or of a file, without our checks; what was changed is committed at the end.

    Whoever edits the history knows to put its triggers back.
    """
    path = database.path_in(place) if place.is_dir() else place
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        for trigger in history.TRIGGERS if "history" in names else ():
            if trigger.split()[2] not in names:
                connection.execute(trigger)


def execute_sql(path: Path, *statements: str) -> None:
    """Execute and commit them; each UPDATE or DELETE must find a row."""
    with opened(path) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount, f"nothing was changed by {statement}"
