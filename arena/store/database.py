"""The database file: opening it, refusing a damaged or foreign one, migrations, and the lock of the one writer.

Rule: a malformed file is refused before anything in it changes; a large one is looked at in samples, and that is said.
WAL with synchronous=FULL: a match that was reported as stored is on the disk. Keep results/ off network file systems,
where WAL does not work.

Several processes may open a folder at once, a new one or one of an older layout too: SQLite's lock for writing decides
who brings it up to date, in one transaction, and the others wait.
"""

import contextlib
import errno
import logging
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from arena.errors import ArenaError, DamagedStore, MachineFault, SpecError
from arena.store import history, migration, owners, rows

FILE_NAME: Final = "arena.db"
APPLICATION_ID: Final = 0x41524E41
"""`ARNA`: marks the file as ours."""

DATABASE_PAGE_BYTES: Final = 1 << 14
"""Of a new file. A record of up to a quarter of a page lies beside its key; a longer one has pages of its own."""
BUSY_S: Final = 30.0
"""The longest wait for another command that is writing; a transaction of ours takes milliseconds."""
_MIGRATION_S: Final = 900.0
"""The same for another one that brings an older layout up to date: a million matches take minutes."""
FULL_CHECK_BYTES: Final = 512 << 20
"""Up to this size SQLite looks at every page; a page of a larger file costs as much, and a start must not take long."""
SAMPLES: Final = 2000
_LARGE: Final = {"match": "pairing, block", "record": "pairing, block", "seat": "pairing, place, block"}
"""The large tables, with the first columns of their keys."""
_LOOK_S: Final = 0.5
_SILENT_S: Final = 3.0
"""A wait that takes longer is told."""
_IS_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_OF_THE_MACHINE: Final = {sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL}
_OF_THE_PLACE: Final = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
"""SQLite's primary error codes by cause: a neighbour, the machine, rights. Any other: the file is damaged."""
log: Final = logging.getLogger("arena.store")


class Migration(NamedTuple):
    """From one layout to the next: SQL statements, and what only a program can fill in after them."""

    statements: str
    then: Callable[[sqlite3.Connection], None] = lambda _: None


def _digest_leagues(connection: sqlite3.Connection) -> None:
    rows = connection.execute("SELECT CAST(tournament AS BLOB), name FROM league WHERE digest IS NULL").fetchall()
    digested = [(sha256(text).hexdigest(), name) for text, name in rows]
    connection.executemany("UPDATE league SET digest = ? WHERE name = ?", digested)


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
    # Here tallies were kept of what a leaderboard is made of, until the columns of layout 10.
    Migration("UPDATE league SET standings = NULL"),
    # Standings tell of luck as well.
    Migration("UPDATE league SET standings = NULL"),
    # And of faults after which the game went on. Nothing else changes: where there were none, nothing is stored.
    Migration("UPDATE league SET standings = NULL"),
    # The digest of a tournament is checked at every read: those without one get it now.
    Migration("", _digest_leagues),
    # The secrets of a league's luck, the first one first, by their commitments; standings tell of these, too.
    Migration("""
    CREATE TABLE secret (
        league TEXT NOT NULL, number INTEGER NOT NULL, commitment TEXT NOT NULL, origin TEXT NOT NULL, revealed_at TEXT,
        PRIMARY KEY (league, number), UNIQUE (league, commitment)
    ) WITHOUT ROWID;
    UPDATE league SET standings = NULL
    """),
    # Standings hold the audit of luck.
    Migration("UPDATE league SET standings = NULL"),
    # Which matches were stored, in the order of their commits: so that nobody replaces one later.
    Migration(history.HISTORY_TABLE, history.set_up),
    # Standings have other numbers, and other names for them.
    Migration("UPDATE league SET standings = NULL"),
    # A match is rows that SQLite adds up, and its pairing knows the names of its players.
    Migration(migration.SUMMARIES + rows.MATCH_TABLES, migration.fill),
    # The tables of matches have constraints on every value.
    Migration("", migration.constrain),
    # Of a block that a cluster played: the machine.
    Migration(rows.MACHINE_TABLES),
    Migration(owners.OWNER_TABLE.replace("TABLE", "TABLE IF NOT EXISTS", 1)),
)
"""The n-th leads from version n to n+1, kept in the file as `user_version`."""


