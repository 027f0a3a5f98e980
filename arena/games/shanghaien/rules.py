"""The rules of Shanghaien: whose turn it is, what is allowed, what it leads to.

Sources: the rule texts as ruled in the project's rules page (docs/shanghaien.md). Rule: the base rules ask no
expansion anything; they look up offers and effects in the variant, and an expansion adds to these.
"""

from collections.abc import Mapping
from functools import cache, lru_cache, reduce
from operator import or_
from typing import Any, ClassVar, Final, cast

import msgspec
from msgspec.structs import replace

from arena import validation
from arena.errors import IllegalAction, MalformedReply, SpecError
from arena.games.api import Chance, Decision, Dice, Json, Outcome, Over, Randomness, Seat, Shuffle, Turn, ranks_by_score
from arena.games.shanghaien import diagram, turns, view
from arena.games.shanghaien.actions import Action, End, Place, Roll, Shanghai
from arena.games.shanghaien.awards import final_scores
from arena.games.shanghaien.cards import DECK_SIZE, Card
from arena.games.shanghaien.expansion import Expansion
from arena.games.shanghaien.expansions import EXPANSIONS
from arena.games.shanghaien.refusal import why_illegal
from arena.games.shanghaien.state import DICE_PER_PLAYER, ROW_SIZE, Interlude, Phase, Player, State, numbering_choices
from arena.games.shanghaien.value.position import ShanghaienValue
from arena.games.shanghaien.variant import Options, action_types, compose, read_options

# Looking a member up on its Enum costs as much as a whole comparison; these are met at every step.
_TURN: Final = Phase.TURN
_ROLLING: Final = Phase.ROLLING
_ROLLED: Final = Phase.ROLLED
_INTERLUDE: Final = Phase.INTERLUDE
_DECISIONS: Final = (Decision(seats=(Seat(0),)), Decision(seats=(Seat(1),)))
_SHUFFLE: Final = Chance(key="deck", kind=Shuffle(DECK_SIZE), is_public=False)
_TWO_DICE: Final = Dice(2)
_OVER: Final = Over()
_ROLL_ONLY: Final = (Roll(),)
_SHANGHAI_ONLY: Final = (Shanghai(),)
_ROLL_OR_SHANGHAI: Final = (Roll(), Shanghai())
_FORMS_HINT: Final = (
    'an action looks like {"do": "roll"} or {"do": "place", "dice": [4]}; see protocol.md, "Shanghaien"'
)


