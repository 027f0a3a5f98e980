"""The values of a bot that evaluates, compared with what happens in matches that it plays by them.

In each match the bot sits in every seat, as an analyst that knows what the seat knew. Some first actions are random, so
that positions differ; later ones are the best by its values. If values are expected payoffs, three differences have
mean 0 (s is 1 for a value of 1/2 or more, else -1):

- *turns*, after the random actions: what comes next less the value of the chosen action. Next is 1 less the best value
  of the other seat at its next turn, or the payoff at the end. At larger tables it is the seat's own best value at its
  next decision, for one seat in each match;
- *ends*: s (payoff - value), the mean over the actions of a decision that end the match;
- *calibration*: s (payoff - value) at the first decision that is not random.

Rule: a mean beyond its tolerance is reported if `confidence_sequence.p_value` is at most `_ERROR`. All differences are
bounded, and each has its mean given those before it. So an analyst whose means keep the tolerances is reported in at
most 1 of 1000 checks, whenever the check stops. That needs a game in which all seats see the same; in any other one
only the first *turn* of a match counts and no *ends*, because only matches are independent there.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice, pairwise
from math import copysign, fsum
from operator import attrgetter
from random import Random
from statistics import fmean
from typing import Any, Final, NamedTuple, cast

from msgspec import UNSET
from msgspec.json import decode, encode
from msgspec.structs import replace

from arena.games import load_game
from arena.games.api import Game, Over, Seat, heard_of, observer_of
from arena.games.luck import derive
from arena.match.analyst import offer_evaluation, payoff_of, quote_stderr, values_of
from arena.match.bot_player import BotPlayer
from arena.match.judgement import Choice, choices_of
from arena.match.participant import ActionRequest, Participant
from arena.match.record import MatchRecord
from arena.match.referee import play_match
from arena.match.settings import ClockSettings, MatchSettings, MatchSpec
from arena.protocol import messages as m
from arena.statistics.confidence_sequence import p_value

_BUDGET_MS: Final = 25.0
"""CPU time of a decision; the bank of the match pays for a late answer now and then."""
_MATCHES: Final = 200
_WALL_S: Final = 15.0
"""The most matches, and the time on the wall after which none begins."""
_ERROR: Final = 0.001 / 6
"""The chance of a false report for each of three kinds in each of two directions."""
_TURN_TOLERANCE: Final = 0.15
_TOLERANCE: Final = 0.1
"""Mean differences that are no fault. Random playouts (montecarlo) are 0.13 to 0.16 too hopeful over a *turn*."""


class _Decision(NamedTuple):
    """A decision of a seat: its best and its chosen value, and the *ends* of its actions that end the match.

    `slack`: twice the largest standard error of a value, for the best of several samples is too high on average.
    """

    seat: Seat
    best: float
    chosen: float
    slack: float
    ends: tuple[float, ...]


_Difference = tuple[float, float]
"""A difference from -1 to 1, and its slack: how much of it the analyst's standard errors excuse."""


class _ValuePlayer:
    """A bot that plays by its values: the best action, but a random one in the first `opening` decisions of the match.

    `past`: the decisions of all seats so far.
    """

    def __init__(
        self, bot: BotPlayer, game: Game[Any, Any], random: Random, opening: int, past: list[_Decision]
    ) -> None:
        self._bot, self._game, self._random, self._opening, self._past = bot, game, random, opening, past

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bot, name)

    def ask(self, request: ActionRequest) -> m.Answer:
        """Ask for the values, add the decision to `past`, and return the chosen action. Raises BotFault.

        The bot hears of the action with the next question.
        """
        answer, legal = values_of(self._bot, replace(request, run_on=None)), request.legal or ()
        values, slack = answer.values, 2 * max(answer.errors, default=0)
        is_random = len(self._past) < self._opening
        chosen = self._random.randrange(len(legal)) if is_random else values.index(max(values))
        ends = tuple(_end_differences(self._game, request, values))
        self._past.append(_Decision(request.seat, max(values), values[chosen], slack, ends))
        self._bot.on_event(m.ActionEvent(request.seat, legal[chosen]), None, None)
        return m.Answer(id=len(self._past), action=chosen)


