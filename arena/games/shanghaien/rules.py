"""The rules of Shanghaien: whose turn it is, what is allowed, what it leads to.

Sources: the rule texts as ruled in the project's rules page (docs/shanghaien.md). Rule: the base rules ask no
expansion anything; they look up offers and effects in the variant, and an expansion adds to these.
"""

from collections.abc import Mapping
from functools import cache
from typing import ClassVar, Final, cast

import msgspec
from msgspec.structs import replace

from arena.errors import IllegalAction, MalformedReply, SpecError
from arena.games.api import Chance, Decision, Dice, Json, Outcome, Over, Randomness, Seat, Shuffle, Turn, ranks_by_score
from arena.games.shanghaien import diagram, view
from arena.games.shanghaien.actions import Action, Place, Roll, Shanghai
from arena.games.shanghaien.awards import final_scores, winners
from arena.games.shanghaien.cards import DECK_SIZE, Card, is_sailor, nation_of, value_of
from arena.games.shanghaien.refusal import why_illegal
from arena.games.shanghaien.state import (
    DICE_PER_PLAYER,
    ROUNDS,
    ROW_SIZE,
    End,
    Phase,
    Player,
    State,
    numbered,
    with_player,
)
from arena.games.shanghaien.variant import compose, read_options

# Looking a member up on its Enum costs as much as a whole comparison; these three are met at every step.
_TURN: Final = Phase.TURN
_ROLLING: Final = Phase.ROLLING
_ROLLED: Final = Phase.ROLLED
_DECISIONS: Final = (Decision(seats=(Seat(0),)), Decision(seats=(Seat(1),)))
_SHUFFLE: Final = Chance(key="deck", kind=Shuffle(DECK_SIZE), is_public=False)
_TWO_DICE: Final = Dice(2)
_OVER: Final = Over()
_ENDS: Final[tuple[End, ...]] = ("left", "right")
_ROLL_ONLY: Final = (Roll(),)
_SHANGHAI_ONLY: Final = (Shanghai(),)
_ROLL_OR_SHANGHAI: Final = (Roll(), Shanghai())
_FORMS_HINT: Final = (
    'an action looks like {"do": "roll"} or {"do": "place", "dice": [4]}; see protocol.md, "Shanghaien"'
)


class Shanghaien:
    """The game as `arena.games.api.Game` asks for it."""

    name: ClassVar[str] = "shanghaien"
    rules_version: ClassVar[str] = "1"
    seat_counts: ClassVar[tuple[int, ...]] = (2,)

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        """An unshuffled table for two."""
        if seats not in self.seat_counts:
            raise SpecError(f"shanghaien is for 2 players, not {seats}")
        return State(variant=compose(read_options(options)), phase=Phase.SHUFFLE)

    def turn(self, state: State) -> Turn:
        """A decision of the player to move, the shuffle, a roll, or the end."""
        phase = state.phase
        if phase is _ROLLED or phase is _TURN:
            return _DECISIONS[state.to_move]
        if phase is _ROLLING:
            seat = state.to_move
            return Chance(key=f"roll/{state.round}/{seat}/{state.turns[seat]}/{state.roll}", kind=_TWO_DICE)
        return _OVER if phase is Phase.OVER else _SHUFFLE

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        """See `view.observe`."""
        return view.observe(state, seat)

    def legal(self, state: State, seat: Seat) -> tuple[Action, ...]:
        """Before the roll: roll, then shanghai. After it: placements, then the tricks of each kind held."""
        if state.to_move != seat:
            return ()
        if state.phase is _TURN:
            return _turn_actions(state.players[seat])
        if state.phase is not _ROLLED:
            return ()
        placements = _placements(state.dice, state.to_place, is_numbering_open=state.one_at is None)
        player = state.players[seat]
        if player.has_used_trick or not player.tricks:
            return placements
        return placements + _trick_actions(state, player)

    def parse(self, state: State, seat: Seat, raw: Json) -> Action:
        """The legal action that the JSON object `raw` describes; the order of the dice in a placement is free."""
        try:
            action = msgspec.convert(raw, type=state.variant.action_type)
        except msgspec.ValidationError as error:
            raise MalformedReply(f"not an action of shanghaien: {error!s:.300}", hint=_FORMS_HINT) from None
        if isinstance(action, Place):
            action = replace(action, dice=tuple(sorted(action.dice)))
        if action not in self.legal(state, seat):
            raise IllegalAction(why_illegal(state, seat, action), hint="choose one of the actions in `legal`")
        return cast(Action, action)

    def apply(self, state: State, actions: Mapping[Seat, Action]) -> State:
        """The state after the player to move did what he chose."""
        action = actions[state.to_move]
        if isinstance(action, Place):
            return _place(state, action)
        if isinstance(action, Roll):
            return _start_roll(state)
        if isinstance(action, Shanghai):
            return _end_round(state)
        return state.variant.effects[type(action)](state, action)

    def resolve(self, state: State, drawn: tuple[int, ...]) -> State:
        """The state after the deck was shuffled or two dice were rolled."""
        if state.phase is Phase.SHUFFLE:
            cards = cast(tuple[Card, ...], drawn)
            return replace(state, phase=_TURN, row=cards[:ROW_SIZE], pile=cards[ROW_SIZE:])
        return replace(state, phase=_ROLLED, dice=drawn)

    def outcome(self, state: State) -> Outcome:
        """Points and ranks; equal points are a draw (the texts have no tie-break)."""
        first, second = state.players
        scores = final_scores((first.strength, second.strength), (len(first.tricks), len(second.tricks)))
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def sample(self, state: State, seat: Seat, rng: Randomness) -> Action:
        """One of the legal actions, all equally likely."""
        return cast(Action, rng.choice(self.legal(state, seat)))

    def describe(self, state: State) -> str:
        """See `diagram.describe`."""
        return diagram.describe(state)

    def picture(self, state: State) -> str:
        """See `diagram.picture`."""
        return diagram.picture(state)