def path_in(results: Path) -> Path:
    """The database file of a results folder."""
    return results / FILE_NAME


def open_for_writing(results: Path) -> sqlite3.Connection:
    """The database of `results`, made or migrated if need be. DamagedStore, and no byte changed, if it is not sound."""
    path = path_in(results)
    _make(results)
    if not _may_write(path):
        raise unwritable(results, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    if _holds_something(path):
        # Looked at without the right to write: even opening a file for WAL would change one that is not ours.
        with contextlib.closing(_connect_to_read(path)) as connection, translating_sqlite_errors(path):
            _version_of(connection, path)
            if fault := _first_fault(connection, path):
                raise _damaged(path, fault)
    opened = sqlite3.connect(path, timeout=_LOOK_S, isolation_level=None)
    with translating_sqlite_errors(path), _closed_on_error(opened) as connection:
        connection.execute(f"PRAGMA page_size={DATABASE_PAGE_BYTES}")
        _execute_when_free(connection, "PRAGMA journal_mode=WAL", path, BUSY_S)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        _migrate(connection, path)
        connection.execute(f"PRAGMA busy_timeout={BUSY_S * 1000:.0f}")
    return connection


def open_for_reading(results: Path) -> sqlite3.Connection | None:
    """The database of `results` without the right to write; None if nothing has been stored yet.

    One of an older layout is brought up to date first. SpecError if that is not allowed here.
    """
    path = path_in(results)
    if not _holds_something(path):
        return None
    with translating_sqlite_errors(path), _closed_on_error(_connect_to_read(path)) as connection:
        version = _version_of(connection, path)
        if version == len(MIGRATIONS):
            # A bit flipped in the index of pairings hides one from a query: a leaderboard would miss its matches.
            if fault := _check(connection, "PRAGMA integrity_check(pairing)"):
                raise _damaged(path, fault)
            return connection
    connection.close()
    if version == 0:  # another process is making it just now
        return None
    if not _may_write(path):
        raise SpecError(
            f"{path} has layout version {version}, of an older arena; this one reads version {len(MIGRATIONS)}, and"
            f" you may not write there to bring it up to date: copy {results} and name the copy with --results"
        )
    open_for_writing(results).close()
    return open_for_reading(results)


def _may_write(path: Path) -> bool:
    """Whether the database may be made or changed there."""
    return os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """All statements inside, or none; errors of SQLite are translated."""
    with translating_sqlite_errors(path):
        connection.execute("BEGIN IMMEDIATE")
        with _committed(connection):
            yield


@contextlib.contextmanager
def _committed(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit the transaction that is open, or undo it."""
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has rolled back by itself after some errors, such as a full disk
            connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def translating_sqlite_errors(path: Path) -> Iterator[None]:
    """Raise errors of ours for those of SQLite, with the file and a way out."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translated(error, path) from None
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
        try:
            import fcntl  # noqa: PLC0415 - not on Windows

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            text = "leagues need locks on files, which this system lacks; they are played on Linux"
            raise MachineFault(text) from None
        except BlockingIOError:
            text = f"{results}: another `arena` is playing into this folder; wait for it, or use --results"
            raise SpecError(text) from None
        yield


def unwritable(results: Path, error: OSError) -> SpecError:
    """The error for a results folder that cannot be written into."""
    return SpecError(f"{results}: {error.strerror}; choose another folder for the results with --results")


def _translated(error: sqlite3.Error, path: Path) -> ArenaError:
    """The error of ours that tells a person of this one."""
    code = _primary_code(error)
    if code in _IS_BUSY:
        return SpecError(
            f"{path}: another program was writing into it for over {BUSY_S:.0f} s; what was stored before is safe:"
            " wait until that program ends, and give the same command again"
        )
    if code in _OF_THE_MACHINE:
        advice = "not enough memory" if code == sqlite3.SQLITE_NOMEM else "make room"
        return MachineFault(
            f"{path}: {error}; what was stored before is safe; {advice} and give the same command again"
        )
    if code in _OF_THE_PLACE:
        return SpecError(_without_rights(path, str(error)))
    return _damaged(path, str(error))


def _without_rights(path: Path, reason: str) -> str:
    """The sentence for a database that SQLite may not open."""
    wal = path.with_name(f"{path.name}-wal")
    if _size(wal) and not os.access(path.parent, os.W_OK):
        return (
            f"{path}: its last matches are still in {wal.name} beside it, and nobody can read them where you may not"
            f" write; copy all of {path.parent} to a place where you may, and name the copy with --results"
        )
    return f"{path}: {reason}; check who owns it and who may write there, or copy the folder and use --results"


def _primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _execute_when_free(connection: sqlite3.Connection, statement: str, path: Path, patience_s: float) -> None:
    """Execute the statement, again and again while another process is in its way. SQLITE_BUSY after `patience_s`.

    SQLite's own patience does not do for all statements, and would be silent.
    """
    start_s, is_told = time.monotonic(), False
    while True:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            waited_s = time.monotonic() - start_s
            if _primary_code(error) not in _IS_BUSY or waited_s > patience_s:
                raise
            if waited_s > _SILENT_S and not is_told:
                log.warning("%s: waiting for another program that is writing into it", path)
                is_told = True
            time.sleep(0.01)
        else:
            return


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
    # SQLite reads a WAL database only with files beside it. If we may not make them, nobody else does while there is
    # no WAL; so the file can be read as one that does not change.
    wal = path.with_name(f"{path.name}-wal")
    is_still = not os.access(path.parent, os.W_OK) and not _size(wal)
    mode = "mode=ro&immutable=1" if is_still else "mode=ro"
    with translating_sqlite_errors(path):
        return sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, timeout=BUSY_S)


def _holds_something(path: Path) -> bool:
    """Whether there is anything in the file, after what a killed program left half made in it has been undone."""
    journal = path.with_name(f"{path.name}-journal")
    if _size(journal):
        # SQLite undoes it by itself, but only for a connection that may write. A bad file is told of later.
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path, timeout=BUSY_S)) as opened:
            opened.execute("SELECT count(*) FROM sqlite_master")
    return _size(path) > 0


