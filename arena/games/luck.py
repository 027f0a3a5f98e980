"""Keyed chance: every draw is a function of (seed, key). Nothing else in the project draws luck for a game.

Source: the recipe is published in docs/luck.md, so that any die can be recomputed in any language:

    word(seed, key, i, k) = the first 8 bytes, big-endian, of SHA-256("<seed>/<key>/<i>/<k>")
    die i of a roll       = word mod faces + 1, for the first k = 0, 1, ... whose word is below the largest
                            multiple of `faces` that fits in 64 bits
    shuffle of n items    = item i gets word(seed, key, i, 0); items in ascending order of (word, item)
    choice by weights     = die 0 with as many faces as the weights are together, minus 1; the first index for which
                            the weights up to it, itself included, are more than that

`seed` is text (32 hex digits for a block), `key` the name the rules gave the draw, e.g. `roll/3/0/2/1`.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from itertools import accumulate, count
from struct import Struct
from typing import Final

from arena.games.api import Chance, Dice, Shuffle

_WORD_COUNT: Final = 1 << 64
_FIRST_WORD: Final = Struct(">Q").unpack_from


def draw(seed: str, chance: Chance) -> tuple[int, ...]:
    """Draw the outcome of `chance` under `seed`: faces of the dice, the shuffled items, or the chosen index."""
    prefix = f"{seed}/{chance.key}/".encode()
    kind = chance.kind
    if isinstance(kind, Dice):
        return _roll_dice(prefix, kind.count, kind.faces)
    if isinstance(kind, Shuffle):  # big-endian words are in the order of their bytes
        words = [sha256(prefix + suffix).digest()[:8] for suffix in _first_attempts(kind.size)]
        return tuple(sorted(range(kind.size), key=words.__getitem__))
    (face,) = _roll_dice(prefix, 1, sum(kind.weights))
    return (index_at(kind.weights, face - 1),)


def _roll_dice(prefix: bytes, number: int, faces: int) -> tuple[int, ...]:
    """Return the faces of `number` dice by the recipe at the top; `prefix` is the seed and the key."""
    surely_below = _WORD_COUNT - faces
    faces_up = []
    for suffix in _first_attempts(number):
        word: int = _FIRST_WORD(sha256(prefix + suffix).digest())[0]
        if word >= surely_below:
            limit = _WORD_COUNT - _WORD_COUNT % faces  # the largest multiple of `faces` that fits in 64 bits
            digests = (sha256(prefix + suffix[:-1] + b"%d" % attempt).digest() for attempt in count())
            word = next(number for digest in digests for number in _FIRST_WORD(digest) if number < limit)
        faces_up.append(word % faces + 1)
    return tuple(faces_up)


def index_at(weights: Sequence[int], number: int) -> int:
    """Return the index that owns `number`: each owns as many numbers in a row, from 0, as it has weight."""
    return bisect_right(list(accumulate(weights)), number)


def derive(purpose: str, *parts: str | int) -> str:
    """Derive a seed of 32 hex digits for `purpose` from named parts; other parts or purposes are unrelated.

    Parts are joined by slashes: only the first may contain one, as a master seed that a person chose does.
    """
    text = "/".join(["arena", purpose, *map(str, parts)])
    return sha256(text.encode()).hexdigest()[:32]


@cache
def _first_attempts(size: int) -> tuple[bytes, ...]:
    """Return the end of the hashed text, behind the key, for the first word of each of `size` dice or items."""
    return tuple(b"%d/0" % index for index in range(size))
