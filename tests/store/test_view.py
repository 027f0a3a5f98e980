"""What a reader sees beside programs that write: one committed state, whole, and no trace of the reader."""

import contextlib
import fcntl
import os
import signal
import sqlite3
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.golden import Golden
from support.hostile_folders import CHANGES, picture, sound, wal
from support.store_made import block_of, blocks_of, counted, fill, reading, tournament, writing
from support.tampering import execute_sql, opened

from arena.errors import DamagedStore, MachineFault, SpecError
from arena.league.schedule import pairings
from arena.store import database, owners, schema, view

ROOT = Path(__file__).parents[1]
START = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[2]]
results = Path(sys.argv[1])
"""
ARENA = """
from support.store_made import block_of, pairings, tournament, writing
from arena.store import database
database.WAL_BYTES = 0
league = tournament("ann", "bob", cycles=1)
(pair,) = pairings(league)
number = 0
while True:
    with writing(results) as store:
        store.save_league(league)
        for _ in range(20):
            store.save([block_of(league, pair, number)])
            print(number, flush=True)
            number += 1
"""
"""Stores blocks of two matches, moves the WAL into the database after each, and opens it anew after every twentieth."""

FOREIGN = """
import sqlite3
number = 0
while True:
    connection = sqlite3.connect(results / "arena.db", isolation_level=None, timeout=60)
    for _ in range(20):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DELETE FROM bot WHERE version < ?", (str(10**6 + number - 20),))
        for place in range(2):
            row = (f"{number * 7919 % 1000:04}-{number}-{place}", "x" * 5000, str(10**6 + number), "")
            connection.execute("INSERT INTO bot VALUES (?, ?, ?, ?)", row)
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        print(number, flush=True)
        number += 1
    connection.close()
"""
"""A program that is not arena's: pairs of rows that come and go, and a checkpoint after each transaction."""


