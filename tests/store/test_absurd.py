"""Stored values that are well formed and absurd: every page says something of them, and none ends in a traceback."""

from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace
from support.store_made import fill, tournament
from support.tampering import edit_matches

from arena.cli import execute
from arena.match.results import MatchResult

SIZES = (0, 1, 3, 999_983, 2_000_000, 1 << 31, 1 << 53, 1 << 60, 1 << 61)
PAGES = ("leaderboard", "stats ann", "stats ann --format json", "matrix", "league status", "verify")


def absurd(results: Path, rng: Random, sizes: tuple[int, ...]) -> None:
    """Luck and scores of these sizes in every match."""
    unit = rng.choice([1, 7, 1 << 40])

    def change(match: MatchResult) -> MatchResult:
        luck, *scores = (rng.choice((-1, 1)) * rng.choice(sizes) for _ in range(3))
        exact = tuple(Fraction(score, unit) for score in scores)
        return replace(match, luck=(luck, -luck), luck_version="1", scores=exact)

    edit_matches(results, change)


@pytest.mark.parametrize("sizes", [*((each,) for each in SIZES), SIZES, SIZES[:6]])
def test_no_page_ends_in_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sizes: tuple[int, ...]
) -> None:
    """A page is printed, or the match is named that cannot be."""
    fill(tmp_path, tournament())
    absurd(tmp_path, Random(str(sizes)), sizes)

    said = {page: (execute([*page.split(), "--results", str(tmp_path)]), capsys.readouterr().err) for page in PAGES}

    assert {page: (code, err) for page, (code, err) in said.items() if code not in {0, 1}} == {}
