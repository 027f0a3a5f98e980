"""The rules of Shanghaien: options, whose turn it is, what is allowed, what it leads to, why an action is illegal.

Sources: the rule texts as ruled in the project's rules page (docs/shanghaien.md). Rule: the base rules ask no
expansion anything; they look up offers and effects in the variant, and an expansion adds to these. A refusal says what
was tried, and what stands against it in this position.
"""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache, partial, reduce
from operator import or_
from typing import Any, ClassVar, Final, cast

from msgspec.structs import replace

from arena.errors import IllegalAction
from arena.games.api import Decision, Json, Outcome, Over, Seat, Turn, ranks_by_score, read_action
from arena.games.base import BaseGame
from arena.games.shanghaien import turns, view
from arena.games.shanghaien.actions import Action, Adjust, Both, End, Joker, Place, Reroll, Roll, Shanghai
from arena.games.shanghaien.cards import DECK_SIZE, NATIONS, SHUFFLE
from arena.games.shanghaien.expansions import EXPANSIONS, encoding
from arena.games.shanghaien.options import Options, check_options, first_state
from arena.games.shanghaien.state import Choice, Expansion, ExtraRoll, State, numbering_choices, why_misnumbered
from arena.games.shanghaien.value.position import ShanghaienValue

BASE_ACTIONS: Final = (Roll, Shanghai, Place, Adjust, Joker, Both, Reroll)


_SUMMARY: Final = """\
Win sailors for your crews. A round is a row of six cards, numbered 1 to 6 from
the left or from the right; the player who begins it chooses. In a turn you roll
2 of your 6 dice and place one of them on the card of its number, or call
shanghai.
Shanghai needs 2 own dice on the cards, is a duty with fewer than 2 dice left,
and ends the round: each card goes to the player with more dice on it; if both
have equally many, to the one with more pips on the numbers beside it.
A dirty trick, one a round, changes your roll (adjust: a die by 1; both: two
dice may be placed; reroll), or is laid as a joker of strength 2 to a nation of
which you have a sailor.
After 8 rounds the stronger crew of each nation scores the strength of the
weaker one, or its own if the other player has none. Equal crews score nothing,
each unused trick 1. The higher sum wins."""
"""The rules for a person at the table; docs/shanghaien.md has them all."""
_DECISIONS: Final[tuple[Decision, ...]] = (Decision(seats=(Seat(0),)), Decision(seats=(Seat(1),)))
_OVER: Final = Over()
_ROLL: Final[tuple[Action, ...]] = (Roll(),)
_SHANGHAI: Final[tuple[Action, ...]] = (Shanghai(),)
_BEGINNINGS: Final[tuple[tuple[Action, ...], ...]] = (_ROLL, _ROLL, *(_ROLL + _SHANGHAI,) * 3, _SHANGHAI, _SHANGHAI)
"""The actions that begin a turn, by the player's dice placed: a roll needs two in the supply, shanghai two placed."""
_FORMS_HINT: Final = (
    'an action looks like {"do": "roll"} or {"do": "place", "dice": [4]}; see protocol.md, "Shanghaien"'
)


