"""Reading a database: one committed state, without a trace in its folder, which may come from somebody else.

Rule: no file of a results folder is made, changed, removed or followed by reading. SQLite opens a file there only if it
is plain, and only as `immutable`, in which case it looks at no journal, makes no file and writes nothing. A view is

- the file in place, while nothing but the file is there: no `-wal`, no `-journal`;
- else a copy of all three in a folder of ours, where SQLite brings the copy to its last commit. The copy is read as
  `immutable` too, and its name is gone before the first query: nothing is left behind, whatever ends the process.

Why a view is one committed state, whatever others do meanwhile. The locks are those that SQLite itself takes (see its
"File Locking" and "WAL-mode File Format"), as open file descriptions, which need no right to write:

- SHARED on the database excludes EXCLUSIVE: no writer with a rollback journal changes the file, and no last connection
  moves its WAL into it and removes the WAL. So no WAL, seen under this lock, means that everything is in the file.
- A shared lock on the byte of checkpoints in `-shm`, where that file is: no connection moves its WAL into the file.
- A program that opens the database after a view in place makes a new `-shm`. Arena's own writers move their WAL only
  while they hold `_GUARD`, one more byte behind SHARED, that every view shares (`Connection.checkpoint`).
- So the file stands still, and a WAL grows only, except that a writer may begin it anew once, if all of it was in the
  file before. It writes a new header first: a copy is taken again unless the header is the same before and after.
  Frames behind the last commit, or torn, have no checksum that fits, and SQLite leaves them out.
- Other programs that write without these locks are noticed by size and time of the file: a copy is taken again, and
  of a view in place `Connection.is_changed` says so, before anything that was read is believed.

Closing any descriptor of a file drops all locks that SQLite has in this process. While a connection of ours may
write, descriptors are put by instead (`_release`), and closed with the last of these connections.
"""

import contextlib
import fcntl
import logging
import os
import sqlite3
import struct
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from arena.errors import DamagedStore, MachineFault, SpecError
from arena.process.scratch import scratch_folder
from arena.store import files

FILE_NAME: Final = "arena.db"
WAL, SHM, JOURNAL = f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", f"{FILE_NAME}-journal"
SUPER_JOURNAL: Final = bytes.fromhex("d9d505f920a163d7")
"""The bytes at the end of a journal that names another file, and at the beginning of any journal."""
_HEADER: Final = b"SQLite format 3\x00"
_SHARED: Final = 0x40000002
_SHARED_BYTES: Final = 510
_GUARD: Final = _SHARED + _SHARED_BYTES
_CHECKPOINT: Final = 121
"""Offsets of locks: in the database, and in its `-shm`."""
_WAL_HEADER: Final = 32
_ATTEMPTS: Final = 20
_TICK_S: Final = 0.02
"""The longest step, in seconds, of the clock of file times."""
_MOST_PARTS: Final = 1000
"""The most parts between holes of a file; SQLite leaves one hole at most, at 1 GiB."""
_AT_ONCE: Final = 64 << 20
_ROOM: Final = 16 << 20
_SMALL: Final = 128 << 20
"""The largest copy that is put into memory (tmpfs), where there is no folder on a disk."""
_PREFIX: Final = "arena-view-"
_STEPS: Final = 1 << 16
"""Steps of SQLite between two checks of the bound and of signals, about a millisecond."""
_LEAST_STEPS: Final = 5_000_000
_STEPS_PER_BYTE: Final = 20
_LEAST_BYTES: Final = 32 << 20
_MOST_BYTES: Final = 10**9
_TIMES: Final = 4
"""The bounds of a view, from the size of its file: steps of all queries together, bytes of a value and of a list."""
_SILENT_S: Final = 3.0
"""The wait, in seconds, above which it is reported."""
log: Final = logging.getLogger("arena.store")


