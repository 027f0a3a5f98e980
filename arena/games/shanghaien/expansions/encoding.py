"""Shanghaien for programs that learn: the actions of the base game in a fixed order, and views as numbers.

Rule: an action added later goes to the end of its list, for the index of an action is its number. `encode` uses no name
of this module: its source serves in a bot.
"""

from itertools import combinations_with_replacement
from typing import Final

from arena.games.api import Json
from arena.games.shanghaien.actions import Action, Adjust, Both, End, Joker, Place, Reroll, Roll, Shanghai
from arena.games.shanghaien.cards import NATIONS
from arena.games.shanghaien.state import Variant

_FACES: Final = range(1, 7)
NUMBERINGS: Final[tuple[End | None, ...]] = (None, "left", "right")
"""The choices of the end of number 1: None once the numbering is fixed."""
_BASE: Final[tuple[Action, ...]] = (
    Roll(),
    Shanghai(),
    *(Place(dice=(die,), one=one) for die in _FACES for one in NUMBERINGS),
    *(Place(dice=dice, one=one) for dice in combinations_with_replacement(_FACES, 2) for one in NUMBERINGS),
    *(Adjust(die=die, to=to) for die in _FACES for to in (die - 1, die + 1) if to in _FACES),
    Both(),
    Reroll(),
)


def all_actions(variant: Variant) -> tuple[Action, ...]:
    """List the actions of the base game, a joker of each kind for each nation, then those of each expansion."""
    kinds = [kind for kind, trick in variant.tricks.items() if trick.has_joker_side]
    expansion_actions = [action for expansion in variant.expansions.values() for action in expansion.all_actions]
    return (*_BASE, *(Joker(card=kind, nation=nation) for kind in kinds for nation in NATIONS), *expansion_actions)


def encode(view: Json) -> Json:
    """Encode the view as 177 numbers, most of them from 0 to 1; own things come before those of the opponent.

    The turn, the dice, the row by numbers (by places from the left before the numbering), both sides, the strength of
    each nation that has gone, and the expansions, all 0 where they are off.
    """
    phases = ("turn", "rolled", "veto", "doubles", "keep_back")
    kinds = ("adjust", "both", "reroll", "crazy_captain", "no_shanghai", "sharks", "doubles")
    acts = ("place", "shanghai", "joker", "reroll_all", "feed", "exchange", *kinds[:5], "doubles")
    you, faces = view["you"], range(1, 7)
    nations = [*view["players"][0]["strength"]]

    def flags(value: Json, known: Json) -> list[float]:
        return [float(value == word) for word in known]

    def counts(values: Json, known: Json, most: int) -> list[float]:
        return [list(values).count(word) / most for word in known]

    def strengths(cards: Json) -> list[float]:
        return [sum(int(card[-1]) for card in cards if card.startswith(nation)) / 13 for nation in nations]

    numbers = [*flags(view["phase"], phases), float(view["to_move"] == you), view["round"] / 8, view["pile"] / 48]
    numbers += [*counts(view["dice"], faces, 2), view["to_place"] / 2, view["must_place"] / 2]
    numbers += flags(view["one_at"], ("left", "right"))
    row = view["tavern"][::-1] if view["one_at"] == "right" else view["tavern"]
    for card in [*row, *[""] * 6][:6]:
        numbers += [*strengths([card]), *flags(card, kinds[:3])]
    for side in (view["players"][you], view["players"][1 - you]):
        numbers += [side["supply"] / 6, *(count / 6 for count in side["placed"]), float(side["trick_used"])]
        numbers += [*(side["strength"][nation] / 13 for nation in nations), *counts(side["tricks"], kinds, 3)]
    numbers += strengths(view["gone"])
    expansions = view.get("expansions", {})
    captain, sharks = expansions.get("crazy_captain", {}), expansions.get("sharks", {})
    announced = captain.get("announced") or {}
    numbers += flags(captain.get("in_force"), (you, 1 - you))
    numbers += [*flags(captain.get("vetoed"), ("placement", "shanghai", *kinds))]
    numbers += [*flags(announced.get("do"), acts), *counts(announced.get("dice", ()), faces, 2)]
    numbers += [*counts(sharks.get("face_down", ()), faces, 1), float(sharks.get("feeding", False))]
    numbers += [float(expansions.get("no_shanghai", {}).get("ban", False))]
    return [*numbers, *flags(expansions.get("doubles", {}).get("holder"), (you, 1 - you))]
