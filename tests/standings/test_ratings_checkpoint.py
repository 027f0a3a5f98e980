"""Checkpoints: ratings that go on from one are equal to the last bit to those from the start."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.standings.checkpoint import Checkpoint, rated
from arena.standings.outcomes import Played, in_schedule_order, orders
from arena.standings.ratings import RatingSettings, rate

NAMES = ("ann", "bob", "cid", "dot")
TABLES: dict[int, list[tuple[str, ...]]] = {
    2: [("ann", "bob"), ("ann", "cid"), ("bob", "dot")],
    3: [("ann", "bob", "cid"), ("dot", "ann", "bob")],
}
SETTINGS = RatingSettings()


def stored(checkpoints: tuple[Checkpoint, ...]) -> list[Checkpoint]:
    """As they come back from the disk."""
    return msgspec.json.decode(msgspec.json.encode(checkpoints), type=list[Checkpoint])


@st.composite
def growing(draw: st.DrawFn) -> list[list[Played]]:
    """A league at several times: matches are added in any order, none ever changes."""
    seats = draw(st.sampled_from((2, 2, 3)))
    cells = st.integers(1, len(orders(seats)))
    whole = [bytes(draw(st.lists(cells, min_size=4 * seats, max_size=4 * seats))) for _ in TABLES[seats]]
    missing = [(pairing, block) for pairing in range(len(whole)) for block in range(4)]
    times = []
    while missing:
        for _ in range(draw(st.integers(1, 5))):
            if missing:
                missing.remove(draw(st.sampled_from(missing)))
        courses = [bytearray(codes) for codes in whole]
        for pairing, block in missing:
            courses[pairing][block * seats : (block + 1) * seats] = bytes(seats)
        times.append([(places, bytes(c).rstrip(b"\0")) for places, c in zip(TABLES[seats], courses, strict=True)])
        times[-1] = [(places, codes.ljust(-(-len(codes) // seats) * seats, b"\0")) for places, codes in times[-1]]
    return times


@settings(max_examples=60, deadline=None)
@given(growing())
def test_ratings_go_on_to_the_last_bit(times: list[list[Played]]) -> None:
    """Whatever is stored when, gaps or none: with the checkpoints of the time before, as without any."""
    kept: list[Checkpoint] = []
    for pairings in times:
        ratings, found = rated(NAMES, pairings, SETTINGS, kept)

        assert ratings == rate(NAMES, in_schedule_order(pairings), SETTINGS)
        kept = stored(found)
        assert rated(NAMES, pairings, SETTINGS, kept) == (ratings, found)


def folded(pairings: list[Played], kept: list[Checkpoint], chosen: RatingSettings = SETTINGS) -> bool:
    """Whether a checkpoint was used: told by one whose beliefs are wrong."""
    wrong = [msgspec.structs.replace(one, beliefs=dict.fromkeys(one.beliefs, (99.0, 1.0))) for one in kept]
    return rated(NAMES, pairings, chosen, wrong)[0] == rated(NAMES, pairings, chosen)[0]


FULL: list[Played] = [(("ann", "bob"), b"\2\3" * 5), (("ann", "cid"), b"\2\2" * 5)]


@pytest.mark.parametrize(
    ("pairings", "chosen", "is_folded"),
    [
        (FULL, SETTINGS, False),
        ([(places, codes + b"\3\3") for places, codes in FULL], SETTINGS, False),
        (FULL, RatingSettings(anchor="ann"), False),
        (FULL, RatingSettings(tau=0.1), True),
        (FULL, RatingSettings(draw_probability=0.1), True),
        (FULL, RatingSettings(mu=0.0), True),
        ([(places, codes[:-2]) for places, codes in FULL], SETTINGS, True),
        ([(places, b"\3" + codes[1:]) for places, codes in FULL], SETTINGS, True),
        (FULL[::-1], SETTINGS, True),
        ([(("ann", "bob"), FULL[0][1]), (("ann", "dot"), FULL[1][1])], SETTINGS, True),
        ([*FULL, (("cid", "dot"), b"\1\1")], SETTINGS, True),
    ],
)
def test_what_does_not_fit_is_left_aside(pairings: list[Played], chosen: RatingSettings, is_folded: bool) -> None:
    """More matches behind it, or another anchor, leave a checkpoint what it was; everything else makes it worthless."""
    _, kept = rated(NAMES, FULL, SETTINGS)

    assert folded(pairings, list(kept), chosen) == is_folded


def test_another_player_makes_it_worthless() -> None:
    """A newcomer is not in the beliefs."""
    _, kept = rated(NAMES[:3], FULL, SETTINGS)

    found, _ = rated(NAMES, FULL, SETTINGS, kept)

    assert found == rate(NAMES, in_schedule_order(FULL), SETTINGS)


def test_one_is_kept_before_the_first_gap_and_one_at_the_end() -> None:
    """What comes into the gap leaves the first of them whole."""
    gap: Any = [FULL[0], (("ann", "cid"), b"\2\2\0\0\2\2\2\2\2\2")]

    _, kept = rated(NAMES, gap, SETTINGS)

    assert [one.block for one in kept] == [1, 5]
    assert not folded(FULL, [kept[0]])
    assert folded(FULL, [kept[1]])


def test_a_league_that_has_not_begun_has_none() -> None:
    """And everybody is a newcomer."""
    ratings, kept = rated(NAMES, [(("ann", "bob"), b"")], SETTINGS)

    assert (ratings, kept) == (rate(NAMES, [], SETTINGS), ())
    assert rated((), [], SETTINGS) == ({}, ())
