"""Two players at a few blocks: score, rating and `ahead` of a line agree, whatever their blocks were."""

from collections.abc import Iterator

import pytest
from support.made_matches import made_standings, match_result

from arena.match.results import MatchKey
from arena.standings.rows import Entrant

FIELD = [Entrant(name=name, bot=name, version="1", hash="00" * 32) for name in "ab"]
COURSES = ((2, 2), (2, 0), (0, 2), (0, 0), (2, 1))
"""Halves of a point of the first player in both matches of a block."""


def parts(total: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to distribute that many blocks over the kinds."""
    if kinds == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in parts(total - first, kinds - 1):
            yield (first, *rest)


@pytest.mark.parametrize("blocks", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow), 6])
def test_no_column_contradicts_another(blocks: int) -> None:
    """`yes` only where the intervals of both scores and of both ratings lie apart; of equals, never."""
    ahead = 0
    for counts in parts(blocks, len(COURSES)):
        courses = [course for course, times in zip(COURSES, counts, strict=True) for _ in range(times)]
        results = [
            match_result(MatchKey("p0", block, rotation), names, (own, 2 - own) if rotation == 0 else (2 - own, own))
            for block, course in enumerate(courses)
            for rotation, (own, names) in enumerate(zip(course, (("a", "b"), ("b", "a")), strict=True))
        ]
        upper, lower = made_standings(FIELD, results, scheduled=2 * blocks).rows
        assert upper.score is not None
        assert lower.score is not None
        assert upper.rating is not None
        assert lower.rating is not None
        assert upper.score.value >= lower.score.value - 1e-12
        apart = upper.score.interval.low > 0.5 and lower.score.interval.high < 0.5
        assert not upper.ahead or (apart and upper.rating.low > lower.rating.high), courses
        ahead += bool(upper.ahead)
    assert (ahead > 0) == (blocks == 6)