def _end_differences(game: Game[Any, Any], request: ActionRequest, values: Sequence[float]) -> Iterator[float]:
    """Yield the caution of the value of each action that ends the match; `values` are those of `request.legal`."""
    for action, value in zip(request.legal or (), values, strict=True):
        after = game.apply(request.state, {request.seat: action})
        if isinstance(game.turn(after), Over):
            ranks = game.outcome(after).ranks
            yield _caution(value, payoff_of(ranks, ranks[request.seat]))


def _caution(value: float, payoff: float) -> float:
    """Return how much further than the value the payoff lies on the value's side of 1/2.

    Positive where the value was too cautious, negative where it was too bold.
    """
    return payoff - value if value >= 0.5 else value - payoff


def examine_values(
    settings: MatchSettings, records: Sequence[MatchRecord], open_bot: Callable[[ClockSettings], BotPlayer]
) -> tuple[str, bool]:
    """Play matches by the values of a bot; return what was found, a sentence a line, and whether the values are sound.

    `records` are earlier matches at the same table; where they allow no examination, values count as sound. `open_bot`
    returns a new bot with that clock; all are closed at the end.
    """
    choices = [choice for record in records for choice in choices_of(record)]
    reasons = [choice.reason for choice in choices if choice.reason] or ["nobody has a choice"] * (not choices)
    if reasons:
        return f"not examined: {reasons[0]}", True
    clock = replace(settings.clock, move_ms=_BUDGET_MS, wall_ms=None, increment_ms=UNSET)
    bots = [offer_evaluation(open_bot(clock)) for _ in records[0].seats]
    comparison = _Comparison(settings, bots, choices)
    try:
        fault = comparison.play_matches(opening=len(choices) // len(records), seed=records[0].seed)
    finally:
        for bot in bots:
            bot.close(grace_s=0.0)
    findings = [fault] if fault else [*comparison.findings()]
    return "\n".join(findings) or comparison.summary(), not findings


class _Comparison:
    """The differences between values and results, of each kind, over the matches so far."""

    def __init__(self, settings: MatchSettings, bots: Sequence[BotPlayer], choices: Iterable[Choice]) -> None:
        self._settings, self._bots, self._game, self._matches = settings, bots, load_game(settings.game), 0
        self._is_open = _is_open(self._game, choices, len(bots))
        self._turns, self._ends, self._calibration = list[_Difference](), list[_Difference](), list[_Difference]()
        self._values = set[float]()

    def play_matches(self, opening: int, seed: str) -> str:
        """Play matches with up to `opening` random decisions each, until there are 200 or 15 s have passed.

        A fault ends them at once: return a sentence on it, or an empty text.
        """
        begun, settings, strict = time.monotonic(), self._settings, ClockSettings(strict=True)  # a fault ends its match
        while self._matches < _MATCHES and time.monotonic() - begun < _WALL_S:
            luck, decisions = derive("values", seed, self._matches), list[_Decision]()
            random = Random(luck)  # noqa: S311 - play, not secrets
            seeds, first = tuple([random.getrandbits(52) for _ in self._bots]), random.randint(0, opening)
            spec = MatchSpec(luck, settings.game, settings.options, luck, strict, wire_id=luck, bot_seeds=seeds)
            players = [_ValuePlayer(bot, self._game, random, first, decisions) for bot in self._bots]
            record = play_match(spec, cast(list[Participant], players))
            if record.fault is not None:
                stderr = quote_stderr(self._bots[record.fault.seat])
                return f"the analyst gave no values: {record.termination}: {record.fault.message}{stderr}"
            self._note_match(decisions, first, [payoff_of(record.ranks, rank) for rank in record.ranks])
        return ""

    def _note_match(self, decisions: Sequence[_Decision], opening: int, payoffs: Sequence[float]) -> None:
        """Add the differences of a match that is over."""
        turns = _turns(decisions[opening:], payoffs, self._matches % len(payoffs))
        self._turns += turns if self._is_open else islice(turns, 1)
        self._ends += [(fmean(each.ends), each.slack) for each in decisions if each.ends and self._is_open]
        first = decisions[opening : opening + 1]
        self._calibration += [(_caution(each.chosen, payoffs[each.seat]), each.slack) for each in first]
        self._values.update(value for decision in decisions for value in (decision.best, decision.chosen))
        self._matches += 1

    def findings(self) -> Iterator[str]:
        """Yield a sentence for each difference beyond its tolerance; if all values are equal, one on that alone."""
        if len(self._values) == 1:
            yield f"values never differ: in {self._matches} matches each is {min(self._values):g}"
            return
        for differences, tolerance, sentence in self._sentences():
            if _is_beyond(differences, tolerance):
                yield f"values are {sentence} ({len(differences)} differences; {tolerance} is tolerated)"

    def summary(self) -> str:
        """Describe sound values."""
        parts = [sentence.partition(":")[0] for _, _, sentence in self._sentences()]
        return f"in {self._matches} matches by its best actions values are {', '.join(parts)}"

    def _sentences(self) -> Iterator[tuple[Sequence[_Difference], float, str]]:
        """Yield the differences of each kind, their tolerance, and how values differ from results."""
        if turns := self._turns:
            mean, is_pair = -_mean_of(turns), len(self._bots) == 2
            error = f"{abs(mean) / (1 + is_pair):.2f} too {'high' if mean > 0 else 'low'} on average"
            what = "both seats together expect" if is_pair else "where 1 comes next, a seat expects"
            yield turns, _TURN_TOLERANCE, f"{error}: {what} {1 + mean:.2f} and not 1"
        for kind, where, what in (
            (self._ends, "at the end", "for actions that end the match"),
            (self._calibration, "before the end", "of matches played on by its best actions"),
        ):
            if kind:
                mean = _mean_of(kind)
                error = f"{abs(mean):.2f} too {'cautious' if mean > 0 else 'bold'} {where}"
                side = "nearer to 1/2" if mean > 0 else "further on their side of 1/2"
                yield kind, _TOLERANCE, f"{error}: so much {side} than the results {what}"


def _mean_of(differences: Sequence[_Difference]) -> float:
    """Return the mean difference."""
    return fmean([value for value, _ in differences])


def _is_beyond(differences: Sequence[_Difference], tolerance: float) -> bool:
    """Return True if the mean of differences is surely beyond the tolerance and their slack, in either direction."""
    sign = copysign(1, _mean_of(differences))
    excesses = [(max(-1.0, sign * value - slack) - tolerance) / (1 + tolerance) for value, slack in differences]
    return p_value(fsum(excesses), fsum([excess**2 for excess in excesses])) <= _ERROR


def _is_open(game: Game[Any, Any], choices: Iterable[Choice], seats: int) -> bool:
    """Return True if all seats hear of all actions, and see the same at these choices but for the field `you`."""
    observe, numbers = observer_of(game), range(seats)
    views = ([decode(encode(observe(choice.before, Seat(seat)))) for seat in numbers] for choice in choices)
    return heard_of(game) is None and all({**view, "you": 0} == row[0] for row in views for view in row)


def _turns(decisions: Sequence[_Decision], payoffs: Sequence[float], seat: int) -> Iterator[_Difference]:
    """Yield the differences at *turns*; at larger tables those of one seat."""
    is_pair = len(payoffs) == 2
    own = [decision for decision in decisions if decision.seat == seat]
    turns = [next(turn) for _, turn in groupby(decisions, key=attrgetter("seat"))] if is_pair else own
    for decision, later in pairwise(turns):
        after = 1 - later.best if is_pair else later.best
        yield after - decision.chosen, decision.slack + later.slack
    for decision in turns[-1:]:
        yield payoffs[decision.seat] - decision.chosen, decision.slack
