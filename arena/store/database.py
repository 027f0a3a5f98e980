"""The database file: opening it for reading or writing, refusing a damaged or foreign one, and the lock of the writer.

Rule: a malformed file is refused before anything in it changes; of a large one samples are checked, with a warning.
WAL with synchronous=FULL: a match that was reported as stored is on the disk. Keep results/ off network file systems,
where WAL does not work.

A folder may come from somebody else: `arena.store.view` reads it without a trace, `arena.store.files` opens its files.
"""

import contextlib
import errno
import fcntl
import logging
import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from arena.errors import ArenaError, DamagedStore, MachineFault, SpecError
from arena.store import files, schema, view
from arena.store.view import Connection

DATABASE_PAGE_BYTES: Final = 1 << 14
"""The page size of a new file. A record of up to a quarter of a page lies beside its key, a longer one apart."""
BUSY_S: Final = 30.0
"""The longest wait for another command that is writing; a transaction of arena takes milliseconds."""
WAL_BYTES: Final = 1000 * DATABASE_PAGE_BYTES
"""The size from which the WAL is moved into the database."""
FULL_CHECK_BYTES: Final = 512 << 20
"""The largest file of which SQLite checks every page before writing; a start must not take long."""
SAMPLES: Final = 2000
_LARGE: Final = {"block": "pairing, number", "record": "pairing, block"}
"""The large tables, with the first columns of their keys."""
_NO_BOUND: Final = 1 << 62
_LOOK_S: Final = 0.5
_BUSY_CODES: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_DAMAGE_CODES: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_MACHINE_CODES: Final = {sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL}
_FOLDER_CODES: Final = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
"""SQLite's primary error codes by cause: another program, damage, the machine, rights. Others count as damage."""
_FULL_ERRNOS: Final = {errno.ENOSPC, errno.EDQUOT}
_T = TypeVar("_T")
log: Final = logging.getLogger("arena.store")


def path_in(results: Path) -> Path:
    """Return the path of the database in a results folder."""
    return results / view.FILE_NAME


def open_for_writing(results: Path) -> Connection:
    """Open the database of `results`, made if need be. DamagedStore, and no byte changed, if it is not sound.

    SpecError if the folder cannot be written, or another program is busy there for too long.
    """
    path = path_in(results)
    _make_results_folder(results)
    if not _may_write(path):
        raise unwritable(results, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    _look_twice(lambda: _require_sound(results))
    os.close(files.open_file(results, view.FILE_NAME, os.O_WRONLY | os.O_CREAT))  # files beside it get its mode
    opened = sqlite3.connect(path, timeout=_LOOK_S, isolation_level=None, check_same_thread=False, factory=Connection)
    with _translate_errors(path), _close_on_error(opened) as connection:
        connection.bound(path.stat().st_size)
        connection.execute(f"PRAGMA page_size={DATABASE_PAGE_BYTES}")
        _execute_when_free(connection, "PRAGMA journal_mode=WAL", path)
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            raise MachineFault(f"{path}: SQLite has no WAL there; choose a folder on a disk of this machine")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        _create_tables(connection, path)
        connection.execute(f"PRAGMA busy_timeout={BUSY_S * 1000:.0f}")
        view.open_guard(connection, results)
    return connection


def open_for_reading(results: Path) -> Connection | None:
    """Open the last committed state of the database of `results`; None if nothing has been stored yet.

    The folder may be somebody else's: nothing in it changes, and what arena did not write is DamagedStore.
    """
    return _look_twice(lambda: _open_checked_view(results))


@contextlib.contextmanager
def reading(results: Path) -> Iterator[Connection | None]:
    """Open the database as `open_for_reading` does, and close it at the end; yield None if nothing has been stored.

    SpecError at the end if another program changed the file meanwhile: what was read may be of two states.
    """
    connection = open_for_reading(results)
    if connection is None:
        yield None
        return
    with contextlib.closing(connection):
        try:
            yield connection
        except (DamagedStore, MachineFault):
            if not connection.is_changed():
                raise
        if connection.is_changed():
            raise SpecError(view.describe_change(path_in(results)))


def _look_twice(look: Callable[[], _T]) -> _T:
    """Call `look` again if it finds a damaged file: a disk may fail once."""
    try:
        return look()
    except DamagedStore:
        return look()


def _open_checked_view(results: Path) -> Connection | None:
    """Open the last committed state for reading; None if nothing is stored yet.

    DamagedStore if the tables are not arena's, or the index of pairings is damaged.
    """
    path = path_in(results)
    with _translate_errors(path):
        opened = view.open_view(results, BUSY_S)
        if opened is None:
            return None
        with _close_on_error(opened) as connection:
            if schema.is_made(connection, path):
                # A flipped bit in the index of pairings can hide a pairing, and its matches, from a query.
                if fault := _run_check(connection, "PRAGMA integrity_check(pairing)"):
                    raise _damage_error(path, fault)
                return connection
    connection.close()  # another process is making the tables just now
    return None


def _require_sound(results: Path) -> None:
    """Raise DamagedStore unless the database may be written into."""
    path = path_in(results)
    view.require_plain(results)
    with _translate_errors(path):
        opened = view.open_view(results, BUSY_S)
        if opened is None:
            return
        with contextlib.closing(opened) as connection:
            is_there = schema.is_old(connection) or schema.is_made(connection, path)
            if is_there and (fault := _first_fault(connection, path)):
                raise _damage_error(path, fault)


def collect_in_thread(connection: Connection, query: str) -> list[Any]:
    """Return the rows of a query that would hold up signals for long; a signal stops it at once."""
    with ThreadPoolExecutor(1) as pool:
        rows = pool.submit(connection.collect, query)
        try:
            return rows.result()
        except BaseException:
            connection.interrupt()
            raise


def _may_write(path: Path) -> bool:
    """Return True if the database may be made or changed there."""
    return os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))