class Shanghaien(BaseGame):
    """The game as `arena.games.api.Game` asks for it, with the expansions on offer by name."""

    name: ClassVar[str] = "shanghaien"
    rules_version: ClassVar[str] = "2"
    seat_counts: ClassVar[tuple[int, ...]] = (2,)
    value: ClassVar[ShanghaienValue] = ShanghaienValue()
    observe = staticmethod(view.observe)
    encode = staticmethod(encoding.encode)
    view_for_bots = staticmethod(view.view_for_bots)
    describe = staticmethod(view.describe)
    picture = staticmethod(view.picture)
    news = staticmethod(view.news)
    summary: ClassVar[str] = "\n".join([_SUMMARY, *(expansion.summary for expansion in EXPANSIONS.values())])
    trial_options: ClassVar[tuple[dict[str, Json], ...]] = (
        *({"expansions": [name]} for name in EXPANSIONS),
        {"expansions": [*EXPANSIONS]},
    )

    def __init__(self, expansions: Mapping[str, Expansion] = EXPANSIONS) -> None:
        self._expansions = expansions
        self._owners = {
            kind: name for name, e in expansions.items() for kind in action_types([e]) if kind not in BASE_ACTIONS
        }
        self._first_state = lru_cache(maxsize=64)(partial(first_state, expansions))
        self._action_type: Any = reduce(or_, [*BASE_ACTIONS, *self._owners])

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        """Return an unshuffled table for two."""
        return self._first_state(check_options(self.read_options(options, seats, Options), self._expansions))

    def turn(self, state: State) -> Turn:
        """Return a decision of the player to move, the shuffle, a roll, an expansion's question, or the end."""
        phase, seat = state.phase, state.to_move
        if phase == "rolling":
            return turns.next_roll(state.round, seat, state.turns[seat], state.roll)
        if phase in ("rolled", "turn"):
            return _DECISIONS[seat]
        if isinstance(phase, Choice):
            return _DECISIONS[phase.seat]
        if isinstance(phase, ExtraRoll):
            return phase.chance
        return _OVER if phase == "over" else SHUFFLE

    def legal(self, state: State, seat: Seat) -> tuple[Action, ...]:
        """List roll, then shanghai before the roll; after it placements, then the tricks of each kind held.

        In an interlude list the answers; nothing for a seat that is not asked.
        """
        phase = state.phase
        if isinstance(phase, Choice):
            return phase.answers if phase.seat == seat else ()
        if phase not in ("turn", "rolled") or state.to_move != seat:
            return ()
        player = state.players[seat]
        actions: tuple[Action, ...]
        if phase == "turn":
            actions = _BEGINNINGS[sum(player.placed)]
        else:
            actions = _placements(state.dice, state.must_place, state.to_place, numbering_choices(state))
            if player.tricks and not player.has_used_trick:
                actions += turns.trick_actions(state)
        if hooks := state.variant.restrict:
            for restrict in hooks.values():
                actions = restrict(state, actions)
        return actions

    def may_know(self, state: State, _seat: Seat, _key: str, item: int) -> bool:
        """Return True for a card that has been turned up; the cards of the pile are hidden."""
        return state.phase != "shuffle" and item < DECK_SIZE - len(state.pile)

    def all_actions(self, options: Mapping[str, Json], seats: int) -> tuple[Action, ...]:
        """Return all actions of the variant."""
        return encoding.all_actions(self.setup(options, seats).variant)

    def parse(self, state: State, seat: Seat, raw: Json) -> Action:
        """Return the legal action that the object `raw` describes; the order of dice in a placement is free.

        MalformedReply for another form; IllegalAction says what stands against the action.
        """
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
        """Carry the action out, or ask somebody about it first."""
        (action,) = actions.values()
        after = state.copy()
        turns.announce(after, action)
        return after

    def resolve(self, state: State, drawn: tuple[int, ...]) -> State:
        """Shuffle the deck, roll dice, or hand an expansion its luck."""
        phase, after = state.phase, state.copy()
        if phase == "rolling":
            turns.apply_roll(after, drawn)
        elif isinstance(phase, ExtraRoll):
            phase.then(after, drawn)
        else:
            turns.apply_shuffle(after, drawn)
        return after

    def points(self, state: State) -> tuple[tuple[int, int], ...]:
        """Return by seat the points by now, and those if shanghai were called here."""
        ended = state.copy()
        if state.one_at is not None:
            turns.end_round(ended, Shanghai())
        return tuple(zip(turns.scores_of(state), turns.scores_of(ended), strict=True))

    def outcome(self, state: State) -> Outcome:
        """Score points and rank them; equal points are a draw (the texts have no tie-break)."""
        scores = turns.scores_of(state)
        return Outcome(scores=scores, ranks=ranks_by_score(scores))


