"""Skills that follow from a growing number of results."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.statistics.comparisons import table_of
from arena.statistics.model import ProbitSettings
from arena.statistics.pairs import Counted
from arena.statistics.probit import GrowingSkills, fit

NAMES = ("ann", "bob", "cid", "dot")
PAIRS = [(one, other) for one in NAMES for other in NAMES if one < other]
COURSES = ("0110", "1001", "0101", "1010", "0000", "0001", "0100")


def played(random: Random, pairs: list[tuple[str, str]]) -> list[Counted]:
    """Blocks of these pairs."""
    return [Counted(pair, Counter(random.choices(COURSES, k=5))) for pair in pairs]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), rounds=st.integers(1, 6))
def test_after_each_round_the_skills_are_those_of_a_fit_from_scratch(seed: int, rounds: int) -> None:
    """To the ninth decimal, by which ranks go."""
    random = Random(seed)
    chosen = ProbitSettings(draw_probability=0.3, seat_sigma=4.0)
    whole = played(random, PAIRS)
    grown = GrowingSkills(table_of(NAMES, whole), chosen)
    for _ in range(rounds):
        new = played(random, random.sample(PAIRS, k=3))
        whole += new
        grown.add(table_of(NAMES, new))

        scratch, found = fit(NAMES, whole, chosen), grown.means()

        middle = sum(found.values()) / len(found)
        assert [found[name] - middle + 25.0 for name in NAMES] == pytest.approx(scratch.means, abs=1e-10)


def test_who_did_not_meet_in_the_first_round_is_refused() -> None:
    """Rather than counted nowhere."""
    grown = GrowingSkills(table_of(NAMES, [Counted(("ann", "bob"), {"0110": 1})]), ProbitSettings())

    with pytest.raises(KeyError):
        grown.add(table_of(NAMES, [Counted(("ann", "cid"), {"0110": 1})]))
