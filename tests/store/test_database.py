"""The database file: opened by one process or many if it is ours; everything else is named and left as it was."""

import errno
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.golden import Golden
from support.store_made import blocks_of, counted, dump, fill, reading, tournament, writing
from support.tampering import execute_sql, opened

from arena.errors import ArenaError, DamagedStore, MachineFault, SpecError
from arena.store import database, schema

GARBAGE = random.Random(1).randbytes(5000)


def foreign(path: Path, *statements: str) -> None:
    execute_sql(path, "CREATE TABLE theirs (x)", "INSERT INTO theirs VALUES (1)", *statements)


def ours(path: Path, *statements: str) -> None:
    """A database of ours, tampered with."""
    fill(path.parent, tournament("ann", "bob", cycles=20))
    execute_sql(path, "PRAGMA wal_checkpoint(TRUNCATE)", *statements)


def truncated(path: Path) -> None:
    ours(path)
    path.write_bytes(path.read_bytes()[:6000])


WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "garbage": (lambda path: path.write_bytes(GARBAGE), "it is not an SQLite database"),
    "short": (lambda path: path.write_bytes(b"SQLite format 3\x00"), "it is not an SQLite database"),
    "truncated": (truncated, "malformed"),
    "another program's": (foreign, "it belongs to another program"),
    "another program's, marked": (
        lambda path: foreign(path, "PRAGMA application_id=77"),
        "another program (application id 0x4d)",
    ),
    "another program's, with our version": (lambda path: foreign(path, "PRAGMA user_version=1"), "another program"),
    "newer": (lambda path: ours(path, "PRAGMA user_version=99"), "has layout version 99, and this arena reads version"),
    "older than any step": (lambda path: ours(path, "PRAGMA user_version=13"), "has layout version 13"),
}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("opened", [database.open_for_writing, database.open_for_reading])
def test_says_what_is_wrong_and_touches_nothing(
    tmp_path: Path, kind: str, opened: Callable[[Path], sqlite3.Connection]
) -> None:
    """A file that is not a sound database of ours is refused by name, exit code 1, and keeps every byte."""
    make, message = WRONG[kind]
    path = database.path_in(tmp_path)
    make(path)
    before = path.read_bytes()

    with pytest.raises(DamagedStore) as caught:
        opened(tmp_path).execute("SELECT count(*) FROM block")

    assert str(path) in str(caught.value)
    assert message in str(caught.value)
    assert caught.value.exit_code == 1
    assert path.read_bytes() == before


def test_a_file_of_length_zero_is_an_empty_database(tmp_path: Path) -> None:
    """A program killed at its start leaves such a file: nothing is stored in it, and a league can be."""
    (database.path_in(tmp_path)).touch()

    assert database.open_for_reading(tmp_path) is None
    fill(tmp_path, tournament("ann", "bob", cycles=1))

    assert len(dump(tmp_path)[0]) == 1


def test_a_database_without_tables_yet_holds_nothing(tmp_path: Path) -> None:
    """Another process may be making it just now."""
    with opened(tmp_path) as connection:
        connection.execute("PRAGMA journal_mode=WAL")

    assert database.open_for_reading(tmp_path) is None


KILLED_IN_MID_WRITE = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size=1")
connection.execute("BEGIN")
connection.execute("CREATE TABLE half (x)")
connection.executemany("INSERT INTO half VALUES (?)", [("x" * 1000,)] * 200)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.process
def test_a_file_half_made_by_a_killed_program_is_an_empty_database(tmp_path: Path) -> None:
    """A hot journal cannot be undone by a reader; it is undone all the same, for readers and writers."""
    path = database.path_in(tmp_path)
    for open_it in (lambda: database.open_for_reading(tmp_path), lambda: fill(tmp_path, tournament(cycles=1))):
        subprocess.run([sys.executable, "-c", KILLED_IN_MID_WRITE, str(path)], check=False)
        assert path.with_name("arena.db-journal").exists()

        found = open_it()

        assert found is None or len(dump(tmp_path)[0]) == 3


