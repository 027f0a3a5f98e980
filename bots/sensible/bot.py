"""sensible: plays Shanghaien by looking a few dice ahead.

It decides everything by one number: what the final score, mine minus the opponent's, is expected to be if the round
goes on from here. `crews.py` says what the cards of a finished round are worth, `lookahead.py` what a round that is
still being played is worth; this file turns the legal actions into positions and takes the best.

It does not look at the opponent's tricks, nor at who would start the next round. The same requests always get the
same answers: there is no chance in here, and what is remembered between requests only saves time.
"""

from arena_kit import Bot, run
from crews import JOKER, crews_of
from lookahead import Round, best_of_two


class Sensible(Bot):
    name = "sensible"
    version = "1"

    def start(self, match):
        self.rounds = {}
        self.row = None

    def act(self, request):
        view, legal = request["view"], request["legal"]
        worths = [self.worth(view, action) for action in legal]
        return worths.index(max(worths))

    def worth(self, view, action):
        """What the game is worth to me when I choose this action."""
        match action["do"]:
            case "roll":
                return self.round_of(view, view["one_at"]).rolling(*position(view))
            case "shanghai":
                return self.round_of(view, view["one_at"]).ended(position(view)[0])
            case "place":
                return self.placed(view, action["dice"], action.get("one") or view["one_at"])
            case "joker":
                return self.best_placement(view, view["dice"], nation=action["nation"])
            case "adjust":
                turned = list(view["dice"])
                turned[turned.index(action["die"])] = action["to"]
                return self.best_placement(view, turned)
            case "both":
                return max(self.placed(view, view["dice"], end, tricks=-1) for end in ends(view))
            case "reroll":
                return best_of_two([self.best_placement(view, [face]) for face in range(1, 7)])
        return float("-inf")  # an action of an expansion: legal, but nothing this bot knows

    def best_placement(self, view, dice, nation=None):
        """The best placement of one of these dice, after a trick."""
        return max(self.placed(view, [die], end, -1, nation) for die in set(dice) for end in ends(view))

    def placed(self, view, dice, end, tricks=0, nation=None):
        """With these dice placed, number 1 on that end, so many more tricks, and a joker laid to the nation."""
        cells, mine, theirs = position(view)
        for die in dice:
            cells = cells.placed(die, 1)
        return self.round_of(view, end, tricks, nation).waiting(cells, max(0, mine - len(dice)), theirs)

    def round_of(self, view, end, tricks=0, nation=None):
        """The lookahead for this row; kept as long as the row lies there, because every turn meets it again."""
        if self.row != view["tavern"]:
            self.row, self.rounds = view["tavern"], {}
        crews = crews_of(view, tricks)
        if nation:
            crews.mine[nation] += JOKER
        key = (end, crews.key())
        if key not in self.rounds:
            row = view["tavern"] if end == "left" else view["tavern"][::-1]
            self.rounds[key] = Round(row, crews)
        return self.rounds[key]
