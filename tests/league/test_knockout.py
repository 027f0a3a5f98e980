"""Knockout: the bracket, ties that are level, byes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.golden import Golden
from support.league_events import Event, better

from arena.league.schedules.knockout import knockout

NAMES = [f"p{number:02}" for number in range(33)]


def test_a_known_bracket() -> None:
    """Eight seeds meet as 1-8, 4-5, 2-7, 3-6; then the seeds win, and the two best play the final."""
    event = Event(knockout(NAMES[:8], 1, 1))

    assert [plan.tables for plan in event.plans] == [
        (("p00", "p07"), ("p03", "p04"), ("p01", "p06"), ("p02", "p05")),
        (("p00", "p03"), ("p01", "p02")),
        (("p00", "p01"),),
    ]
    assert [plan.title for plan in event.plans] == ["quarter-finals", "semi-finals", "final"]
    assert event.news == ("final: p00 beats p01 2:0", "p00 wins the knockout")


@given(count=st.integers(2, 33), blocks=st.integers(1, 3))
def test_the_best_wins_whatever_the_number(count: int, blocks: int) -> None:
    """There is one tie less than players; byes are for the best seeds, in the first round only."""
    event = Event(knockout(NAMES[:count], blocks, 9))

    assert sum(len(plan.tables) for plan in event.plans) == count - 1
    assert event.news[-1] == "p00 wins the knockout"
    byes = 2 ** (count - 1).bit_length() - count
    told = [
        sentence.removeprefix("byes in the first round: ") for sentence in event.told if sentence.startswith("byes")
    ]
    assert [sorted(names.split(", ")) for names in told] == [NAMES[:byes]] * bool(byes)


def test_a_level_tie_is_played_on(golden: Golden) -> None:
    """Three blocks are level, the fourth decides for the worse seed: only that tie is played on."""

    def winner(one: str, other: str, block: int) -> str | None:
        if {one, other} == {"p00", "p03"}:
            return "p03" if block == 3 else None
        return better(one, other, block)

    event = Event(knockout(NAMES[:4], 2, 9), winner)

    assert [(plan.title, plan.tables, plan.blocks) for plan in event.plans] == [
        ("semi-finals", (("p00", "p03"), ("p01", "p02")), 2),
        ("semi-finals, 1 tie still level", (("p00", "p03"),), 1),
        ("semi-finals, 1 tie still level", (("p00", "p03"),), 1),
        ("final", (("p03", "p01"),), 2),
    ]
    golden(event.told)


@pytest.mark.parametrize("blocks", [1, 2])
def test_the_better_seed_goes_on_at_the_cap(blocks: int) -> None:
    """All matches are drawn: never more than the cap, and it is said how it was decided."""
    event = Event(knockout(["b", "a"], blocks, 4), lambda *_: None)

    assert event.blocks("a", "b") == 4
    assert event.told == ["final: b beats a 4:4, level at the cap, as the better seed", "b wins the knockout"]
