"""What the end of a round is worth: the final score, mine minus the opponent's, to be expected once its cards are won.

The score of a nation depends on both crews, so a card's worth depends on all the others: a 4 that makes me overtake a
crew of 7 is worth much more than a 4 that I have nobody to compare with.
"""

from functools import lru_cache

NATIONS = ("american", "french", "german", "chinese", "dutch", "turkish", "spanish", "italian")
SAILOR_VALUES = (1, 2, 3, 3, 4)
JOKER = 2
# Chosen by self-play: the part of the cards still in the pile that each player will win, and what an unused trick is
# worth while there are rounds left to use it in: at least so much, and so much more for each round.
SHARE = 0.3
TRICK = (3.0, 0.1)
TRICKS = {
    "crazy_captain": (1.2, 0.25),
    "no_shanghai": (2.2, 0.15),
    "sharks": (2.0, 0.1),
    "doubles": (1.0, 0.1),
}
# In the last round only winning counts. The score is the tie-break, so that a lost match is not played at random.
WIN = 1000


class Prospect:
    """The row as numbered, and all that the score depends on besides it."""

    def __init__(self, position):
        rounds_left = position.rounds_left
        self.is_last = rounds_left == 0
        self.trick = unused(TRICK, rounds_left)
        tavern = position.tavern if position.one_at == "left" else position.tavern[::-1]
        self.row = [sailor(card) for card in tavern]
        crews = dict(zip(NATIONS, zip(*position.strength, position.unseen)))
        here = {nation for nation, _ in self.row}
        self.crews = {nation: crew for nation, crew in crews.items() if nation in here}
        self.elsewhere = sum(expected(*crew) for nation, crew in crews.items() if nation not in here)
        for sign, tricks in zip((1, -1), position.tricks):
            self.elsewhere += sign * sum(unused(TRICKS.get(kind, TRICK), rounds_left) for kind in tricks)
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


def unused(trick, rounds_left):
    """What an unused trick is worth; in the end each is one point."""
    at_least, per_round = trick
    return at_least + per_round * rounds_left if rounds_left else 1


def sailor(card):
    """Nation and value of a card; a dirty trick has no nation."""
    nation, _, value = card.partition(" ")
    return (nation, int(value)) if value else (None, 0)


def unseen(cards):
    """By nation the values of the sailors that are not among `cards`: those still in the pile."""
    left = {nation: list(SAILOR_VALUES) for nation in NATIONS}
    for nation, value in map(sailor, cards):
        if nation:
            left[nation].remove(value)
    return tuple([tuple(values) for values in left.values()])


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
