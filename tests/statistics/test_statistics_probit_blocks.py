"""Blocks: how much less than independent matches they vary, and leagues drawn anew from them."""

import math
import random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statistics_leagues import course, mirrored, table_of

from arena.statistics.blocks import Block, DesignEffect, Played, blocks, design_effect
from arena.statistics.bootstrap import bootstrap
from arena.statistics.probit import fit

NAMES = ("ann", "bob", "cid")
SIX = {f"p{place}": 25.0 + place / 2.0 for place in range(6)}


def effect(played: tuple[Block, ...]) -> DesignEffect:
    found = design_effect(played)
    assert found is not None
    return found


def test_blocks_are_gathered_in_any_order() -> None:
    """Matches come in any order; blocks come sorted, with their matches sorted."""
    matches = [
        Played(1, 0, ("bob", "ann"), (1, 0)),
        Played(0, 1, ("ann", "cid"), (0, 1)),
        Played(1, 0, NAMES[:2], (0, 1)),
    ]

    found = blocks(matches)

    assert found == (
        Block(0, 1, ((("ann", "bob"), (0, 1)), (("bob", "ann"), (1, 0)))),
        Block(1, 0, ((("ann", "cid"), (0, 1)),)),
    )
    assert blocks(reversed(matches)) == found


def test_a_block_has_one_pairing() -> None:
    """The same number in two pairings is refused."""
    with pytest.raises(ValueError, match="block 0 belongs to pairing 1 and to 2"):
        blocks([Played(0, 1, NAMES[:2], (0, 1)), Played(0, 2, NAMES[:2], (0, 1))])


def test_the_design_effect_of_a_few_blocks_by_hand() -> None:
    """Block sums 2, 1, 1, 0 vary by 2/3, their matches by 1/3 and 1/3; one more degree of freedom changes nothing."""
    played = [course(0, number, "ann", "bob", scores) for number, scores in enumerate([(1, 1), (1, 0), (0, 1), (0, 0)])]

    found = effect(tuple(played))

    assert found.degrees == 3
    assert (found.players, found.seats) == pytest.approx((1.0, 1.0))


def test_blocks_in_which_the_luck_decides_vary_hardly_at_all() -> None:
    """Always one win each: all that is left is the one degree of freedom of independent matches; seats vary twice."""
    played = [course(0, number, "ann", "bob", (number % 2, 1 - number % 2)) for number in range(20)]

    found = effect(tuple(played))

    assert found.players == pytest.approx(1 / 20)
    assert found.seats == pytest.approx(2 - 1 / 20)


@pytest.mark.parametrize(
    "played", [[], [course(0, 0, "ann", "bob", (1, 0))], [course(0, n, "ann", "bob", (1, 1)) for n in (0, 1)]]
)
def test_what_tells_of_no_variance_gives_no_design_effect(played: list[Block]) -> None:
    """No block, one block, or blocks without any chance in them."""
    assert design_effect(played) is None


def test_a_difference_in_skill_or_seats_is_no_design_effect() -> None:
    """Independent matches have an effect of 1, however unequal players and seats are; shared luck lessens it."""
    independent = mirrored(SIX, random.Random(1), per_pairing=150, first_seat=3.0)
    lucky = mirrored(SIX, random.Random(1), per_pairing=150, shared_luck=0.9)

    assert (effect(independent).players, effect(independent).seats) == pytest.approx((1.0, 1.0), abs=0.06)
    assert effect(lucky).players < 0.45
    assert effect(lucky).seats > 1.55


def test_a_seating_that_a_block_has_twice_counts_twice() -> None:
    """Four independent matches in two seatings have an effect of 1 like any others."""
    rng = random.Random(9)
    played = []
    for number in range(3000):
        for seats in (("ann", "bob"), ("bob", "ann")) * 2:
            won = rng.random() < (0.8 if seats[0] == "ann" else 0.5)
            played.append(Played(number, 0, seats, (0, 1) if won else (1, 0)))

    assert effect(blocks(played)).players == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize(("seats", "expected"), [(3, 8 / 9), (4, 5 / 6)])
def test_the_comparisons_of_one_match_hang_together_as_they_do_in_random_orders(seats: int, expected: float) -> None:
    """In a random order of n the variance of one player's wins is (n^2 - 1) / 12, and not (n - 1) / 4."""
    rng = random.Random(8)
    field = ("ann", "bob", "cid", "dot")[:seats]
    played = [Played(number, 0, field, tuple(rng.sample(range(seats), seats))) for number in range(4000)]

    found = effect(blocks(played))

    assert expected == pytest.approx(2 / seats * (seats**2 - 1) / 12 / ((seats - 1) / 4))
    assert (found.players, found.seats) == pytest.approx((expected, expected), abs=0.02)


