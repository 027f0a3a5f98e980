"""Stored values that are well formed and absurd: every page says something of them, and none ends in a traceback."""

import re
import sqlite3
from pathlib import Path
from random import Random

import pytest
from support.store_made import fill, tournament, writing
from support.tampering import execute_sql, opened

from arena.cli import execute

SIZES = (0, 1, 3, 999_983, 2_000_000, 1 << 31, 1 << 53, 1 << 60, 1 << 61)
PAGES = ("leaderboard", "stats ann", "stats ann --format json", "matrix", "league status", "verify")


def absurd(results: Path, rng: Random, sizes: tuple[int, ...]) -> None:
    """Luck and scores of these sizes in every match; all that follows from them fits."""
    with opened(results) as connection:
        connection.execute("UPDATE match SET luck_version = '1', score_unit = ?", (rng.choice([1, 7, 1 << 40]),))
        for match in connection.execute("SELECT pairing, block, rotation FROM match").fetchall():
            luck, first, second = (rng.choice((-1, 1)) * rng.choice(sizes) for _ in range(3))
            for place, *own in ((0, luck, first, first - second), (1, -luck, second, second - first)):
                connection.execute(
                    "UPDATE seat SET luck = ?, score = ?, margin = ? WHERE (pairing, block, rotation, place) ="
                    " (?, ?, ?, ?)",
                    (*own, *match, place),
                )


@pytest.mark.parametrize("sizes", [*((each,) for each in SIZES), SIZES, SIZES[:6]])
def test_no_page_ends_in_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sizes: tuple[int, ...]
) -> None:
    """A page is printed, or the match is named that cannot be."""
    fill(tmp_path, tournament())
    absurd(tmp_path, Random(str(sizes)), sizes)

    said = {page: (execute([*page.split(), "--results", str(tmp_path)]), capsys.readouterr().err) for page in PAGES}

    assert {page: (code, err) for page, (code, err) in said.items() if code not in {0, 1}} == {}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE match SET ranks = CASE ranks WHEN '01' THEN '10' ELSE '01' END WHERE (block, rotation) = (1, 0)",
        "UPDATE match SET ranks = '00' WHERE (block, rotation) = (1, 0)",
        "UPDATE match SET ranks = CASE ranks WHEN '01' THEN '10' ELSE '01' END WHERE block < 2",
        "UPDATE seat SET points = 2 - points WHERE (block, rotation) = (1, 0)",
        "UPDATE seat SET points = 1 WHERE (place, block, rotation) = (0, 1, 0)",
        "DELETE FROM seat WHERE (place, block, rotation) = (0, 1, 0)",
    ],
)
def test_all_pages_refuse_the_same_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str) -> None:
    """Ranks that contradict points: with the same sentence, which names a match, and without a table."""
    fill(tmp_path, tournament())
    execute_sql(tmp_path, change)

    said = {(execute([*page.split(), "--results", str(tmp_path)]), capsys.readouterr().err) for page in PAGES[:-1]}

    ((code, sentence),) = said
    assert code == 1
    assert re.match(r"error: match \w+-\d-\d cannot be read: ", sentence)


@pytest.mark.parametrize("block", [-1, 1, 99])
def test_faults_of_no_match_are_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str], block: int) -> None:
    """Before, between and after the matches; who changes a database without foreign keys may store such rows."""
    fill(tmp_path, tournament())
    with opened(tmp_path) as connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        connection.execute("INSERT INTO pardon SELECT pairing, ?, 7, 0, 'timeout', 1 FROM match LIMIT 1", (block,))

    assert [
        execute([*page.split(), "--results", str(tmp_path)]) for page in ("leaderboard", "stats ann", "verify")
    ] == [1] * 3
    assert "1 row of pardon without a match or a pairing" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ("UPDATE seat SET time_us = -time_us - 1", "time_us >= 0"),
        ("UPDATE seat SET idle_us = -5 WHERE (place, block) = (0, 0)", "idle_us >= 0"),
        ("UPDATE seat SET moves = 'many'", "typeof(moves)"),
        ("UPDATE seat SET luck = 0.5", "typeof(luck)"),
        ("UPDATE match SET score_unit = 0", "score_unit >= 1"),
        ("INSERT INTO pardon SELECT pairing, block, rotation, 0, 'timeout', 'x' FROM match", "typeof(count)"),
        ("INSERT INTO pardon SELECT pairing, block + 99, rotation, 0, 'timeout', 1 FROM match", "FOREIGN KEY"),
        ("UPDATE seat SET block = block + 99", "FOREIGN KEY"),
        ("DELETE FROM match", "FOREIGN KEY"),
    ],
)
def test_sqlite_holds_the_constraints(tmp_path: Path, change: str, constraint: str) -> None:
    """Values of the wrong type or size, and rows without their match, are refused by SQLite itself."""
    fill(tmp_path, tournament())
    with writing(tmp_path) as store, pytest.raises(sqlite3.IntegrityError, match=re.escape(constraint)):
        store._connection.execute(change)