@contextlib.contextmanager
def beside(program: str, results: Path) -> Iterator["subprocess.Popen[str]"]:
    """A program that writes, after its first commits, until the end."""
    command = [sys.executable, "-c", START + program, str(results), str(ROOT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            for _ in range(3):
                assert process.stdout.readline()
            numbers: list[str] = []
            reader = threading.Thread(target=lambda: numbers.extend(process.stdout or ()))
            reader.start()
            yield process
            assert process.poll() is None, "it ended by itself"
        finally:
            process.kill()
            reader.join()


@pytest.mark.process
@pytest.mark.parametrize("times", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_a_reader_beside_a_league_sees_whole_blocks(tmp_path: Path, times: int) -> None:
    """While every block is moved into the database at once, and the database is closed and opened again and again."""
    seen = [0]
    kinds = set()
    with beside(ARENA, tmp_path):
        for _ in range(times):
            with reading(tmp_path) as store:
                kinds.add(store._connection._end is None)
                assert store.integrity_errors() == []
                assert store.orphans_of("block", "record") == store.orphans_of("block", "history") == 0
                seen.append(store.head().size)
                assert len([*store.entries()]) == seen[-1]

    assert seen == sorted(seen)
    assert seen[-1] > seen[1]
    assert not any(count % 2 for count in seen)


@pytest.mark.process
@pytest.mark.parametrize("times", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_a_reader_beside_another_program_sees_one_state(tmp_path: Path, times: int) -> None:
    """Though that takes none of our locks, and moves its WAL after each transaction; or it is told to look again."""
    with writing(tmp_path):
        pass
    states: set[int] = set()
    with beside(FOREIGN, tmp_path):
        while len(states) < times / 2:
            with contextlib.suppress(SpecError):
                with database.reading(tmp_path) as connection, database.translating_sqlite_errors(tmp_path):
                    assert connection is not None
                    rows = connection.execute("SELECT version, count(*) FROM bot GROUP BY version").fetchall()
                    fault = connection.execute("PRAGMA integrity_check").fetchall()
                numbers = sorted(int(version) for version, _ in rows)
                assert fault == [("ok",)]
                assert {count for _, count in rows} == {2}
                assert numbers == [*range(numbers[0], numbers[-1] + 1)]
                states.add(numbers[-1])


@pytest.mark.parametrize("fails", [False, True])
def test_a_file_that_changes_where_it_is_read_is_not_believed(tmp_path: Path, fails: bool, golden: Golden) -> None:
    """Another program opens it after the reader, writes, and moves its WAL, whatever the reader says meanwhile."""
    fill(tmp_path, tournament("ann", "bob", cycles=1))

    def look() -> None:
        with database.reading(tmp_path) as connection:
            assert connection is not None
            with contextlib.closing(sqlite3.connect(database.path_in(tmp_path), isolation_level=None)) as other:
                other.execute("INSERT INTO bot VALUES ('e', 'later', '1', 'now')")
                other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            if fails:
                raise DamagedStore("a page of the one state and a page of the other")

    with golden.raises(SpecError):
        look()


def test_a_writer_leaves_a_file_that_is_read_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long look at a finished league, and meanwhile another one is played: what was opened stays as it was."""
    monkeypatch.setattr(database, "WAL_BYTES", 0)
    league = tournament("ann", "bob", cycles=20)
    (pair,) = pairings(league)
    blocks = blocks_of(league)
    with writing(tmp_path) as store:
        store.save_league(league)
        store.save(blocks[:5])
    before = (tmp_path / "arena.db").read_bytes()
    with reading(tmp_path) as old:
        assert not (tmp_path / "arena.db-wal").exists()
        for block in blocks[5:]:
            with writing(tmp_path) as store:
                store.save([block])
        with reading(tmp_path) as new:
            assert (len([*old.entries()]), len([*new.entries()])) == (10, 40)
        assert old.integrity_errors() == []
        assert (tmp_path / "arena.db").read_bytes() == before
    with writing(tmp_path) as store:
        store.save([block_of(league, pair, 99)])
    assert not (tmp_path / "arena.db-wal").exists()
    with reading(tmp_path) as store:
        assert store.head().size == 42


def test_the_locks_of_a_writer_outlive_readers_of_its_process(tmp_path: Path) -> None:
    """Closing any descriptor of a file would drop SQLite's locks, and another program would remove the WAL."""
    fill(tmp_path, tournament("ann", "bob", cycles=1))
    with writing(tmp_path) as store:
        store.save(blocks_of(tournament("ann", "cid", cycles=1)))
        for _ in range(3):
            with reading(tmp_path):
                pass
        other = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM bot'); c.close()"
        subprocess.run([sys.executable, "-c", other, str(database.path_in(tmp_path))], check=True)

        assert (tmp_path / "arena.db-wal").stat().st_size > 0
        store.save(blocks_of(tournament("ann", "dot", cycles=1)))
    with reading(tmp_path) as store:
        assert store.head().size == 6
    assert view._PUT_BY == []


def test_a_wal_that_begins_anew_is_copied_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program whose WAL was moved before the copy began writes over its beginning in the midst of it."""
    fill(tmp_path, tournament("ann", "bob", cycles=1))
    copy, copied = view._copy, list[str]()
    with writing(tmp_path) as store:
        store.save(blocks_of(tournament("ann", "cid", cycles=3)))
        store._connection.checkpoint()

        def copy_and_write(source: int, target: Path, path: Path) -> None:
            copied.append(target.name)
            if target.name == view.WAL and copied.count(view.WAL) == 1:
                store.save(blocks_of(tournament("ann", "dot", cycles=3)))
            copy(source, target, path)

        monkeypatch.setattr(view, "_copy", copy_and_write)
        with reading(tmp_path) as other:
            assert other.integrity_errors() == []
            assert other.head().size == 14

    assert copied.count(view.WAL) == 2


def test_a_checkpoint_without_our_locks_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that came after the first check changes the time of the file, which is copied again."""
    fill(tmp_path, tournament("ann", "bob", cycles=1))
    wal(tmp_path)
    (tmp_path / "arena.db-shm").unlink(missing_ok=True)
    copy, copied = view._copy, list[str]()

    def copy_and_write(source: int, target: Path, path: Path) -> None:
        copied.append(target.name)
        copy(source, target, path)
        if copied == [view.FILE_NAME]:
            with contextlib.closing(sqlite3.connect(database.path_in(tmp_path), isolation_level=None)) as connection:
                connection.execute("INSERT INTO bot VALUES ('e', 'later', '1', 'now')")
                assert connection.execute("PRAGMA wal_checkpoint(FULL)").fetchone()[0] == 0
                kept.append(connection)
                copied.append("moved")

    kept: list[sqlite3.Connection] = []
    monkeypatch.setattr(view, "_copy", copy_and_write)
    connection = database.open_for_reading(tmp_path)
    assert connection is not None
    with contextlib.closing(connection):
        assert connection.execute("SELECT digest FROM bot ORDER BY 1").fetchall() == [("d",), ("e",)]

    assert copied.count(view.FILE_NAME) == 2


def test_a_program_that_holds_the_database_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """After a while; the folder is nobody's mistake."""
    fill(tmp_path, tournament("ann", "bob", cycles=1))
    monkeypatch.setattr(database, "BUSY_S", 0.1)
    with contextlib.closing(sqlite3.connect(database.path_in(tmp_path), isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("BEGIN EXCLUSIVE")
        with golden.raises(SpecError):
            database.open_for_reading(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        *(
            f"{file} that is a {kind}"
            for file in ("a database", "a WAL", "an shm", "a journal")
            for kind in ("link", "pipe")
        ),
        *("a journal", "a journal with a relative super-journal", "a journal with an absolute super-journal"),
    ],
)
def test_nothing_is_played_into_such_a_folder(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite does not open the folder, whoever sent it, and no file is written."""
    (tmp_path / "victim").write_text("TOPSECRET")
    sound(tmp_path / "results")
    CHANGES[name](tmp_path / "results", tmp_path / "victim")
    monkeypatch.chdir(tmp_path)
    before = [*picture(tmp_path)]

    with pytest.raises(DamagedStore):
        database.open_for_writing(tmp_path / "results")

    assert [*picture(tmp_path)] == before


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_a_query_without_an_end_is_stopped(tmp_path: Path, golden: Golden) -> None:
    """After so many steps as the size of the file allows."""
    fill(tmp_path, tournament("ann", "bob", cycles=1))
    with reading(tmp_path) as store, golden.raises(DamagedStore):
        store._read(ENDLESS)


def test_a_signal_ends_a_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, and as what its handler raises."""
    monkeypatch.setattr(view, "_LEAST_STEPS", 1 << 60)
    fill(tmp_path, tournament("ann", "bob", cycles=1))

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, stop)
    try:
        with reading(tmp_path) as store:
            for query in (store._read, lambda query: database.collect_in_thread(store._connection, query)):
                timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGTERM))
                timer.start()
                with pytest.raises(KeyboardInterrupt), database.translating_sqlite_errors(tmp_path):
                    query(ENDLESS)
                timer.join()
    finally:
        signal.signal(signal.SIGTERM, former)


def test_rows_are_collected_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """A list of values holds no more than the file could."""
    monkeypatch.setattr(view, "_LEAST_BYTES", 1 << 20)
    fill(tmp_path, tournament("ann", "bob", cycles=1))
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 999) SELECT printf('%9999s', i) FROM n"
    with reading(tmp_path) as store, golden.raises(DamagedStore):
        store._read(many)


def make_owner(connection: sqlite3.Connection) -> None:
    """A step from the layout before this one, as if that had lacked a table."""
    connection.execute(owners.OWNER_TABLE)


def fail_halfway(connection: sqlite3.Connection) -> None:
    make_owner(connection)
    raise sqlite3.OperationalError("disk I/O error")


@pytest.mark.parametrize(
    ("step", "is_upgraded"),
    [(make_owner, True), (fail_halfway, False), (lambda connection: connection.execute("DROP TABLE bot"), False)],
)
def test_an_older_layout_is_brought_up_to_date_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: Callable[[sqlite3.Connection], None], *, is_upgraded: bool
) -> None:
    """The first writer upgrades in one transaction; a step that fails or leaves other tables changes nothing."""
    league = tournament("ann", "bob", cycles=1)
    fill(tmp_path, league)
    former = schema.VERSION - 1
    execute_sql(database.path_in(tmp_path), "DROP TABLE owner", f"PRAGMA user_version={former}")
    monkeypatch.setattr(schema, "STEPS", {former: step})

    with contextlib.suppress(DamagedStore, MachineFault), writing(tmp_path):
        pass

    with opened(tmp_path) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert (version, "owner" in tables, "bot" in tables) == (former + is_upgraded, is_upgraded, True)
    if is_upgraded:
        with reading(tmp_path) as store:
            assert len([*store.results(counted(league))]) == 2


def test_a_copy_is_put_on_a_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """A copy is not put into memory, unless there is no disk and it is small; a large one is an error then."""
    monkeypatch.setattr("tempfile.tempdir", "/dev/shm")
    monkeypatch.setattr(view, "_is_memory", lambda place: place == "/dev/shm")
    assert view._choose_place(1 << 30) == Path("/var/tmp")
    monkeypatch.setattr(view, "_is_memory", lambda _: True)
    assert view._choose_place(1 << 20) == Path("/dev/shm")
    with golden.raises(MachineFault):
        view._choose_place(1 << 30)
    monkeypatch.undo()
    assert view._is_memory("/dev/shm")
    assert not view._is_memory(str(tmp_path)) or not view._is_memory("/var/tmp")
    with golden.raises(MachineFault):
        view._choose_place(1 << 60)


def test_readers_hold_sqlites_own_lock(tmp_path: Path) -> None:
    """SHARED, by which every program of SQLite knows that somebody reads."""
    fill(tmp_path, tournament("ann", "bob", cycles=1))
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0x40000002, 510, 0)
    with reading(tmp_path), (tmp_path / "arena.db").open("r+b") as file:
        kind, *_ = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_OFD_GETLK, asked))
        assert kind == fcntl.F_RDLCK
    with (tmp_path / "arena.db").open("r+b") as file:
        kind, *_ = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_OFD_GETLK, asked))
        assert kind == fcntl.F_UNLCK


