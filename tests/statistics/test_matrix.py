"""Head to head: cells by hand, cycles that are there and that are not, and the chi-squared test of all cells."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.golden import Golden
from support.statistics_leagues import Counted, blocks, fit_of, mirrored, names_in

from arena.statistics.comparisons import table_of
from arena.statistics.distributions import chi_square_tail
from arena.statistics.matrix import Matrix, head_to_head


def compared(*played: Counted) -> Matrix:
    return head_to_head(fit_of(names_in(played), played))


def beats(winner: str, loser: str, *, count: int) -> Counted:
    """Return `blocks` mirrored blocks of which `winner` wins three matches in four."""
    return blocks(winner, loser, [(1, number % 2) for number in range(count)])


@settings(max_examples=100)
@given(st.floats(0.0, 2000.0), st.integers(1, 200))
def test_the_tail_with_an_even_number_of_degrees_is_a_sum_of_poisson(statistic: float, half: int) -> None:
    """Both expansions agree with Q(k, x) = exp(-x) (1 + x + ... + x^(k-1) / (k-1)!)."""
    x = statistic / 2.0
    expected = math.fsum(
        math.exp(k * math.log(x) - x - math.lgamma(k + 1)) if x else float(k == 0) for k in range(half)
    )

    assert chi_square_tail(statistic, 2 * half) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("statistic", "expected"), [(0.0, 1.0), (-1.0, 1.0), (5e-324, 1.0), (1e9, 0.0), (math.inf, 0.0)]
)
def test_the_tail_has_its_ends(statistic: float, expected: float) -> None:
    """The tail is 1 at and below 0, and 0 at infinity."""
    assert chi_square_tail(statistic, 3) == expected


@pytest.mark.parametrize(("statistic", "degrees"), [(1.0, 0), (math.nan, 1)])
def test_a_tail_without_degrees_of_freedom_is_refused(statistic: float, degrees: int, golden: Golden) -> None:
    """A tail without degrees of freedom raises ValueError."""
    with golden.raises(ValueError):
        chi_square_tail(statistic, degrees)


def test_a_cell_counts_and_is_seen_from_both_sides() -> None:
    """A cell of nine wins to three has the right counts, score and signs, and so has its mirror."""
    found = compared(beats("ann", "bob", count=6))

    cell, mirror = found.cell("ann", "bob"), found.cell("bob", "ann")
    assert cell is not None
    assert mirror is not None
    assert (cell.matches, cell.blocks, cell.wins, cell.draws, cell.losses, cell.score) == (12, 6, 9, 0, 3, 0.75)
    assert (mirror.wins, mirror.losses, mirror.score) == (3, 9, 0.25)
    assert (mirror.expected, mirror.z) == pytest.approx((1 - cell.expected, -cell.z))
    assert mirror.mirror() == cell
    assert found.cell("ann", "zoe") is None


def test_two_players_alone_are_always_as_expected() -> None:
    """One difference in skill explains one score: z is the effect of the prior, and no degree of freedom is left."""
    found = compared(beats("ann", "bob", count=100))

    (cell,) = found.cells
    assert cell.expected == pytest.approx(0.75, abs=0.003)
    assert abs(cell.z) < 0.1
    assert (found.intransitivity.degrees, found.intransitivity.p) == (0, None)


def test_the_error_of_a_cell_follows_its_blocks() -> None:
    """Luck shared by the two matches of a block narrows the error of an even score below that of coins."""
    even = blocks("ann", "bob", [(number % 2, 1 - number % 2) for number in range(200)])
    coins = blocks("ann", "bob", [(number & 1, number >> 1 & 1) for number in range(200)])

    (lucky,), (plain,) = compared(even).cells, compared(coins).cells

    assert plain.error == pytest.approx(0.5 / math.sqrt(400), rel=0.03)
    assert lucky.error < plain.error / 4


def test_a_small_lead_is_sure_where_luck_is_shared() -> None:
    """204 to 196 is chance in independent matches, and significant where all blocks but 4 are even."""
    scores = [(number % 2, 1 - number % 2) for number in range(196)] + [(1, 1)] * 4

    (cell,) = compared(blocks("ann", "bob", scores)).cells

    assert (cell.wins, cell.losses) == (204, 196)
    assert cell.likelihood_better > 0.95


def test_the_expected_score_knows_the_seats() -> None:
    """Where the first seat wins three in four, a player always in that seat is expected to do so."""
    courses = [(1, 0), (1, 0), (1, 1), (0, 0)] * 25
    played = [blocks(one, "cid", courses) for one in ("ann", "bob")]
    played.append(Counted(("ann", "bob"), {"01--": 5}))

    cell = compared(*played).cell("ann", "bob")

    assert cell is not None
    assert 0.7 < cell.expected < 0.85


def test_a_circle_is_found_and_is_no_accident() -> None:
    """Three who beat each other in a circle three times in four are one cycle, listed once, with a tiny p."""
    steps = [("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")]

    found = compared(*(beats(winner, loser, count=40) for winner, loser in steps))

    assert found.cycles == (("paper", "rock", "scissors"),)
    assert found.cycles_found == 1
    assert found.cycles_by_chance == pytest.approx(2 * 0.05**3)
    assert found.intransitivity.degrees == 1
    assert found.intransitivity.p is not None
    assert found.intransitivity.p < 1e-6


def test_the_list_of_cycles_is_capped_and_their_number_is_not() -> None:
    """Seven players in a circle, each beating the next three, make 14 cycles, of which the first are listed."""
    names = [f"p{place}" for place in range(7)]
    steps = [(one, (one + by) % 7) for one in range(7) for by in (1, 2, 3)]
    played = [beats(names[i], names[j], count=30) for i, j in steps]
    fitted = fit_of(names, played)

    whole, capped = head_to_head(fitted), head_to_head(fitted, most_cycles=5)

    assert (len(whole.cycles), whole.cycles_found) == (14, 14)
    assert len(set(whole.cycles)) == 14
    assert (len(capped.cycles), capped.cycles_found) == (5, 14)
    assert whole.cycles_by_chance == pytest.approx(2 * math.comb(7, 3) * 0.05**3)


@pytest.mark.slow
def test_honest_leagues_rarely_look_intransitive() -> None:
    """Of 60 leagues with a skill per player, few have p < 5 % (3 expected), and X^2 is about its degrees of freedom."""
    found = []
    for league in range(60):
        rng = random.Random(league)
        skills = {f"p{place}": rng.gauss(25.0, 2.0) for place in range(8)}
        played = mirrored(skills, rng, per_pairing=20, first_seat=1.0, shared_luck=0.5)
        found.append(compared(*played).intransitivity)

    assert {one.degrees for one in found} == {21}
    assert sum(one.chi_square for one in found) / 60 == pytest.approx(21.0, rel=0.12)
    assert sum(one.p is not None and one.p < 0.05 for one in found) <= 8


def test_more_than_two_seats_have_cells_but_no_p() -> None:
    """The comparisons of one match are not independent, so their sum of squares has no known distribution."""
    found = compared(Counted(("ann", "bob", "cid", "dot"), {"0123" * 3 + "----": 5}))

    assert len(found.cells) == 6
    assert found.intransitivity.degrees == 3
    assert found.intransitivity.p is None


def test_groups_that_never_met_keep_their_own_degrees_of_freedom() -> None:
    """Two separate circles of three have one degree of freedom each."""
    played: list[Counted] = []
    for first in ("a", "b"):
        for i, j in [(1, 2), (2, 3), (1, 3)]:
            played.append(beats(f"{first}{i}", f"{first}{j}", count=4))

    assert compared(*played).intransitivity.degrees == 2


@pytest.mark.parametrize("played", [[], [beats("ann", "bob", count=1)], [blocks("ann", "bob", [(1, 1)] * 300)]])
def test_small_and_lopsided_matrices_stay_finite(played: list[Counted]) -> None:
    """No block, one block, and 600 matches without a loss give finite cells."""
    names = ("ann", "bob", "cid")
    fitted = fit_of(names, played)

    found = head_to_head(fitted)

    values = [x for cell in found.cells for x in (cell.expected, cell.error, cell.z, cell.likelihood_better)]
    assert all(map(math.isfinite, [found.intransitivity.chi_square, *values]))
    assert found.cycles == ()


def test_an_upset_against_all_odds_stays_finite() -> None:
    """Where the chance of what happened underflows, z is huge and still a number."""
    names = [f"p{place}" for place in range(9)]
    chain = [(names[i], names[i + 1]) for i in range(8)]
    played = [blocks(*pair, [(1, 1)] * 300) for pair in chain]
    upset = blocks(names[-1], names[0], [(1, 1)])
    fitted = fit_of(names, played)

    found = head_to_head(replace(fitted, table=table_of(names, [*played, upset])))

    cell = found.cell(names[-1], names[0])
    assert cell is not None
    assert math.isfinite(cell.z)
    assert cell.z > 10.0
    assert found.intransitivity.p == pytest.approx(0.0, abs=1e-12)
