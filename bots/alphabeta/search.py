"""Alpha-beta search with iterative deepening, a table of the positions that were met, and the best move first.

The value of a position is seen from the player to move. A win is WIN less the number of discs on the board when it
comes, so that early wins and late losses are preferred.
"""

import contextlib
import random
import time

from board import BOTTOM, COLUMNS, IN_COLUMN, ROWS, free_cells, winning_cells

WIN = 1000
EXACT, AT_LEAST, AT_MOST = range(3)
CELLS = COLUMNS * ROWS
ODD_ROWS = BOTTOM * 0b010101  # the first, third and fifth row
CHECK = 128  # positions between two looks at the clock


class OutOfTime(Exception):
    """The positions or the time of this move are used up."""


class Search:
    """One decision, within a number of positions or until `process_time` has come to `end`."""

    def __init__(self, positions=None, end=None):
        self.positions, self.end = positions, end
        self.met = self.depth = self.value = 0
        self.table = {}
        # Equally good columns are tried from the middle; bot_seed decides between those on the left and on the right.
        self.order = sorted(range(COLUMNS), key=lambda column: (abs(column - 3), random.random()))

    def best_column(self, own, both):
        """Return the column that the deepest finished search thinks best."""
        columns = self.columns(both)
        for values in self.deepening(own, both, columns, is_exact=False):
            columns.sort(key=values.get, reverse=True)
            self.value = values[columns[0]]
            if abs(self.value) > WIN // 2:
                break
        return columns[0]

    def exact_values(self, own, both):
        """Return the value of every column, by the deepest finished search."""
        values = dict.fromkeys(range(COLUMNS), 0)
        for deeper in self.deepening(own, both, self.columns(both), is_exact=True):
            values = deeper
            if all(abs(value) > WIN // 2 for value in values.values()):
                break
        return values

    def columns(self, both):
        """Return the columns with room."""
        return [column for column in self.order if free_cells(both) & IN_COLUMN[column]]

    def deepening(self, own, both, columns, *, is_exact):
        """Yield the values of columns, each time a move deeper, until the board is full or the time is up."""
        with contextlib.suppress(OutOfTime):
            for depth in range(1, CELLS - both.bit_count() + 1):
                values = self.values_of(own, both, columns, depth, is_exact)
                self.depth = depth
                yield values

    def values_of(self, own, both, columns, depth, is_exact):
        """Return the value of each column; unless `is_exact`, one that is no better than one before has none."""
        values, best = {}, -WIN
        for column in columns:
            cell = free_cells(both) & IN_COLUMN[column]
            if winning_cells(own, both) & cell:
                value = WIN - both.bit_count() - 1
            else:
                value = -self.search(own ^ both, both | cell, depth - 1, -WIN, WIN if is_exact else -best)
            values[column] = value if is_exact or value > best else -WIN
            best = max(best, value)
        return values

    def search(self, own, both, depth, alpha, beta):
        """Return the value of the position if it lies between `alpha` and `beta`, else a bound on that side."""
        self.count()
        discs = both.bit_count()
        free = free_cells(both)
        if not free:
            return 0
        if winning_cells(own, both) & free:
            return WIN - discs - 1
        threats = winning_cells(own ^ both, both)
        forced = threats & free
        if forced & (forced - 1):
            return discs + 2 - WIN  # two ways to win, and only one of them can be closed
        free = (forced or free) & ~(threats >> 1)  # a disc below a threat would be the end
        if not free:
            return discs + 2 - WIN if discs + 2 <= CELLS else 0
        if depth <= 0 and not forced:
            return judge(own, both, threats)
        known_depth, bound, value, best_cell = self.table.get((own, both), (-1, EXACT, 0, 0))
        if known_depth >= depth and (
            bound == EXACT or (bound == AT_LEAST and value >= beta) or (bound == AT_MOST and value <= alpha)
        ):
            return value
        best, lowest = -WIN, alpha
        cells = [cell for column in self.order if (cell := free & IN_COLUMN[column])]
        if best_cell:
            cells.sort(key=best_cell.__ne__)
        for cell in cells:
            value = -self.search(own ^ both, both | cell, depth - 1, -beta, -lowest)
            if value > best:
                best, best_cell = value, cell
            lowest = max(lowest, best)
            if lowest >= beta:
                break
        bound = AT_LEAST if best >= beta else AT_MOST if best <= alpha else EXACT
        self.table[own, both] = depth, bound, best, best_cell
        return best

    def count(self):
        """Count a position. Raise OutOfTime when there may be no more."""
        self.met += 1
        if self.positions:
            if self.met > self.positions:
                raise OutOfTime
        elif self.met % CHECK == 0 and time.process_time() > self.end:
            raise OutOfTime


def payoff(value):
    """Return the payoff that a value promises: 1 for a win that was found, 0 for a loss, about 1/2 for a guess."""
    if abs(value) > WIN // 2:
        return float(value > 0)
    return 0.5 + max(-0.4, min(0.4, value / 50))


def judge(own, both, threats):
    """Return a guess: what the free cells count for that would complete a four.

    Seat 0 fills the odd rows if both wait to the end, seat 1 the even ones: a threat there counts more.
    """
    is_first = both.bit_count() % 2 == 0
    own_rows = ODD_ROWS if is_first else ODD_ROWS << 1
    own_threats = winning_cells(own, both)
    return weight(own_threats, own_rows) - weight(threats, ~own_rows)


def weight(threats, rows):
    """Return 2 for each threat in the rows that its player fills, 1 for any other."""
    return threats.bit_count() + (threats & rows).bit_count()
