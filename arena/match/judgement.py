"""The cost of each decision of a match: the action that was chosen compared with the best one, by an opinion.

An opinion gives each legal action of a decision a value, the expected payoff after it; the cost is the best value less
that of the chosen action. For each seat the ledger adds up exactly:

    payoff = value of the start + luck + mistakes of the others - own mistakes + unexplained

Luck is that of `arena.match.luck`. A forfeit is a mistake: it gave up the best action of the decision that was due.
What remains is `unexplained`: the changes of the value that are neither a draw nor a choice, such as a best action that
is worth more than the position was before it, and decisions that are not judged. It is 0 for an opinion that is exact
in a game that hides nothing.

Source: the analysis of backgammon programs, which split a result into luck and error per move in the same way.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum, hypot, isclose
from operator import sub
from typing import Any, Final

import msgspec

from arena.errors import CheckFailed
from arena.games import load_game
from arena.games.api import Decision, Game, Seat, ValueFunction, simulator_of, value_of
from arena.match.luck import luck_of
from arena.match.record import ActionStep, MatchRecord, Termination
from arena.match.replay import other_rules, replay

_SIGNIFICANT: Final = 1.96
"""Standard errors of a difference up to which a cost is no mistake."""


class Choice(msgspec.Struct, frozen=True):
    """A decision of `seat` before the step of that index, with its legal `actions`, of which one was `chosen`.

    `chosen` is None where the seat forfeited instead; `fault` is the code of its fault, also of one after which the
    fallback action was played. Without actions there is a `reason` why they cannot be compared.
    """

    index: int
    seat: Seat
    before: Any
    actions: tuple[Any, ...]
    chosen: Any
    fault: str = ""
    reason: str = ""


class ActionValues(msgspec.Struct, frozen=True):
    """An opinion on one choice: for each action, in its order, the expected payoff of each seat.

    `errors`: the standard error of each action for the seat on move; empty if the values are computed and not sampled.
    """

    payoffs: tuple[tuple[float, ...], ...]
    errors: tuple[float, ...] = ()


class Opinion(msgspec.Struct, frozen=True):
    """An opinion on a match, and the name of whose it is.

    `values`: by the index of a choice what is thought of it, or the reason why nothing is. `start`: the expected payoff
    of each seat at the start, by the values named `start_from`. `payoffs`: the result on the scale of the opinion, on
    which all seats together have as much as at the start.
    """

    name: str
    values: Mapping[int, ActionValues | str]
    start: tuple[float, ...]
    start_from: str
    payoffs: tuple[float, ...]


class JudgedDecision(msgspec.Struct, frozen=True):
    """A decision of a seat between several actions; its `step` counts from 1.

    `chosen` and `best` are actions as text, with their values for the seat; after a forfeit `chosen` is empty. `error`:
    the standard error of the difference. `changes`: what the choice changed for each seat, in payoff. `fault` as in
    `Choice`. With a `reason` it is not judged, and costs nothing.
    """

    step: int
    seat: int
    chosen: str
    fault: str = ""
    reason: str = ""
    best: str = ""
    chosen_value: float = 0.0
    best_value: float = 0.0
    error: float = 0.0
    changes: tuple[float, ...] = ()

    @property
    def cost(self) -> float:
        """The cost in payoff, of which 1 is a win."""
        return self.best_value - self.chosen_value

    @property
    def is_mistake(self) -> bool:
        """True if the cost is larger than its error allows."""
        return self.cost > _SIGNIFICANT * self.error

    def is_at_odds(self, other: "JudgedDecision") -> bool:
        """Return True if only one of two judges calls the decision a mistake, and their errors do not explain it."""
        difference = abs(self.cost - other.cost)
        return self.is_mistake != other.is_mistake and difference > _SIGNIFICANT * hypot(self.error, other.error)


class Ledger(msgspec.Struct, frozen=True):
    """The terms of the payoff of one seat."""

    start: float
    luck: float
    others: float
    own: float
    unexplained: float
    payoff: float


class Judgement(msgspec.Struct, frozen=True):
    """An opinion on all decisions of a match, and the ledger of each seat.

    `by`: whose opinion it is; `start_from`, `luck_from`: the values behind these terms; empty if no luck was measured.
    """

    by: str
    start_from: str
    luck_from: str
    decisions: tuple[JudgedDecision, ...]
    ledgers: tuple[Ledger, ...]

    def judged(self, seat: int) -> tuple[JudgedDecision, ...]:
        """Return the decisions of a seat that are judged."""
        return tuple(decision for decision in self.decisions if decision.seat == seat and not decision.reason)

    def disagreements(self, other: "Judgement") -> tuple[JudgedDecision, ...]:
        """Return the decisions of `other` that only one of the two judges calls a mistake, beyond both errors."""
        own = {decision.step: decision for decision in self.decisions if not decision.reason}
        return tuple(
            decision
            for decision in other.decisions
            if not decision.reason and decision.step in own and own[decision.step].is_at_odds(decision)
        )

    def costliest(self, count: int, seats: Sequence[int]) -> tuple[JudgedDecision, ...]:
        """Return up to `count` mistakes of these seats, the costliest first; of equals the earlier one."""
        mistakes = [decision for decision in self.decisions if decision.seat in seats and decision.is_mistake]
        return tuple(sorted(mistakes, key=lambda decision: -decision.cost)[:count])


def judge(record: MatchRecord, opinion: Opinion) -> Judgement:
    """Judge all decisions of a match. CheckFailed if it cannot be replayed, or is void."""
    luck = luck_of(record)
    decisions = [_decision(choice, opinion) for choice in choices_of(record)]
    has_luck = bool(luck.version) and isclose(fsum(opinion.payoffs), 1)  # the scale of luck
    ledgers = []
    for seat, payoff in enumerate(opinion.payoffs):
        start, by_luck = opinion.start[seat], luck.by_seat[seat] if has_luck else 0.0
        own = -fsum([one.changes[seat] for one in decisions if one.seat == seat and one.changes])
        others = fsum([one.changes[seat] for one in decisions if one.seat != seat and one.changes])
        rest = fsum([payoff, -start, -by_luck, own, -others])
        ledgers.append(Ledger(start, by_luck, others, own, rest, payoff))
    return Judgement(
        by=opinion.name,
        start_from=opinion.start_from,
        luck_from=f"{record.game}, value {luck.version}" if has_luck else "",
        decisions=tuple(decisions),
        ledgers=tuple(ledgers),
    )


def opinion_of_game(record: MatchRecord) -> Opinion | None:
    """Return the opinion of the game's own value function, one step ahead; None if the game has none.

    CheckFailed if the match cannot be replayed, or is void.
    """
    game = load_game(record.game)
    if (value := value_of(game)) is None:
        return None
    source = f"{record.game}, value {value.version}"
    return Opinion(
        name=f"the game's own value function ({source}), one step ahead",
        values={choice.index: _game_values(game, value, choice) for choice in choices_of(record)},
        start=value(game.setup(record.options, len(record.seats))),
        start_from=source,
        payoffs=tuple(float(rank == 0) / record.ranks.count(0) for rank in record.ranks),
    )


def judge_by_game(record: MatchRecord) -> tuple[Judgement, ...]:
    """Return the judgement of a match by the game's own value, alone; empty if the game has none, or has other rules.

    CheckFailed if the record contradicts the rules.
    """
    opinion = None if other_rules(record) else opinion_of_game(record)
    return () if opinion is None else (judge(record, opinion),)


def choices_of(record: MatchRecord) -> Iterator[Choice]:
    """Yield the decisions of a match between several actions, with the one that a forfeit left open as the last.

    CheckFailed if the match cannot be replayed, or is void.
    """
    if record.termination is Termination.VOID:
        raise CheckFailed(f"{record.match}: the match is void")
    game = load_game(record.game)
    state = game.setup(record.options, len(record.seats))
    for index, moment in enumerate(replay(record)):
        state = moment.after if moment.is_complete else moment.before
        step = moment.step
        if isinstance(step, ActionStep) and not step.forced:
            yield _choice(game, index, Seat(step.seat), moment.before, moment.action, step.fallback_for)
    if record.fault is not None:
        yield _choice(game, len(record.steps), Seat(record.fault.seat), state, None, record.termination)


def _choice(game: Game[Any, Any], index: int, seat: Seat, before: Any, chosen: Any, fault: str) -> Choice:
    """Return the choice that a seat had, or with a reason if it cannot be judged."""
    turn = game.turn(before)
    seats = turn.seats if isinstance(turn, Decision) else ()
    actions: tuple[Any, ...] | None = ()
    if seat not in seats:
        reason = "it was not on move"
    elif len(seats) > 1:
        reason = "several seats decided at once"
    elif simulator_of(game) is not None:
        reason = "the simulator of the game may refuse a legal action"
    else:
        actions = game.legal(before, seat)
        reason = "the game does not list the legal actions" if actions is None else ""
    return Choice(index, seat, before, actions or (), chosen, fault, reason)


def _game_values(game: Game[Any, Any], value: ValueFunction[Any], choice: Choice) -> ActionValues:
    """Return the value of the position after each action, with what the action turns up still hidden."""
    after = [game.apply(choice.before, {choice.seat: action}) for action in choice.actions]
    return ActionValues(tuple(value(value.before_reveal(choice.before, state) or state) for state in after))


def _decision(choice: Choice, opinion: Opinion) -> JudgedDecision:
    """Compare the chosen action with the best one; of several best ones with itself, else with the first."""
    values, seat, step = opinion.values.get(choice.index, "no opinion"), choice.seat, choice.index + 1
    chosen_text = "" if choice.chosen is None else str(choice.chosen)
    if choice.reason or isinstance(values, str):
        return JudgedDecision(step, seat, chosen_text, choice.fault, choice.reason or str(values))
    own = [payoffs[seat] for payoffs in values.payoffs]
    if choice.chosen is None:
        best, of_chosen, error = own.index(max(own)), opinion.payoffs, 0.0
    else:
        chosen = choice.actions.index(choice.chosen)
        best = chosen if own[chosen] == max(own) else own.index(max(own))
        of_chosen = values.payoffs[chosen]
        error = hypot(values.errors[chosen], values.errors[best]) if values.errors and best != chosen else 0.0
    return JudgedDecision(
        step,
        seat,
        chosen_text,
        choice.fault,
        best=str(choice.actions[best]),
        chosen_value=of_chosen[seat],
        best_value=own[best],
        error=error,
        changes=tuple(map(sub, of_chosen, values.payoffs[best])),
    )