def test_is_marked_as_ours(tmp_path: Path) -> None:
    """`file` and other programs can tell whose it is; commits are durable."""
    with writing(tmp_path) as store:
        values = [
            store._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version", "journal_mode", "synchronous")
        ]

    assert values == [schema.APPLICATION_ID, schema.VERSION, "wal", 2]


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    """Only one program at a time plays into a folder; the next may start after it."""
    playing = pytest.raises(SpecError, match="another `arena` is playing into this folder")
    with database.writer_lock(tmp_path), playing, database.writer_lock(tmp_path):
        pass

    with database.writer_lock(tmp_path):
        pass


@pytest.mark.parametrize("place", ["file/results", "file"])
def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, place: str, golden: Golden) -> None:
    """The folder is named, with the option that chooses another one; exit code 2."""
    (tmp_path / "file").touch()

    for open_it in (database.open_for_writing, lambda results: database.writer_lock(results).__enter__()):
        with golden.raises(SpecError):
            open_it(tmp_path / place)


FULL_DISK = """
import resource, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2], sys.argv[2] + "/.."]
from support.store_made import blocks_of, tournament, writing
from arena.errors import HarnessFault
from arena.store.database import DATABASE_PAGE_BYTES

league = tournament("ann", "bob", cycles=60)
blocks = blocks_of(league)
results = Path(sys.argv[1])
with writing(results) as store:
    store.save_league(league)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100 * DATABASE_PAGE_BYTES, resource.RLIM_INFINITY))
    stored = 0
    try:
        for block in blocks:
            store.save([block])
            stored += 1
    except HarnessFault as error:
        print(stored, error, sep="|")
    try:
        store.save(blocks[stored:])
    except HarnessFault:
        print("again")
"""


@pytest.mark.process
def test_a_full_disk_loses_nothing_that_was_stored(tmp_path: Path, golden: Golden) -> None:
    """Writing fails with a sentence; what was reported as stored is there, nothing else, and a resume completes it."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path), str(Path(__file__).parents[1])],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    stored, message = first.split("|")
    assert 0 < int(stored) < 60
    golden(message)
    assert second == "again"
    league = tournament("ann", "bob", cycles=60)
    with reading(tmp_path) as store:
        assert store.integrity_errors() == []
        assert len(list(store.results(counted(league)))) == 2 * int(stored)
    fill(tmp_path, league)
    with reading(tmp_path) as store:
        assert len(list(store.results(counted(league)))) == 120


def test_a_disk_without_room_for_a_file_is_the_machines_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the disk is full for a row; a disk that cannot be written at all is the user's choice."""
    for number, kind in ((errno.ENOSPC, MachineFault), (errno.EROFS, SpecError)):

        def fail(*_: object, number: int = number) -> int:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr("arena.store.files.open_file", fail)
        with pytest.raises(kind, match=os.strerror(number)), database.writer_lock(tmp_path):
            pass


WITHOUT_RIGHTS = """
import os, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2], sys.argv[2] + "/.."]
from support.store_made import blocks_of, counted, reading, tournament
from arena.errors import SpecError
from arena.games import load_game
from arena.store import database, schema

results = Path(sys.argv[1])
load_game("nim")  # now: the project itself may lie where only root may read
if os.geteuid() == 0:
    os.setgroups([])
    os.setuid(65534)
with reading(results) as store:
    print(len(list(store.results(counted(tournament("ann", "bob", cycles=2))))))
try:
    database.open_for_writing(results)
except SpecError as error:
    print(error)
"""


@pytest.mark.process
@pytest.mark.parametrize("is_running", [False, True])
def test_read_only_results_can_be_read(is_running: bool) -> None:
    """Matches of a finished league, and of a WAL that was copied while one ran; writing is refused with advice."""
    place = Path(tempfile.mkdtemp())  # one that others may enter, unlike pytest's
    results, league = place / "results", tournament("ann", "bob", cycles=2)
    try:
        place.chmod(0o755)
        with writing(place / "running") as store:
            store.save_league(league)
            store.save(blocks_of(league))
            if is_running:
                shutil.copytree(place / "running", results, ignore=shutil.ignore_patterns("*-shm"))
        if not is_running:
            (place / "running").rename(results)
        subprocess.run(["chmod", "-R", "a=rX", str(results)], check=True)
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_RIGHTS, str(results), str(Path(__file__).parents[1])],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        results.chmod(0o755)
        shutil.rmtree(place)

    advice = f"{results}: Permission denied; choose another folder for the results with --results"
    assert (done.stderr, done.stdout.splitlines()) == ("", ["4", advice])


