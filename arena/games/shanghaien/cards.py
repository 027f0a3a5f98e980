"""The 48 tavern cards: eight nations of sailors and eight dirty tricks.

Source: rules/Components (Spielmaterial in the German rule text). A card is an integer 0..47; 0..39 are the sailors in
the order of `NATIONS` and of the values 1, 2, 3, 3, 4; 40..47 are the dirty tricks. Other modules meet cards as these
integers; people and bots meet their text form, such as `french 3` or `adjust`.
"""

from typing import Final, NewType

Card = NewType("Card", int)

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
SAILOR_VALUES: Final = (1, 2, 3, 3, 4)
SAILOR_COUNT: Final = len(NATIONS) * len(SAILOR_VALUES)
TRICK_COUNT: Final = 8
DECK_SIZE: Final = SAILOR_COUNT + TRICK_COUNT
JOKER_VALUE: Final = 2


def is_sailor(card: Card) -> bool:
    """True for a sailor card, false for a dirty trick."""
    return card < SAILOR_COUNT


def nation_of(card: Card) -> int:
    """Index in `NATIONS` of a sailor card."""
    return card // len(SAILOR_VALUES)


def value_of(card: Card) -> int:
    """Strength of a sailor card, 1..4."""
    return SAILOR_VALUES[card % len(SAILOR_VALUES)]


def sailor_text(card: Card) -> str:
    """Text form of a sailor card: `french 3`."""
    return f"{NATIONS[nation_of(card)]} {value_of(card)}"