def test_memory_of_a_copy_is_not_that_of_the_process(tmp_path: Path) -> None:
    """A copy is made by the kernel; its name is gone, and its bytes go with the connection."""
    fill(tmp_path, tournament("ann", "bob", cycles=1))
    wal(tmp_path)
    with reading(tmp_path):
        assert sum(map(is_copy, Path("/proc/self/fd").iterdir())) == 1
    assert not any(map(is_copy, Path("/proc/self/fd").iterdir()))


def is_copy(each: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        text = str(each.readlink())
        return "arena-view-" in text and text.endswith("arena.db (deleted)")
    return False


def test_a_file_is_called_damaged_after_a_second_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """A single error of a disk does not lead to the advice to move a sound file away."""
    fill(tmp_path, tournament("ann", "bob", cycles=1))
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    errors, open_view = [error], view.open_view

    def fail(results: Path, patience_s: float) -> view.Connection | None:
        if errors:
            raise errors.pop()
        return open_view(results, patience_s)

    monkeypatch.setattr(view, "open_view", fail)
    with reading(tmp_path) as store:
        assert store.head().size == 2
    errors += [error, error]
    with pytest.raises(DamagedStore, match="malformed"):
        database.open_for_reading(tmp_path)

    with (
        golden.raises(MachineFault),
        database.translating_sqlite_errors(database.path_in(tmp_path)),
    ):
        raise error
