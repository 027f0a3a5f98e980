"""Packed blocks: nothing is lost on the way to a store, and what no match can have is refused."""

import pickle
from typing import Any

import msgspec
import pytest
from hypothesis import given
from msgspec.structs import replace
from support.made_matches import RECORD, match_result
from support.profile_made import matches

from arena.match.columns import PlayedBlock, pack_blocks
from arena.match.results import MatchKey, MatchResult

FIRST = match_result(MatchKey("aaaa", 3, 0), ("bob", "ann"), (7, 2))
SECOND = match_result(MatchKey("aaaa", 3, 1), ("ann", "bob"), at_fault=0)


@given(matches())
def test_a_result_comes_back_from_its_block(found: MatchResult) -> None:
    """Forfeits, pardons, ties and fractions of 2 to 4 seats come back in any rotation, also from another machine."""
    found = replace(found, record=RECORD)
    block = next(pack_blocks([found]))

    assert pickle.loads(pickle.dumps(block)).results == (found,)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(block), type=PlayedBlock) == block
    assert (block.matches, block.forfeits) == (1, found.at_fault is not None)


def test_a_block_has_its_matches_in_their_order() -> None:
    """The places are those of the pairing, whoever sat where."""
    block = next(pack_blocks([SECOND, FIRST]))

    assert (block.pairing, block.block, block.players, block.forfeits) == ("aaaa", 3, ("bob", "ann"), 1)
    assert block.results == (FIRST, SECOND)


@pytest.mark.parametrize(
    "changes",
    [
        {"ranks": "0110-"},
        {"ranks": "01--"},
        {"ranks": "0202"},
        {"ends": "[]"},
        {"ends": "[null,5]"},
        {"numbers": bytes(7)},
        {"numbers": b"\xff" * 128},
        {"players": ("bob", "ann", "cid")},
    ],
)
def test_a_block_that_cannot_be_is_refused(changes: dict[str, Any]) -> None:
    """A wrong value in any column is an error."""
    block = next(pack_blocks([FIRST, SECOND]))

    with pytest.raises((ValueError, TypeError)):
        replace(block, **changes).results  # noqa: B018 - it is computed