class Connection(sqlite3.Connection):
    """A connection with bounds that follow from the size of its file; it hears signals within a query."""

    _left = _most = _bytes = 0
    guard: int | None = None
    """The descriptor for `_GUARD`, of a connection that writes."""
    _end: Any = None
    _in_place: tuple[int, tuple[int, int]] | None = None
    """The descriptor and the stamp of a file that is read where it lies."""

    def bound(self, size: int) -> Self:
        """Set the bounds for reading a file with `size` bytes of data."""
        self.renew(size)
        self._bytes = min(_MOST_BYTES, _LEAST_BYTES + _TIMES * size)
        self.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._bytes)
        self.set_progress_handler(self._is_over_bound, _STEPS)
        self.execute("PRAGMA trusted_schema=OFF")
        self.execute("PRAGMA cell_size_check=ON")
        return self

    def collect(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query that finds few. sqlite3.DataError if they hold more than the file could."""
        rows, left = [], self._bytes
        for row in self.execute(query, values):
            left -= sum(len(value) for value in row if isinstance(value, str | bytes))
            if left < 0:
                raise sqlite3.DataError("its rows hold more than the file")
            rows.append(row)
        return rows

    def renew(self, size: int | None = None) -> None:
        """Start the count of steps anew, for a file of `size` bytes, by default as large as before."""
        if size is not None:
            self._most = _LEAST_STEPS + _STEPS_PER_BYTE * size
        self._left = self._most

    def hold(self, *numbers: int) -> None:
        """Take over these descriptors: release them when the connection is closed, or collected as garbage."""
        self._end = weakref.finalize(self, _release, *numbers)

    def close(self) -> None:
        """Close the connection and release what it holds."""
        super().close()
        self.guard = None
        if self._end is not None:
            self._end()

    def is_changed(self) -> bool:
        """Return True if another program, which takes no lock, has written into the file read in place."""
        return self._in_place is not None and _stamp(self._in_place[0]) != self._in_place[1]

    def begin_in_place(self, number: int, stamp: tuple[int, int]) -> None:
        """Note the file that is read in place; its descriptor is released when the connection is closed."""
        self._in_place = number, stamp
        self.hold(number)

    def checkpoint(self) -> None:
        """Move the WAL into the database, unless somebody reads it in place; the next commit tries again."""
        if self.guard is not None and _try_lock(self.guard, _GUARD, 1, is_exclusive=True):
            try:
                self.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            finally:
                _unlock(self.guard)

    def _is_over_bound(self) -> bool:
        """Count a step; return True, which stops the query, if the bound is reached. Signals are raised here, too."""
        self._left -= _STEPS
        if self._left > 0:
            return False
        _ENDLESS.add(self)
        return True


def is_endless() -> bool:
    """Return True if the bound stopped a query since the last call, and forget that; otherwise a signal stopped it."""
    was_endless = bool(_ENDLESS)
    _ENDLESS.clear()
    return was_endless


def open_view(results: Path, patience_s: float) -> Connection | None:
    """Open the last committed state of the database in `results`; None without a database, or if it is empty.

    DamagedStore for a file that is not plain, is no database, or has a journal that arena does not write.
    """
    try:
        number = files.open_file(results, FILE_NAME)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with contextlib.ExitStack() as stack:
        stack.callback(_release, number)
        _lock(number, _SHARED, _SHARED_BYTES + 1, results / FILE_NAME, patience_s)
        if _status_of(results, WAL) is None and _status_of(results, JOURNAL) is None:
            return _open_in_place(results, number, stack)
        return _open_copy(results, number, patience_s)


def require_plain(results: Path) -> None:
    """Check the files before SQLite may write to them. DamagedStore for any that arena does not write."""
    for name in (FILE_NAME, WAL, SHM):
        with contextlib.suppress(FileNotFoundError):
            _release(files.open_file(results, name))
    try:
        number = files.open_file(results, JOURNAL)
    except FileNotFoundError:
        return
    with os.fdopen(number, "rb") as file:
        _refuse_super_journal(file.fileno(), results / JOURNAL)
        start = os.pread(number, 20, 0)
        # The first transaction makes a new database in WAL mode: its journal has no earlier page.
        if start.startswith(SUPER_JOURNAL) and any(start[16:]):
            raise DamagedStore(
                f"{results / JOURNAL}: arena leaves no such journal behind, so nothing is written; `arena verify` reads"
                " the folder, and a sound copy of it can be played on"
            )


def open_guard(connection: Connection, results: Path) -> None:
    """Switch off SQLite's checkpoints: only `Connection.checkpoint` moves the WAL, while nobody reads in place."""
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.guard = files.open_file(results, FILE_NAME, os.O_RDWR)
    _WRITERS.add(connection.guard)
    connection.hold(connection.guard)


def size(results: Path, name: str) -> int:
    """Return the size of a file in bytes, 0 without it."""
    status = _status_of(results, name)
    return 0 if status is None else status.st_size


def _open_in_place(results: Path, number: int, stack: contextlib.ExitStack) -> Connection | None:
    """Open a view of the file itself, which takes its lock over from `stack`; None if the file is empty.

    DamagedStore if it is no database, SpecError if it was exchanged meanwhile.
    """
    stamp = _stamp(number)
    if stamp[0] == 0:
        return None
    path = results.resolve() / FILE_NAME
    _require_database(number, path)
    view = _connect_immutable(path, number)
    if not os.path.samestat(os.fstat(number), path.lstat()):  # SQLite opened another file than the one checked
        view.close()
        raise SpecError(f"{path} was exchanged just now; give the same command again")
    stack.pop_all()
    view.begin_in_place(number, stamp)
    return view


def _connect_immutable(path: Path, number: int) -> Connection:
    """Connect to a file that does not change; `number` is its descriptor, from which the bounds follow."""
    uri = f"{path.as_uri()}?mode=ro&immutable=1"
    view = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, factory=Connection)
    try:
        return view.bound(sum(end - start for start, end in _data_parts(number, path)))
    except BaseException:
        view.close()
        raise


