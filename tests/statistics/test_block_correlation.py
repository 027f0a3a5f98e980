"""Blocks: how much their matches hang together, and the errors that follow."""

import math
import random
from statistics import NormalDist

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.statistics_bootstrap import bootstrap
from support.statistics_leagues import Counted, blocks, deviations, fit_of, mirrored

from arena.statistics import block_correlation
from arena.statistics.block_correlation import MOST_CORRELATED, joint_excess
from arena.statistics.model import BlockEffect
from arena.statistics.newton import Floats

NAMES = ("ann", "bob", "cid")
ALL_FOUR = [(1, 1), (1, 0), (0, 1), (0, 0)]
"""Scores of blocks of coins."""
SIX = {f"p{place}": 25.0 + place / 2.0 for place in range(6)}


def effect(*played: Counted) -> BlockEffect:
    found = fit_of({name for one in played for name in one.players}, played).effect
    assert found is not None
    return found


@pytest.mark.parametrize("correlation", [-0.99, -0.5, 0.3, 0.9, 0.99])
@pytest.mark.parametrize(("h", "k"), [(0.0, 0.0), (1.0, -0.5), (2.0, 2.0), (-3.0, 0.1), (0.5, 0.45)])
def test_the_chance_to_exceed_both_is_that_of_the_double_integral(correlation: float, h: float, k: float) -> None:
    """`joint_excess` agrees with the integral of the conditional chance by mpmath; at 0, 0 it is asin r / 2 pi."""
    root = math.sqrt(1.0 - correlation**2)
    both = mpmath.quad(
        lambda x: mpmath.npdf(x) * mpmath.ncdf((correlation * x - k) / root), [h, (h + k) / 2 + 1, h + 4, h + 12]
    )
    normal = NormalDist()

    found = float(joint_excess(np.array([[h]]), np.array([[k]]), np.array([correlation]))[0, 0])

    assert found == pytest.approx(float(both) - normal.cdf(-h) * normal.cdf(-k), abs=2e-6)
    if h == k == 0.0:
        assert found == pytest.approx(math.asin(correlation) / (2.0 * math.pi), abs=1e-12)


def test_the_effect_of_a_few_blocks_by_hand() -> None:
    """Block sums 2, 1, 1, 0 vary by 2/3, their matches by 1/3 and 1/3; one more degree of freedom changes nothing."""
    found = effect(blocks("ann", "bob", ALL_FOUR))

    assert found.degrees == 3
    assert (found.players, found.seats) == pytest.approx((1.0, 1.0))
    assert found.correlation == pytest.approx(0.0, abs=1e-9)


def test_blocks_in_which_the_luck_decides_vary_hardly_at_all() -> None:
    """If each block ends one to one, the variance is that of the added degree of freedom; that of seats is doubled."""
    found = effect(blocks("ann", "bob", [(number % 2, 1 - number % 2) for number in range(20)]))

    assert found.players == pytest.approx(1 / 20)
    assert found.seats == pytest.approx(2 - 1 / 20)
    assert found.correlation == pytest.approx(MOST_CORRELATED, abs=0.01)


def test_blocks_that_repeat_themselves_vary_twice() -> None:
    """If one player wins both matches of a block, the noise of players is shared, and that of seats is not."""
    found = effect(blocks("ann", "bob", [(number % 2, number % 2) for number in range(20)]))

    assert found.players == pytest.approx(2 - 1 / 20)
    assert found.seats == pytest.approx(1 / 20)
    assert found.correlation == pytest.approx(-MOST_CORRELATED, abs=0.01)


def test_the_correlation_between_equals_is_that_of_the_arc_sine() -> None:
    """Sheppard's formula: signs of normal variables agree by 2/pi asin r; of 1000 blocks 750 have one win each."""
    scores = [(1, 0), (0, 1)] * 375 + [(1, 1), (0, 0)] * 125

    found = effect(blocks("ann", "bob", scores))

    assert found.correlation == pytest.approx(math.sin(math.pi / 2 * 0.5), abs=0.01)