def test_a_full_database_rolls_back_and_goes_on(tmp_path: Path, golden: Golden) -> None:
    """An error inside a transaction leaves the connection usable, without the half of it."""
    league = tournament("ann", "bob", cycles=60)
    blocks = blocks_of(league)
    with writing(tmp_path) as store:
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count={pages + 4}")
        with golden.raises(ArenaError):
            store.save(blocks)
        stored = [*store.results(counted(league))]
        store._connection.execute("PRAGMA max_page_count=100000")
        store.save(blocks)

        assert (stored, len([*store.results(counted(league))])) == ([], 120)


PROCESSES = 8
OPENER = """
import sys
from contextlib import closing
from pathlib import Path
sys.path[:0] = [sys.argv[3], sys.argv[3] + "/.."]
from arena.errors import ArenaError
from arena.store import database
from arena.store.matches import MatchStore
from support.store_made import blocks_of, counted, tournament

results, does = Path(sys.argv[1]), sys.argv[2]
league = tournament("ann", "bob", cycles=40)
if does == "stores":
    blocks = blocks_of(league)
print("ready", flush=True)
sys.stdin.readline()
try:
    opened = database.open_for_reading(results) if does == "reads" else database.open_for_writing(results)
    if opened is None:
        print("nothing there")
    else:
        with closing(opened):
            store = MatchStore(opened, results)
            if does == "stores":
                for block in blocks:
                    store.save([block])
            print(len(store.leagues()), len(list(store.results(counted(league)))))
except ArenaError as error:
    print(error.exit_code, error)
"""


def all_at_once(results: Path, *does: str) -> list[tuple[str, str, int]]:
    """Start all programs at the same moment; return stdout, stderr and exit code of each."""
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", OPENER, str(results), each, str(Path(__file__).parents[1])],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for each in does
        ]
        assert [process.stdout and process.stdout.readline() for process in processes] == ["ready\n"] * len(does)
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        outputs = [process.communicate(timeout=120) for process in processes]
        return [(out.strip(), err, process.returncode) for (out, err), process in zip(outputs, processes, strict=True)]


@pytest.mark.process
def test_eight_processes_make_one_folder(tmp_path: Path) -> None:
    """All processes can write into the new folder, and its database is sound."""
    found = all_at_once(tmp_path / "results", *["writes"] * PROCESSES)

    assert found == [("0 0", "", 0)] * PROCESSES


@pytest.mark.slow
@pytest.mark.process
def test_many_folders_are_made_by_eight_processes_each(tmp_path: Path) -> None:
    """The moments at which they meet are never the same."""
    for attempt in range(20):
        test_eight_processes_make_one_folder(tmp_path / str(attempt))


@pytest.mark.slow
@pytest.mark.process
def test_seven_processes_open_while_one_stores(tmp_path: Path) -> None:
    """Each process sees whole blocks of those stored by then."""
    fill(tmp_path, tournament("ann", "bob", cycles=1))

    found = all_at_once(tmp_path, "stores", *["reads", "writes"] * 3, "reads")

    assert found[0] == ("1 80", "", 0)
    counts = [out.split() for out, err, code in found[1:] if (err, code) == ("", 0)]
    assert len(counts) == PROCESSES - 1
    assert all(leagues == "1" and 2 <= int(matches) <= 80 and int(matches) % 2 == 0 for leagues, matches in counts)


def test_a_writer_that_does_not_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """After a while there is a sentence with the file and the advice; it is nobody's mistake, least of all ours."""
    league = tournament("ann", "bob", cycles=2)
    fill(tmp_path, league)
    monkeypatch.setattr(database, "BUSY_S", 0.2)

    with writing(tmp_path) as other, database.transaction(other._connection, other._path), writing(tmp_path) as store:
        with golden.raises(SpecError):
            store.save(blocks_of(league))
        with golden.raises(SpecError):
            store.save_league(league)
