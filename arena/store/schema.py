"""The layout of the database: its tables, and the check that a file has them.

Rule: a file has these tables, indexes and triggers, word for word, or no query is made of it: a view that never ends
can have the name of a table.
"""

import sqlite3
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from arena.errors import DamagedStore
from arena.store import history, owners, rows, times

APPLICATION_ID: Final = 0x41524E41
"""`ARNA`: marks the file as ours."""
VERSION: Final = 18
"""The version of the layout, kept in the file as `user_version`."""
_TABLES: Final = (
    """CREATE TABLE bot (
        digest TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, submitted_at TEXT NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE league (
        name TEXT PRIMARY KEY, tournament BLOB NOT NULL, digest TEXT NOT NULL, standings BLOB,
        runs INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID""",
    "CREATE TABLE pairing (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, players TEXT NOT NULL)",
    rows.BLOCK_TABLE,
    """CREATE TABLE record (
        pairing INTEGER NOT NULL REFERENCES pairing, block INTEGER NOT NULL, rotation INTEGER NOT NULL,
        codec TEXT NOT NULL, digest TEXT NOT NULL, body BLOB NOT NULL, stderr BLOB NOT NULL,
        PRIMARY KEY (pairing, block, rotation)
    ) WITHOUT ROWID""",
    # The secrets of a league's luck, the first one first, by their commitments.
    """CREATE TABLE secret (
        league TEXT NOT NULL, number INTEGER NOT NULL, commitment TEXT NOT NULL, origin TEXT NOT NULL, revealed_at TEXT,
        PRIMARY KEY (league, number), UNIQUE (league, commitment)
    ) WITHOUT ROWID""",
    *times.TABLES,
    # Versions whose authors were removed, by hash.
    "CREATE TABLE removal (digest TEXT PRIMARY KEY) WITHOUT ROWID",
    # The ends of a league's runs, `league.runs` of them: the tournament with its players then, and its standings.
    """CREATE TABLE snapshot (
        league TEXT NOT NULL, number INTEGER NOT NULL, ended_at TEXT NOT NULL, tournament BLOB NOT NULL,
        standings BLOB NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (league, number)
    ) WITHOUT ROWID""",
    *map(str.strip, rows.MACHINE_TABLES.split(";")),
    history.HISTORY_TABLE,
    owners.OWNER_TABLE,
    *history.TRIGGERS,
)
STEPS: Final[dict[int, Callable[[sqlite3.Connection], None]]] = {}
"""The step from a released layout to the next one, by version; none yet, as none has been released."""
_NAMES: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master"


def create(connection: sqlite3.Connection) -> None:
    """Create all tables, within the caller's transaction."""
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={VERSION}")


def is_old(connection: sqlite3.Connection) -> bool:
    """Return True if the file has an older layout of arena, from which steps lead to this one."""
    owner, version = connection.execute("SELECT * FROM pragma_application_id, pragma_user_version").fetchone()
    return owner == APPLICATION_ID and version in STEPS


def upgrade(connection: sqlite3.Connection) -> None:
    """Upgrade an older layout to this one step by step, within the caller's transaction."""
    while is_old(connection):
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        STEPS[version](connection)
        connection.execute(f"PRAGMA user_version={version + 1}")


def is_made(connection: sqlite3.Connection, path: Path) -> bool:
    """Return True if the file has arena's tables, False if it is empty. DamagedStore if it has anything else."""
    # One statement sees one state of the file, though another process may be changing it just now.
    query = (
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version"
    )
    owner, version, count = connection.execute(query).fetchone()
    if not (owner or version or count):
        return False
    if owner != APPLICATION_ID:
        raise DamagedStore(
            f"{path} cannot be used: it belongs to another program (application id {owner:#x}). It was left untouched;"
            " choose another folder with --results"
        )
    if version != VERSION:
        raise DamagedStore(
            f"{path} has layout version {version}, and this arena reads version {VERSION} alone: read it with the arena"
            " that made it, or choose another folder with --results"
        )
    # A limit: a schema without end is not read to its end.
    definitions = {*connection.execute(f"{_NAMES} LIMIT {len(_expected_definitions()) + 1}")}
    if definitions != _expected_definitions():
        odd = sorted(str(name)[:80] for _, name, *_ in definitions ^ _expected_definitions())
        raise DamagedStore(
            f"{path} cannot be used: its tables are not those of an arena database ({', '.join(odd)!a:.200}). It was"
            " left untouched; put a copy back"
        )
    return True


@cache
def _expected_definitions() -> frozenset[tuple[str, str, str, str | None]]:
    """Return the definitions in a new database, as rows of sqlite_master."""
    connection = sqlite3.connect(":memory:")
    try:
        create(connection)
        return frozenset(connection.execute(_NAMES))
    finally:
        connection.close()
