"""Positions of Shanghaien for the tests, built directly: cards by their text form, players by what lies before them."""

from copy import copy
from typing import Any, Final, TypeVar

import pytest

from arena.errors import IllegalAction
from arena.games import load_game
from arena.games.api import Chance, Decision, Dice, Game, Json, Over, Seat
from arena.games.shanghaien.actions import Action, Place, Roll, Shanghai
from arena.games.shanghaien.cards import NATIONS, Card, is_sailor, nation_of, strength_of
from arena.games.shanghaien.state import Player, State

GAME: Final[Game[State, Action]] = load_game("shanghaien")
FIRST, SECOND = Seat(0), Seat(1)
FRESH: Final = GAME.setup({}, 2)
FACES: Final = FRESH.variant.faces
LAST_ROW: Final = ("both", "dutch 1", "dutch 2", "dutch 3", "dutch 4", "german 1")
NUMBERED: Final = "`one` is given only while the numbering is open; number 1 lies on the left"
UNNUMBERED: Final = 'the numbering of this round is open, and this action chooses it: add "one": "left" or "right"'

T = TypeVar("T")
Event = Action | tuple[int, ...]
"""What happens next: an action of whoever decides, or the dice that are drawn."""


def replace(value: T, **changes: Any) -> T:
    """A copy of a state or of a player with other fields."""
    other = copy(value)
    for name, field in changes.items():
        setattr(other, name, field)
    return other


def cards(*faces: str) -> tuple[Card, ...]:
    """Cards by their text form; a face named twice is the next card with that face."""
    found: list[Card] = []
    for face in faces:
        found.append(next(Card(c) for c in range(48) if FACES[c] == face and c not in found))
    return tuple(found)


def player(
    *,
    dice: tuple[int, ...] = (),
    sailors: tuple[str, ...] = (),
    jokers: tuple[tuple[str, str], ...] = (),
    tricks: tuple[str, ...] = (),
    used: bool = False,
) -> Player:
    """A player with dice on these numbers; `jokers` are pairs of a trick's kind and the nation it was laid to."""
    strength = [0] * len(NATIONS)
    for card in cards(*sailors):
        strength[nation_of(card)] += strength_of(card)
    for _, nation in jokers:
        strength[NATIONS.index(nation)] += 2
    laid = cards(*tricks, *(kind for kind, _ in jokers))[len(tricks) :]
    return Player(
        placed=tuple(dice.count(number) for number in range(1, 7)),
        sailors=cards(*sailors),
        jokers=tuple((card, NATIONS.index(nation)) for card, (_, nation) in zip(laid, jokers, strict=True)),
        strength=tuple(strength),
        tricks=cards(*tricks),
        has_used_trick=used,
    )


def to_move(first: Player, second: Player | None = None, *, seat: Seat = FIRST, round_: int = 1) -> State:
    """`seat` chooses between roll and shanghai in a round whose numbering is settled; the row is cards 0..5."""
    dealt = GAME.resolve(FRESH, tuple(range(48)))
    left = 6 * (9 - round_)
    return replace(
        dealt,
        players=(first, second or Player()),
        to_move=seat,
        round=round_,
        one_at="left",
        pile=dealt.pile[: left - 6],
    )


def rolled(dice: tuple[int, int], first: Player, second: Player | None = None) -> State:
    """Return a position in which the first seat has just rolled `dice`."""
    return replace(to_move(first, second, seat=FIRST), phase="rolled", dice=dice, turns=(1, 0), roll=1)


def go(state: State, *events: Event) -> State:
    """The state after these events; each must be legal for the seat that decides, or fit the luck asked for."""
    for event in events:
        turn = GAME.turn(state)
        if isinstance(event, Action):
            assert isinstance(turn, Decision), f"{event}, but what comes next is {turn}"
            (seat,) = turn.seats
            assert event in options(state), f"{event} is not among {options(state)}"
            state = GAME.apply(state, {seat: event})
        else:
            assert isinstance(turn, Chance), f"{event} are drawn, but what comes next is {turn}"
            assert isinstance(turn.kind, Dice)
            assert turn.kind.count == len(event), f"{turn} is not for {event}"
            state = GAME.resolve(state, event)
    return state


def options(state: State) -> tuple[Action, ...]:
    """What the seat that decides may do."""
    turn = GAME.turn(state)
    assert isinstance(turn, Decision), f"nobody decides: {turn}"
    return GAME.legal(state, turn.seats[0]) or ()


def tricks(state: State) -> tuple[Action, ...]:
    """The legal actions that play a trick."""
    return tuple(action for action in options(state) if not isinstance(action, Place | Roll | Shanghai))


def do(name: str, **fields: Json) -> dict[str, Json]:
    """An action as a bot sends it."""
    return {"do": name, **fields}


def refused(state: State, raw: Json, *, seat: Seat = FIRST) -> str:
    """The sentence that tells why `raw` is illegal."""
    with pytest.raises(IllegalAction) as caught:
        GAME.parse(state, seat, raw)
    return caught.value.message


def chance_key(state: State) -> str:
    """The key of the draw the state waits for."""
    turn = GAME.turn(state)
    assert isinstance(turn, Chance), f"no luck is asked for: {turn}"
    return turn.key


def decider(state: State) -> Seat:
    """The seat that decides now."""
    turn = GAME.turn(state)
    assert isinstance(turn, Decision), f"nobody decides: {turn}"
    return turn.seats[0]


def is_over(state: State) -> bool:
    """The game has ended."""
    return isinstance(GAME.turn(state), Over)


def every_card(state: State) -> list[Card]:
    """All cards, wherever they lie, in order."""
    lying = [*state.row, *state.pile, *state.gone, *state.table]
    for side in state.players:
        assert all(map(is_sailor, side.sailors)), "only sailors lie among the sailors"
        lying += [*side.sailors, *side.tricks, *(card for card, _ in side.jokers)]
    return sorted(lying)
