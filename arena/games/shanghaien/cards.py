"""The 48 tavern cards, and who gets them: the awards of a round, the points of a match.

Source: Spielmaterial, "B. Shanghaien" and "Wertung" in the German rule text. A card is an integer 0..47; 0..39 are the
sailors in the order of `NATIONS` and of the values 1, 2, 3, 3, 4; 40..47 are the dirty tricks. Other modules use these
integers; people and bots see their text form, such as `french 3` or `adjust`.
"""

from typing import Final, NewType

from arena.games.api import Chance, Seat, Shuffle

Card = NewType("Card", int)
DiceCounts = tuple[int, ...]

NATIONS: Final = ("american", "french", "german", "chinese", "dutch", "turkish", "spanish", "italian")
COLOURS: Final = {
    "american": "#c8352c",
    "french": "#6db7e0",
    "german": "#24448e",
    "chinese": "#e9c832",
    "dutch": "#e8862e",
    "turkish": "#7d4a94",
    "spanish": "#4a9a4a",
    "italian": "#8b8f94",
}
SAILOR_VALUES: Final[tuple[int, ...]] = (1, 2, 3, 3, 4)
SAILOR_COUNT: Final = len(NATIONS) * len(SAILOR_VALUES)
TRICK_COUNT: Final = 8
DECK_SIZE: Final = SAILOR_COUNT + TRICK_COUNT
SHUFFLE: Final = Chance(key="deck", kind=Shuffle(DECK_SIZE), is_public=False)
JOKER_VALUE: Final = 2
_FIRST: Final = Seat(0)
_SECOND: Final = Seat(1)


def is_sailor(card: Card) -> bool:
    """Return True for a sailor card, False for a dirty trick."""
    return card < SAILOR_COUNT


def nation_of(card: Card) -> int:
    """Return the index in `NATIONS` of a sailor card."""
    return card // len(SAILOR_VALUES)


def strength_of(card: Card) -> int:
    """Return the strength of a sailor card, 1..4."""
    return SAILOR_VALUES[card % len(SAILOR_VALUES)]


def sailor_text(card: Card) -> str:
    """Return the text form of a sailor card: `french 3`."""
    return f"{NATIONS[nation_of(card)]} {strength_of(card)}"


def card_winners(placed: tuple[DiceCounts, DiceCounts]) -> tuple[Seat | None, ...]:
    """Return the seat that wins each card, by number 1..6; None for a card that leaves the game.

    `placed[seat][number-1]` counts the dice of that seat on the card. More dice win; equal and not zero: more pips on
    the neighbouring cards win; equal again: nobody.
    """
    mine, theirs = placed
    won: list[Seat | None] = []
    for index in range(len(mine)):
        lead = mine[index] - theirs[index]
        if mine[index] and not lead:
            lead = neighbour_pips(mine, index) - neighbour_pips(theirs, index)
        won.append(_FIRST if lead > 0 else _SECOND if lead < 0 else None)
    return tuple(won)


def neighbour_pips(placed: DiceCounts, index: int) -> int:
    """Count pips (dice times number) on the one or two cards beside the card at `index` (its number minus 1)."""
    left = placed[index - 1] * index if index > 0 else 0
    right = placed[index + 1] * (index + 2) if index + 1 < len(placed) else 0
    return left + right


def final_scores(strengths: tuple[DiceCounts, DiceCounts], unused_tricks: tuple[int, int]) -> tuple[int, int]:
    """Score both seats: `strengths[seat][nation]` sums sailors and jokers, each unused trick card adds 1.

    With sailors on both sides the stronger crew scores the weaker crew's strength, equal crews score nothing; alone,
    a crew scores its own strength.
    """
    scores = list(unused_tricks)
    for mine, theirs in zip(*strengths, strict=True):
        if mine != theirs:
            scores[0 if mine > theirs else 1] += min(mine, theirs) or max(mine, theirs)
    return scores[0], scores[1]
