"""Calibration: scores by hand, forecasts of what a method has not seen, and which method comes out best."""

import math
import random
from collections.abc import Sequence

import pytest
from statistics_leagues import course, mirrored

from arena.statistics.blocks import Block
from arena.statistics.calibration import (
    LEAST_CHANCE,
    Calibration,
    Forecaster,
    Method,
    calibrations,
    coin_method,
    cross_fitted,
    probit_method,
)
from arena.statistics.model import Chances, ProbitSettings

SKILLS = {f"p{place}": 25.0 + 2.0 * place for place in range(6)}


def saying(win: float, draw: float = 0.0) -> Method:
    """A method that learns nothing and says this of every match, from the earlier seat."""
    return lambda _league: lambda _one, _other, _seats: Chances(win, draw, 1.0 - win - draw)


def judged(played: Sequence[Block], method: Method) -> Calibration:
    (found,) = calibrations(played, {"it": method})
    return found


def test_the_scores_of_a_forecast_by_hand() -> None:
    """80 % for the first seat, which wins three matches of four."""
    played = [course(0, 0, "ann", "bob", (1, 0)), course(0, 1, "ann", "bob", (1, 1))]

    found = judged(played, saying(0.8))

    assert found.comparisons == 4
    assert found.log_loss == pytest.approx(-(3 * math.log(0.8) + math.log(0.2)) / 4)
    assert found.brier == pytest.approx((3 * 0.04 + 0.64) / 4)
    assert found.behind == 0.0


def test_a_coin_costs_the_log_of_2() -> None:
    """The known answers of the empty forecast: ln 2 and a quarter."""
    found = judged([course(0, 0, "ann", "bob", (1, 1))], saying(0.5))

    assert (found.log_loss, found.brier) == pytest.approx((math.log(2.0), 0.25))
    assert found.log_loss_error is None


def test_a_draw_is_an_outcome_of_its_own() -> None:
    """A drawn match is judged by the chance that was given to a draw."""
    drawn = Block(0, 0, ((("ann", "bob"), (0, 0)),))

    found = judged([drawn], saying(0.4, 0.2))

    assert found.log_loss == pytest.approx(-math.log(0.2))
    assert found.brier == pytest.approx((0.16 + 0.64 + 0.16) / 2)


def test_what_cannot_be_has_a_price() -> None:
    """A chance of 0 that comes true costs much, but not everything."""
    found = judged([course(0, 0, "ann", "bob", (1, 1))], saying(1.0))

    assert found.log_loss == pytest.approx(-math.log(LEAST_CHANCE) / 2)


def test_bins_hold_what_was_foretold_and_what_came() -> None:
    """All of one forecast is in one tenth of the scale; 1 belongs to the last; the error comes from the blocks."""
    played = [course(0, number, "ann", "bob", (1, 1 if number else 0)) for number in range(4)]

    said, certain = judged(played, saying(0.55)), judged(played, saying(1.0))

    full = [one for one in said.bins if one.comparisons]
    assert [(one.low, one.high, one.comparisons) for one in full] == [(0.5, 0.6, 8)]
    assert (full[0].predicted, full[0].observed) == pytest.approx((0.55, 5 / 8))
    # block sums of the seat: 2, 1, 1, 1 about 5/4: squares of 3/4, and 4/3 of that, over the 8 matches
    assert full[0].error == pytest.approx(math.sqrt(0.75 * 4 / 3) / 8)
    assert certain.bins[-1].comparisons == 8
    assert judged(played, saying(0.4, 0.5)).bins[6].comparisons == 8
    assert sum(one.comparisons for one in said.bins) == 8


def test_nobody_sees_what_they_foretell() -> None:
    """With any number of folds every block is foretold once, by a fit that has not seen it and has seen the rest."""
    played = mirrored(SKILLS, random.Random(1), per_pairing=5)
    seen: list[set[int]] = []

    def method(league: Sequence[Block]) -> Forecaster:
        seen.append({block.number for block in league})
        return lambda _one, _other, _seats: Chances(len(seen) / 10.0, 0.0, 1.0 - len(seen) / 10.0)

    found = cross_fitted(played, method, folds=3)

    unseen = [{block.number for block in played} - own for own in seen]
    assert sorted(number for own in unseen for number in own) == sorted(block.number for block in played)
    assert sorted(one.block for one in found) == sorted(2 * [block.number for block in played])
    assert {len(own) for own in unseen} == {25}


def test_each_pairing_is_dealt_onto_both_halves() -> None:
    """Nobody is foretold from half a league in which the pair never met."""
    played = mirrored(SKILLS, random.Random(1), per_pairing=2)
    halves: list[set[int]] = []

    def method(league: Sequence[Block]) -> Forecaster:
        halves.append({block.pairing for block in league})
        return coin_method(league)

    cross_fitted(played, method)

    assert halves == [set(range(15)), set(range(15))]


def test_the_model_that_made_the_matches_is_calibrated_and_beats_a_coin() -> None:
    """Observed is within three errors of foretold in every bin, and the coin is behind by much more than its error."""
    played = mirrored(SKILLS, random.Random(2), per_pairing=60, first_seat=2.0)
    methods = {
        "coin": coin_method,
        "probit": probit_method(SKILLS),
        "blind to seats": probit_method(SKILLS, ProbitSettings(seat_sigma=0.0)),
    }

    found = calibrations(played, methods)

    assert [one.method for one in found] == ["probit", "blind to seats", "coin"]
    for one in found[0].bins:
        if one.comparisons >= 50:
            assert one.predicted is not None
            assert one.observed is not None
            assert one.error is not None
            assert abs(one.observed - one.predicted) < 3 * one.error
    for behind in found[1:]:
        assert behind.behind is not None
        assert behind.behind_error is not None
        assert behind.behind > 3 * behind.behind_error


def test_a_coin_knows_how_often_matches_are_drawn() -> None:
    """Half of the matches seen were draws: about half of the chance is for a draw."""
    drawn = [Block(0, number, ((("ann", "bob"), (0, 0)), (("bob", "ann"), (0, 1)))) for number in range(50)]

    chances = coin_method(drawn)("ann", "bob", (0, 1))

    assert chances.draw == pytest.approx(0.5, abs=0.01)
    assert chances.win == chances.loss


def test_nothing_played_has_no_scores() -> None:
    """Every number that nothing tells is None; the bins are there."""
    found = judged([], probit_method(("ann", "bob")))

    assert (found.comparisons, found.log_loss, found.brier, found.behind) == (0, None, None, None)
    assert len(found.bins) == 10
    assert all(one.predicted is None and one.error is None for one in found.bins)


def test_the_order_of_the_blocks_changes_no_byte() -> None:
    """Folds are dealt by pairing and number, not by arrival."""
    played = list(mirrored(SKILLS, random.Random(3), per_pairing=3))
    methods = {"probit": probit_method(SKILLS)}
    expected = repr(calibrations(played, methods))
    random.Random(4).shuffle(played)

    assert repr(calibrations(played, methods)) == expected


def test_one_fold_is_refused() -> None:
    """There would be nothing to learn from."""
    with pytest.raises(ValueError, match="folds: expected 2 or more"):
        cross_fitted([], coin_method, folds=1)
