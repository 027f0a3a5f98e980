"""A fifth expansion, made up for the tests: the quiz. It uses every part of the contract.

Each player starts with a quiz. Played, it asks the opponent to guess a number; a die is thrown, and if it shows that
number, both dice are rolled again. A player who rolls a sum of eight greets before the turn goes on. Before a shanghai
the opponent is asked for a farewell, which may be silent. In a round in which a quiz was played, number 1 is nobody's,
and after the first die placed in it no joker is laid. The dice placed in the round are counted.
"""

from typing import Final

import msgspec
from msgspec.structs import replace

from arena.games.api import Chance, Dice, Json, Number, Seat
from arena.games.shanghaien.actions import Action, Joker, Shanghai
from arena.games.shanghaien.state import Choice, Expansion, ExtraRoll, State, Trick, Winners
from arena.games.shanghaien.turns import announce, apply_roll, discard, roll_again

NAME: Final = "quiz"


class PlayQuiz(Action, frozen=True, tag="quiz"):
    """Let the quiz ask."""

    text = "plays the quiz"


class Guess(Action, frozen=True, tag="guess"):
    """The opponent's answer."""

    text = "guesses"

    number: Number


class Greet(Action, frozen=True, tag="greet"):
    """Said to the quiz after an eight."""

    text = "greets"


class Farewell(Action, frozen=True, tag="farewell"):
    """Said, or not, before a shanghai."""

    text = "takes leave"

    is_silent: bool


class Memory(msgspec.Struct, frozen=True):
    """The memory of the round; `guess` while a die is thrown for it."""

    played: int = 0
    guess: int = 0
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
    _ask(state, "guess", Seat(1 - state.to_move), *[Guess(number=number) for number in range(1, 7)])


def _guess(state: State, action: Guess) -> None:
    seat = state.to_move
    chance = Chance(key=f"quiz/{state.round}/{seat}/{state.turns[seat]}/{state.roll}", kind=Dice(1))
    _remember(state, guess=action.number)
    state.phase = ExtraRoll(by=NAME, name="answer", seat=seat, chance=chance, then=_answer)


def _answer(state: State, drawn: tuple[int, ...]) -> None:
    is_right = drawn[0] == _memory(state).guess
    _remember(state, guess=0)
    state.phase = "rolled"
    if is_right:
        roll_again(state)


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


def _restrict(state: State, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    if not (_memory(state).played and _memory(state).placed):
        return actions
    return tuple(action for action in actions if not isinstance(action, Joker))


def _award(state: State, winners: Winners) -> Winners:
    return (None, *winners[1:]) if _memory(state).played else winners


def _view(state: State) -> dict[str, Json]:
    memory = _memory(state)
    return {"played": memory.played, "placed": memory.placed, "greetings": memory.greetings}


def _why(state: State, action: Action) -> str | None:
    return f"the quiz did not ask you, {state.to_move}" if isinstance(action, Guess | Greet | Farewell) else None


QUIZ: Final = Expansion(
    name=NAME,
    trick=Trick(NAME, {PlayQuiz: _play}, lambda _: (PlayQuiz(),), has_joker_side=True),
    start=Memory(),
    effects={Guess: _guess, Greet: _greet, Farewell: _farewell},
    all_actions=(PlayQuiz(), *map(Guess, range(1, 7)), Greet(), *map(Farewell, (False, True))),
    on_rolled=_on_rolled,
    intercept=_intercept,
    restrict=_restrict,
    on_placed=lambda state, dice: _remember(state, placed=_memory(state).placed + len(dice)),
    award=_award,
    on_round_end=lambda state: state.remember(NAME, Memory()),
    view=_view,
    notes=lambda state: (f"the quiz has counted {_memory(state).placed} dice",),
    why=_why,
)
