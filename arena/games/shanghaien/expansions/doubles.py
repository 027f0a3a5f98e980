"""Doubles: a player who rolls two equal dice rolls one again, or takes the card that can be taken again from him.

Source: "Удвоение" in the Russian rule text. Rulings: the choice comes before any trick and cannot be vetoed; a card
taken can be played from the next own turn on, in the same round too; a starter of a round who takes the card in the
first turn chooses the numbering with it.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import msgspec
from msgspec.structs import replace

from arena.games.api import Chance, Dice, Json, Seat
from arena.games.shanghaien.actions import Action, End
from arena.games.shanghaien.cards import Card
from arena.games.shanghaien.expansion import Expansion
from arena.games.shanghaien.refusal import why_misnumbered
from arena.games.shanghaien.state import Interlude, Phase, Player, State, numbering_choices, with_extra, with_player
from arena.games.shanghaien.tricks import lay_out
from arena.games.shanghaien.turns import end_turn, roll_again, rolled

NAME: Final = "doubles"
_ONE_DIE: Final = Dice(1)


class PlayDoubles(Action, frozen=True, tag="doubles"):
    """Lay the card back to the middle and roll both dice again."""

    def __str__(self) -> str:
        return "plays doubles: lays the card to the middle and rolls both dice again"


class RollOne(Action, frozen=True, tag="roll_one"):
    """Roll one of two equal dice again."""

    def __str__(self) -> str:
        return "rolls one of the two dice again"


class TakeDoubles(Action, frozen=True, tag="take_doubles"):
    """Place nothing and take the doubles card, from the middle or from the opponent.

    `one` is given while the numbering is open, and only then.
    """

    one: End | None = None

    def __str__(self) -> str:
        numbering = f", number 1 on the {self.one}" if self.one else ""
        return f"places nothing and takes the doubles card{numbering}"


class Repeats(msgspec.Struct, frozen=True):
    """How often one die was rolled again after the roll `roll` of the turn `turn`."""

    turn: int = -1
    roll: int = 0
    count: int = 0


class DoublesTrick:
    """Always possible for the holder."""

    kind: ClassVar[str] = NAME
    effects: ClassVar[Mapping[type[Action], Any]] = {PlayDoubles: lambda state, _: roll_again(lay_out(state, NAME))}

    def actions(self, state: State, player: Player) -> tuple[Action, ...]:  # noqa: ARG002 - the trick's contract
        """The new roll of both dice."""
        return _PLAY


_PLAY: Final = (PlayDoubles(),)
_ROLL_ONE: Final = (RollOne(),)


def holder(state: State) -> Seat | None:
    """The seat that has the card; None while it lies in the middle."""
    card = _card(state)
    for seat, player in enumerate(state.players):
        if card in player.tricks:
            return Seat(seat)
    return None


def _card(state: State) -> Card:
    return Card(state.variant.faces.index(NAME))


def _on_rolled(state: State) -> State:
    if state.dice[0] != state.dice[1]:
        return state
    return replace(state, phase=Phase.INTERLUDE, interlude=Interlude(by=NAME, name="doubles", seat=state.to_move))


def _options(state: State) -> tuple[Action, ...]:
    if holder(state) == state.to_move:
        return _ROLL_ONE
    return (*_ROLL_ONE, *[TakeDoubles(one=end) for end in numbering_choices(state)])


def _roll_one(state: State, _: RollOne) -> State:
    before: Repeats = state.extras[NAME]
    is_same_roll = (before.turn, before.roll) == (state.turn, state.roll)
    repeats = Repeats(turn=state.turn, roll=state.roll, count=before.count + 1 if is_same_roll else 1)
    seat = state.to_move
    key = f"again/{state.round}/{seat}/{state.turns[seat]}/{state.roll}/{repeats.count}"
    interlude = Interlude(by=NAME, name="roll_one", seat=seat, chance=Chance(key=key, kind=_ONE_DIE))
    return replace(state, interlude=interlude, extras=with_extra(state, NAME, repeats))


def _resolve(state: State, drawn: tuple[int, ...]) -> State:
    """The die that stayed, and the one that was rolled again."""
    return rolled(state, (state.dice[0], drawn[0]))


def _take(state: State, action: TakeDoubles) -> State:
    card, seat = _card(state), state.to_move
    first, second = (
        replace(player, tricks=tuple([held for held in player.tricks if held != card])) for player in state.players
    )
    taker = (first, second)[seat]
    table = tuple([lying for lying in state.table if lying != card])
    taken = replace(state, players=(first, second), table=table, one_at=state.one_at or action.one)
    return end_turn(replace(taken, players=with_player(taken, seat, replace(taker, tricks=(*taker.tricks, card)))))


def _view(state: State) -> dict[str, Json]:
    return {"holder": holder(state)}


def _notes(state: State) -> tuple[str, ...]:
    return ("the doubles card lies in the middle",) if holder(state) is None else ()


def _why(state: State, action: Action) -> str | None:
    if not isinstance(action, RollOne | TakeDoubles):
        return None
    if state.interlude is None or state.interlude.by != NAME:
        return f'"{action.__struct_config__.tag}" answers a roll of two equal dice, and there is none'
    if isinstance(action, TakeDoubles) and holder(state) != state.to_move:
        return why_misnumbered(state, action.one)
    return "the doubles card is yours already; roll one die again"


DOUBLES: Final = Expansion(
    name=NAME,
    trick=DoublesTrick(),
    is_dealt=False,
    start=Repeats(),
    effects={RollOne: _roll_one, TakeDoubles: _take},
    options=_options,
    resolve=_resolve,
    on_rolled=_on_rolled,
    view=_view,
    notes=_notes,
    why=_why,
)
