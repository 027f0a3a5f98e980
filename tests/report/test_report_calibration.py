"""The calibration page: honest forecasts, TrueSkill's among them, and the sentence on what to make of it."""

import csv
import io
import json
import math
from statistics import NormalDist

import pytest
from support.made_matches import SETTINGS
from support.report_leagues import FOUR, NUMBERS_THAT_ARE_NONE, league, mirrored, odd_leagues, ranks_of

from arena.match.results import MatchResult
from arena.report.calibration import calibration_page, calibration_verdict
from arena.report.formats import FORMATS, Style
from arena.standings.calibration import (
    COIN,
    RATING,
    RATING_WITHOUT_SEATS,
    TRUESKILL,
    Bin,
    Calibration,
    Judged,
    favourite_bias,
    judged,
    trueskill_method,
)
from arena.standings.ratings import RatingSettings
from arena.statistics.distributions import t_quantile

SKILLS = dict(zip(FOUR, (22.0, 24.0, 26.0, 28.0), strict=True))


def found(results: list[MatchResult], rating: RatingSettings = SETTINGS) -> Judged:
    return judged("test", FOUR, ranks_of(results), rating)


def method(name: str, behind: float, error: float, *bins: Bin) -> Calibration:
    """A method as it might have done."""
    return Calibration(name, 100, 0.5 + behind, 0.01, 0.2, behind, error, bins, 50)


def tenth(low: int, predicted: float, observed: float, error: float = 0.02) -> Bin:
    return Bin(low / 10, (low + 1) / 10, 100, predicted, observed, error, 50)


def best(*bins: Bin) -> Judged:
    """A league in which the probit fit is far better than a coin, with these tenths."""
    return Judged("test", 400, 200, (method(RATING, 0.0, 0.0, *bins), method(COIN, 0.2, 0.01)))


def test_trueskill_predicts_with_the_doubt_about_both_skills() -> None:
    """After one win: (29.395575651, 7.171141464) against (20.604424349, same), published values for 10 % of draws."""
    rating = RatingSettings(draw_probability=0.1)
    won = ranks_of(mirrored(0, "ann", "bob", 1, 1)[:1])

    chances = trueskill_method(FOUR, rating)(won)("ann", "bob", (1, 0))

    scale = math.sqrt(2 * (25 / 6) ** 2 + 2 * 7.171141464**2)
    margin = 0.740466587
    expected = NormalDist().cdf((29.395575651 - 20.604424349 - margin) / scale)
    assert chances.win == pytest.approx(expected, abs=1e-7)
    assert chances.win + chances.draw + chances.loss == pytest.approx(1.0)


def test_nobody_predicts_what_it_has_seen() -> None:
    """A single block is predicted from nothing: even chances, although the winner is known."""
    page = found(mirrored(0, "ann", "bob", 5, 5))

    for one in page.methods:
        assert [each.comparisons for each in one.bins if each.comparisons] == [2]
        assert one.bins[5].predicted == pytest.approx(0.5)


def test_skills_are_found_out() -> None:
    """In a league made by the very model both methods beat the coin, and their chances come true."""
    page = found(league(SKILLS, 60, 2))

    losses = {one.method: one.log_loss or 0.0 for one in page.methods}
    assert [one.method for one in page.methods][-1] == COIN
    assert max(losses[RATING], losses[TRUESKILL]) < losses[COIN] - 0.05
    leaning = favourite_bias(page.methods[0])
    assert leaning is not None
    assert abs(leaning.value) < 3 * leaning.error
    assert "predicts best" in calibration_verdict(page)


def test_a_league_of_equals_is_predicted_best_by_a_coin() -> None:
    """Nothing is claimed for any method."""
    page = found(league(dict.fromkeys(FOUR, 25.0), 20, 3))

    assert "better than a coin" in calibration_verdict(page)
    assert "predicts best" not in calibration_verdict(page)


def test_too_strong_a_belief_in_skill_is_seen() -> None:
    """Skills that are taken to change all the time follow the last few matches, and overrate favourites."""
    page = found(league(dict.fromkeys(FOUR, 25.0), 60, 4), RatingSettings(tau=4.0))

    sure = next(one for one in page.methods if one.method == TRUESKILL)
    leaning = favourite_bias(sure)
    assert leaning is not None
    assert leaning.value < -3 * leaning.error


def test_the_tilt_is_that_of_the_favourites() -> None:
    """Predicted 70 and 30 %, came 80 and 20: they scored 10 points more, on both sides of the table."""
    leaning = favourite_bias(method(RATING, 0.0, 0.0, tenth(7, 0.7, 0.8), tenth(2, 0.3, 0.2)))

    assert leaning is not None
    assert leaning.value == pytest.approx(0.1)
    assert leaning.error == pytest.approx(math.hypot(0.02, 0.02) / 2)
    assert favourite_bias(method(RATING, 0.0, 0.0, Bin(0.5, 0.6, 0, None, None, None, 0))) is None


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (Judged("test", 0, 0, ()), "Too few to judge: 0 blocks, and it takes 20."),
        (
            best(tenth(7, 0.75, 0.76)),
            "Its chances come true: favourites score what was predicted, within the error (off by 1.0 ±4.0 points)",
        ),
        (best(tenth(7, 0.75, 0.66)), "It overrates favourites: they score 9.0 ±4.0 points less than predicted."),
        (best(tenth(7, 0.75, 0.81)), "It underrates favourites: they score 6.0 ±4.0 points more than predicted."),
        (
            best(tenth(7, 0.75, 0.66), tenth(6, 0.65, 0.74)),
            "not everywhere. Off by more than 3 standard errors: 75.0 % predicted and 66.0 % came, 65.0 % predicted",
        ),
        (best(tenth(7, 0.75, 0.765, 0.001), tenth(2, 0.25, 0.265, 0.001)), "Its chances come true"),
        (best(), "Whether its chances come true cannot be told."),
        (
            Judged(
                *("test", 400, 200),
                (method(RATING, 0.0, 0.0), method(TRUESKILL, 0.001, 0.001), method(COIN, 0.2, 0.01)),
            ),
            "rating predicts best, and TrueSkill (no seats) cannot be told from it.",
        ),
        (
            Judged("test", 400, 200, (method(RATING, 0.0, 0.0), method(COIN, 0.01, 0.01))),
            "rating is best, but not surely better than a coin.",
        ),
        (Judged("test", 400, 200, (method(COIN, 0.0, 0.0), method(RATING, 0.01, 0.01))), "No method predicts better"),
    ],
)
def test_the_verdict_in_words(page: Judged, said: str) -> None:
    """It claims no more than the numbers do."""
    assert said in calibration_verdict(page)


