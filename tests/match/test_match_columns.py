"""Columns of a match: nothing is lost on the way to a store, and what no match can have is refused."""

import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec.structs import replace
from support.made_matches import RECORD, match_result
from support.profile_made import matches

from arena.match.columns import PlayedBlock, columns_of, result_from
from arena.match.results import MatchKey, MatchResult, PlayedMatch

KEY = MatchKey("aaaa", 3, 1)
DRAW = match_result(KEY, ("ann", "bob"), (4, 4))


@settings(max_examples=300)
@given(matches())
def test_a_result_comes_back_from_its_columns(found: MatchResult) -> None:
    """Forfeits, pardons, ties, fractions, of 2 to 4 seats, in any rotation, also from another process."""
    one = found if any(found.pardoned) else replace(found, pardoned=())
    block = PlayedBlock.of([PlayedMatch(one, RECORD)])

    assert pickle.loads(pickle.dumps(block)).matches == (PlayedMatch(one, RECORD),)
    assert block.forfeits == (one.at_fault is not None)


def test_a_block_has_its_matches_in_their_order() -> None:
    """With the places of its pairing, whoever sat where."""
    first = match_result(MatchKey("aaaa", 3, 0), ("bob", "ann"), (7, 2))
    second = match_result(KEY, ("ann", "bob"), at_fault=0)

    block = PlayedBlock.of([PlayedMatch(first, RECORD), PlayedMatch(second, RECORD)])

    assert (block.pairing, block.block, block.players, block.forfeits) == ("aaaa", 3, ("bob", "ann"), 1)
    assert [one.result for one in block.matches] == [first, second]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"ranks": "01"}, "do not fit its ranks"),
        ({"score_unit": 0}, "parts of 1 / 0"),
        ({"isolation": 3}, "no text"),
        ({"seats": ((1, 4, 0, None, 3, 6000, 4000, 0, 0, -1),) * 2}, "below 0"),
        ({"seats": ((1, 4, 0, None, 3, 6000, 4000, 0, 0, 0.5),) * 2}, "no whole number"),
        ({"pardons": ((2, "timeout", 1),)}, "place 2 of 2"),
    ],
)
def test_columns_that_are_none_of_a_match_are_refused(changes: dict[str, Any], told: str) -> None:
    """By a sentence, whichever column it is."""
    with pytest.raises((ValueError, TypeError), match=told):
        result_from(KEY, ("bob", "ann"), columns_of(DRAW)._replace(**changes))


def test_a_rotation_beyond_the_players_is_refused() -> None:
    """It would wrap around and name others."""
    with pytest.raises(ValueError, match="rotation is none of the pairing"):
        result_from(KEY._replace(rotation=2), ("bob", "ann"), columns_of(DRAW))
