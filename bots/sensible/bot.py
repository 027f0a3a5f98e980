"""sensible: plays Shanghaien, with any of its expansions, by looking a few dice ahead.

Everything is decided by one number: the final score, mine minus the opponent's, to be expected if the match goes on
from a position. `prospect.py` knows it for a round that has ended, `lookahead.py` for a round that goes on; `worths.py`
and `expansions.py` turn an action into positions, made by `position.py`. This file takes the best action.

It does not think of the opponent's tricks, nor of who starts the next round. There is no chance in here: the same
requests get the same answers, and what is remembered between them only saves time.

With the argument `--plain` it uses no card of an expansion where it has another choice. With `--shortsighted` it takes
every round to end once the dice are placed: a weaker opponent, between greedy and this.
"""

import sys

import arena_kit as kit
from position import seen
from worths import Worths

OF_EXPANSIONS = {
    "crazy_captain",
    "veto",
    "no_shanghai",
    "reroll_all",
    "feed",
    "exchange",
    "doubles",
    "take_doubles",
}


IS_PLAIN = "--plain" in sys.argv[1:]
IS_SHORTSIGHTED = "--shortsighted" in sys.argv[1:]
memory = Worths(IS_SHORTSIGHTED)


def start(match):
    global memory
    memory = Worths(IS_SHORTSIGHTED)


def choose(view, legal, clock):
    position = seen(view)
    if view["phase"] == "veto":
        worth_of = answers(position, view["expansions"]["crazy_captain"]["announced"])
        worths = [worth_of[action["do"]] for action in legal]
    else:
        worths = [worth(position, action) for action in legal]
    return worths.index(max(worths))


def worth(position, action):
    if IS_PLAIN and action["do"] in OF_EXPANSIONS:
        return float("-inf")
    return memory.worth(position, action)


def answers(position, announced):
    """The worths of allowing and of vetoing what the opponent announced: the less it is to him, the better."""
    if IS_PLAIN:
        return {"allow": 1, "veto": 0}
    return {"allow": -memory.allowed(position, announced), "veto": -memory.vetoed(position, announced)}


kit.play(choose, start=start)
