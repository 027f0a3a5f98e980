"""The position in a game of Shanghaien, as one value, and the contract of tricks and expansions.

Rule: a step copies the state once (`State.copy`), and the functions of the step change that copy; a state that has left
`Shanghaien.apply` or `resolve` never changes again. A state holds what lies on the table, in the rule book's words, and
no rules. The base game knows expansions only
through `Expansion`: a new one is a value in a file of its own; nothing in the base changes for it. Numbers are the
card numbers 1..6 of a round, stored at index number-1; positions are 0..5 as seat 0 sees the row from the left.
"""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal, TypeVar

import msgspec

from arena.games.api import Chance, Json, Seat
from arena.games.shanghaien.actions import Action, End
from arena.games.shanghaien.cards import NATIONS, Card

ROUNDS: Final = 8
ROW_SIZE: Final = 6
DICE_PER_PLAYER: Final = 6
ENDS: Final[tuple[End, ...]] = ("left", "right")
_NO_CHOICE: Final = (None,)
NO_DICE: Final = (0,) * ROW_SIZE
_FIRST: Final = Seat(0)

T = TypeVar("T")
Winners = tuple[Seat | None, ...]
Effect = Callable[["State", Any], None]
"""A function (state, action) that carries out an action of one type: it changes the state."""


@dataclass(slots=True)
class Interlude:
    """A pause of the turn in which the expansion `by` waits for `seat`; the view shows `name` in place of the phase."""

    by: str
    name: str
    seat: Seat


@dataclass(slots=True)
class Choice(Interlude):
    """A question to the seat, which gives one of the answers, actions of the expansion."""

    answers: tuple[Action, ...]


@dataclass(slots=True)
class ExtraRoll(Interlude):
    """A roll of an expansion's dice for the seat; `then(state, dice)` goes on with them."""

    chance: Chance
    then: Callable[["State", tuple[int, ...]], None]


Phase = Literal["shuffle", "turn", "rolling", "rolled", "over"] | Choice | ExtraRoll
"""The task of the player to move; `shuffle`, `rolling` and an `ExtraRoll` wait for chance."""


CardTexts = Callable[[tuple[Card, ...]], list[str]]


@dataclass(slots=True)
class Trick:
    """A kind of dirty trick card; the kind is its text form.

    `effects`: each type of action that such a card allows. `actions(state)` lists those that the player to move, who
    holds such a card and has just rolled, has now. The joker side, if it has one, comes on top of these.
    """

    kind: str
    effects: Mapping[type[Action], Effect]
    actions: Callable[["State"], tuple[Action, ...]]
    has_joker_side: bool = False


@dataclass(slots=True, kw_only=True)
class Expansion:
    """An expansion: its card, its decisions, and hooks into a turn; unused fields keep their defaults.

    `trick`: its dirty trick. `is_dealt`: each player starts with one card; otherwise a single card starts beside the
    row. `start`: its memory at the beginning, the entry in `State.extras`. `effects` carries out the actions
    that answer its questions. `all_actions`: each action that it adds, in a fixed order.

    Hooks change the state: `on_rolled(state)` after two dice were rolled: true if it opens an interlude, after which it
    goes on with `turns.apply_roll(..., asked_by=name)`, or without `asked_by` if the dice are new; `intercept(state,
    action)` before an action of the player to move is carried out: true if it asks somebody first, after whose answer
    it goes on with `turns.announce(..., asked_by=name)`; `restrict(state, actions)` takes away legal actions;
    `on_placed(state, dice)` when dice have been put on their numbers, before the turn ends; `award(state, winners)`
    changes who wins the cards of a round, by number; `on_round_end(state)` when they have been handed out.

    For observers: `summary` tells the rules to a person, `view(state)` adds an entry of its name to the observation,
    `notes(state)` lines to the drawing, `why(state, action)` a sentence for an action of its own that is not legal now,
    or None.
    """

    name: str
    trick: Trick
    summary: str = ""
    is_dealt: bool = True
    start: Any = None
    effects: Mapping[type[Action], Effect] = field(default_factory=dict)
    all_actions: tuple[Action, ...] = ()
    on_rolled: Callable[["State"], bool] | None = None
    intercept: Callable[["State", Action], bool] | None = None
    restrict: Callable[["State", tuple[Action, ...]], tuple[Action, ...]] | None = None
    on_placed: Callable[["State", tuple[int, ...]], None] | None = None
    award: Callable[["State", Winners], Winners] | None = None
    on_round_end: Callable[["State"], None] | None = None
    view: Callable[["State"], dict[str, Json]] | None = None
    notes: Callable[["State"], tuple[str, ...]] | None = None
    why: Callable[["State", Action], str | None] | None = None


