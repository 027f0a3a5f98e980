"""The capability `value`, checked: what makes the luck that is measured with it have mean 0.

Rule: as in `arena.conformance.game`, a check yields sentences for the author of the game, and none if all is well. A
game without a value passes; the contract stands in `arena.games.api.ValueFunction`.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, permutations, product
from math import factorial, fsum, isfinite, sqrt
from random import Random
from typing import Any, Final, NamedTuple

from arena.conformance.hidden import is_allowed, looks_alike, replay_steps, swap_items
from arena.conformance.play import AnyGame, GameStep, HiddenDraw, PlayedTable
from arena.games.api import LEAST_VALUE, Chance, Dice, Over, Shuffle, ValueFunction, value_of

_ENUMERATED: Final = 1_000
"""The most outcomes of a draw to enumerate; a draw with more is sampled."""
_SAMPLED: Final = 400
"""Sampled outcomes of a draw with too many."""
_WEIGHED: Final = 10_000
"""The most outcomes to evaluate in a play; later draws are skipped."""
_WORLDS: Final = 40
_SWAPPED: Final = 10
"""Orders of hidden cards to repeat a play with: `_WORLDS` shuffled, about `_SWAPPED` with two exchanged."""
_CLOSE: Final = 1e-9
_DEVIATIONS: Final = 6
_UNSEEN: Final = 0.1
"""A sampled mean may be off by `_UNSEEN` (rare outcomes are missing) plus `_DEVIATIONS` standard errors."""

_Payoffs = tuple[float, ...]


def sound_values(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless values are finite payoffs that add up to 1, and can be repeated.

    After the end they must be the payoffs of the outcome.
    """
    if (value := value_of(table.game)) is None:
        return
    version = getattr(value, "version", None)
    if not (isinstance(version, str) and version and callable(getattr(value, "before_reveal", None))):
        yield f"value needs a `version`, a text that is not empty, and a method before_reveal; found {version!r:.40}"
    steps = list(table.steps())
    kept = []
    for place, step in steps:
        before = repr(step.state)
        kept.append(payoffs := value(step.state))
        if (mistake := _describe_mistake(payoffs, table.seats)) or repr(step.state) != before:
            yield f"{place}: {mistake or 'the value changes the state that it looks at'}"
        elif isinstance(step.turn, Over) and not _are_equal(payoffs, expected := _payoffs_of(table.game, step.state)):
            yield f"{place}: the match is over, so its value is the payoff {_show(expected)}; found {_show(payoffs)}"
    for (place, step), payoffs in zip(reversed(steps), reversed(kept), strict=True):
        if value(step.state) != payoffs:
            yield f"{place}: the value is another one when it is asked again; it must follow from the state alone"


def _describe_mistake(payoffs: Any, seats: int) -> str:
    """Describe what is wrong with a value; empty if it is sound.

    Expected is a tuple of `seats` finite numbers with the sum 1, none of them less than LEAST_VALUE.
    """
    if not isinstance(payoffs, tuple) or len(payoffs) != seats or not {*map(type, payoffs)} <= {int, float}:
        return f"the value is {payoffs!r:.60}, expected a tuple of {seats} numbers, one for each seat"
    if not all(map(isfinite, payoffs)):
        return f"the value is {payoffs}, expected finite numbers"
    if abs(fsum(payoffs) - 1) > _CLOSE:
        return f"the value is {_show(payoffs)}, in all {fsum(payoffs):.6g}; all seats together are worth 1"
    if min(payoffs) < LEAST_VALUE:
        return f"the value is {_show(payoffs)}; no seat may be worth less than {LEAST_VALUE}"
    return ""


def _payoffs_of(game: AnyGame, state: Any) -> _Payoffs:
    """Return the payoffs of an outcome: 1, shared by the seats with the best rank."""
    ranks = game.outcome(state).ranks
    return tuple([float(rank == 0) / ranks.count(0) for rank in ranks])


