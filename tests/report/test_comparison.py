"""The page of a comparison: the numbers that are shown, in text and in JSON, and the lines of fishtest."""

import json
import re

import pytest
from support.golden import Golden

from arena.league.sprt import ComparisonSummary
from arena.match.secret_luck import LuckOrigin
from arena.report.comparison import as_json, as_text
from arena.statistics.elo import estimate
from arena.statistics.interval import Interval
from arena.statistics.pentanomial import Counts, Sample
from arena.statistics.sequential import SequentialSettings, begin, state_after

NAMES = ("new", "old")
SECRET = LuckOrigin()
NUMBERS = (1, 11, 47, 25, 16)
SCORES = [place / 4 for place, number in enumerate(NUMBERS) for _ in range(number)]


def compared(settings: SequentialSettings) -> ComparisonSummary:
    """The first result of a public page of fastchess, of which 37 even blocks were two draws."""
    state = state_after(dict(enumerate(SCORES)), settings)
    score = Interval(0.61, 0.57, 0.65)
    seen = state.seen if isinstance(state.seen, Sample) else Counts(NUMBERS)
    return ComparisonSummary(state, Counts(NUMBERS), 67, 110, 23, score, estimate(seen, score))


def test_the_lines_of_fishtest_and_fastchess(golden: Golden) -> None:
    """W-D-L, DrawRatio, PairsRatio, LLR with bounds and hypotheses, and the pentanomial."""
    shown = as_text(compared(SequentialSettings(elo1=10.0, batch=100)), NAMES, SECRET)

    lines = "LLR: 1.71 (-2.94, 2.94) [0.00, 10.00]\nTotal: 200 W: 67 L: 23 D: 110\nPtnml(0-2): 1, 11, 47, 25, 16"
    assert f"\n\n{lines}" in shown
    assert re.search(r"^W-D-L +67-110-23$", shown, re.MULTILINE)
    golden(shown)
    assert re.search(r"^PairsRatio +3\.42 ", shown, re.MULTILINE)
    assert re.search(r"^LOS +>99\.9 % ", shown, re.MULTILINE)


def test_json_has_the_same_numbers() -> None:
    """JSON has each number of the page, without rounding."""
    found = compared(SequentialSettings(elo1=10.0, batch=100))
    page = json.loads(as_json(found, NAMES, SECRET))

    assert (page["wins"], page["draws"], page["losses"]) == (67, 110, 23)
    assert page["counts"] == [*NUMBERS]
    assert page["draw_ratio"] == 0.47
    assert page["pairs_ratio"] == pytest.approx(41 / 12)
    assert page["score"] == {"value": 0.61, "low": 0.57, "high": 0.65}
    assert page["estimate"]["elo"]["value"] == pytest.approx(77.71, abs=5e-3)
    assert page["fishtest"][0].startswith(f"LLR: {page['llr']:.2f} (")


def test_luck_adjusted_scores_stand_beside_scores(golden: Golden) -> None:
    """Named as what they are, with Elo from them; the bounds are logistic Elo."""
    settings = SequentialSettings(elo1=10.0, batch=100, model="luck-adjusted")
    shown = as_text(compared(settings), NAMES, SECRET)

    assert re.search(r"^score +61\.0 ", shown, re.MULTILINE)
    golden(shown)
    assert "Elo, by luck-adjusted scores" in shown.partition("\n")[0] or "LLR" in shown.partition("\n")[0]


def test_before_any_block_there_are_no_numbers() -> None:
    """The page has neither ratios nor an interval; JSON has null."""
    settings = SequentialSettings()
    nothing = ComparisonSummary(begin(settings), Counts.none(2), 0, 0, 0, None, None)

    assert "DrawRatio" not in as_text(nothing, NAMES, SECRET)
    page = json.loads(as_json(nothing, NAMES, SECRET))
    assert (page["score"], page["draw_ratio"], page["pairs_ratio"]) == (None, None, None)


def test_no_block_lost_has_no_finite_ratio() -> None:
    """JSON knows no infinity."""
    settings = SequentialSettings(elo1=10.0, batch=16)
    state = state_after(dict.fromkeys(range(16), 1.0), settings)
    won, score = Counts((0, 0, 0, 0, 16)), Interval(1.0, 0.8, 1.0)
    found = ComparisonSummary(state, won, 32, 0, 0, score, estimate(won, score))

    assert json.loads(as_json(found, NAMES, SECRET))["pairs_ratio"] is None
    assert re.search(r"^PairsRatio +inf ", as_text(found, NAMES, SECRET), re.MULTILINE)