def _open_copy(results: Path, number: int, patience_s: float) -> Connection | None:
    """Open a copy of the database, its WAL and its journal, taken again until no file changed meanwhile.

    None if the copy is empty. SpecError if the files change each time.
    """
    path = results / FILE_NAME
    with contextlib.ExitStack() as stack:
        sources = {FILE_NAME: number}
        for name in (WAL, JOURNAL, SHM):
            with contextlib.suppress(FileNotFoundError):
                sources[name] = files.open_file(results, name)
                stack.callback(_release, sources[name])
        if SHM in sources:
            _lock(sources.pop(SHM), _CHECKPOINT, 1, path, patience_s)
        for _ in range(_ATTEMPTS):
            place = _choose_place(
                sum(end - start for file in sources.values() for start, end in _data_parts(file, path))
            )
            with scratch_folder(_PREFIX, place) as folder:
                before = _read_states(results, sources)
                for name, source in sources.items():
                    _copy(source, folder / name, path)
                if _read_states(results, sources) == before:
                    return _open_recovered(folder, path)
    raise SpecError(describe_change(path))


class _State(NamedTuple):
    """The properties of a file that a change alters; of a WAL, which may grow, only its header."""

    start: bytes
    inode: int | None
    stamp: tuple[int, int] = (0, 0)


def _read_states(results: Path, sources: dict[str, int]) -> dict[str, _State]:
    """Read the states of database, WAL and journal, with the inodes at their names: a nameless file is stale."""
    states = {}
    for name in (FILE_NAME, WAL, JOURNAL):
        named = _status_of(results, name)
        start = os.pread(sources[name], _WAL_HEADER, 0) if name in sources else b""
        states[name] = _State(start, named and named.st_ino)
        if name in sources and name != WAL:
            states[name] = states[name]._replace(stamp=_stamp(sources[name]))
    return states


def _stamp(number: int) -> tuple[int, int]:
    """Return the size of a file and the time of its last change in ns; wait until a new change has another time."""
    status = os.fstat(number)
    if 0 <= time.time() - status.st_mtime < _TICK_S:
        time.sleep(_TICK_S)
    return status.st_size, status.st_mtime_ns


