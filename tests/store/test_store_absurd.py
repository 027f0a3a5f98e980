"""Stored values that are well formed and absurd: every page says something of them, and none ends in a traceback."""

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from store_made import fill, tournament

from arena.cli import run
from arena.store import database

SIZES = (0, 1, 3, 999_983, 2_000_000, 1 << 31, 1 << 53, 1 << 60, 1 << 61)
PAGES = ("leaderboard", "stats ann", "stats ann --format json", "matrix", "calibration", "league matches", "verify")


def absurd(results: Path, rng: Random, sizes: tuple[int, ...]) -> None:
    """Luck and scores of these sizes in every match; all that follows from them fits."""
    with closing(sqlite3.connect(database.path_in(results))) as connection:
        connection.execute("UPDATE match SET luck_version = '1', score_unit = ?", (rng.choice([1, 7, 1 << 40]),))
        for match in connection.execute("SELECT pairing, block, rotation FROM match").fetchall():
            luck, first, second = (rng.choice((-1, 1)) * rng.choice(sizes) for _ in range(3))
            for place, *own in ((0, luck, first, first - second), (1, -luck, second, second - first)):
                connection.execute(
                    "UPDATE seat SET luck = ?, score = ?, margin = ? WHERE (pairing, block, rotation, place) ="
                    " (?, ?, ?, ?)",
                    (*own, *match, place),
                )
        connection.commit()


@pytest.mark.parametrize("sizes", [*((each,) for each in SIZES), SIZES, SIZES[:6]])
def test_no_page_ends_in_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sizes: tuple[int, ...]
) -> None:
    """A page is printed, or the match is named that cannot be."""
    fill(tmp_path, tournament())
    absurd(tmp_path, Random(str(sizes)), sizes)

    said = {page: (run([*page.split(), "--results", str(tmp_path)]), capsys.readouterr().err) for page in PAGES}

    assert {page: (code, err) for page, (code, err) in said.items() if code not in {0, 1}} == {}
