"""The board of Connect Four in two numbers: the discs of the player to move, and those of both.

Bit 7 c + r is row r of column c, from the bottom left. The seventh bit of each column stays empty, so that no four in a
row runs over the edge.
"""

COLUMNS, ROWS = 7, 6
BOTTOM = sum(1 << 7 * column for column in range(COLUMNS))
BOARD = BOTTOM * ((1 << ROWS) - 1)
IN_COLUMN = [((1 << ROWS) - 1) << 7 * column for column in range(COLUMNS)]


def read_board(view):
    """Return the discs of the player to move and those of both, from a view."""
    own = "xo"[view["to_move"]]
    own_discs = all_discs = 0
    for row, cells in enumerate(reversed(view["board"])):
        for column, cell in enumerate(cells):
            bit = 1 << 7 * column + row
            own_discs |= bit if cell == own else 0
            all_discs |= bit if cell != "." else 0
    return own_discs, all_discs


def free_cells(all_discs):
    """Return the cells that a disc would fall into, one for each column with room."""
    return (all_discs + BOTTOM) & BOARD


def winning_cells(discs, all_discs):
    """Return the free cells, in reach or not, that would make four in a row of these discs."""
    cells = discs << 1 & discs << 2 & discs << 3
    for step in (6, 7, 8):
        pairs = discs << step & discs << 2 * step
        cells |= pairs & (discs << 3 * step | discs >> step)
        pairs = discs >> step & discs >> 2 * step
        cells |= pairs & (discs >> 3 * step | discs << step)
    return cells & (BOARD ^ all_discs)
