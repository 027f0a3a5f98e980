"""The database file: opening it, refusing what is not ours, migrations, and the lock of the one writer.

Rule: a damaged or foreign file is said so and left untouched. WAL with synchronous=FULL: what was reported as stored
is on the disk. Keep results/ off network file systems, where WAL does not work.
"""

import contextlib
import fcntl
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TextIO

from arena.errors import DamagedStore, HarnessFault, SpecError

FILE_NAME: Final = "arena.db"
APPLICATION_ID: Final = 0x41524E41
"""`ARNA`: marks the file as ours."""

MIGRATIONS: Final = (
    """
    CREATE TABLE bot (
        digest TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, submitted_at TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE league (name TEXT PRIMARY KEY, tournament BLOB NOT NULL, standings BLOB) WITHOUT ROWID;
    CREATE TABLE pairing (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
    CREATE TABLE match (
        pairing INTEGER NOT NULL REFERENCES pairing, block INTEGER NOT NULL, rotation INTEGER NOT NULL,
        summary BLOB NOT NULL, PRIMARY KEY (pairing, block, rotation)
    ) WITHOUT ROWID;
    CREATE TABLE record (
        pairing INTEGER NOT NULL REFERENCES pairing, block INTEGER NOT NULL, rotation INTEGER NOT NULL,
        codec TEXT NOT NULL, digest TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (pairing, block, rotation)
    ) WITHOUT ROWID;
    """,
)
"""Statement lists; the n-th leads from version n to n+1, kept in the file as `user_version`."""


def path_in(results: Path) -> Path:
    """The database file of a results folder."""
    return results / FILE_NAME


def open_for_writing(results: Path) -> sqlite3.Connection:
    """The database of `results`, made or migrated if need be."""
    path = path_in(results)
    results.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size:
        _refuse_foreign(path)
    with speaking_for(path):
        connection = sqlite3.connect(path, timeout=5.0, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        _migrate(connection, path)
    return connection


def open_for_reading(results: Path) -> sqlite3.Connection | None:
    """The database of `results` without the right to write; None if nothing has been stored yet."""
    path = path_in(results)
    if not path.exists() or not path.stat().st_size:
        return None
    _refuse_foreign(path)
    with speaking_for(path):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=5.0)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != len(MIGRATIONS):
        raise DamagedStore(
            f"{path} has layout version {version}, this program reads {len(MIGRATIONS)};"
            " an older file is brought up to date by the next `arena league run`, a newer one needs a newer program"
        )
    return connection


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All statements inside, or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextlib.contextmanager
def speaking_for(path: Path) -> Iterator[None]:
    """SQLite's errors as ours, with the file and what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "malformed" in str(error) or "disk image" in str(error):
            raise _damaged(path, str(error)) from None
        raise HarnessFault(f"{path}: {error}; what was stored before is safe") from None
    except sqlite3.DatabaseError as error:
        raise _damaged(path, str(error)) from None


@contextlib.contextmanager
def writer_lock(results: Path) -> Iterator[None]:
    """Only one program at a time plays leagues into a results folder; the lock ends with the process."""
    results.mkdir(parents=True, exist_ok=True)
    with (results / "arena.lock").open("w", encoding="ascii") as file:
        _lock(file, results)
        yield


def _lock(file: TextIO, results: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SpecError(
            f"{results}: another `arena` is playing into this folder; wait for it, or use --results"
        ) from None


def _refuse_foreign(path: Path) -> None:
    with path.open("rb") as file:
        header = file.read(100)
    if not header.startswith(b"SQLite format 3\x00") or len(header) < 100:
        raise _damaged(path, "it is not an SQLite database")
    found = int.from_bytes(header[68:72], "big")
    if found not in {APPLICATION_ID, 0}:
        raise _damaged(path, f"it belongs to another program (application id {found:#x})")


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if version > len(MIGRATIONS):
        raise DamagedStore(f"{path} has layout version {version}, this program knows {len(MIGRATIONS)}; update arena")
    if version == 0 and tables:
        raise _damaged(path, "it holds tables of another program")
    for number, statements in enumerate(MIGRATIONS[version:], start=version + 1):
        with transaction(connection):
            for statement in statements.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={number}")


def _damaged(path: Path, reason: str) -> DamagedStore:
    return DamagedStore(
        f"{path} cannot be used: {reason}. It was left untouched; move it away or put a copy back,"
        " and `arena verify` will tell what a copy holds"
    )
