"""What lies on the table, as one side sees it: a value from which actions make other values.

Pairs are (mine, the opponent's), where I am the player to move.
"""

from typing import NamedTuple

from lookahead import Terms
from prospect import JOKER, NATIONS, unseen

ROUNDS = 8


class Position(NamedTuple):
    tavern: tuple
    one_at: str | None
    rounds_left: int
    unseen: tuple
    strength: tuple
    tricks: tuple
    placed: tuple
    dice: tuple
    to_place: int
    must_place: int  # of the dice to place, how many at least
    terms: Terms
    is_feeding: bool  # the card I place on now is turned face down
    is_safe: bool  # nothing I do in this turn can be vetoed

    def ends(self):
        """Where number 1 may lie."""
        return (self.one_at,) if self.one_at else ("left", "right")

    def cells(self):
        """Who leads on each number; None: no dice there."""
        return tuple([a - b if a or b else None for a, b in zip(*self.placed)])

    def left(self):
        """The dice that I and the opponent can still place: all but one of six."""
        return tuple([max(0, 5 - sum(dice)) for dice in self.placed])

    def placing(self, dice, end):
        """My dice placed, with number 1 on `end`."""
        mine, theirs = self.placed
        placed = (tuple([count + dice.count(face) for face, count in enumerate(mine, start=1)]), theirs)
        if not self.is_feeding:
            return self._replace(placed=placed, one_at=end)
        face_down = tuple(sorted({*self.terms.face_down, *dice}))
        return self._replace(placed=placed, one_at=end, terms=self.terms._replace(face_down=face_down))

    def taking_back(self, number):
        """One of my dice on that number back in my supply."""
        mine, theirs = self.placed
        return self._replace(placed=((*mine[: number - 1], mine[number - 1] - 1, *mine[number:]), theirs))

    def spending(self, kind):
        """One trick card of that kind less."""
        mine, theirs = self.tricks
        index = mine.index(kind)
        return self._replace(tricks=((*mine[:index], *mine[index + 1 :]), theirs))

    def laying_joker(self, nation):
        """Two more sailors of the nation."""
        mine, theirs = self.strength
        index = NATIONS.index(nation)
        return self._replace(strength=((*mine[:index], mine[index] + JOKER, *mine[index + 1 :]), theirs))

    def under(self, **terms):
        """The same under other terms."""
        return self._replace(terms=self.terms._replace(**terms))


def seen(view):
    """The position in a view, from the side of the player to move."""
    mover = view["to_move"]
    sides = view["players"][mover], view["players"][1 - mover]
    expansions = view.get("expansions", {})
    captain = expansions.get("crazy_captain", {"in_force": None, "vetoed": None})
    sharks = expansions.get("sharks", {"face_down": (), "feeding": False})
    owner = captain["in_force"]
    shown = [*sides[0]["sailors"], *sides[1]["sailors"], *view["tavern"], *view["gone"]]
    return Position(
        tavern=tuple(view["tavern"]),
        one_at=view["one_at"],
        rounds_left=ROUNDS - view["round"],
        unseen=unseen(shown),
        strength=tuple([tuple([side["strength"][nation] for nation in NATIONS]) for side in sides]),
        tricks=tuple([tuple(sorted(side["tricks"])) for side in sides]),
        placed=tuple([tuple(side["placed"]) for side in sides]),
        dice=tuple(view["dice"]),
        to_place=view["to_place"],
        must_place=view["must_place"],
        terms=Terms(
            captain=0 if owner is None else 1 if owner == mover else -1,
            is_banned=expansions.get("no_shanghai", {}).get("ban", False),
            face_down=tuple(sharks["face_down"]),
            has_doubles="doubles" in expansions,
        ),
        is_feeding=sharks["feeding"],
        is_safe=owner in (None, mover) or captain["vetoed"] is not None,
    )