def _open_recovered(folder: Path, path: Path) -> Connection | None:
    """Let SQLite bring the copy in `folder` to its last commit, and open it; None if it is empty then.

    DamagedStore, with `path` in its message, if the copy is no database or its journal names another file.
    """
    copy = folder / FILE_NAME
    if (folder / JOURNAL).exists():
        with (folder / JOURNAL).open("rb") as journal:
            _refuse_super_journal(journal.fileno(), path.with_name(JOURNAL))
    else:
        with copy.open("rb") as file:
            _require_database(file.fileno(), path)
    opened = sqlite3.connect(copy, isolation_level=None, factory=Connection)
    with contextlib.closing(opened.bound(0)):
        opened.execute("PRAGMA synchronous=OFF")
        opened.execute("SELECT count(*) FROM sqlite_master").fetchall()
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    with copy.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return None
        _require_database(file.fileno(), path)
        return _connect_immutable(copy, file.fileno())


def _require_database(number: int, path: Path) -> None:
    """Raise DamagedStore unless the file begins as a database of SQLite does."""
    header = os.pread(number, 100, 0)
    if not header.startswith(_HEADER) or len(header) < 100:
        raise DamagedStore(
            f"{path} cannot be used: it is not an SQLite database. It was left untouched; move it away or put a copy"
            " back"
        )


def _refuse_super_journal(number: int, path: Path) -> None:
    """Raise DamagedStore for a journal that names another file, which SQLite would remove."""
    size = os.fstat(number).st_size
    if size >= len(SUPER_JOURNAL) and os.pread(number, len(SUPER_JOURNAL), size - len(SUPER_JOURNAL)) == SUPER_JOURNAL:
        raise DamagedStore(
            f"{path} names another file, a super-journal, which SQLite would remove; arena never writes such a journal,"
            " so somebody made it for you. Nothing was opened; put a copy back"
        )


def _choose_place(size: int) -> Path:
    """Choose a folder on a disk that has room for a copy of `size` bytes. MachineFault without any."""
    places = dict.fromkeys((tempfile.gettempdir(), "/var/tmp"))  # noqa: S108 - a folder of ours is made there
    on_disk = [Path(place) for place in places if os.access(place, os.W_OK | os.X_OK) and not _is_memory(place)]
    if not on_disk and size > _SMALL:
        raise MachineFault(
            f"no folder on a disk for a copy of {size >> 20} MiB, which a database needs that is written just now:"
            f" {' and '.join(places)} lie in memory; name another one with TMPDIR"
        )
    place = (on_disk or [Path(tempfile.gettempdir())])[0]
    room = os.statvfs(place)
    if room.f_bavail * room.f_frsize < size + _ROOM:
        raise MachineFault(
            f"{place}: no room for a copy of {size >> 20} MiB, which a database needs that is written just now;"
            " make room, or name another folder with TMPDIR"
        )
    return place


def _is_memory(place: str) -> bool:
    """Return True if files in that folder lie in memory."""
    device = Path(place).stat().st_dev
    name = f"{os.major(device)}:{os.minor(device)}"
    with contextlib.suppress(OSError):
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        kinds = {line.split()[2]: line.partition(" - ")[2].split()[0] for line in mounts}
        return kinds.get(name) in {"tmpfs", "ramfs"}
    return False


def _copy(source: int, target: Path, path: Path) -> None:
    """Copy a file within the kernel; holes stay holes."""
    with target.open("xb", buffering=0) as file:
        for start, end in _data_parts(source, path):
            while start < end and (count := _copy_part(source, file.fileno(), start, min(end - start, _AT_ONCE))):
                start += count  # noqa: PLW2901 - the rest of the part
        file.truncate(max(os.fstat(source).st_size, os.fstat(file.fileno()).st_size))