class Shanghaien:
    """The game as `arena.games.api.Game` asks for it, with the expansions on offer by name."""

    name: ClassVar[str] = "shanghaien"
    rules_version: ClassVar[str] = "2"
    seat_counts: ClassVar[tuple[int, ...]] = (2,)
    value: ClassVar[ShanghaienValue] = ShanghaienValue()

    def __init__(self, expansions: Mapping[str, Expansion] = EXPANSIONS) -> None:
        self._expansions = expansions
        base = action_types((), with_base=True)
        self._owners = {
            kind: each.name for each in expansions.values() for kind in action_types([each]) if kind not in base
        }
        self._first_state = lru_cache(maxsize=64)(self._compose)
        self._action_type: Any = reduce(or_, action_types(expansions.values(), with_base=True))

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        """An unshuffled table for two."""
        if seats not in self.seat_counts:
            raise SpecError(f"shanghaien is for 2 players, not {seats}")
        return self._first_state(read_options(options, self._expansions))

    def turn(self, state: State) -> Turn:
        """A decision of the player to move, the shuffle, a roll, an expansion's question, or the end."""
        phase = state.phase
        if phase is _ROLLED or phase is _TURN:
            return _DECISIONS[state.to_move]
        if phase is _ROLLING:
            seat = state.to_move
            return Chance(key=f"roll/{state.round}/{seat}/{state.turns[seat]}/{state.roll}", kind=_TWO_DICE)
        if phase is _INTERLUDE:
            asked = _interlude(state)
            return asked.chance or _DECISIONS[asked.seat]
        return _OVER if phase is Phase.OVER else _SHUFFLE

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        """See `view.observe`."""
        return view.observe(state, seat)

    def legal(self, state: State, seat: Seat) -> tuple[Action, ...]:
        """Before the roll: roll, then shanghai. After it: placements, then the tricks of each kind held."""
        phase = state.phase
        player = state.players[seat]
        if state.to_move == seat and phase is _TURN:
            actions = _turn_actions(player)
        elif state.to_move == seat and phase is _ROLLED:
            actions = _placements(state.dice, state.must_place, state.to_place, numbering_choices(state))
            if player.tricks and not player.has_used_trick:
                actions += _trick_actions(state, player)
        else:
            return _answers(state, seat)
        for restrict in state.variant.restrict:
            actions = restrict(state, actions)
        return actions

    def parse(self, state: State, seat: Seat, raw: Json) -> Action:
        """The legal action that the JSON object `raw` describes; the order of the dice in a placement is free."""
        try:
            action = msgspec.convert(raw, type=self._action_type)
        except (msgspec.ValidationError, UnicodeEncodeError):
            sentence = validation.why_not(raw, self._action_type, place="not an action of shanghaien")
            raise MalformedReply(sentence, hint=_FORMS_HINT) from None
        owner = self._owners.get(type(action))
        if owner is not None and owner not in state.variant.expansions:
            raise IllegalAction(
                f'"{action.__struct_config__.tag}" belongs to the expansion {owner}, which is off in this match'
            )
        if isinstance(action, Place):
            action = replace(action, dice=tuple(sorted(action.dice)))
        if action not in self.legal(state, seat):
            raise IllegalAction(why_illegal(state, seat, action), hint="choose one of the actions in `legal`")
        return cast(Action, action)

    def apply(self, state: State, actions: Mapping[Seat, Action]) -> State:
        """The state after the seat that was asked did what it chose, or after somebody was asked about it."""
        (action,) = actions.values()
        return turns.announce(state, action)

    def resolve(self, state: State, drawn: tuple[int, ...]) -> State:
        """The state after the deck was shuffled, dice were rolled, or an expansion drew its luck."""
        if state.phase is _ROLLING:
            return turns.rolled(state, drawn)
        if state.phase is _INTERLUDE:
            expansion: Expansion = state.variant.expansions[_interlude(state).by]
            assert expansion.resolve is not None, "an expansion that asks for chance says what follows from it"
            return expansion.resolve(state, drawn)
        cards = cast(tuple[Card, ...], drawn)
        return replace(state, phase=_TURN, row=cards[:ROW_SIZE], pile=cards[ROW_SIZE:])

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

    def _compose(self, options: Options) -> State:
        chosen = tuple(each for name, each in self._expansions.items() if name in options.expansions)
        variant = compose(options, chosen)
        return State(
            variant=variant,
            phase=Phase.SHUFFLE,
            players=(Player(tricks=variant.dealt[0]), Player(tricks=variant.dealt[1])),
            table=variant.table,
            extras={each.name: each.start for each in chosen},
        )


def _interlude(state: State) -> Interlude:
    assert state.interlude is not None, "the phase says that there is one"
    return state.interlude


def _answers(state: State, seat: Seat) -> tuple[Action, ...]:
    """What the seat may answer to the question of an expansion, if it is asked one."""
    asked = state.interlude
    if asked is None or asked.seat != seat or asked.chance is not None:
        return ()
    expansion: Expansion = state.variant.expansions[asked.by]
    assert expansion.options is not None, "an expansion that asks a seat lists the answers"
    return expansion.options(state)


def _turn_actions(player: Player) -> tuple[Action, ...]:
    """Roll needs two dice in the supply, shanghai two dice placed; without a roll shanghai is compulsory."""
    supply = player.supply
    if supply < 2:
        return _SHANGHAI_ONLY
    return _ROLL_OR_SHANGHAI if DICE_PER_PLAYER - supply >= 2 else _ROLL_ONLY


@cache
def _placements(dice: tuple[int, ...], at_least: int, at_most: int, ends: tuple[End | None, ...]) -> tuple[Place, ...]:
    """Both dice where that is allowed, then one of them unless both are a duty; each with every choice of numbering."""
    choices = [tuple(sorted(dice))] if at_most == 2 else []
    choices += [(die,) for die in dict.fromkeys(dice)] if at_least == 1 else []
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