@contextlib.contextmanager
def transaction(connection: Connection, path: Path) -> Iterator[None]:
    """Execute all statements inside, or none; errors of SQLite are translated. Moves a large WAL into the file."""
    with translating_sqlite_errors(path):
        connection.renew(_NO_BOUND)  # no bound: the statements are arena's, as many as there are matches
        connection.execute("BEGIN IMMEDIATE")
        with _commit_or_roll_back(connection):
            yield
        connection.renew(view.size(path.parent, path.name))
        if view.size(path.parent, view.WAL) > WAL_BYTES:
            connection.checkpoint()


@contextlib.contextmanager
def _commit_or_roll_back(connection: Connection) -> Iterator[None]:
    """Commit the open transaction, or roll it back after an error."""
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has rolled back by itself after some errors, such as a full disk
            connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def translating_sqlite_errors(path: Path) -> Iterator[None]:
    """Raise errors of arena in place of those of SQLite, with the file and a way out."""
    try:
        with _translate_errors(path):
            yield
    except DamagedStore as error:
        cause = error.__context__
        if isinstance(cause, sqlite3.Error) and _primary_code(cause) in _DAMAGE_CODES and _is_sound(path.parent):
            raise MachineFault(
                f"{path}: it could not be read ({cause}), and is sound at a second look: the disk or its"
                " driver fails; save a copy of the folder, and give the same command again"
            ) from None
        raise


@contextlib.contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Raise errors of arena in place of those of SQLite, without a second look at the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path) from None
    except UnicodeDecodeError:  # of SQLite's own message, which quotes the damage
        raise _damage_error(path, "the schema is malformed") from None


def _is_sound(results: Path) -> bool:
    """Return True if SQLite finds no damage in a database of which a query failed."""
    try:
        with _translate_errors(path_in(results)):
            opened = view.open_view(results, BUSY_S)
            if opened is not None:
                with contextlib.closing(opened) as connection:
                    return not _run_check(connection, "PRAGMA integrity_check(1)")
    except (ArenaError, OSError):
        pass
    return False


