"""alphabeta: plays Connect Four by searching, deeper and deeper, until its share of the clock is used up.

`search.py` has the search and `board.py` the board. With an argument, `[bot.py, "5000"]`, the search ends after that
many positions instead, so that the same requests get the same answers on any machine.
"""

import sys
import time

import arena_kit as kit
from board import read_board
from search import Search

SHARE = 0.5  # of `move_ms`; the rest is for reading, writing, and a machine that is slow for a moment
POSITIONS = int(sys.argv[1]) if len(sys.argv) > 1 else None


def choose(view, legal, clock):
    begin = time.process_time()
    search = Search(POSITIONS, None if POSITIONS else begin + SHARE * clock["move_ms"] / 1000)
    column = search.best_column(*read_board(view))
    kit.note(f"{search.depth} moves ahead: {search.value}")
    return {"column": column}


kit.play(choose)