def _copy_part(source: int, target: int, start: int, count: int) -> int:
    """Copy up to `count` bytes at `start` within the kernel; return the number of bytes copied."""
    try:
        return os.copy_file_range(source, target, count, start, start)
    except OSError:  # not supported between some file systems
        os.lseek(target, start, os.SEEK_SET)
        return os.sendfile(target, source, start, count)


def _data_parts(number: int, path: Path) -> Iterator[tuple[int, int]]:
    """Yield start and end of each part of a file with data, without holes: the size may be large all the same.

    DamagedStore, with `path` in its message, for too many holes.
    """
    end, size = 0, os.fstat(number).st_size
    for _ in range(_MOST_PARTS):
        try:
            start = os.lseek(number, end, os.SEEK_DATA)
            end = min(os.lseek(number, start, os.SEEK_HOLE), size)
        except OSError:  # only a hole from there on
            return
        if start >= size:
            return
        yield start, end
    raise DamagedStore(f"{path} cannot be used: it has more than {_MOST_PARTS} holes; put a copy back")


def _status_of(results: Path, name: str) -> os.stat_result | None:
    """Return the status of a file in the results folder, of a link itself; None if it is missing."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return (results / name).lstat()
    return None


def _lock(number: int, start: int, count: int, path: Path, patience_s: float) -> None:
    """Wait for a shared lock. SpecError after `patience_s`."""
    wait_for(lambda: _try_shared_lock(number, start, count, path), path, patience_s)


def wait_for(attempt: Callable[[], bool], path: Path, patience_s: float) -> None:
    """Repeat `attempt`, which another program may block, until it succeeds. SpecError after `patience_s`."""
    begin_s, is_reported = time.monotonic(), False
    while not attempt():
        waited_s = time.monotonic() - begin_s
        if waited_s > patience_s:
            raise SpecError(describe_busy(path, patience_s))
        if waited_s > _SILENT_S and not is_reported:
            log.warning("%s: waiting for another program that is writing into it", path)
            is_reported = True
        time.sleep(0.005)


def _try_shared_lock(number: int, start: int, count: int, path: Path) -> bool:
    """Take a shared lock; return False if another program excludes it. MachineFault if files cannot be locked."""
    try:
        return _try_lock(number, start, count)
    except OSError as error:
        raise MachineFault(f"{path}: it cannot be locked: {error.strerror}; copy the folder to a disk") from None


def describe_busy(path: Path, waited_s: float) -> str:
    """Describe a database that another program keeps busy."""
    return (
        f"{path}: another program was writing into it for over {waited_s:.0f} s; what was stored before is safe:"
        " wait until that program ends, and give the same command again"
    )


def describe_change(path: Path) -> str:
    """Describe a database that changed while it was read."""
    return f"{path}: another program wrote into it meanwhile; give the same command again"


def _try_lock(number: int, start: int, count: int, *, is_exclusive: bool = False) -> bool:
    """Lock a range of bytes, shared or exclusive; return False if another program's lock excludes it."""
    try:
        _set_lock(number, fcntl.F_WRLCK if is_exclusive else fcntl.F_RDLCK, start, count)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _unlock(number: int) -> None:
    """Release all locks of an open file description."""
    _set_lock(number, fcntl.F_UNLCK, 0, 0)


def _set_lock(number: int, kind: int, start: int, count: int) -> None:
    """Change a lock of the open file description, which other descriptors of this process do not share."""
    fcntl.fcntl(number, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, start, count, 0))


_ENDLESS: Final[weakref.WeakSet[Connection]] = weakref.WeakSet()
_WRITERS: Final[set[int]] = set()
"""The guards of connections that may write, in this process."""
_PUT_BY: Final[list[int]] = []


def _release(*numbers: int) -> None:
    """Unlock descriptors, and close them once no connection of this process may write."""
    _WRITERS.difference_update(numbers)
    for number in numbers:
        _unlock(number)
    _PUT_BY.extend(numbers)
    while _PUT_BY and not _WRITERS:
        os.close(_PUT_BY.pop())