def test_words_hang_on_standard_errors_though_95_percent_is_shown() -> None:
    """From two on a difference is one, from three on a tenth is named, at 50 blocks as at 5."""
    for blocks in (5, 50):
        for tilted, is_said in ((0.0399, False), (0.0401, True)):
            bins = (Bin(0.7, 0.8, 100, 0.75, 0.75 + tilted, 0.02, blocks),)
            assert ("underrates" in calibration_verdict(best(*bins))) is is_said
        for off, is_named in ((0.0599, False), (0.0601, True)):
            bins = (Bin(0.7, 0.8, 100, 0.75, 0.75 + off, 0.02, blocks),)
            assert ("Off by more than 3 standard errors" in calibration_verdict(best(*bins))) is is_named


def test_intervals_are_those_of_the_one_function() -> None:
    """Student's t on the blocks: the same in table, JSON and CSV; a sure thing is bounded by the rule of three."""
    page = found(league(SKILLS, 30, 5))
    document = json.loads(calibration_page(page).render("json"))
    rows = [*csv.DictReader(io.StringIO(calibration_page(page).render("csv")))]
    text = calibration_page(page).render("table")

    for one, method, row in zip(page.methods, document["methods"], rows[::11], strict=True):
        assert one.log_loss is not None
        assert one.log_loss_error is not None
        half = t_quantile(one.blocks - 1) * one.log_loss_error
        assert method["log_loss_high"] - one.log_loss == pytest.approx(half) == one.log_loss - method["log_loss_low"]
        for name in ("log_loss", "log_loss_low", "log_loss_high", "behind", "behind_low", "behind_high"):
            assert float(row[name]) == method[name]
        assert f"{one.log_loss:.4f} ±{half:.4f}" in text
    for line, each in zip(rows[1:11], document["methods"][0]["bins"], strict=True):
        for name in ("observed", "observed_low", "observed_high"):
            assert line[name] == ("" if each[name] is None else str(each[name]))
        assert each["observed"] is None or 0.0 <= each["observed_low"] <= each["observed"] <= each["observed_high"] <= 1
    always = Bin(0.9, 1.0, 40, 0.95, 1.0, 0.0, 20).came
    assert always is not None
    assert always.low == pytest.approx(0.05 ** (1 / 20))
    assert always.high == 1.0


def test_sure_things_have_an_error() -> None:
    """Blocks that all came as predicted do not vary; the error is then that of the chance: sqrt(p (1 - p) / n)."""
    page = found([one for block in range(60) for one in mirrored(block, "ann", "bob", 3, 3)])

    last = next(one for one in page.methods if one.method == RATING).bins[-1]
    assert last.predicted is not None
    assert last.observed == 1.0
    assert last.error == pytest.approx(math.sqrt(last.predicted * (1 - last.predicted) / last.comparisons))


def test_tables_and_sentences() -> None:
    """Both methods side by side, and everything within the width."""
    page = found(league(SKILLS, 30, 5))

    text = calibration_page(page).render("table", Style(width=80))
    markdown = calibration_page(page).render("markdown")

    assert "log-loss" in text.splitlines()[0]
    assert "rating without seats" in text
    assert "TrueSkill" in text
    assert "to 60 %" in text
    assert max(map(len, text.splitlines())) <= 80
    assert markdown.startswith("| method")
    assert calibration_verdict(page) in markdown.replace("\\", "")


def test_csv_has_a_row_for_each_tenth_and_one_for_the_whole() -> None:
    """For every method."""
    rows = list(csv.DictReader(io.StringIO(calibration_page(found(league(SKILLS, 5, 6))).render("csv"))))

    assert len(rows) == 4 * 11
    whole = [row for row in rows if row["log_loss"]]
    assert {row["method"] for row in whole} == {COIN, RATING, RATING_WITHOUT_SEATS, TRUESKILL}
    assert {(row["low"], row["high"], row["comparisons"]) for row in whole} == {("0.0", "1.0", "60")}
    own = [int(row["comparisons"]) for row in rows if row["method"] == RATING and not row["log_loss"]]
    assert (len(own), sum(own)) == (10, 60)


def test_json_has_all_of_it() -> None:
    """As calculated."""
    document = json.loads(calibration_page(found(league(SKILLS, 5, 7))).render("json"))

    assert (document["matches"], document["blocks"], len(document["methods"])) == (60, 30, 4)
    assert len(document["methods"][0]["bins"]) == 10


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", odd_leagues())
def test_odd_leagues_have_a_page(name: str, form: str) -> None:
    """Nothing is undefined or infinite, nothing fails."""
    text = calibration_page(found(odd_leagues()[name])).render(form, Style(width=80))

    assert not NUMBERS_THAT_ARE_NONE.search(text)
    assert form != "json" or json.loads(text)["matches"] == len(odd_leagues()[name])
