"""What the end of a round is worth: the final score, mine minus the opponent's, to be expected once its cards are won.

The score of a nation depends on both crews, so a card's worth depends on all the others: a 4 that makes me overtake a
crew of 7 is worth much more than a 4 that I have nobody to compare with.
"""

from functools import lru_cache

ROUNDS = 8
SAILOR_VALUES = (1, 2, 3, 3, 4)
JOKER = 2
# Chosen by self-play: the part of the cards still in the pile that each player will win, and what an unused trick is
# worth beyond its one point, while there are rounds left to use it in.
SHARE = 0.3
TRICK, TRICK_PER_ROUND = 1.5, 0.25
# In the last round only winning counts. The score is the tie-break, so that a lost match is not played at random.
WIN = 1000


class Prospect:
    """The row as numbered, and all that the score depends on besides it."""

    def __init__(self, view, end, tricks, nation):
        """`view` after I have gained `tricks` tricks and laid a joker to `nation` (None: no joker)."""
        me, them = view["players"][view["you"]], view["players"][1 - view["you"]]
        rounds_left = ROUNDS - view["round"]
        self.is_last = rounds_left == 0
        self.trick = 1 if self.is_last else TRICK + TRICK_PER_ROUND * rounds_left
        self.row = [sailor(card) for card in (view["tavern"] if end == "left" else view["tavern"][::-1])]

        mine, theirs = dict(me["strength"]), them["strength"]
        if nation:
            mine[nation] += JOKER
        seen = [*me["sailors"], *them["sailors"], *view["tavern"], *view["gone"]]
        crews = {name: (mine[name], theirs[name], unseen(name, seen)) for name in mine}
        here = {name for name, _ in self.row}
        self.crews = {name: crew for name, crew in crews.items() if name in here}
        self.elsewhere = self.trick * (len(me["tricks"]) + tricks - len(them["tricks"]))
        self.elsewhere += sum(expected(*crew) for name, crew in crews.items() if name not in here)
        self.known = {}

    def worth(self, won):
        """With the cards won as `won` says, by number: 1 by me, -1 by the opponent, 0 by nobody."""
        if won not in self.known:
            self.known[won] = self.work_out(won)
        return self.known[won]

    def work_out(self, won):
        crews = dict(self.crews)
        score = self.elsewhere
        for winner, (nation, value) in zip(won, self.row):
            if nation is None:
                score += self.trick * winner
            elif winner:
                mine, theirs, left = crews[nation]
                crews[nation] = (mine + value, theirs, left) if winner > 0 else (mine, theirs + value, left)
        score += sum(expected(*crew) for crew in crews.values())
        return score + WIN * ((score > 0) - (score < 0)) if self.is_last else score


def sailor(card):
    """Nation and value of a card; a dirty trick has no nation."""
    nation, _, value = card.partition(" ")
    return (nation, int(value)) if value else (None, 0)


def unseen(nation, seen):
    """The values of the nation's sailors that are still in the pile."""
    values = list(SAILOR_VALUES)
    for card in seen:
        name, value = sailor(card)
        if name == nation:
            values.remove(value)
    return tuple(values)


@lru_cache(maxsize=None)
def expected(mine, theirs, left):
    """What a nation will score, mine minus the opponent's, when the values `left` are still to come."""
    if left:
        value, rest = left[0], left[1:]
        to_me, to_them = expected(mine + value, theirs, rest), expected(mine, theirs + value, rest)
        return SHARE * (to_me + to_them) + (1 - 2 * SHARE) * expected(mine, theirs, rest)
    if mine == theirs:
        return 0
    return min(mine, theirs) or max(mine, theirs) if mine > theirs else -(min(mine, theirs) or max(mine, theirs))