def _turn_actions(player: Player) -> tuple[Action, ...]:
    """Roll needs two dice in the supply, shanghai two dice placed; without a roll shanghai is compulsory."""
    supply = player.supply
    if supply < 2:
        return _SHANGHAI_ONLY
    return _ROLL_OR_SHANGHAI if DICE_PER_PLAYER - supply >= 2 else _ROLL_ONLY


@cache
def _placements(dice: tuple[int, ...], to_place: int, *, is_numbering_open: bool) -> tuple[Place, ...]:
    """One of the dice, or both; with the first die of a round also the choice of the end where 1 lies."""
    choices = [tuple(sorted(dice))] if to_place == 2 else [(die,) for die in dict.fromkeys(dice)]
    ends: tuple[End | None, ...] = _ENDS if is_numbering_open else (None,)
    return tuple(Place(dice=chosen, one=end) for chosen in choices for end in ends)


def _trick_actions(state: State, player: Player) -> tuple[Action, ...]:
    """The actions of each kind of trick the player holds, in the order of the tricks in play."""
    held = {state.variant.faces[card] for card in player.tricks}
    return tuple(
        action
        for kind, trick in state.variant.tricks.items()
        if kind in held
        for action in trick.actions(state, player)
    )


def _start_roll(state: State) -> State:
    seat = state.to_move
    first, second = state.turns
    turns = (first + 1, second) if seat == 0 else (first, second + 1)
    return replace(state, phase=_ROLLING, turns=turns, roll=1)


def _place(state: State, action: Place) -> State:
    """The dice go to their numbers, the others back to the supply; the opponent moves next."""
    seat = state.to_move
    player = state.players[seat]
    placed = list(player.placed)
    for die in action.dice:
        placed[die - 1] += 1
    return replace(
        state,
        phase=_TURN,
        to_move=Seat(1 - seat),
        dice=(),
        to_place=1,
        one_at=state.one_at or action.one,
        players=with_player(state, seat, replace(player, placed=tuple(placed))),
    )


def _end_round(state: State) -> State:
    """The cards of the row go to their winners or out of the game; the other player starts the next round."""
    assert state.one_at is not None, "shanghai needs placed dice, and the first one fixed the numbering"
    first, second = state.players
    won: tuple[list[Card], list[Card]] = ([], [])
    gone = list(state.gone)
    for card, winner in zip(numbered(state.row, state.one_at), winners((first.placed, second.placed)), strict=True):
        (gone if winner is None else won[winner]).append(card)
    ended = replace(
        state,
        players=(_take(first, won[0]), _take(second, won[1])),
        gone=tuple(gone),
        row=state.pile[:ROW_SIZE],
        pile=state.pile[ROW_SIZE:],
    )
    if state.round == ROUNDS:
        return replace(ended, phase=Phase.OVER)
    starter = Seat(1 - state.to_move)
    return replace(ended, phase=_TURN, round=state.round + 1, to_move=starter, turns=(0, 0), roll=0, one_at=None)


def _take(player: Player, cards: list[Card]) -> Player:
    """The player with the cards he won, his dice back in the supply, ready for a new round."""
    strength = list(player.strength)
    sailors = [card for card in cards if is_sailor(card)]
    for card in sailors:
        strength[nation_of(card)] += value_of(card)
    return Player(
        sailors=player.sailors + tuple(sailors),
        jokers=player.jokers,
        strength=tuple(strength),
        tricks=player.tricks + tuple(card for card in cards if not is_sailor(card)),
    )
