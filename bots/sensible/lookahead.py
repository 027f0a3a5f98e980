"""What a round is worth while it goes on: every way the next dice can fall and be placed, by both sides.

A position is `cells`, `mine`, `theirs`: by number 1..6 how many dice I lead by (negative: the opponent leads, None:
no dice), and how many dice each of us can still place. Whoever moves ends the round if that is better for him than
rolling; where the lookahead stops, the round is taken to end.
"""

from typing import NamedTuple

DEPTH = 2  # dice ahead of a placement; three deep is four times the work and no stronger
EXACT = 3  # with so few dice left to place, to the end of the round
# Of two dice the better one is placed. Its chance to be the best, second best ... worst of the six numbers:
CHANCES = tuple((13 - 2 * rank) / 36 for rank in range(1, 7))
# The same where doubles are in play: one of two equal dice is rolled again, so that they differ in the end.
UNEQUAL = tuple((6 - rank) / 15 for rank in range(1, 7))


class Terms(NamedTuple):
    """What expansions make of the round. A captain in force is mine (1) or the opponent's (-1)."""

    captain: int = 0
    is_banned: bool = False
    face_down: tuple = ()
    has_doubles: bool = False


class Lookahead:
    """The lookahead for one row of cards; remembers every position it has met."""

    def __init__(self, prospect, terms, is_shortsighted=False):
        self.prospect = prospect
        self.depth, self.exact = (0, 0) if is_shortsighted else (DEPTH, EXACT)
        self.captain, self.is_banned, self.face_down, has_doubles = terms
        self.chances = UNEQUAL if has_doubles else CHANCES
        self.known = {}

    def ended(self, cells):
        """The round ends here, and the cards are handed out."""
        won = [winner(cells, index) for index in range(6)]
        for number in self.face_down:
            won[number - 1] = 0
        return self.prospect.worth(tuple(won))

    def waiting(self, cells, mine, theirs):
        """I have placed; the opponent moves."""
        left = mine + theirs
        return self.worth(cells, mine, theirs, is_mine=False, depth=left if left <= self.exact else self.depth)

    def worth(self, cells, mine, theirs, is_mine, depth):
        """The position with me or the opponent to move, looking `depth` dice ahead."""
        key = (cells, mine, theirs, is_mine, depth)
        if key not in self.known:
            self.known[key] = self.work_out(cells, mine, theirs, is_mine, depth)
        return self.known[key]

    def work_out(self, cells, mine, theirs, is_mine, depth):
        own_left = mine if is_mine else theirs
        if own_left == 0 or depth == 0:
            return self.ended(cells)
        if is_mine:
            after = [self.worth(with_die(cells, i, 1), mine - 1, theirs, False, depth - 1) for i in range(6)]
        else:
            after = [-self.worth(with_die(cells, i, -1), mine, theirs - 1, True, depth - 1) for i in range(6)]
        side = 1 if is_mine else -1  # from here on all is seen from the side that moves
        is_vetoed = self.captain == -side
        freely = self.rolled(after)
        worth = self.rolled(after, at_most=freely) if is_vetoed else freely
        if own_left <= 3 and not self.is_banned:  # of five; shanghai needs two placed
            ended = side * self.ended(cells)
            worth = max(worth, min(ended, freely) if is_vetoed else ended)
        return side * worth

    def rolled(self, worths, at_most=None):
        """Two dice are rolled and the better one is placed; `worths` by face.

        A placement worth more than `at_most` is vetoed, and that is what the next roll is worth.
        """
        pairs = zip(self.chances, sorted(worths, reverse=True))
        if at_most is None:
            return sum([chance * worth for chance, worth in pairs])
        return sum([chance * min(worth, at_most) for chance, worth in pairs])


def with_die(cells, index, whose):
    """The cells with one more die on number index + 1, mine (1) or the opponent's (-1)."""
    return (*cells[:index], (cells[index] or 0) + whose, *cells[index + 1 :])


def winner(cells, index):
    """Who wins the card: 1 I, -1 the opponent, 0 nobody."""
    lead = cells[index]
    if lead == 0:  # dice on both sides: the pips on the neighbours decide
        left = (cells[index - 1] or 0) * index if index > 0 else 0
        right = (cells[index + 1] or 0) * (index + 2) if index < 5 else 0
        lead = left + right
    return 0 if not lead else 1 if lead > 0 else -1