@contextlib.contextmanager
def writer_lock(results: Path) -> Iterator[None]:
    """Lock a results folder for the only program that plays leagues into it; SpecError if another does.

    The lock ends with the process.
    """
    _make_results_folder(results)
    try:
        number = files.open_file(results, "arena.lock", os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise unwritable(results, error) from None
    with os.fdopen(number, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = f"{results}: another `arena` is playing into this folder; wait for it, or use --results"
            raise SpecError(text) from None
        yield


def unwritable(results: Path, error: OSError) -> SpecError | MachineFault:
    """Make the error for a results folder that cannot be written into: MachineFault on a full disk."""
    kind = MachineFault if error.errno in _FULL_ERRNOS else SpecError
    return kind(f"{results}: {error.strerror}; choose another folder for the results with --results")


def _translate(error: sqlite3.Error, path: Path) -> BaseException:
    """Translate an error of SQLite into one of arena; into KeyboardInterrupt if a signal stopped the query."""
    code = _primary_code(error)
    if code == sqlite3.SQLITE_INTERRUPT:
        if not view.is_endless():
            return KeyboardInterrupt()
        return _damage_error(path, "a query of it does not end, as if its pages led in circles")
    if code in _BUSY_CODES:
        return SpecError(view.describe_busy(path, BUSY_S))
    if code in _MACHINE_CODES:
        advice = "not enough memory" if code == sqlite3.SQLITE_NOMEM else "make room"
        return MachineFault(
            f"{path}: {error}; what was stored before is safe; {advice} and give the same command again"
        )
    if code in _FOLDER_CODES:
        return SpecError(
            f"{path}: {error}; check who owns it and who may write there, or copy the folder and use --results"
        )
    return _damage_error(path, str(error))


def _primary_code(error: sqlite3.Error) -> int:
    """Return the primary error code of an error, without SQLite's extension of it."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _execute_when_free(connection: Connection, statement: str, path: Path) -> None:
    """Execute the statement, repeated while another process blocks it. SpecError after `BUSY_S`.

    SQLite's own timeout does not apply to every statement, and would pass in silence.
    """

    def is_executed() -> bool:
        """Execute the statement; return False if another process blocks it."""
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            if _primary_code(error) not in _BUSY_CODES:
                raise
            return False
        return True

    view.wait_for(is_executed, path, BUSY_S)


@contextlib.contextmanager
def _close_on_error(connection: Connection) -> Iterator[Connection]:
    """Close the connection if the body of the `with` fails."""
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _make_results_folder(results: Path) -> None:
    """Make the results folder if it is missing. SpecError if that fails."""
    try:
        files.make_folder(results)
    except OSError as error:
        raise unwritable(results, error) from None


def _create_tables(connection: Connection, path: Path) -> None:
    """Create the tables of a new file, or upgrade an older one to this layout, in one transaction."""
    if not schema.is_old(connection) and schema.is_made(connection, path):
        return
    _execute_when_free(connection, "BEGIN IMMEDIATE", path)
    with _commit_or_roll_back(connection):
        schema.upgrade(connection)
        if not schema.is_made(connection, path):  # another process may have made it meanwhile
            schema.create(connection)


def _damage_error(path: Path, reason: str) -> DamagedStore:
    """Make the error for a database that cannot be used, with the reason and the remedy."""
    return DamagedStore(
        f"{path} cannot be used: {reason}. It was left untouched; move it away or put a copy back,"
        " and `arena verify` will tell what a copy holds"
    )


def _first_fault(connection: Connection, path: Path) -> str:
    """Return the first fault in the structure of the file; empty if none was found.

    Raises sqlite3.Error where SQLite stops the check instead.
    """
    if path.stat().st_size <= FULL_CHECK_BYTES:
        return _run_check(connection, "PRAGMA integrity_check(1)")
    log.warning(
        "%s is large: before writing, %d of its matches were looked at instead of all; `arena verify` looks at all",
        path,
        SAMPLES,
    )
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    small = [name for name in names if name not in _LARGE]
    faults = (_run_check(connection, f'PRAGMA integrity_check("{name}")') for name in small)
    fault = next(filter(None, faults), "")
    if not fault:
        _read_samples(connection, [name for name in names if name in _LARGE])
    return fault


def _run_check(connection: Connection, statement: str) -> str:
    """Run a check of SQLite and return its first error; empty without any."""
    text = collect_in_thread(connection, statement)[0][0]
    return "" if text == "ok" else " ".join(str(text).split())


def _read_samples(connection: Connection, tables: list[str]) -> None:
    """Read whole rows at random places, so that SQLite checks the pages on the way to them."""
    query = "SELECT (SELECT max(id) FROM pairing), (SELECT max(number) FROM block)"
    most = connection.execute(query).fetchone()
    rng = random.Random()  # noqa: S311 - another place each time; nothing depends on it
    for table in tables:
        key = _LARGE[table]
        query = f"SELECT * FROM {table} WHERE ({key}) >= (?, ?) LIMIT 1"  # noqa: S608 - our own names
        for _ in range(SAMPLES):
            connection.execute(query, [rng.randint(0, last or 0) for last in most]).fetchall()
