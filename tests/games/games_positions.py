"""Positions of Shanghaien for the tests, built directly: cards by their text form, players by what lies before them."""

from typing import Final

from msgspec.structs import replace

from arena.games import load_game
from arena.games.api import Chance, Decision, Game, Over, Seat
from arena.games.shanghaien.actions import Action
from arena.games.shanghaien.cards import NATIONS, Card, is_sailor, nation_of, strength_of
from arena.games.shanghaien.state import Player, State

GAME: Final[Game[State, Action]] = load_game("shanghaien")
FIRST, SECOND = Seat(0), Seat(1)
FRESH: Final = GAME.setup({}, 2)
FACES: Final = FRESH.variant.faces


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


def rolled(dice: tuple[int, int], first: Player, second: Player | None = None, *, seat: Seat = FIRST) -> State:
    """`seat` has just rolled `dice`."""
    turns = (1, 0) if seat == FIRST else (0, 1)
    state = to_move(first, second, seat=seat)
    return replace(state, phase="rolled", dice=dice, turns=turns, roll=1)


def act(state: State, action: Action) -> State:
    """The state after a legal action of the player to move."""
    assert action in legal(state), f"{action} is not among {legal(state)}"
    return GAME.apply(state, {state.to_move: action})


def legal(state: State) -> tuple[Action, ...]:
    """What the player to move may do."""
    actions = GAME.legal(state, state.to_move)
    assert actions is not None
    return actions


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


def all_cards(state: State) -> list[Card]:
    """Every card, wherever it lies, in order."""
    lying = [*state.row, *state.pile, *state.gone]
    for side in state.players:
        assert all(map(is_sailor, side.sailors)), "only sailors lie among the sailors"
        lying += [*side.sailors, *side.tricks, *(card for card, _ in side.jokers)]
    return sorted(lying)