@pytest.mark.parametrize("scores", [[], [(1, 0)], [(1, 1)] * 2])
def test_what_tells_of_no_variance_gives_no_effect(scores: list[tuple[int, int]]) -> None:
    """No block, one block, and blocks that cannot vary have no effect."""
    assert fit_of(NAMES[:2], [blocks("ann", "bob", scores)]).effect is None


@pytest.mark.parametrize(
    ("luck", "form", "seats"),
    [(0.0, 0.0, 2), (0.9, 0.0, 2), (0.0, 0.6, 2), (0.8, 0.0, 3), (0.7, 0.0, 4), (0.0, 0.5, 3)],
)
def test_the_correlation_that_leagues_are_made_with_is_found(luck: float, form: float, seats: int) -> None:
    """The correlation of simulated leagues is estimated for any players and seats: above 0 for luck of the seat."""
    spread = {f"p{place}": 25.0 + 3.0 * place for place in range(5)}
    played = mirrored(
        spread, random.Random(1), per_pairing=120, first_seat=2.0, shared_luck=luck, shared_form=form, seats=seats
    )

    assert effect(*played).correlation == pytest.approx(luck - form, abs=0.09)


def test_an_incomplete_block_is_compared_with_its_like_only() -> None:
    """A block without one match is in its pairing, but not in the group of complete blocks."""
    whole = blocks("ann", "bob", ALL_FOUR * 5)
    half = Counted(NAMES[:2], {**whole.counts, "01--": 1})

    found, plain = effect(half), effect(whole)

    assert found.degrees == plain.degrees
    assert found.players == pytest.approx(plain.players, rel=1e-9)


def test_single_matches_are_independent() -> None:
    """Blocks of which only one match is there have no effect."""
    played = Counted(NAMES[:2], {"01--": 10, "10--": 5, "--01": 7, "--10": 9})

    found = fit_of(NAMES[:2], [played])

    assert found.effect is not None
    assert found.effect.correlation == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(("step", "luck", "seats"), [(0.5, 0.9, 2), (4.0, 0.95, 2), (2.0, 0.7, 3), (0.5, 0.0, 2)])
def test_drawing_blocks_agrees_with_the_errors(step: float, luck: float, seats: int) -> None:
    """A bootstrap over blocks has the same errors, for equal and for unequal players."""
    skills = {f"p{place}": 25.0 + step * place for place in range(5)}
    played = mirrored(skills, random.Random(2), per_pairing=150, shared_luck=luck, seats=seats)

    drawn = bootstrap(skills, played, seed=1, draws=250)
    found = fit_of(skills, played)

    centred = drawn - drawn.mean(axis=1, keepdims=True)
    assert [*deviations(found).values()] == pytest.approx(centred.std(axis=0).tolist(), rel=0.2)
    gaps = [(one, other) for one in range(5) for other in range(one)]
    ratios = [
        found.difference(f"p{one}", f"p{other}")[1] / (drawn[:, one] - drawn[:, other]).std() for one, other in gaps
    ]
    assert math.fsum(ratios) / len(ratios) == pytest.approx(1.0, abs=0.1)


@settings(max_examples=10)
@given(st.randoms(use_true_random=False))
def test_the_order_of_pairings_and_blocks_changes_no_byte(rng: random.Random) -> None:
    """The same fit for any order."""
    played = mirrored(SIX, random.Random(3), per_pairing=4, shared_luck=0.5)
    expected = repr(fit_of(SIX, played))
    turned = [one._replace(counts=dict(rng.sample([*one.counts.items()], k=len(one.counts)))) for one in played]
    rng.shuffle(turned)

    assert repr(fit_of(SIX, turned)) == expected


def test_the_work_does_not_explode_with_the_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of ten seats has 81 times as many pairs of rows as one of five, and takes few of them one by one."""
    done: dict[int, int] = dict.fromkeys((5, 10), 0)

    def counted(h: Floats, k: Floats, noise: Floats) -> Floats:
        done[seats] += h.size
        return joint_excess(h, k, noise)

    monkeypatch.setattr(block_correlation, "joint_excess", counted)
    for seats in done:
        skills = {f"p{place}": 25.0 + place for place in range(seats)}
        fit_of(skills, mirrored(skills, random.Random(1), per_pairing=8, seats=seats, shared_luck=0.5))

    assert done[10] < 10 * done[5]
