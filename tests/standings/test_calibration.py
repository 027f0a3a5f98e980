"""Calibration: scores by hand, forecasts of what a method has not seen, and which method comes out best."""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from time import process_time

import pytest
from support.made_matches import pairing_ranks

from arena.match.results import PairingRanks
from arena.standings.calibration import (
    LEAST_CHANCE,
    RATING,
    RATING_WITHOUT_SEATS,
    TRUESKILL,
    Calibration,
    Forecaster,
    Method,
    batch_method,
    calibrations,
    coin,
    judged,
    trueskill_method,
)
from arena.standings.ratings import RatingSettings
from arena.statistics.model import Chances

SKILLS = {f"p{place}": 25.0 + 2.0 * place for place in range(6)}
SETTINGS = RatingSettings()


def course(*scores: int) -> str:
    """A mirrored block; the scores of the first place: 1 won, 0 lost."""
    first, second = scores
    return f"{1 - first}{first}{second}{1 - second}"


def league(
    skills: Mapping[str, float], rng: random.Random, *, blocks: int, first_seat: float = 0.0
) -> list[PairingRanks]:
    """A complete round robin of two, without draws."""
    noise = math.sqrt(2.0) * SETTINGS.beta

    def won(one: str, other: str) -> int:
        return int(rng.gauss(skills[one] - skills[other] + first_seat, noise) > 0.0)

    return [
        pairing_ranks((one, other), [course(won(one, other), 1 - won(other, one)) for _ in range(blocks)])
        for one, other in combinations(sorted(skills), 2)
    ]


def saying(win: float, draw: float = 0.0) -> Method:
    """A method that learns nothing and says this of every match, from the earlier seat."""
    return lambda _league: lambda _one, _other, _seats: Chances(win, draw, 1.0 - win - draw)


def judge(played: Sequence[PairingRanks], method: Method) -> Calibration:
    (found,) = calibrations(played, {"it": method})
    return found


def test_the_scores_of_a_forecast_by_hand() -> None:
    """80 % for the first seat, which wins three matches of four."""
    played = [pairing_ranks(("ann", "bob"), [course(1, 0), course(1, 1)])]

    found = judge(played, saying(0.8))

    assert found.comparisons == 4
    assert found.log_loss == pytest.approx(-(3 * math.log(0.8) + math.log(0.2)) / 4)
    assert found.brier == pytest.approx((3 * 0.04 + 0.64) / 4)
    assert found.behind == 0.0


def test_a_coin_costs_the_log_of_2() -> None:
    """The known answers of the empty forecast: ln 2 and a quarter."""
    found = judge([pairing_ranks(("ann", "bob"), [course(1, 1)])], saying(0.5))

    assert (found.log_loss, found.brier) == pytest.approx((math.log(2.0), 0.25))
    assert found.log_loss_error is None


def test_a_draw_is_an_outcome_of_its_own() -> None:
    """A drawn match is judged by the chance that was given to a draw."""
    drawn = pairing_ranks(("ann", "bob"), ["00--"])

    found = judge([drawn], saying(0.4, 0.2))

    assert found.log_loss == pytest.approx(-math.log(0.2))
    assert found.brier == pytest.approx((0.16 + 0.64 + 0.16) / 2)


def test_what_cannot_be_has_a_price() -> None:
    """A chance of 0 that comes true costs much, but not everything."""
    found = judge([pairing_ranks(("ann", "bob"), [course(1, 1)])], saying(1.0))

    assert found.log_loss == pytest.approx(-math.log(LEAST_CHANCE) / 2)


def test_bins_hold_what_was_predicted_and_what_came() -> None:
    """All of one forecast is in one tenth of the scale; 1 belongs to the last; the error comes from the blocks."""
    played = [pairing_ranks(("ann", "bob"), [course(1, 1 if number else 0) for number in range(4)])]

    said, certain = judge(played, saying(0.55)), judge(played, saying(1.0))

    full = [one for one in said.bins if one.comparisons]
    assert [(one.low, one.high, one.comparisons) for one in full] == [(0.5, 0.6, 8)]
    assert (full[0].predicted, full[0].observed) == pytest.approx((0.55, 5 / 8))
    # block sums of the seat: 2, 1, 1, 1 about 5/4: squares of 3/4, and 4/3 of that, over the 8 matches
    assert full[0].error == pytest.approx(math.sqrt(0.75 * 4 / 3) / 8)
    assert certain.bins[-1].comparisons == 8
    assert judge(played, saying(0.4, 0.5)).bins[6].comparisons == 8
    assert sum(one.comparisons for one in said.bins) == 8


