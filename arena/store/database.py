"""The database file: opening it, refusing what is not ours, migrations, and the lock of the one writer.

Rule: a damaged or foreign file is said so and left untouched. WAL with synchronous=FULL: what was reported as stored
is on the disk. Keep results/ off network file systems, where WAL does not work.
"""

import contextlib
import errno
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, TextIO

from arena.errors import DamagedStore, HarnessFault, SpecError
from arena.store import tallies

FILE_NAME: Final = "arena.db"
APPLICATION_ID: Final = 0x41524E41
"""`ARNA`: marks the file as ours."""

_OF_THE_MACHINE: Final = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}
"""SQLite's primary error codes for a disk or a neighbour; any other one means that the file is not as we wrote it."""


class Migration(NamedTuple):
    """From one layout to the next: SQL statements, and what only a program can fill in after them."""

    statements: str
    then: Callable[[sqlite3.Connection], None] = lambda _: None


MIGRATIONS: Final = (
    Migration("""
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
    """),
    # SHA-256 of `tournament`, so that `verify` finds an edited one; NULL for what was stored before this version.
    Migration("ALTER TABLE league ADD COLUMN digest TEXT"),
    # What a leaderboard is made of: a million matches are tallied once, and not for every look.
    Migration(tallies.LAYOUT, tallies.set_up),
    # Standings tell of luck as well. Tallies stay: those of matches without luck are what they were.
    Migration("UPDATE league SET standings = NULL"),
    # And of faults after which the game went on. Nothing else changes: where there were none, nothing is stored.
    Migration("UPDATE league SET standings = NULL"),
)
"""The n-th leads from version n to n+1, kept in the file as `user_version`."""


def path_in(results: Path) -> Path:
    """The database file of a results folder."""
    return results / FILE_NAME


def open_for_writing(results: Path) -> sqlite3.Connection:
    """The database of `results`, made or migrated if need be."""
    path = path_in(results)
    _make(results)
    if not os.access(results, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise unwritable(results, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    if _holds_something(path):
        # Looked at without the right to write: even opening a file for WAL would change one that is not ours.
        with contextlib.closing(_connect_to_read(path)) as connection, speaking_for(path):
            _version_of(connection, path)
    with speaking_for(path), _closed_on_error(sqlite3.connect(path, timeout=5.0, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        _migrate(connection, _version_of(connection, path))
    return connection


def open_for_reading(results: Path) -> sqlite3.Connection | None:
    """The database of `results` without the right to write; None if nothing has been stored yet.

    One of an older layout is brought up to date first.
    """
    path = path_in(results)
    if not _holds_something(path):
        return None
    connection, version = _opened(path)
    if 0 < version < len(MIGRATIONS):
        connection.close()
        open_for_writing(results).close()
        connection, version = _opened(path)
    if version == 0:  # another process is making it just now
        connection.close()
        return None
    return connection


def _opened(path: Path) -> tuple[sqlite3.Connection, int]:
    """A connection to read, and the layout version of the file."""
    with speaking_for(path), _closed_on_error(_connect_to_read(path)) as connection:
        return connection, _version_of(connection, path)


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All statements inside, or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has rolled back by itself after some errors, such as a full disk
            connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def speaking_for(path: Path) -> Iterator[None]:
    """SQLite's errors as ours, with the file and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _OF_THE_MACHINE:
            advice = "; make room and give the same command again" if _is_full(error) else ""
            raise HarnessFault(f"{path}: {error}; what was stored before is safe{advice}") from None
        raise _damaged(path, str(error)) from None
    except UnicodeDecodeError:  # of SQLite's own message, which quotes the damage
        raise _damaged(path, "the schema is malformed") from None


@contextlib.contextmanager
def writer_lock(results: Path) -> Iterator[None]:
    """Only one program at a time plays leagues into a results folder; the lock ends with the process."""
    _make(results)
    try:
        file = (results / "arena.lock").open("w", encoding="ascii")
    except OSError as error:
        raise unwritable(results, error) from None
    with file:
        _lock(file, results)
        yield


def unwritable(results: Path, error: OSError) -> SpecError:
    """What a person is told who may not, or cannot, write into a results folder."""
    return SpecError(f"{results}: {error.strerror}; choose another folder for the results with --results")


def _is_full(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}


def _lock(file: TextIO, results: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SpecError(
            f"{results}: another `arena` is playing into this folder; wait for it, or use --results"
        ) from None


@contextlib.contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _make(results: Path) -> None:
    try:
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(results, error) from None


def _connect_to_read(path: Path) -> sqlite3.Connection:
    with path.open("rb") as file:
        header = file.read(100)
    if not header.startswith(b"SQLite format 3\x00") or len(header) < 100:
        raise _damaged(path, "it is not an SQLite database")
    # SQLite reads a WAL database only with files beside it. Where we may not make them, nobody else does while there is
    # no WAL; so the file can be read as one that does not change.
    wal = path.with_name(f"{path.name}-wal")
    is_still = not os.access(path.parent, os.W_OK) and not (wal.exists() and wal.stat().st_size)
    mode = "mode=ro&immutable=1" if is_still else "mode=ro"
    with speaking_for(path):
        return sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, timeout=5.0)


def _holds_something(path: Path) -> bool:
    """Whether there is anything in the file, after what a killed program left half made in it has been undone."""
    journal = path.with_name(f"{path.name}-journal")
    if journal.exists() and journal.stat().st_size:
        # SQLite undoes it by itself, but only for a connection that may write. A bad file is told of later.
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path, timeout=5.0)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master")
    return path.exists() and path.stat().st_size > 0


def _version_of(connection: sqlite3.Connection, path: Path) -> int:
    """The layout version of a file that is ours, 0 if it is empty. DamagedStore if it is not ours, or too new."""
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if owner != APPLICATION_ID and (owner or version or tables):
        raise _damaged(path, f"it belongs to another program (application id {owner:#x})")
    if version > len(MIGRATIONS):
        raise DamagedStore(f"{path} has layout version {version}, this program knows {len(MIGRATIONS)}; update arena")
    return version


def _migrate(connection: sqlite3.Connection, version: int) -> None:
    for number, migration in enumerate(MIGRATIONS[version:], start=version + 1):
        with transaction(connection):
            for statement in migration.statements.split(";"):
                connection.execute(statement)
            migration.then(connection)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={number}")


def _damaged(path: Path, reason: str) -> DamagedStore:
    return DamagedStore(
        f"{path} cannot be used: {reason}. It was left untouched; move it away or put a copy back,"
        " and `arena verify` will tell what a copy holds"
    )
