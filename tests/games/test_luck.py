"""Keyed luck: the published recipe, and that it is fair and independent."""

from hashlib import sha256
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.api import Chance, Dice, Shuffle, Weighted
from arena.games.luck import derive, draw

SEED = "000102030405060708090a0b0c0d0e0f"
GOLDEN_CHOICES = [2, 2, 0, 0, 0, 2]
GOLDEN_LARGE = [0, 1, 0, 1]
TEXT = st.text(max_size=40).filter(lambda text: text.isprintable())


def word(seed: str, key: str, i: int, k: int) -> int:
    """Compute the recipe's `word` from its text alone."""
    return int.from_bytes(sha256(f"{seed}/{key}/{i}/{k}".encode()).digest()[:8], "big")


def dice_by_the_text(seed: str, key: str, dice: Dice) -> tuple[int, ...]:
    multiple = 2**64 // dice.faces * dice.faces
    words = (next(w for k in count() if (w := word(seed, key, i, k)) < multiple) for i in range(dice.count))
    return tuple(w % dice.faces + 1 for w in words)


def shuffle_by_the_text(seed: str, key: str, size: int) -> tuple[int, ...]:
    pairs = sorted((word(seed, key, i, 0), i) for i in range(size))
    return tuple(i for _, i in pairs)


def choice_by_the_text(seed: str, key: str, weights: tuple[int, ...]) -> int:
    (face,) = dice_by_the_text(seed, key, Dice(1, sum(weights)))
    return next(index for index in range(len(weights)) if sum(weights[: index + 1]) > face - 1)


def chosen(seed: str, key: str, weights: tuple[int, ...]) -> int:
    (index,) = draw(seed, Chance(key=key, kind=Weighted(weights)))
    return index


WEIGHTS = st.lists(st.integers(0, 2**60), min_size=1, max_size=7).map(tuple).filter(sum)


@given(seed=TEXT, key=TEXT, weights=WEIGHTS)
def test_choices_by_weights_follow_the_published_text(seed: str, key: str, weights: tuple[int, ...]) -> None:
    """A second implementation, written from the text, chooses the same; never a weight of 0."""
    index = chosen(seed, key, weights)

    assert index == choice_by_the_text(seed, key, weights)
    assert weights[index] > 0


def test_the_recipe_never_changes_for_weights() -> None:
    """Stored matches depend on these very values; the last total takes more than one attempt in half of all draws."""
    assert [chosen(SEED, key, (3, 1, 2)) for key in ("a", "b", "c", "d", "e", "f")] == GOLDEN_CHOICES
    assert [chosen(SEED, key, (2**62, 2**62, 1)) for key in ("a", "b", "c", "d")] == GOLDEN_LARGE


def roll(seed: str, key: str, *, dice: int = 2, faces: int = 6) -> tuple[int, ...]:
    return draw(seed, Chance(key=key, kind=Dice(dice, faces)))


def shuffle(seed: str, key: str, size: int) -> tuple[int, ...]:
    return draw(seed, Chance(key=key, kind=Shuffle(size), is_public=False))


@given(seed=TEXT, key=TEXT, dice=st.integers(0, 8), faces=st.integers(1, 2**64))
def test_dice_follow_the_published_text(seed: str, key: str, dice: int, faces: int) -> None:
    """A second implementation, written from the text, rolls the same dice."""
    assert roll(seed, key, dice=dice, faces=faces) == dice_by_the_text(seed, key, Dice(dice, faces))


@given(seed=TEXT, key=TEXT, size=st.integers(0, 60))
def test_shuffles_follow_the_published_text(seed: str, key: str, size: int) -> None:
    """A second implementation, written from the text, shuffles the same way."""
    assert shuffle(seed, key, size) == shuffle_by_the_text(seed, key, size)


@pytest.mark.parametrize(
    ("key", "dice", "faces", "rolled"),
    [
        ("roll/1/0/1/1", 2, 6, (6, 2)),
        ("roll/8/1/5/2", 6, 6, (3, 5, 3, 3, 5, 3)),
        ("d20", 5, 20, (3, 11, 20, 17, 2)),
        ("coin", 0, 2, ()),
        ("one", 3, 1, (1, 1, 1)),
    ],
)
def test_the_recipe_never_changes_for_dice(key: str, dice: int, faces: int, rolled: tuple[int, ...]) -> None:
    """Stored matches depend on these very values."""
    assert roll(SEED, key, dice=dice, faces=faces) == rolled


def test_the_recipe_never_changes_for_shuffles() -> None:
    """The first deck of the seed 00 01 02 ... 0f stays as it is."""
    first, second, third = (
        (18, 31, 34, 30, 0, 1, 28, 8, 39, 16, 12, 41, 21, 24, 32, 5),
        (6, 22, 11, 45, 40, 10, 37, 46, 13, 2, 27, 33, 25, 7, 35, 9),
        (38, 23, 14, 44, 15, 29, 3, 36, 4, 19, 47, 26, 42, 17, 43, 20),
    )

    assert shuffle(SEED, "deck", 48) == first + second + third


def test_the_recipe_never_changes_for_derived_seeds() -> None:
    """The first 32 hex digits of SHA-256 of "arena/match/cup/3"."""
    assert derive("match", "cup", 3) == "26672fecd1b251a66d87844f15a672f9"