def _size(path: Path) -> int:
    """Bytes in the file; 0 if it is not there, or gone before the second look: SQLite's own files come and go."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _version_of(connection: sqlite3.Connection, path: Path) -> int:
    """The layout version of a file that is ours, 0 if it is empty. DamagedStore if it is not ours, or too new."""
    # One statement sees one state of the file, though another process may be changing it just now.
    query = (
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version"
    )
    owner, version, tables = connection.execute(query).fetchone()
    if owner != APPLICATION_ID and (owner or version or tables):
        raise _damaged(path, f"it belongs to another program (application id {owner:#x})")
    if version > len(MIGRATIONS):
        raise DamagedStore(f"{path} has layout version {version}, this program knows {len(MIGRATIONS)}; update arena")
    return int(version)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the layout up to date, all of it or nothing."""
    if _version_of(connection, path) == len(MIGRATIONS):
        return
    _execute_when_free(connection, "BEGIN IMMEDIATE", path, _MIGRATION_S)
    with _committed(connection):
        version = _version_of(connection, path)  # again: another process may have done it while this one waited
        for migration in MIGRATIONS[version:]:
            for statement in migration.statements.split(";"):
                connection.execute(statement)
            migration.then(connection)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")


def _damaged(path: Path, reason: str) -> DamagedStore:
    return DamagedStore(
        f"{path} cannot be used: {reason}. It was left untouched; move it away or put a copy back,"
        " and `arena verify` will tell what a copy holds"
    )


def _first_fault(connection: sqlite3.Connection, path: Path) -> str:
    """The first thing that is wrong with the structure of the file, empty if nothing was found.

    Raises sqlite3.Error where SQLite ends the look instead.
    """
    if path.stat().st_size <= FULL_CHECK_BYTES:
        return _check(connection, "PRAGMA integrity_check(1)")
    log.warning(
        "%s is large: before writing, %d of its matches were looked at instead of all; `arena verify` looks at all",
        path,
        SAMPLES,
    )
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    small = [name for name in names if name not in _LARGE]
    found = (_check(connection, f'PRAGMA integrity_check("{name}")') for name in small)
    fault = next(filter(None, found), "")
    if not fault:
        _sample(connection, [name for name in names if name in _LARGE])
    return fault


def _check(connection: sqlite3.Connection, statement: str) -> str:
    """The first error that a check finds; empty without any."""
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
