"""alphabeta: plays Connect Four by searching, deeper and deeper, until its share of the clock is used up.

`search.py` has the search and `board.py` the board. With an argument, `[bot.py, "5000"]`, the search ends after that
many positions instead, so that the same requests get the same answers on any machine.
"""

import sys
import time

import arena_kit as kit
from board import read_board
from search import Search, payoff

SHARE = 0.5  # of `move_ms`; the rest is for reading, writing, and a machine that is slow for a moment
POSITIONS = int(sys.argv[1]) if len(sys.argv) > 1 else None


def new_search(budget_ms):
    return Search(POSITIONS, None if POSITIONS else time.process_time() + SHARE * budget_ms / 1000)


def choose(view, legal, clock):
    search = new_search(clock["move_ms"])
    column = search.best_column(*read_board(view))
    kit.note(f"{search.depth} moves ahead: {search.value}")
    return {"column": column}


def evaluate(view, legal, budget_ms):
    values = new_search(budget_ms).exact_values(*read_board(view))
    return [payoff(values[action["column"]]) for action in legal]


kit.play(choose, evaluate=evaluate)
