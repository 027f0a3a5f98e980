"""The actions of a player, as small values with one JSON form and one text form each.

Rule: an action carries all its choices. The JSON form is the struct itself: `{"do": "place", "dice": [4]}`.
"""

from typing import ClassVar, Literal

import msgspec

from arena.games.api import Number, Word

End = Literal["left", "right"]
"""The end of the row, as seat 0 sees it, where the card number 1 lies."""


class Action(msgspec.Struct, frozen=True, tag_field="do", omit_defaults=True, forbid_unknown_fields=True):
    """An action of a player; the tag `do` tells which."""

    text: ClassVar[str]
    """The action as the end of a sentence about its seat; actions with choices put them in with `__str__`."""

    def __str__(self) -> str:
        return self.text

    @property
    def tag(self) -> str:
        """The action's word in `do`."""
        return str(self.__struct_config__.tag)


def describe_numbering(one: End | None) -> str:
    """Describe the choice of the numbering, as the end of a sentence about an action that may make it."""
    return f", number 1 on the {one}" if one else ""


class Roll(Action, frozen=True, tag="roll"):
    """Roll two dice from your own supply."""

    text = "rolls"


class Shanghai(Action, frozen=True, tag="shanghai"):
    """End the round and hand out its cards."""

    text = "calls shanghai"


class Place(Action, frozen=True, tag="place"):
    """Place rolled dice, given by their faces in ascending order, on the cards of those numbers.

    `one` is given while the numbering of the round is open, and only then: the end of the row where number 1 shall lie.
    """

    dice: tuple[Number, ...]
    one: End | None = None

    def __str__(self) -> str:
        return f"places {' and '.join(map(str, self.dice))}{describe_numbering(self.one)}"


class Joker(Action, frozen=True, tag="joker"):
    """Lay the trick card of kind `card` to your own sailors of `nation`, as two sailors, for good."""

    card: Word
    nation: Word

    def __str__(self) -> str:
        return f"lays a trick ({self.card}) to the {self.nation} sailors as 2 sailors"


class Adjust(Action, frozen=True, tag="adjust"):
    """Turn one of the two dice from the face `die` to the neighbouring face `to`."""

    die: Number
    to: Number

    def __str__(self) -> str:
        return f"plays the trick adjust: turns the {self.die} into a {self.to}"


class Both(Action, frozen=True, tag="both"):
    """Win the right to place both dice, or either of them alone."""

    text = "plays the trick both: may place both dice"


class Reroll(Action, frozen=True, tag="reroll"):
    """Roll both dice again; the new roll stands."""

    text = "plays the trick reroll: rolls both dice again"
