"""Keyed chance: every draw is a function of (seed, key). Nothing else in the project draws luck for a game.

Source: the recipe is published in protocol.md under "Luck", so that any die can be recomputed in any language:

    word(seed, key, i, k) = the first 8 bytes, big-endian, of SHA-256("<seed>/<key>/<i>/<k>")
    die i of a roll       = word mod faces + 1, for the first k = 0, 1, ... whose word is below the largest
                            multiple of `faces` that fits in 64 bits
    shuffle of n items    = item i gets word(seed, key, i, 0); items in ascending order of (word, item)

`seed` is text (32 hex digits for a block), `key` the name the rules gave the draw, e.g. `roll/3/0/2/1`.
"""

from hashlib import sha256

from arena.games.api import Chance, Dice, Shuffle

_WORDS = 1 << 64


def draw(seed: str, chance: Chance) -> tuple[int, ...]:
    """The outcome of `chance` under `seed`: faces of the dice in order, or the shuffled items."""
    prefix = f"{seed}/{chance.key}/"
    match chance.kind:
        case Dice(count, faces):
            return tuple([_die(f"{prefix}{i}/", faces) for i in range(count)])
        case Shuffle(size):
            return tuple(sorted(range(size), key=lambda i: (_word(f"{prefix}{i}/0"), i)))


def derive(purpose: str, *parts: str | int) -> str:
    """A seed of 32 hex digits for `purpose`, from named parts; other parts or purposes are unrelated."""
    text = "/".join(["arena", purpose, *map(str, parts)])
    return sha256(text.encode()).hexdigest()[:32]


def _die(prefix: str, faces: int) -> int:
    limit = _WORDS - _WORDS % faces
    attempt = 0
    while (word := _word(f"{prefix}{attempt}")) >= limit:
        attempt += 1
    return word % faces + 1


def _word(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")
