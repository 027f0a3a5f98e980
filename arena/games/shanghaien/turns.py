"""The steps of a turn and of the end of a round: the moves that actions are made of.

Source: "A. Wuerfeln", "B. Shanghaien" and "Ende der Runde" in the German rule text. Rule: each function takes a state
to a later one and runs the hooks that belong to its step; whether the step was allowed is asked in `rules`.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final, cast

from msgspec.structs import replace

from arena.games.api import Chance, Dice, Seat, Shuffle
from arena.games.shanghaien.actions import Action, Place, Roll, Shanghai
from arena.games.shanghaien.cards import DECK_SIZE, Card, card_winners, final_scores, is_sailor, nation_of, strength_of
from arena.games.shanghaien.state import ROUNDS, ROW_SIZE, Player, State, T, numbered, with_mover

SHUFFLE: Final = Chance(key="deck", kind=Shuffle(DECK_SIZE), is_public=False)
_TWO_DICE: Final = Dice(2)


def announce(state: State, action: Action, *, asked_by: str | None = None) -> State:
    """The state in which somebody is asked about `action`, or, if nobody is, the state after it.

    `asked_by`: the expansion whose question about it has just been answered; only those after it may ask now.
    """
    variant = state.variant
    hooks = variant.intercept
    for intercept in hooks.values() if asked_by is None else _after(asked_by, hooks):
        asking = intercept(state, action)
        if asking is not None:
            return asking
    return variant.effects[type(action)](state, action)


def _after(expansion: str, hooks: Mapping[str, T]) -> Iterable[T]:
    """The hooks after the one of `expansion`."""
    return list(hooks.values())[list(hooks).index(expansion) + 1 :]


def shuffled(state: State, drawn: tuple[int, ...]) -> State:
    """The first row lies open, and the player who starts is to move."""
    cards = cast(tuple[Card, ...], drawn)
    return replace(state, phase="turn", row=cards[:ROW_SIZE], pile=cards[ROW_SIZE:])


def start_roll(state: State, _: Roll) -> State:
    """The first roll of a turn."""
    first, second = state.turns
    turns = (first + 1, second) if state.to_move == 0 else (first, second + 1)
    return replace(state, phase="rolling", turns=turns, roll=1)


def roll_again(state: State) -> State:
    """Another roll of both dice in the same turn."""
    return replace(state, phase="rolling", dice=(), roll=state.roll + 1)


@cache
def next_roll(round_: int, seat: Seat, turn: int, roll: int) -> Chance:
    """The two dice of that roll of that turn."""
    return Chance(key=f"roll/{round_}/{seat}/{turn}/{roll}", kind=_TWO_DICE)


def rolled(state: State, dice: tuple[int, ...], *, asked_by: str | None = None) -> State:
    """Two dice lie there; a hook that opens an interlude keeps the following ones waiting until it is over.

    `asked_by`: the expansion whose interlude about these very dice is over; only the hooks after it run.
    """
    state = replace(state, phase="rolled", dice=dice)
    hooks = state.variant.on_rolled
    for hook in hooks.values() if asked_by is None else _after(asked_by, hooks):
        state = hook(state)
        if state.phase != "rolled":
            break
    return state


def put_down(state: State, placement: Place) -> State:
    """The dice go to their numbers, the others back to the supply; the turn is over."""
    player = state.players[state.to_move]
    placed = list(player.placed)
    for die in placement.dice:
        placed[die - 1] += 1
    state = with_mover(state, replace(player, placed=tuple(placed)))
    if state.one_at is None:
        state = replace(state, one_at=placement.one)
    for hook in state.variant.on_placed.values():
        state = hook(state, placement.dice)
    return end_turn(state)


def end_turn(state: State) -> State:
    """The opponent moves next."""
    return replace(
        state,
        phase="turn",
        to_move=Seat(1 - state.to_move),
        turn=state.turn + 1,
        dice=(),
        to_place=1,
        must_place=1,
    )


def end_round(state: State, _: Shanghai) -> State:
    """The cards of the row go to their winners or out of the game; the other player starts the next round."""
    assert state.one_at is not None, "shanghai comes after the first turn, which fixed the numbering"
    first, second = state.players
    won_by = card_winners((first.placed, second.placed))
    for award in state.variant.award.values():
        won_by = award(state, won_by)
    taken: dict[Seat | None, list[Card]] = {Seat(0): [], Seat(1): [], None: list(state.gone)}
    for card, winner in zip(numbered(state.row, state.one_at), won_by, strict=True):
        taken[winner].append(card)
    ended = replace(
        state,
        players=(_take(first, taken[Seat(0)]), _take(second, taken[Seat(1)])),
        gone=tuple(taken[None]),
        row=state.pile[:ROW_SIZE],
        pile=state.pile[ROW_SIZE:],
    )
    for hook in state.variant.on_round_end.values():
        ended = hook(ended)
    if state.round == ROUNDS:
        return replace(ended, phase="over", turn=state.turn + 1)
    return replace(end_turn(ended), round=state.round + 1, turns=(0, 0), roll=0, one_at=None)


def _take(player: Player, cards: list[Card]) -> Player:
    """The player with the cards won, the dice back in the supply, ready for a new round."""
    strength = list(player.strength)
    sailors = tuple([card for card in cards if is_sailor(card)])
    for card in sailors:
        strength[nation_of(card)] += strength_of(card)
    return Player(
        sailors=player.sailors + sailors,
        jokers=player.jokers,
        strength=tuple(strength),
        tricks=player.tricks + tuple([card for card in cards if not is_sailor(card)]),
    )


def scores_of(state: State) -> tuple[int, int]:
    """Points of both seats, as if the match ended here."""
    first, second = state.players
    return final_scores((first.strength, second.strength), (len(first.tricks), len(second.tricks)))