def fair_values(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless the value before a draw is the mean over its outcomes.

    A draw with many outcomes is sampled, with a tolerance; after many outcomes the later draws of a play are skipped.
    """
    if (value := value_of(table.game)) is None:
        return
    for number, play in enumerate(table.plays, start=1):
        budget = _WEIGHED
        for at, step in enumerate(play, start=1):
            if not isinstance(step.turn, Chance):
                continue
            outcomes = _outcomes_with_weights(step.turn)
            budget -= len(outcomes)
            if budget < 0:
                break
            after_draw = [(value(table.game.resolve(step.state, drawn)), ways) for drawn, ways in outcomes.items()]
            if text := _describe_bias(value(step.state), after_draw, is_whole=_count_of(step.turn) <= _ENUMERATED):
                yield f"play {number}, step {at}: before the draw {step.turn.key} {text}"


def _count_of(turn: Chance) -> int:
    """Return the number of outcomes that the draw may have."""
    match turn.kind:
        case Dice(count, faces):
            return int(faces**count)
        case Shuffle(size):
            return factorial(size)
    return len(turn.kind.weights)


def _outcomes_with_weights(turn: Chance) -> Mapping[tuple[int, ...], int]:
    """Return the outcomes of a draw with their weights; a sample if there are too many."""
    is_whole, kind, rng = _count_of(turn) <= _ENUMERATED, turn.kind, Random(turn.key)  # noqa: S311 - a sample
    every: Iterable[tuple[int, ...]]
    some: Callable[[], Iterable[int]]
    match kind:
        case Dice(count, faces):
            every, some = product(range(1, faces + 1), repeat=count), lambda: rng.choices(range(1, faces + 1), k=count)
        case Shuffle(size):
            every, some = permutations(range(size)), lambda: rng.sample(range(size), size)
        case _:
            weights = dict(enumerate(kind.weights))
            if is_whole:
                return {(index,): weight for index, weight in weights.items() if weight}
            every, some = (), lambda: rng.choices([*weights], [*weights.values()])
    return Counter(every if is_whole else (tuple(some()) for _ in range(_SAMPLED)))


def _describe_bias(expected: _Payoffs, values: Sequence[tuple[_Payoffs, int]], *, is_whole: bool) -> str:
    """Return a phrase if the weighted mean of the values after a draw is not the expected one; empty if it is."""
    total = sum(ways for _, ways in values)
    for seat, worth in enumerate(expected):
        mean = fsum([payoffs[seat] * ways for payoffs, ways in values]) / total
        spread = sqrt(fsum([(payoffs[seat] - mean) ** 2 * ways for payoffs, ways in values]) / total)
        allowed = _CLOSE if is_whole else _UNSEEN + _DEVIATIONS * spread / sqrt(total)
        if abs(mean - worth) > allowed:
            what = f"{mean:.10g}, the mean over all" if is_whole else f"about {mean:.3g}, the mean over {total} of the"
            return f"seat {seat} is worth {worth:.10g}, expected {what} outcomes"
    return ""


class _World(NamedTuple):
    """A state after a draw that looks to every seat like the one in the play; `ways`: its weight in a mean, or 0."""

    state: Any
    ways: int


def unknowing_values(table: PlayedTable) -> Iterator[str]:
    """Yield sentences unless values ignore hidden luck until it turns up, and what turns up is fair."""
    if (value := value_of(table.game)) is None:
        return
    for draw in table.hidden_draws():
        for place, text in _find_leaks(table, value, draw):
            yield f"play {draw.play}, step {draw.at + 1 + place}, after {draw.turn.key}: {text}"


def _find_leaks(table: PlayedTable, value: ValueFunction[Any], draw: HiddenDraw) -> Iterator[tuple[int, str]]:
    """Yield a sentence for each thing that the value knows too early, with the index of the later step."""
    worlds, steps, is_whole = _alike_worlds(table, draw), draw.later_steps, _count_of(draw.turn) <= _ENUMERATED
    turned_up: dict[int, list[tuple[_Payoffs, int]]] = defaultdict(list)
    for world in worlds:
        for place, (step, state, _) in enumerate(replay_steps(table.game, world.state, steps)):
            if not _is_alike(table, state, step.state):
                break
            if value(state) != value(step.state):
                yield place, "the value knows what is hidden from all seats: with other hidden luck it is another one"
            if not step.actions or not is_allowed(table.game, state, step):
                continue
            after = table.game.apply(state, step.actions)
            if _value_before_reveal(value, state, after) != _value_before_reveal(value, step.state, step.after):
                yield place, "before_reveal shows the value what was turned up: with other cards it is another one"
            turned_up[place].append((value(after), world.ways))
    for place, values in turned_up.items():
        hidden = _value_before_reveal(value, steps[place].state, steps[place].after)
        is_of_all = 0 < sum(ways for _, ways in values) == sum(world.ways for world in worlds)
        if hidden is not None and is_of_all and (text := _describe_bias(hidden, values, is_whole=is_whole)):
            yield place, f"with all that was turned up hidden by before_reveal, {text}"


def _value_before_reveal(value: ValueFunction[Any], before: Any, after: Any) -> _Payoffs | None:
    """Return the value of a state with all hidden again that was turned up on the way to it.

    None if nothing was.
    """
    hidden = value.before_reveal(before, after)
    return None if hidden is None else value(hidden)


def _alike_worlds(table: PlayedTable, draw: HiddenDraw) -> list[_World]:
    """Return the worlds of a draw that look to every seat like the played one.

    They are all of a draw with few outcomes; of a shuffle a sample, and some with two items exchanged, whose weight is
    0; of another large draw none.
    """
    turn, step = draw.turn, draw.step
    orders: list[tuple[tuple[int, ...], int]] = []
    if _count_of(turn) <= _ENUMERATED:
        orders += _outcomes_with_weights(turn).items()
    elif isinstance(turn.kind, Shuffle):
        groups, rng = _alike_places(table, step), Random(turn.key)  # noqa: S311 - a sample
        pairs = [pair for group in groups for pair in pairwise(group)]
        orders += [(_shuffle_groups(step.drawn, groups, rng), 1) for _ in range(_WORLDS)]
        orders += [(swap_items(step.drawn, *pair), 0) for pair in pairs[:: 1 + len(pairs) // _SWAPPED]]
    worlds = [_World(table.game.resolve(step.state, drawn), ways) for drawn, ways in orders]
    return [world for world in worlds if _is_alike(table, world.state, step.after)]


def _alike_places(table: PlayedTable, step: GameStep) -> list[list[int]]:
    """Group the places of a shuffled order: no seat can tell if two items of a group changed places."""
    groups: list[list[int]] = []
    for place in range(len(step.drawn)):
        for group in groups:
            other = table.game.resolve(step.state, swap_items(step.drawn, group[0], place))
            if _is_alike(table, other, step.after):
                group.append(place)
                break
        else:
            groups.append([place])
    return groups


def _shuffle_groups(drawn: tuple[int, ...], groups: Sequence[Sequence[int]], rng: Random) -> tuple[int, ...]:
    """Return the order with the items of each group shuffled."""
    order = list(drawn)
    for group in groups:
        for place, source in zip(group, rng.sample(group, len(group)), strict=True):
            order[place] = drawn[source]
    return tuple(order)


def _is_alike(table: PlayedTable, one: Any, other: Any) -> bool:
    """Return True if every seat has the same view of both states."""
    return all(looks_alike(table, seat, one, other) for seat in table.all_seats())


def _are_equal(one: _Payoffs, other: _Payoffs) -> bool:
    return all(abs(a - b) <= _CLOSE for a, b in zip(one, other, strict=True))


def _show(payoffs: _Payoffs) -> str:
    """Format payoffs with six digits: `0.25, 0.75`."""
    return ", ".join([f"{payoff:.6g}" for payoff in payoffs])