def action_types(expansions: Iterable[Expansion]) -> list[type[Action]]:
    """Return the types of action that these expansions add: those of their tricks, then of their decisions."""
    return [kind for expansion in expansions for kind in (*expansion.trick.effects, *expansion.effects)]


@cache
def _placements(dice: tuple[int, ...], at_least: int, at_most: int, ends: tuple[End | None, ...]) -> tuple[Place, ...]:
    """List both dice where allowed, then one unless both are a duty; each with every choice of numbering."""
    placed_dice = [tuple(sorted(dice))] if at_most == 2 else []
    placed_dice += [(die,) for die in dict.fromkeys(dice)] if at_least == 1 else []
    return tuple(Place(dice=faces, one=end) for faces in placed_dice for end in ends)


def why_illegal(state: State, seat: Seat, action: Action) -> str:
    """Explain in one sentence why an action is illegal; it must be well formed and not legal for `seat`."""
    phase = state.phase
    if not isinstance(phase, Choice) and phase not in ("turn", "rolled"):
        return f"{action.tag}: no action is asked for now"
    mover = phase.seat if isinstance(phase, Choice) else state.to_move
    if mover != seat:
        return f"seat {seat} is not to move; seat {mover} is"
    asking = [phase.by] if isinstance(phase, Choice) else state.variant.expansions
    hooks = [why for name in asking if (why := state.variant.expansions[name].why) is not None]
    sentence = next(filter(None, (why(state, action) for why in hooks)), None)
    if sentence is None and isinstance(phase, Choice):
        return f"{action.tag} does not answer the question {phase.name}"
    return sentence or _why_by_base(state, action)


def _why_by_base(state: State, action: Action) -> str:
    """Return the sentence why an action is illegal by the rules of the base game."""
    player = state.players[state.to_move]
    match action:
        case Roll() | Shanghai() if state.phase == "rolled":
            return (
                f"{action.tag} begins a turn; this one has begun, the dice show {_join(state.dice)}: place, or a trick"
            )
        case Roll():
            return f"a roll needs 2 dice in the supply, found {player.supply}; shanghai is compulsory"
        case Shanghai():
            return f"shanghai needs 2 own dice placed in this round, found {sum(player.placed)}"
        case _ if state.phase == "turn":
            return f"{action.tag} comes after a roll; now choose roll or shanghai"
        case Place():
            return _why_not_placed(state, action)
    return _why_not_played(state, action)


def _why_not_placed(state: State, action: Place) -> str:
    """Return the sentence why dice cannot be placed so: their number, their faces, or the numbering."""
    least, most = state.must_place, state.to_place
    if not least <= len(action.dice) <= most:
        allowed_count = f"{most} must be placed" if least == most else f"{least} or {most} can be placed"
        return f"found {len(action.dice)} dice in `dice`, but {allowed_count}"
    mismatch = f"the dice show {_join(state.dice)}, so {_join(action.dice)} cannot be placed"
    return why_misnumbered(state, action.one) or mismatch


def _why_not_played(state: State, action: Action) -> str:
    """Return the sentence why a trick cannot be played now."""
    held = sorted({state.variant.faces[card] for card in state.players[state.to_move].tricks})
    if state.players[state.to_move].has_used_trick:
        return f"{action.tag}: a trick has been used in this round; each player may use one per round"
    if isinstance(action, Joker) and action.nation not in NATIONS:
        return f'there is no nation "{action.nation}"; the nations are {", ".join(NATIONS)}'
    needed_kind = turns.trick_kind_of(state.variant, action) or action.tag
    if needed_kind not in held:
        return f'no trick "{needed_kind}" to play; you hold {", ".join(held) or "none"}'
    if isinstance(action, Joker):
        return f"a joker needs a sailor card of its nation, and you hold none that is {action.nation}"
    return f"{action} is not possible: the dice show {_join(state.dice)}; one may change by 1, within 1 to 6"


def _join(faces: tuple[int, ...]) -> str:
    """Join the faces of dice: `4 and 6`."""
    return " and ".join(map(str, faces))
