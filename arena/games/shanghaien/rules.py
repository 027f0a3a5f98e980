"""The rules of Shanghaien: whose turn it is, what is allowed, what it leads to.

Sources: the rule texts as ruled in the project's rules page (docs/shanghaien.md). Rule: the base rules ask no
expansion anything; they look up offers and effects in the variant, and an expansion adds to these.
"""

from collections.abc import Mapping
from functools import cache, lru_cache, reduce
from operator import or_
from typing import Any, ClassVar, Final, cast

from msgspec.structs import replace

from arena.errors import IllegalAction, SpecError
from arena.games.api import Decision, Json, Outcome, Over, Randomness, Seat, Turn, ranks_by_score, read_action
from arena.games.shanghaien import turns, view
from arena.games.shanghaien.actions import Action, End, Place, Roll, Shanghai
from arena.games.shanghaien.cards import SHUFFLE
from arena.games.shanghaien.expansions import EXPANSIONS
from arena.games.shanghaien.refusal import why_illegal
from arena.games.shanghaien.state import Choice, Expansion, ExtraRoll, Player, State, numbering_choices
from arena.games.shanghaien.value.position import ShanghaienValue
from arena.games.shanghaien.variant import BASE_ACTIONS, Options, action_types, checked_options, compose

_DECISIONS: Final = (Decision(seats=(Seat(0),)), Decision(seats=(Seat(1),)))
_OVER: Final = Over()
_ROLL: Final[tuple[Action, ...]] = (Roll(),)
_SHANGHAI: Final[tuple[Action, ...]] = (Shanghai(),)
_BEGINNINGS: Final = (_ROLL, _ROLL, *(_ROLL + _SHANGHAI,) * 3, _SHANGHAI, _SHANGHAI)
"""By the own dice placed: a roll needs two of the six in the supply, shanghai two placed."""
_FORMS_HINT: Final = (
    'an action looks like {"do": "roll"} or {"do": "place", "dice": [4]}; see protocol.md, "Shanghaien"'
)


class Shanghaien:
    """The game as `arena.games.api.Game` asks for it, with the expansions on offer by name."""

    name: ClassVar[str] = "shanghaien"
    rules_version: ClassVar[str] = "2"
    seat_counts: ClassVar[tuple[int, ...]] = (2,)
    value: ClassVar[ShanghaienValue] = ShanghaienValue()
    observe = staticmethod(view.observe)
    describe = staticmethod(view.describe)
    picture = staticmethod(view.picture)

    def __init__(self, expansions: Mapping[str, Expansion] = EXPANSIONS) -> None:
        self._expansions = expansions
        added = {kind: each.name for each in expansions.values() for kind in action_types([each])}
        self._owners = {kind: name for kind, name in added.items() if kind not in BASE_ACTIONS}
        self._first_state = lru_cache(maxsize=64)(self._compose)
        self._action_type: Any = reduce(or_, [*BASE_ACTIONS, *self._owners])

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        """An unshuffled table for two."""
        if seats not in self.seat_counts:
            raise SpecError(f"shanghaien is for 2 players, not {seats}")
        return self._first_state(checked_options(options, self._expansions))

    def turn(self, state: State) -> Turn:
        """A decision of the player to move, the shuffle, a roll, an expansion's question, or the end."""
        phase = state.phase
        if phase in ("turn", "rolled"):
            return _DECISIONS[state.to_move]
        if phase == "rolling":
            return turns.next_roll(state.round, state.to_move, state.turns[state.to_move], state.roll)
        if isinstance(phase, Choice):
            return _DECISIONS[phase.seat]
        if isinstance(phase, ExtraRoll):
            return phase.chance
        return _OVER if phase == "over" else SHUFFLE

    def legal(self, state: State, seat: Seat) -> tuple[Action, ...]:
        """Before the roll: roll, then shanghai. After it: placements, then the tricks of each kind held."""
        phase = state.phase
        if phase not in ("turn", "rolled") or state.to_move != seat:
            return phase.answers if isinstance(phase, Choice) and phase.seat == seat else ()
        player = state.players[seat]
        actions: tuple[Action, ...]
        if phase == "turn":
            actions = _BEGINNINGS[sum(player.placed)]
        else:
            actions = _placements(state.dice, state.must_place, state.to_place, numbering_choices(state))
            if player.tricks and not player.has_used_trick:
                actions += turns.trick_actions(state)
        for restrict in state.variant.restrict.values():
            actions = restrict(state, actions)
        return actions

    def parse(self, state: State, seat: Seat, raw: Json) -> Action:
        """The legal action that the JSON object `raw` describes; the order of the dice in a placement is free."""
        action = cast(Action, read_action(raw, self._action_type, game=self.name, hint=_FORMS_HINT))
        owner = self._owners.get(type(action))
        if owner is not None and owner not in state.variant.expansions:
            raise IllegalAction(f'"{action.tag}" belongs to the expansion {owner}, which is off in this match')
        if isinstance(action, Place):
            action = replace(action, dice=tuple(sorted(action.dice)))
        if action not in self.legal(state, seat):
            raise IllegalAction(why_illegal(state, seat, action), hint="choose one of the actions in `legal`")
        return action

    def apply(self, state: State, actions: Mapping[Seat, Action]) -> State:
        """The state after the seat that was asked did what it chose, or after somebody was asked about it."""
        (action,) = actions.values()
        return turns.announce(state, action)

    def resolve(self, state: State, drawn: tuple[int, ...]) -> State:
        """The state after the deck was shuffled, dice were rolled, or an expansion drew its luck."""
        if isinstance(state.phase, ExtraRoll):
            return state.phase.then(state, drawn)
        if state.phase == "rolling":
            return turns.rolled(state, drawn)
        return turns.shuffled(state, drawn)

    def outcome(self, state: State) -> Outcome:
        """Points and ranks; equal points are a draw (the texts have no tie-break)."""
        scores = turns.scores_of(state)
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def sample(self, state: State, seat: Seat, rng: Randomness) -> Action:
        """One of the legal actions, all equally likely."""
        return cast(Action, rng.choice(self.legal(state, seat)))

    def _compose(self, options: Options) -> State:
        chosen = tuple(each for name, each in self._expansions.items() if name in options.expansions)
        variant = compose(options, chosen)
        return State(
            variant=variant,
            phase="shuffle",
            players=(Player(tricks=variant.dealt[0]), Player(tricks=variant.dealt[1])),
            table=variant.table,
            extras={each.name: each.start for each in chosen},
        )


@cache
def _placements(dice: tuple[int, ...], at_least: int, at_most: int, ends: tuple[End | None, ...]) -> tuple[Place, ...]:
    """Both dice where that is allowed, then one of them unless both are a duty; each with every choice of numbering."""
    choices = [tuple(sorted(dice))] if at_most == 2 else []
    choices += [(die,) for die in dict.fromkeys(dice)] if at_least == 1 else []
    return tuple(Place(dice=chosen, one=end) for chosen in choices for end in ends)
