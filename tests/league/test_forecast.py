"""The difference that a league can show, against what its leaderboard will say."""

import math
import random
from fractions import Fraction

import pytest
from support.made_matches import match_result, tournament

from arena.league.forecast import LeagueSample, SampledMatch, shown_difference
from arena.match.results import MatchKey, MatchResult
from arena.statistics.elo import elo_of


def block(names: tuple[str, str], number: int, wins: int) -> list[MatchResult]:
    """Return two matches, of which the first of the names wins so many."""
    first, second = names
    results = []
    for rotation, seated in enumerate([(first, second), (second, first)]):
        winner = first if rotation < wins else second
        scores = tuple(Fraction(int(name == winner)) for name in seated)
        results.append(match_result(MatchKey("0123456789ab", number, rotation), seated, scores))
    return results


def test_two_players_need_twice_the_error_of_one() -> None:
    """Their scores add up to 1, so the difference is twice that of one score from a half; its Elo is the usual one."""
    drawn = random.Random(5)
    results = [one for number in range(400) for one in block(("ann", "bob"), number, drawn.choice((0, 1, 2)))]

    found = shown_difference(tournament("ann", "bob", cycles=400), results)

    spread = math.sqrt(2 / 3 * 0.25)  # of a block: 0, 1/2 or 1, equally often
    assert found.is_measured
    assert found.blocks == 400
    assert found.points == pytest.approx(100 * 2 * 1.966 * spread / math.sqrt(400), rel=0.06)
    assert found.elo == pytest.approx(elo_of(0.5 + found.points / 200))


def test_many_players_have_nearly_independent_scores() -> None:
    """Each player has the blocks against all others; without a sample, results by chance are assumed."""
    names = [f"p{number}" for number in range(20)]

    found = shown_difference(tournament(*names, cycles=10), [])

    assert found.blocks == 190
    assert not found.is_measured
    error = math.sqrt(2 * 0.125 / 190 * 20 / 19)
    assert found.points == pytest.approx(100 * 1.9726 * error, rel=0.05)


def test_four_times_the_blocks_show_half_the_difference() -> None:
    """The last sentence of a forecast says so."""
    few, many = (shown_difference(tournament("ann", "bob", cycles=cycles), []).points for cycles in (100, 400))

    assert few / many == pytest.approx(2, rel=0.05)


def test_blocks_that_are_all_equal_prove_nothing() -> None:
    """A bound takes the place of an error of 0, and a single block gives no estimate."""
    same = [one for number in range(50) for one in block(("ann", "bob"), number, 1)]

    assert shown_difference(tournament("ann", "bob", cycles=50), same).points > 1
    alone = shown_difference(tournament("ann", "bob", cycles=1), same[:2])
    assert (alone.is_measured, alone.points > 90) == (False, True)


def test_each_pairing_has_the_same_weight() -> None:
    """A slow pairing has few matches in a sample, but as many as others in the league."""
    quick, slow = block(("ann", "bob"), 0, 1)[0], block(("ann", "cid"), 0, 1)[0]
    timed = [
        SampledMatch("quick", 0.1, with_pairing(quick, "quick"), is_start=True),
        *[SampledMatch("quick", 0.1, with_pairing(quick, "quick"))] * 8,
        SampledMatch("slow", 1.7, with_pairing(slow, "slow"), is_start=True),
        SampledMatch("slow", 0.2, None),
    ]

    sample = LeagueSample(tuple(timed), 3.0, ())

    assert sample.seconds == pytest.approx({"quick": 0.1, "slow": 1.9})
    assert sample.mean_s == pytest.approx(1.0)
    assert len(sample.results) == 10
    assert LeagueSample((), 3.0, ()).mean_s is None


def test_a_start_counts_as_often_as_the_league_starts_bots() -> None:
    """Two starts of 0.5 s more, with the ends of the bots, in 8 matches; in the league each serves 20 blocks."""
    one = block(("ann", "bob"), 0, 1)[0]
    start, more = (SampledMatch("pair", seconds, one, seconds > 0.1, 20) for seconds in (0.6, 0.1))
    sample = LeagueSample((start, more, more, more, start, more, more, more, SampledMatch("pair", 0.0, None)), 3.0, ())

    assert sample.seconds == pytest.approx({"pair": 0.1 + 0.5 / 20})


def with_pairing(one: MatchResult, pairing: str) -> MatchResult:
    return match_result(one.key._replace(pairing=pairing), one.players, one.scores or ())
