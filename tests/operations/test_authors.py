"""What an organiser decides about an author: the removal of one leaves results that are checked as before."""

import os
import signal
import zlib
from pathlib import Path

import pytest
from support.cli_arena import Terminal
from support.course_made import play_course
from support.tampering import execute_sql, opened

from arena.match.record import unpack
from arena.operations.authors import RemoveAuthor, remove_author
from arena.operations.events import Event
from arena.operations.read_status import ReadStatus, read_status
from arena.operations.verify_leagues import Found, VerifyLeagues, verify_leagues
from arena.store.folder import open_store

pytestmark = pytest.mark.process
AUTHORS = b'author,hand_in,address,active\r\nada,Doe_,ada@example.org,yes\r\n"ben", Roe_,ben@example.org,yes\r\n'
REQUEST = RemoveAuthor(author="ben", places=(Path("authors.csv"), Path("reports"), Path("texts")))


@pytest.fixture
def course(terminal: Terminal) -> Terminal:
    """A played league, reports of both kinds, and the file of the class."""
    terminal.made("course", lambda: play_course(terminal))
    assert terminal.arena("report test --to reports").code == 0
    Path("texts").mkdir()
    for name in ("ada", "ben", "ben-2", "benno"):
        Path("texts", f"{name}.txt").write_text(name)
    Path("authors.csv").write_bytes(AUTHORS)
    return terminal


def findings(**choices: object) -> tuple[list[str], list[str]]:
    """The problems that `verify` finds, and all else that it says."""
    events: list[Event] = []
    verify_leagues(VerifyLeagues(**choices), events.append)  # type: ignore[arg-type]
    found = [event for event in events if isinstance(event, Found)]
    return [one.sentence for one in found if one.is_problem], [one.sentence for one in found if not one.is_problem]


def left() -> dict[str, bytes]:
    """All files of the organiser, with their bytes, but for the lock and a leftover of the database's log."""
    return {
        str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file() and "arena.db" not in path.name
    }


def test_a_removed_author_leaves_results_that_are_checked(course: Terminal) -> None:
    """The root of before still fits, no table changes, and no byte of a source or of stderr is left."""
    root, tables = read_status(ReadStatus()).history, [course.arena("leaderboard --format csv").out]
    with opened(course.results) as connection:
        stderr = [text for (text,) in connection.execute("SELECT stderr FROM record WHERE stderr != x''")]
    assert any(b"source of ben" in content for name, content in left().items() if name.startswith("results"))

    removed = course.arena("author remove ben authors.csv reports texts")

    assert (removed.code, removed.err, len(removed.out.splitlines())) == (0, "", 2)
    problems, said = findings(roots=(root,), replays=99)
    assert problems == [], said
    assert [line for line in said if "12 matches of ben 1 (" in line and "cannot be played again" in line]
    assert [line for line in said if f"stderr of a removed author is gone from {len(stderr)} matches" in line]
    assert [line for line in said if "3 process lives of 3 played again" in line]
    assert [course.arena("leaderboard --format csv").out] == tables
    files = left()
    assert [name for name, content in files.items() if b"source of ben" in content and "handed-in" not in name] == []
    assert len(stderr) > 3
    whole = b"".join(path.read_bytes() for path in course.results.rglob("*") if path.is_file())
    assert [text for text in stderr if text in whole] == []
    with open_store(course.results) as store:
        records = [unpack(match.record) for match in store.orphans({})]
    assert "stderr of ben" not in repr(records)
    assert sorted(name for name in files if name.startswith(("reports/", "texts/"))) == [
        *("reports/ada.html", "reports/ada.md", "reports/made-by-arena.txt", "texts/ada.txt", "texts/benno.txt")
    ]
    assert files["authors.csv"] == AUTHORS.replace(b'"ben", Roe_,ben@example.org,yes\r\n', b"")
    assert "ben," not in course.arena("bots --format csv").out
    assert course.arena("author remove ben authors.csv reports texts").out == removed.out
    assert left() == files
    unknown = course.arena("author remove bne")
    assert (unknown.code, 'unknown author "bne"; known: ada' in unknown.err) == (2, True)


@pytest.mark.parametrize(
    "place", ["store.rows.remove_stderr", "store.homes.Homes.remove", "process.scratch.shutil.rmtree", "delete_author"]
)
@pytest.mark.usefixtures("course")
def test_a_killed_removal_goes_on(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """Killed by signal 9 there; `verify` has no complaint in between, and the same request ends it."""
    if (child := os.fork()) == 0:
        name = f"arena.{place}" if "." in place else f"arena.operations.authors.{place}"
        monkeypatch.setattr(name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        remove_author(REQUEST)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL

    assert findings()[0] == []
    remove_author(REQUEST)

    assert findings()[0] == []
    assert not [name for name in left() if "ben" in name and name.startswith(("results/", "reports/"))]
    assert [path.name for path in Path("results/bots").iterdir() if path.name.startswith("new-")] == []
    assert b"Roe_" not in Path("authors.csv").read_bytes()


def test_a_text_on_stderr_that_is_gone_or_changed_is_found(course: Terminal) -> None:
    """Nobody was removed: without the text, with another one, and with a text where there was none."""
    with opened(course.results) as connection:
        ((stderr,),) = connection.execute("SELECT stderr FROM record WHERE stderr != x'' GROUP BY stderr").fetchall()
        other = zlib.compress(zlib.decompress(stderr).replace(b"of ben", b"of bob"))
        connection.execute("UPDATE record SET stderr = ? WHERE stderr != x''", (other,))
    assert [text for text in findings()[0] if "do not have the digest in the record" in text]
    execute_sql(course.results, "UPDATE record SET stderr = x'' WHERE stderr != x''")
    assert [text for text in findings()[0] if "the text on stderr of the bot" in text]
    with opened(course.results) as connection:
        connection.execute("UPDATE record SET stderr = ?", (stderr,))
    assert [text for text in findings()[0] if "do not have the digest in the record" in text]
