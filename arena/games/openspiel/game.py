"""A game of OpenSpiel by the contract of arena.

Rule: a state is OpenSpiel's own, which is never changed once it stands in a `SpielState`: what follows is played
on a copy. A seat of a game with hidden information hears no action and no draw: its view alone tells what it may know.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import gcd, lcm
from typing import Any, Final, Literal

import msgspec
import pyspiel
from msgspec import UNSET, UnsetType

from arena.errors import IllegalAction, SpecError
from arena.games.api import (
    Chance,
    Decision,
    Json,
    Number,
    Outcome,
    Over,
    Seat,
    Turn,
    Weighted,
    Word,
    ranks_by_score,
    read_action,
    with_names,
)
from arena.games.base import BaseGame
from arena.games.openspiel.boards import draw_board
from arena.games.openspiel.notation import Book, Notation, Opening, begin, notation_of
from arena.text import cut, printable

VIEW_LIMIT: Final = 1 << 19
"""Bytes of a view and its legal actions, half of the longest line to a bot: events and names need room, too."""
_FINEST: Final = 1 << 20
"""The largest denominator of a fraction that a probability may stand for."""
_SAME: Final = Fraction(1, 1 << 48)
"""A double this near to such a fraction stands for it: one in 256 others is so near by chance."""
_GRID: Final = 1 << 40
_MOST_WEIGHT: Final = 1 << 63
_FINEST_SCORE: Final = 10**6
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;]*m")
ViewName = Literal["information_state_string", "information_state_tensor", "observation_string", "observation_tensor"]


class NumberedAction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An action by OpenSpiel's number, its text here, and as a move of engines; a bot may leave the last two out."""

    id: Number
    text: Word = ""
    move: Word = ""

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberedAction) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)


class BookIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The SHA-256 of a book's file, and the number of its openings."""

    sha256: str
    count: int


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a game. `views`: what a view has, by OpenSpiel's names; left out, one string.

    `opening` begins a match; `openings` is the book that it comes from, or the file of the book.
    """

    views: tuple[ViewName, ...] = ()
    opening: Opening | UnsetType = UNSET
    openings: str | BookIdentity | UnsetType = UNSET


class SpielState:
    """A state of OpenSpiel, with the draws so far and the names of what views have. Equal if play was equal."""

    __slots__ = ("draws", "legal", "notation", "spiel", "turn", "views")

    def __init__(self, spiel: Any, draws: int, views: tuple[str, ...]) -> None:
        self.spiel, self.draws, self.views, self.notation = spiel, draws, views, notation_of(spiel)
        self.turn = _turn_of(spiel, draws)
        seats = self.turn.seats if isinstance(self.turn, Decision) else ()
        self.legal = {seat: _legal(spiel, seat, self.notation) for seat in seats}

    def after(self, spiel: Any, *, draws: int = 0) -> "SpielState":
        """Wrap a state of OpenSpiel that follows this one."""
        return SpielState(spiel, self.draws + draws, self.views)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpielState) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        start = "" if self.notation is None else f"{self.notation.view(self.spiel).get('start')}, "
        return f"SpielState({self.spiel.get_game()}, {start}{self.spiel.history()}, {self.views})"


class OpenSpielGame(BaseGame):
    """A game of OpenSpiel. `texts`: the game as OpenSpiel reads it, by number of seats; all have been tried."""

    action_type = NumberedAction

    def __init__(self, name: str, texts: Mapping[int, str], rules_version: str) -> None:
        # the contract names class attributes: here each game is an object of one class
        self.name: str = name  # type: ignore[misc]
        self.seat_counts: tuple[int, ...] = tuple(sorted(texts))  # type: ignore[misc]
        self.rules_version: str = rules_version
        self._texts = texts
        kind = self._spiel(self.seat_counts[0]).get_type()
        self.summary = f"{kind.long_name}, as OpenSpiel plays it."
        self.is_simultaneous = kind.dynamics.name == "SIMULTANEOUS"
        self.is_open = kind.information.name == "PERFECT_INFORMATION"
        notation = notation_of(self._spiel(self.seat_counts[0]).new_initial_state())
        self.openings = None if notation is None else Book(self._spiel(self.seat_counts[0]), notation)
        self.game_text = self.openings
        self.heard: Callable[..., tuple[None, ...]] | None = None if self.is_open else _hear_nothing

    def _spiel(self, seats: int) -> Any:
        return _load_game(self._texts[seats])

    def setup(self, options: Mapping[str, Json], seats: int) -> SpielState:
        """Return the first state; SpecError for an impossible opening, and for a view that is missing or too long."""
        read, game = self.read_options(options, seats, Options), self._spiel(seats)
        chosen, initial = read.views, game.new_initial_state()
        if read.opening or read.openings:
            try:
                initial = begin(game, notation_of(initial), read.opening or Opening())
            except SpecError as error:
                raise SpecError(f"options of {self.name}: opening: {error}") from None
        known = views_of(game)
        if unknown := [view for view in chosen if view not in known]:
            raise SpecError(f"options of {self.name}: views: the game has no {unknown[0]}; it has {', '.join(known)}")
        size = sum(getattr(game, f"{view}_size")() for view in chosen if view.endswith("_tensor"))
        if 2 * size > VIEW_LIMIT:
            raise SpecError(f"options of {self.name}: views: {size} numbers are too many for a line to a bot")
        return SpielState(initial, 0, chosen or known[:1])

    def game_info(self, options: Mapping[str, Json], seats: int) -> dict[str, Json]:
        """Return the game as OpenSpiel writes it, and its version: a bot that has OpenSpiel can load the game."""
        game = self._spiel(seats)
        views = self.setup(options, seats).views
        shapes = {view: getattr(game, f"{view}_shape")() for view in views if view.endswith("_tensor")}
        return {"openspiel": self.rules_version.partition("/")[0], "game": str(game), "shapes": shapes}

    def turn(self, state: SpielState) -> Turn:
        """Return OpenSpiel's next turn: a decision of its current player or of all, chance, or the end."""
        if isinstance(state.turn, Chance) and self.is_open:
            return msgspec.structs.replace(state.turn, is_public=True)
        return state.turn

    def observe(self, state: SpielState, seat: Seat) -> dict[str, Json]:
        """Return OpenSpiel's strings or tensors of this player; the whole history, too, where nothing is hidden.

        A board alone does not tell two histories apart, such as actions that still wait for a draw.
        """
        view: dict[str, Json] = {"you": seat}
        for name in state.views:
            value = getattr(state.spiel, name)(seat)
            view[name] = value if isinstance(value, str) else [_as_short_number(number) for number in value]
        if self.is_open:
            view["history"] = state.spiel.history()
        return view if state.notation is None else view | state.notation.view(state.spiel)

    def legal(self, state: SpielState, seat: Seat) -> tuple[NumberedAction, ...]:
        """Return OpenSpiel's legal actions in its order; nothing for a seat that is not to move."""
        return state.legal.get(seat, ())

    def all_actions(self, _options: Mapping[str, Json], seats: int) -> tuple[NumberedAction, ...]:
        """Return OpenSpiel's ids of actions without texts, which belong to a state."""
        return tuple(map(NumberedAction, range(self._spiel(seats).num_distinct_actions())))

    @staticmethod
    def encode(view: Json) -> Json:
        """Encode the tensors of the view, one after the other."""
        numbers = [float(number) for name in view if name.endswith("_tensor") for number in view[name]]
        if not numbers:
            raise ValueError("its views have no tensor; the option views gives one, such as [observation_tensor]")
        return numbers

    def parse(self, state: SpielState, seat: Seat, raw: Json) -> NumberedAction:
        """Return the legal action with that id; its text and move, if they are there, must be the right ones.

        MalformedReply or IllegalAction if there is none.
        """
        legal = self.legal(state, seat)
        hint = msgspec.json.encode(legal[0]).decode() if legal else ""
        action: NumberedAction = read_action(raw, NumberedAction, game=self.name, hint=hint)
        if not legal:
            raise IllegalAction(f"seat {seat} is not to move")
        for candidate in legal:
            is_named = action.text in {"", candidate.text} and action.move in {"", candidate.move}
            if candidate.id == action.id and is_named:
                return candidate
        name = printable(cut(f"{action.text} {action.move}".strip()))
        raise IllegalAction(f"not possible now: {action.id} {name}".rstrip(), hint=hint)

    def apply(self, state: SpielState, actions: Mapping[Seat, NumberedAction]) -> SpielState:
        """Return the state after the actions; in a decision of all, a seat without a choice does action 0."""
        after = state.spiel.clone()
        if after.is_simultaneous_node():
            ids = {seat: action.id for seat, action in actions.items()}
            after.apply_actions([ids.get(Seat(seat), 0) for seat in range(after.num_players())])
        else:
            (action,) = actions.values()
            after.apply_action(action.id)
        return state.after(after)

    def resolve(self, state: SpielState, drawn: tuple[int, ...]) -> SpielState:
        """Apply the result of that index, in OpenSpiel's order."""
        return state.after(state.spiel.child(state.spiel.chance_outcomes()[drawn[0]][0]), draws=1)

    def outcome(self, state: SpielState) -> Outcome:
        """Return OpenSpiel's returns as exact scores, with ranks."""
        scores = tuple(_exact_score(score) for score in state.spiel.returns())
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def describe(self, state: SpielState, names: Sequence[str] = ()) -> str:
        """Describe the whole state."""
        return with_names(_printable_text(_describe_turn(state), str(state.spiel)), names)

    def picture(self, state: SpielState) -> str:
        """Draw the board of the game, else the lines of `describe`."""
        return draw_board(state.spiel, _describe_turn(state)) or super().picture(state)

    def describe_for(self, state: SpielState, seat: Seat, names: Sequence[str] = ()) -> str:
        """Describe the state in a game that hides nothing; else the string of the seat's view."""
        if self.is_open:
            return self.describe(state, names)
        view = getattr(state.spiel, views_of(state.spiel.get_game())[0])(seat)
        return with_names(_printable_text(f"seat {seat} sees", view), names)


