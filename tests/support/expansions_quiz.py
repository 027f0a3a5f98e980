"""A fifth expansion, made up for the tests: the quiz. It asks about the same rolls and actions as the others.

Each player starts with a quiz, which is counted when it is played. A player who rolls a sum of eight greets before the
turn goes on. Before a shanghai the opponent is asked for a farewell, which may be silent. The dice placed in the round
are counted.
"""

from typing import Final

import msgspec
from msgspec.structs import replace

from arena.games.api import Json, Seat
from arena.games.shanghaien.actions import Action, Shanghai
from arena.games.shanghaien.state import Choice, Expansion, State, Trick
from arena.games.shanghaien.turns import announce, apply_roll, discard

NAME: Final = "quiz"


class PlayQuiz(Action, frozen=True, tag="quiz"):
    """Play the card."""

    text = "plays the quiz"


class Greet(Action, frozen=True, tag="greet"):
    """Said to the quiz after an eight."""

    text = "greets"


class Farewell(Action, frozen=True, tag="farewell"):
    """Said, or not, before a shanghai."""

    text = "takes leave"

    is_silent: bool


class Memory(msgspec.Struct, frozen=True):
    """What was counted in the round."""

    played: int = 0
    placed: int = 0
    greetings: int = 0
    farewells: int = 0


def _memory(state: State) -> Memory:
    found: Memory = state.extras[NAME]
    return found


def _remember(state: State, **changes: int) -> None:
    state.remember(NAME, replace(_memory(state), **changes))


def _ask(state: State, name: str, seat: Seat, *answers: Action) -> None:
    state.phase = Choice(by=NAME, name=name, seat=seat, answers=answers)


def _play(state: State, _: PlayQuiz) -> None:
    discard(state, NAME)
    _remember(state, played=_memory(state).played + 1)


def _on_rolled(state: State) -> bool:
    if sum(state.dice) == 8:
        _ask(state, "greet", state.to_move, Greet())
    return sum(state.dice) == 8


def _greet(state: State, _: Greet) -> None:
    _remember(state, greetings=_memory(state).greetings + 1)
    apply_roll(state, state.dice, asked_by=NAME)


def _intercept(state: State, action: Action) -> bool:
    if isinstance(action, Shanghai):
        _ask(state, "farewell", Seat(1 - state.to_move), Farewell(is_silent=True), Farewell(is_silent=False))
    return isinstance(action, Shanghai)


def _farewell(state: State, _: Farewell) -> None:
    _remember(state, farewells=_memory(state).farewells + 1)
    state.phase = "turn"
    announce(state, Shanghai(), asked_by=NAME)


def _view(state: State) -> dict[str, Json]:
    memory = _memory(state)
    return {"played": memory.played, "placed": memory.placed, "greetings": memory.greetings}


def _why(state: State, action: Action) -> str | None:
    return f"the quiz did not ask you, {state.to_move}" if isinstance(action, Greet | Farewell) else None


QUIZ: Final = Expansion(
    name=NAME,
    trick=Trick(NAME, {PlayQuiz: _play}, lambda _: (PlayQuiz(),), has_joker_side=True),
    start=Memory(),
    effects={Greet: _greet, Farewell: _farewell},
    all_actions=(PlayQuiz(), Greet(), *map(Farewell, (False, True))),
    on_rolled=_on_rolled,
    intercept=_intercept,
    on_placed=lambda state, dice: _remember(state, placed=_memory(state).placed + len(dice)),
    on_round_end=lambda state: state.remember(NAME, Memory()),
    view=_view,
    notes=lambda state: (f"the quiz has counted {_memory(state).placed} dice",),
    why=_why,
)
