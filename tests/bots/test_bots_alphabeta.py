"""alphabeta: its search agrees with plain minimax, and the bot keeps to its clock and its number of positions."""

import importlib
import random
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest
from support.bots_driver import BOTS, play_bots, started

from arena.games.api import Decision, Over
from arena.games.connect_four import GAME, Drop, State

FOLDER: Final = BOTS / "alphabeta"
WON: Final = 500
"""A value that is nearer to a win than to any guess."""


@pytest.fixture(scope="module")
def search() -> Iterator[Any]:
    """The bot's module `search`, which imports its neighbour `board`."""
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("search")
    finally:
        sys.path.remove(str(FOLDER))
        for name in ("search", "board"):
            sys.modules.pop(name, None)


def test_late_positions_are_solved(search: Any) -> None:
    """In random positions with up to 10 free cells, the value and the column chosen are those of minimax."""
    values = set()
    for state in late_positions(120):
        solver = search.Search(10**6)
        column = solver.best_column(state.discs[state.to_move], sum(state.discs))
        value = minimax(state)

        assert (solver.value > WON) - (solver.value < -WON) == value
        assert -minimax(GAME.apply(state, {state.to_move: Drop(column)})) == value
        values.add(value)

    assert values == {-1, 0, 1}


def test_late_positions_are_judged_exactly(search: Any) -> None:
    """Every column has the payoff of minimax: 1, 1/2 or 0; a guess in the open is none of these."""
    seen = set()
    for state in late_positions(60):
        values = search.Search(10**6).exact_values(state.discs[state.to_move], sum(state.discs))
        for drop in GAME.legal(state, state.to_move):
            payoff = search.payoff(values[drop.column])
            assert payoff == (1 - minimax(GAME.apply(state, {state.to_move: drop}))) / 2
            seen.add(payoff)

    assert seen == {0.0, 0.5, 1.0}
    assert all(0 < search.payoff(value) < 1 for value in range(-WON, WON + 1))


@pytest.mark.process
def test_a_number_of_positions_makes_it_repeatable() -> None:
    """With a number of positions as argument, equal seeds give equal matches; without one the clock ends the search."""
    with (
        started(FOLDER, "connect_four", ["300"]) as first,
        started(FOLDER, "connect_four", ["300"]) as second,
        started(FOLDER, "connect_four") as timed,
    ):
        before, again = (play_bots((first, second), "luck", "connect_four", bot_seed=4) for _ in range(2))
        deeper = play_bots((timed, second), "luck", "connect_four", bot_seed=4)

    assert before == again
    assert deeper.scores == (1, 0)


def late_positions(count: int) -> Iterator[State]:
    """Yield random positions with 1 to 10 free cells in which nobody has won."""
    rng = random.Random(4)
    while count:
        state = GAME.setup({}, 2)
        for _ in range(rng.randrange(32, 42)):
            if isinstance(GAME.turn(state), Over):
                break
            state = GAME.apply(state, {state.to_move: rng.choice(GAME.legal(state, state.to_move))})
        if isinstance(GAME.turn(state), Decision) and sum(state.discs).bit_count() >= 32:
            count -= 1
            yield state


@cache
def minimax(state: State) -> int:
    """Return 1 if the seat to move wins with best play, 0 for a draw, -1 if it loses."""
    if isinstance(GAME.turn(state), Over):
        scores = GAME.outcome(state).scores
        return int(2 * scores[state.to_move]) - 1
    return max(-minimax(GAME.apply(state, {state.to_move: action})) for action in GAME.legal(state, state.to_move))