def test_an_incomplete_block_is_compared_with_its_like_only() -> None:
    """A block that lost a match belongs to the same pairing, but its sum is of another size."""
    whole = [course(0, number, "ann", "bob", scores) for number, scores in enumerate([(1, 1), (1, 0), (0, 1), (0, 0)])]
    half = Block(0, 9, ((("ann", "bob"), (0, 1)),))

    assert effect((*whole, half)) == effect(tuple(whole))


def test_drawing_blocks_agrees_with_the_design_effect() -> None:
    """Two roads to the errors of mirrored matches, both far below those of independent ones."""
    played = mirrored(SIX, random.Random(2), per_pairing=60, shared_luck=0.9)

    drawn = bootstrap(SIX, played, seed=1, draws=400)
    scaled = fit(table_of(played), inflation=effect(played).players)

    widths = [interval.deviation for interval in drawn.intervals]
    assert all(i.high - i.low == pytest.approx(2 * 1.96 * i.deviation, rel=0.15) for i in drawn.intervals)
    assert sum(widths) / 6 == pytest.approx(sum(scaled.deviations) / 6, rel=0.1)
    assert all(i.low < m < i.high for i, m in zip(drawn.intervals, scaled.means, strict=True))
    assert drawn.likelihood_better("p5", "p0") == pytest.approx(scaled.likelihood_better("p5", "p0"), abs=0.01)


@settings(max_examples=10, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_blocks_changes_nothing_drawn_from_them(rng: random.Random) -> None:
    """The same seed gives exactly the same intervals for any order."""
    played = list(mirrored(SIX, random.Random(3), per_pairing=4))
    expected = bootstrap(SIX, played, seed=5, draws=20)
    rng.shuffle(played)

    assert bootstrap(SIX, played, seed=5, draws=20) == expected


def test_two_blocks_per_pairing_give_errors_of_the_right_size() -> None:
    """N of N blocks drawn would halve the variance here: the errors are those seen between leagues."""
    means, widths = [], []
    for league in range(40):
        played = mirrored(SIX, random.Random(league), per_pairing=2)
        means.append(fit(table_of(played)).mean("p2"))
        widths.append(bootstrap(SIX, played, seed=league, draws=60).intervals[2].deviation)

    centre = sum(means) / 40
    spread = math.sqrt(sum((mean - centre) ** 2 for mean in means) / 39)
    assert math.sqrt(sum(width**2 for width in widths) / 40) == pytest.approx(spread, rel=0.25)


def test_blocks_that_all_went_alike_are_drawn_as_they_were() -> None:
    """Whichever are drawn, they weigh as much as all that were played: every league is the one there was."""
    played = [course(0, number, "ann", "bob", (1, 1)) for number in range(3)]

    found = bootstrap(NAMES[:2], played, seed=1, draws=20)

    mean = fit(table_of(played)).mean("ann")
    assert (found.intervals[0].low, found.intervals[0].high) == pytest.approx((mean, mean))


def test_single_blocks_are_drawn_from_all_pairings_together() -> None:
    """One block per pairing still gives an interval; a lone one cannot, and says so."""
    played = mirrored(SIX, random.Random(4), per_pairing=1)

    many = bootstrap(SIX, played, seed=1, draws=50)
    lone = bootstrap(NAMES, [course(0, 0, "ann", "bob", (1, 1))], seed=1, draws=50)

    assert all(interval.high - interval.low > 1.0 for interval in many.intervals)
    assert not many.lone
    assert lone.lone
    assert lone.intervals[0].deviation == pytest.approx(0.0, abs=1e-12)


def test_nobody_is_better_where_nothing_connects() -> None:
    """Undefined between groups, a finite share within, a half against oneself."""
    played = [course(0, number, "ann", "bob", (1, number % 2)) for number in range(6)]

    found = bootstrap(NAMES, played, seed=1, draws=50)

    assert found.likelihood_better("ann", "cid") is None
    assert found.likelihood_better("ann", "ann") == 0.5
    better = found.likelihood_better("ann", "bob")
    assert better is not None
    assert 0.9 < better < 1.0


@pytest.mark.parametrize("players", [(), ("ann",), NAMES])
def test_nothing_played_gives_intervals_of_no_width(players: tuple[str, ...]) -> None:
    """There is nothing to draw from; nothing is undefined."""
    found = bootstrap(players, [], seed=1, draws=3)

    assert [(interval.low, interval.high) for interval in found.intervals] == [(25.0, 25.0)] * len(players)


def test_no_draws_are_refused() -> None:
    """At least one league must be drawn."""
    with pytest.raises(ValueError, match="draws: expected 1 or more"):
        bootstrap(NAMES, [], seed=1, draws=0)


def test_a_thousand_leagues_of_12_are_drawn_in_seconds() -> None:
    """The whole point of the batch: 6600 matches, 1000 fits, well under 5 s of a processor."""
    played = mirrored({f"p{place:02}": 25.0 + place / 4.0 for place in range(12)}, random.Random(6), per_pairing=50)
    begun = process_time()

    bootstrap({player for block in played for seats, _ in block.results for player in seats}, played, seed=1)

    assert process_time() - begun < 5.0