def test_nobody_sees_the_matches_that_they_predict() -> None:
    """Both halves are predicted, each by a method that has seen the other one only; each pairing is in both."""
    played = league(SKILLS, random.Random(1), blocks=5)
    seen: list[dict[tuple[str, ...], set[int]]] = []

    def method(learnt: Sequence[PairingRanks]) -> Forecaster:
        seen.append({one.players: set(one.blocks) for one in learnt})
        chance = len(seen) / 10.0
        return lambda _one, _other, _seats: Chances(chance, 0.0, 1.0 - chance)

    found = judge(played, method)

    assert len(seen) == 2
    for one in played:
        halves = [own[one.players] for own in seen]
        assert halves[0] | halves[1] == set(one.blocks)
        assert not halves[0] & halves[1]
    assert abs(sum(len(own) for own in seen[0].values()) - sum(len(own) for own in seen[1].values())) <= 1
    assert [one.comparisons for one in found.bins[:4]] == [0, 76, 74, 0]


def test_the_model_that_made_the_matches_is_calibrated_and_beats_a_coin() -> None:
    """Observed is within three errors of predicted in every bin, and the coin is behind by much more than its error."""
    played = league(SKILLS, random.Random(2), blocks=60, first_seat=2.0)
    methods = {
        "coin": coin,
        "probit": batch_method(SKILLS, SETTINGS),
        "blind to seats": batch_method(SKILLS, SETTINGS, knows_seats=False),
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
    drawn = [pairing_ranks(("ann", "bob"), ["0001"] * 50)]

    chances = coin(drawn)("ann", "bob", (0, 1))

    assert chances.draw == pytest.approx(0.5, abs=0.01)
    assert chances.win == chances.loss


def test_nothing_played_has_no_scores() -> None:
    """Every number that nothing tells is None; the bins are there."""
    found = judge([], batch_method(("ann", "bob"), SETTINGS))

    assert (found.comparisons, found.log_loss, found.brier, found.behind) == (0, None, None, None)
    assert len(found.bins) == 10
    assert all(one.predicted is None and one.error is None for one in found.bins)


def test_like_is_compared_with_like() -> None:
    """TrueSkill knows no seats: where seats matter it is as good as the rating without seats, and behind the rating."""
    page = judged("test", SKILLS, league(SKILLS, random.Random(5), blocks=60, first_seat=4.0), SETTINGS)

    losses = {one.method: one.log_loss or 0.0 for one in page.methods}
    assert losses[RATING] < losses[TRUESKILL] - 0.02
    assert losses[RATING_WITHOUT_SEATS] == pytest.approx(losses[TRUESKILL], abs=0.01)
    assert (page.blocks, page.matches) == (900, 1800)


def test_errors_come_from_blocks() -> None:
    """Blocks that repeat their match have the error of so many blocks, not of twice as many matches."""
    played = [pairing_ranks(("ann", "bob"), [course(number % 2, number % 2) for number in range(100)])]

    found = judge(
        played, lambda _: lambda one, _other, _seats: Chances(0.7, 0.0, 0.3) if one == "ann" else Chances(0.3, 0.0, 0.7)
    )

    losses = [-math.log(0.7), -math.log(0.3)]
    assert found.log_loss == pytest.approx(sum(losses) / 2)
    assert found.log_loss_error == pytest.approx((losses[1] - losses[0]) / 2 / math.sqrt(99))


def test_trueskill_learns_in_the_order_of_the_schedule() -> None:
    """By block, then pairing: not pairing after pairing, which gives other ratings."""
    played = league(SKILLS, random.Random(3), blocks=3)
    by_block = [
        PairingRanks(one.players, (100 * block + number,), course)
        for block in range(3)
        for number, one in enumerate(played)
        for course in [list(one.courses)[block]]
    ]

    one, other = (trueskill_method(SKILLS, SETTINGS)(each)("p0", "p5", (0, 1)) for each in (played, by_block))

    assert one == other


def test_blocks_of_many_matches_are_counted_not_gone_through() -> None:
    """200,000 matches of ten players in a few seconds of a processor, most of them TrueSkill's."""
    names = {f"p{place}": 25.0 for place in range(10)}
    rng = random.Random(1)
    pool = [course(*scores) for scores in ((0, 0), (0, 1), (1, 0), (1, 1))]
    played = [pairing_ranks((one, other), rng.choices(pool, k=2222)) for one, other in combinations(names, 2)]
    begun = process_time()

    judged("test", names, played, SETTINGS)

    assert process_time() - begun < 6.0