@cache
def _load_game(text: str) -> Any:
    return pyspiel.load_game(text)


def views_of(game: Any) -> tuple[str, ...]:
    """Return the kinds of view that a game has, the default first.

    The default is the observation, such as a board, if nothing is hidden; else the information state, which forgets
    nothing.
    """
    kind = game.get_type()
    is_open = kind.information.name == "PERFECT_INFORMATION"
    order = ("observation", "information_state") if is_open else ("information_state", "observation")
    names = [f"{what}_{form}" for form in ("string", "tensor") for what in order]
    return tuple(name for name in names if getattr(kind, f"provides_{name}"))


def weights_of(probabilities: Sequence[float]) -> tuple[int, ...]:
    """Return whole weights in proportion to probabilities: exact for fractions, such as 1/6 and 1/36.

    Others are rounded to the nearest 1/2^40, so that the last bits of a double, which may differ from machine to
    machine, count for nothing; a positive one is never 0.
    """
    counts = Counter(probabilities)
    near = {p: Fraction(p).limit_denominator(_FINEST) for p in counts}
    common = lcm(*(fraction.denominator for fraction in near.values()))
    is_exact = all(abs(q - Fraction(p)) <= _SAME and (q > 0) == (p > 0) for p, q in near.items())
    if is_exact and common <= _MOST_WEIGHT and sum(near[p] * count for p, count in counts.items()) == 1:
        weights = {p: int(q * common) for p, q in near.items()}
    else:
        weights = {p: max(1, round(p * _GRID)) if p > 0 else 0 for p in near}
    divisor = gcd(*weights.values())
    return tuple(weights[p] // divisor for p in probabilities)


def _turn_of(spiel: Any, draws: int) -> Turn:
    """Return the turn of a state of OpenSpiel; the key of a draw is its number."""
    if spiel.is_terminal():
        return Over()
    if spiel.is_chance_node():
        weights = weights_of([probability for _, probability in spiel.chance_outcomes()])
        return Chance(f"draw/{draws}", Weighted(weights), is_public=False)
    if spiel.is_simultaneous_node():
        return Decision(tuple(Seat(seat) for seat in range(spiel.num_players()) if spiel.legal_actions(seat)))
    return Decision((Seat(spiel.current_player()),))


def _legal(spiel: Any, seat: Seat, notation: Notation | None) -> tuple[NumberedAction, ...]:
    """Return the legal actions; long texts are cut, and equal or empty ones get the id."""
    ids = spiel.legal_actions(seat)
    texts = [cut(printable(" ".join(spiel.action_to_string(seat, number).split()))) for number in ids]
    moves = [""] * len(ids) if notation is None else notation.moves(spiel, ids)
    count = Counter(texts)
    count[""] = len(texts) + 1
    return tuple(
        NumberedAction(number, text if count[text] == 1 else f"{text} (action {number})".lstrip(), move)
        for number, text, move in zip(ids, texts, moves, strict=True)
    )


def _hear_nothing(state: SpielState, _seat: Seat, _action: NumberedAction) -> tuple[None, ...]:
    """Return None for each seat: no seat hears an action."""
    return (None,) * int(state.spiel.num_players())


def _as_short_number(number: float) -> int | float:
    """Return a whole number as an int, which JSON writes shorter."""
    return int(number) if number == int(number) else number


def _exact_score(score: float) -> int | Fraction:
    """Return the fraction that a score stands for: 0.1 is 1/10 on every machine."""
    fraction = Fraction(score).limit_denominator(_FINEST_SCORE)
    return int(fraction) if fraction.denominator == 1 else fraction


def _describe_turn(state: SpielState) -> str:
    """Describe the turn of a state."""
    match state.turn:
        case Over():
            ending = "" if state.notation is None else f": {state.notation.ending(state.spiel)}"
            return f"the game is over{ending}"
        case Decision(seats):
            return f"{' and '.join(f'seat {seat}' for seat in seats)} to move"
    return "a draw is due"


def _printable_text(title: str, text: str) -> str:
    """Return the title, and the lines of a text of OpenSpiel without colours and other signs that do not print."""
    lines = [printable(line.rstrip().expandtabs()) for line in _ESCAPES.sub("", text).splitlines()]
    return "\n".join([title, *lines])