@dataclass(slots=True)
class Variant:
    """The game as the options make it, the same for every state of a match.

    `faces` is the text form of each card, the 48 of the tavern first. `tricks` are the dirty tricks in play by their
    kind, `kinds` the kind of card that an action spends (a joker names its card itself), `effects` carry out each type
    of action. `expansions` are those in play, by name and in the order of play; the other fields are the hooks of
    those that have one. `texts_of` gives the text forms of several cards, a list that nobody changes: it is
    cached, as most cards stay for many requests.
    """

    faces: tuple[str, ...]
    tricks: Mapping[str, Trick]
    kinds: Mapping[type[Action], str]
    effects: Mapping[type[Action], Effect]
    expansions: Mapping[str, Expansion]
    on_rolled: Mapping[str, Callable[["State"], bool]]
    intercept: Mapping[str, Callable[["State", Action], bool]]
    restrict: Mapping[str, Callable[["State", tuple[Action, ...]], tuple[Action, ...]]]
    on_placed: Mapping[str, Callable[["State", tuple[int, ...]], None]]
    award: Mapping[str, Callable[["State", Winners], Winners]]
    on_round_end: Mapping[str, Callable[["State"], None]]
    texts_of: CardTexts = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Make the cache of text forms."""
        faces = self.faces
        self.texts_of = lru_cache(maxsize=4096)(lambda cards: [faces[card] for card in cards])


@dataclass(slots=True)
class Player:
    """A player's side of the table.

    `placed`: dice on each card number. `strength`: sum of sailors and jokers of each nation, kept in step with
    `sailors` and `jokers` (pairs of the card and the index of its nation) because every request shows it. `tricks` are
    the unused dirty tricks. `view_json` is the JSON of this side in views, once somebody has seen it.
    """

    placed: tuple[int, ...] = NO_DICE
    sailors: tuple[Card, ...] = ()
    jokers: tuple[tuple[Card, int], ...] = ()
    strength: tuple[int, ...] = (0,) * len(NATIONS)
    tricks: tuple[Card, ...] = ()
    has_used_trick: bool = False
    view_json: msgspec.Raw | None = field(default=None, compare=False, repr=False)

    @property
    def supply(self) -> int:
        """Dice not placed on a card."""
        return DICE_PER_PLAYER - sum(self.placed)

    def copy(self) -> "Player":
        """Return a copy that may be changed; field by field, as the constructor takes twice the time."""
        copy = Player.__new__(Player)
        copy.placed = self.placed
        copy.sailors = self.sailors
        copy.jokers = self.jokers
        copy.strength = self.strength
        copy.tricks = self.tricks
        copy.has_used_trick = self.has_used_trick
        copy.view_json = None
        return copy


class State(msgspec.Struct):
    """A position of the game.

    `round` counts from 1. `turns`: rolled turns of each seat in this round. `turn`: turns ended in this match. `roll`:
    rolls of this turn. `dice`: the faces just rolled, empty otherwise. `to_place`: how many of them may be placed,
    `must_place`: how many of them at least. `one_at`: where number 1 lies, None while the numbering is open, which it
    is only in the first turn of a round. `gone`: cards out of the game. `table`: trick cards that lie beside the row,
    in force or to be had. `extras`: the memory of each expansion, by its name.
    """

    variant: Variant
    phase: Phase
    round: int = 1
    to_move: Seat = _FIRST
    turns: tuple[int, int] = (0, 0)
    turn: int = 0
    roll: int = 0
    dice: tuple[int, ...] = ()
    to_place: int = 1
    must_place: int = 1
    row: tuple[Card, ...] = ()
    one_at: End | None = None
    pile: tuple[Card, ...] = ()
    gone: tuple[Card, ...] = ()
    players: tuple[Player, Player] = (Player(), Player())
    table: tuple[Card, ...] = ()
    extras: Mapping[str, Any] = {}

    def copy(self) -> "State":
        """Return a copy whose fields may be set; both share the players: see `mover`."""
        return copy(self)

    def mover(self) -> Player:
        """Replace the player to move by a copy that may be changed, and return the copy."""
        first, second = self.players
        if self.to_move == 0:
            player = first.copy()
            self.players = player, second
        else:
            player = second.copy()
            self.players = first, player
        return player

    def remember(self, name: str, extra: Any) -> None:
        """Store `extra` as the memory of the expansion `name`."""
        self.extras = {**self.extras, name: extra}


def numbering_choices(state: State) -> tuple[End | None, ...]:
    """Return the choices of the end of number 1 for the player to move: both ends while it is open, else only None."""
    return ENDS if state.one_at is None else _NO_CHOICE


def why_misnumbered(state: State, one: End | None) -> str | None:
    """Explain a wrong choice of the end of number 1, made or left out, in one sentence; None if it is right."""
    if state.one_at is not None and one is not None:
        return f"`one` is given only while the numbering is open; number 1 lies on the {state.one_at}"
    if state.one_at is None and one is None:
        return 'the numbering of this round is open, and this action chooses it: add "one": "left" or "right"'
    return None


def is_beside_row(state: State, kind: str) -> bool:
    """Return True if a trick card of `kind` lies beside the row."""
    faces = state.variant.faces
    for card in state.table:  # noqa: SIM110 - a loop, as a generator takes three times the time
        if faces[card] == kind:
            return True
    return False


def order_by_number(row: tuple[T, ...], one_at: End) -> tuple[T, ...]:
    """Reorder the row from the order of positions to that of the numbers 1..6, or back."""
    return row if one_at == "left" else row[::-1]
