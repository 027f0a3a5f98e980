"""What an expansion may contribute to the game: its cards, its decisions, and hooks into a turn.

Rule: the base game knows expansions only through this contract. A new one is a value of `Expansion` in a file of its
own; nothing in the base changes for it.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from arena.games.api import Json, Seat
from arena.games.shanghaien.actions import Action
from arena.games.shanghaien.state import State
from arena.games.shanghaien.tricks import Trick

Winners = tuple[Seat | None, ...]


class Expansion(msgspec.Struct, frozen=True, kw_only=True):
    """One expansion. What it does not need it leaves out.

    `trick`: its dirty trick; the kind of the trick is the text form of its card. `is_dealt`: each player starts with
    one card; otherwise a single card starts beside the row. `start`: what it remembers at the beginning, its entry in
    `State.extras`.

    Decisions of its own: `effects` carries out the actions that answer its interludes, `options(state)` lists them,
    `resolve(state, drawn)` takes the outcome of an interlude that asked for chance.

    Hooks: `on_rolled(state)` after two dice were rolled; a hook that opens an interlude goes on with
    `turns.rolled(..., asked_by=name)`, or without `asked_by` if the dice are new; `intercept(state, action)` before an
    action of the player to move is carried out: a state that asks somebody first, or None; whoever asked goes on with
    `turns.announce(..., asked_by=name)`; `restrict(state, actions)` takes away legal actions;
    `on_placed(state, dice)` when dice have been put on their numbers, before the turn ends; `award(state, winners)`
    changes who wins the cards of a round, by number; `on_round_end(state)` when they have been handed out.

    For those who look on: `view(state)` adds an entry of its name to the observation, `notes(state)` lines to the
    drawing, `why(state, action)` a sentence for an action of its own that is not legal now, or None.
    """

    name: str
    trick: Trick
    is_dealt: bool = True
    start: Any = None
    effects: Mapping[type[Action], Callable[[State, Any], State]] = {}
    options: Callable[[State], tuple[Action, ...]] | None = None
    resolve: Callable[[State, tuple[int, ...]], State] | None = None
    on_rolled: Callable[[State], State] | None = None
    intercept: Callable[[State, Action], State | None] | None = None
    restrict: Callable[[State, tuple[Action, ...]], tuple[Action, ...]] | None = None
    on_placed: Callable[[State, tuple[int, ...]], State] | None = None
    award: Callable[[State, Winners], Winners] | None = None
    on_round_end: Callable[[State], State] | None = None
    view: Callable[[State], dict[str, Json]] | None = None
    notes: Callable[[State], tuple[str, ...]] | None = None
    why: Callable[[State, Action], str | None] | None = None
