"""What the match is worth to the player to move when he chooses an action, for the actions of the base game.

`expansions.py` does the same for the actions that expansions add. An opponent whose captain is in force may veto what
is announced; he is expected to do so when that is better for him.
"""

import expansions
from lookahead import Lookahead
from prospect import Prospect

FACES = range(1, 7)
PAIRS = [(a, b) for a in FACES for b in FACES if a < b]
VETOED = 0.9  # how sure it is that the opponent vetoes what he should: the rest breaks ties between what he will


class Worths:
    """Worths of actions; what it remembers only saves time."""

    def __init__(self, is_shortsighted=False):
        self.is_shortsighted = is_shortsighted
        self.row = None
        self.lookaheads = {}
        self.prospects = {}

    def worth(self, position, action):
        """What the match is worth to the player to move when he announces this action."""
        allowed = self.allowed(position, action)
        if position.is_safe or action["do"] in ("roll", "roll_one", "take_doubles", "keep_back"):
            return allowed
        return self.at_risk(allowed, self.vetoed(position, action))

    def vetoed(self, position, action):
        """The worth of the position after a veto of the action."""
        safe = position._replace(is_safe=True)
        if action["do"] in ("place", "shanghai"):
            return self.rolling(safe)
        return self.best_placement(safe)

    def allowed(self, position, action):
        """The worth of the action if nobody forbids it."""
        match action["do"]:
            case "roll":
                return self.rolling(position)
            case "shanghai":
                return self.lookahead(position).ended(position.cells())
            case "place":
                return self.placed(position, action["dice"], action.get("one") or position.one_at)
            case "joker":
                return self.best_placement(position.spending(action["card"]).laying_joker(action["nation"]))
            case "adjust":
                dice = list(position.dice)
                dice[dice.index(action["die"])] = action["to"]
                return self.best_placement(position.spending("adjust")._replace(dice=tuple(dice)))
            case "both":
                return self.best_placement(position.spending("both")._replace(to_place=2))
            case "reroll":
                return self.rolling(position.spending("reroll"))
            case name:
                return expansions.WORTHS[name](self, position, action)

    def at_risk(self, allowed, vetoed):
        """The worth of something that the opponent may veto."""
        return allowed if allowed <= vetoed else VETOED * vetoed + (1 - VETOED) * allowed

    def best_placement(self, position):
        """The dice on the table placed as well as possible."""
        choices = [position.dice] if position.to_place == 2 else []
        if position.must_place == 1:
            choices += [(die,) for die in set(position.dice)]
        best = max(self.placed(position, dice, end) for dice in choices for end in position.ends())
        if position.is_safe:
            return best
        return self.at_risk(best, self.rolling(position._replace(is_safe=True)))

    def rolling(self, position):
        """Two dice are rolled and placed as well as possible."""
        lookahead = self.lookahead(position)
        if position.to_place == 2:  # two equal dice are left out: it is rare enough to come here at all
            worths = [self.best_placement(position._replace(dice=pair)) for pair in PAIRS]
            return sum(worths) / len(worths)
        worths = [max(self.placed(position, (face,), end) for end in position.ends()) for face in FACES]
        freely = lookahead.rolled(worths)
        return freely if position.is_safe else lookahead.rolled(worths, at_most=freely)

    def placed(self, position, dice, end):
        """The dice placed, with number 1 on `end`, and the opponent to move."""
        return self.waiting(position.placing(dice, end))

    def waiting(self, position):
        """The turn is over and the opponent moves."""
        return self.lookahead(position).waiting(position.cells(), *position.left())

    def lookahead(self, position):
        """The lookahead for the row as it lies; kept, because every turn of the round comes back to it."""
        if self.row != position.tavern:
            self.row, self.lookaheads, self.prospects = position.tavern, {}, {}
        cards = (position.one_at, position.strength, position.tricks)
        key = (*cards, position.terms)
        if key not in self.lookaheads:
            if cards not in self.prospects:
                self.prospects[cards] = Prospect(position)
            self.lookaheads[key] = Lookahead(self.prospects[cards], position.terms, self.is_shortsighted)
        return self.lookaheads[key]
