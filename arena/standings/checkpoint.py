"""Ratings of a long league without folding all of it again: what was believed after its first blocks.

Rule: a checkpoint is never trusted. Its key is a digest of all that the beliefs follow from: the settings, the players,
and every outcome before its block, in schedule order. One whose key does not fit is left aside; with one that fits the
ratings are equal to the last bit to those without.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

import msgspec

from arena.standings.outcomes import NOT_PLAYED, Played, blocks_in, in_schedule_order, padded
from arena.standings.ratings import Belief, Rating, RatingSettings, advance, newcomers, recentred


class Checkpoint(msgspec.Struct, frozen=True):
    """What is believed after all stored matches of the blocks before `block`."""

    block: int
    key: str
    beliefs: dict[str, Belief]


def rated(
    players: Iterable[str], pairings: Sequence[Played], settings: RatingSettings, kept: Iterable[Checkpoint] = ()
) -> tuple[dict[str, Rating], tuple[Checkpoint, ...]]:
    """Rate `players` after all matches of `pairings`, which come in the order of the schedule.

    `kept` are checkpoints of earlier times, of which the furthest that fits is used. With the ratings come the
    checkpoints to keep: before the first gap, which nothing to come will change, and after all that is stored.
    """
    field = tuple(players)
    fitting = {one.block: one for one in kept if one.key == key(field, pairings, settings, one.block)}
    now = fitting[max(fitting)] if fitting else Checkpoint(0, "", newcomers(field, settings))
    for block in sorted({_first_gap(pairings), blocks_in(pairings)}):
        if block > now.block:
            results = in_schedule_order(pairings, from_block=now.block, to_block=block)
            beliefs = advance(now.beliefs, results, settings)
            now = Checkpoint(block, key(field, pairings, settings, block), beliefs)
            fitting[block] = now
    return recentred(now.beliefs, settings), tuple(fitting[block] for block in sorted(fitting)[-2:])


def key(players: Sequence[str], pairings: Iterable[Played], settings: RatingSettings, block: int) -> str:
    """The digest of all that the beliefs before `block` follow from."""
    # The anchor is none of it: it moves the finished ratings only.
    constants = (settings.mu, settings.sigma, settings.beta, settings.tau, settings.draw_probability)
    digest = sha256(msgspec.json.encode(("arena-checkpoint/1", constants, sorted(players), block)))
    for places, codes in pairings:
        digest.update(msgspec.json.encode(places))
        digest.update(padded(codes, block * len(places)))
    return digest.hexdigest()


def _first_gap(pairings: Iterable[Played]) -> int:
    """The first block of which a match is missing in any pairing."""
    gaps = []
    for places, codes in pairings:
        found = codes.find(NOT_PLAYED)
        gaps.append((len(codes) if found < 0 else found) // len(places))
    return min(gaps, default=0)
