"""Whether SQLite finds a database sound, asked before a run writes its first byte into it.

Rule: a malformed file is refused before anything in it changes. A large one is looked at in samples, and that is said.
"""

import logging
import random
import sqlite3
from pathlib import Path
from typing import Final

FULL_CHECK_BYTES: Final = 512 << 20
"""Up to this size SQLite looks at every page; a page of a larger file costs as much, and a start must not take long."""
SAMPLES: Final = 2000
_LARGE: Final = {"match": "pairing, block", "record": "pairing, block", "seat": "pairing, place, block"}
"""The large tables, with the first columns of their keys."""
log: Final = logging.getLogger("arena.store")


def first_fault(connection: sqlite3.Connection, path: Path) -> str:
    """The first thing that is wrong with the structure of the file, empty if nothing was found.

    Raises sqlite3.Error where SQLite ends the look instead.
    """
    if path.stat().st_size <= FULL_CHECK_BYTES:
        return _told(connection, "PRAGMA integrity_check(1)")
    log.warning(
        "%s is large: before writing, %d of its matches were looked at instead of all; `arena verify` looks at all",
        path,
        SAMPLES,
    )
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    small = [name for name in names if name not in _LARGE]
    found = (_told(connection, f'PRAGMA integrity_check("{name}")') for name in small)
    fault = next(filter(None, found), "")
    if not fault:
        _sample(connection, [name for name in names if name in _LARGE])
    return fault


def fault_of_index(connection: sqlite3.Connection) -> str:
    """The first disagreement between the pairings and their index, empty if there is none.

    A bit flipped there hides a pairing from a query instead of spoiling them, and a leaderboard would miss matches.
    """
    return _told(connection, "PRAGMA integrity_check(pairing)")


def _told(connection: sqlite3.Connection, statement: str) -> str:
    """What a check says, empty for `ok`."""
    (text,) = connection.execute(statement).fetchone()
    return "" if text == "ok" else " ".join(str(text).split())


def _sample(connection: sqlite3.Connection, tables: list[str]) -> None:
    """Read whole rows at random places, so that SQLite looks at the pages on the way to them."""
    query = "SELECT (SELECT max(id) FROM pairing), (SELECT max(place) FROM seat), (SELECT max(block) FROM match)"
    most = dict(zip(("pairing", "place", "block"), connection.execute(query).fetchone(), strict=True))
    rng = random.Random()  # noqa: S311 - another place each time; nothing depends on it
    for table in tables:
        key = _LARGE[table]
        names = key.split(", ")
        query = f"SELECT * FROM {table} WHERE ({key}) >= ({', '.join('?' * len(names))}) LIMIT 1"  # noqa: S608 - ours
        for _ in range(SAMPLES):
            connection.execute(query, [rng.randint(0, most[name] or 0) for name in names]).fetchall()
