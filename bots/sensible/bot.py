"""sensible: plays Shanghaien by looking a few dice ahead.

Everything is decided by one number: the final score, mine minus the opponent's, to be expected if the match goes on
from a position. `prospect.py` knows it for a round that has ended, `lookahead.py` for a round that goes on; this file
turns each legal action into positions and takes the best action.

It does not think of the opponent's tricks, nor of who starts the next round. There is no chance in here: the same
requests get the same answers, and what is remembered between them only saves time.
"""

from arena_kit import Bot, run
from lookahead import Lookahead, best_of_two_dice, with_die
from prospect import Prospect


class Sensible(Bot):
    name = "sensible"
    version = "1"

    def start(self, match):
        self.row = None
        self.lookaheads = {}

    def act(self, request):
        view, legal = request["view"], request["legal"]
        worths = [self.worth(view, action) for action in legal]
        return worths.index(max(worths))

    def worth(self, view, action):
        """What the match is worth to me when I choose this action."""
        match action["do"]:
            case "roll":
                return self.lookahead(view, view["one_at"]).rolling(*table(view))
            case "shanghai":
                cells, _, _ = table(view)
                return self.lookahead(view, view["one_at"]).ended(cells)
            case "place":
                return self.placed(view, action["dice"], action.get("one") or view["one_at"])
            case "joker":
                return self.best_placement(view, view["dice"], nation=action["nation"])
            case "adjust":
                dice = list(view["dice"])
                dice[dice.index(action["die"])] = action["to"]
                return self.best_placement(view, dice)
            case "both":
                return max(self.placed(view, view["dice"], end, tricks=-1) for end in ends(view))
            case "reroll":
                return best_of_two_dice([self.best_placement(view, [face]) for face in range(1, 7)])
        return float("-inf")  # an action of an expansion, which this bot does not know

    def best_placement(self, view, dice, nation=None):
        """One of the dice placed as well as possible, after a trick (a joker if it names a nation)."""
        return max(self.placed(view, [die], end, -1, nation) for die in set(dice) for end in ends(view))

    def placed(self, view, dice, end, tricks=0, nation=None):
        """The dice placed, with number 1 on `end`, `tricks` more tricks and a joker laid to `nation`."""
        cells, mine, theirs = table(view)
        for die in dice:
            cells = with_die(cells, die - 1, 1)
        return self.lookahead(view, end, tricks, nation).waiting(cells, max(0, mine - len(dice)), theirs)

    def lookahead(self, view, end, tricks=0, nation=None):
        """The lookahead for the row as it lies; kept, because every turn of the round comes back to it."""
        if self.row != view["tavern"]:
            self.row, self.lookaheads = view["tavern"], {}
        holdings = [(*side["strength"].values(), len(side["tricks"])) for side in view["players"]]
        key = (end, tricks, nation, *holdings)
        if key not in self.lookaheads:
            self.lookaheads[key] = Lookahead(Prospect(view, end, tricks, nation))
        return self.lookaheads[key]


def table(view):
    """Who leads on each number (None: no dice yet), and the dice that I and the opponent can still place."""
    me, them = view["players"][view["you"]], view["players"][1 - view["you"]]
    cells = tuple([a - b if a or b else None for a, b in zip(me["placed"], them["placed"])])
    return cells, max(0, me["supply"] - 1), max(0, them["supply"] - 1)


def ends(view):
    """Where number 1 may lie."""
    return [view["one_at"]] if view["one_at"] else ["left", "right"]


run(Sensible())
