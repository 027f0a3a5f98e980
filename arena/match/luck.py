"""The luck of a match: at each chance node, the outcome compared with all possible outcomes.

With the value V of the game (`arena.games.api.ValueFunction`) the luck of a node is V(what happened) - mean of V(what
could have happened), in payoff: 1 a win, 1/2 a draw, 0 a loss. Nodes are the draws of dice, and hidden cards at the
moment they are turned up: a deck shuffled up front is as good as each card drawn when it is first seen.

Why it may be subtracted: given all that was played and seen before a node, its luck has mean 0, for the mean is taken
with the probabilities of the draw itself, and nobody knows the draw before it is seen. So the sum has mean 0 whatever
the bots do before and after, whatever V is worth, and wherever a forfeit stops the match: payoff - b * sum has the mean
of the payoff for every V and b that were fixed before. This fails only for a bot that knows the draws, say from the
first match of a block. Rule: V and b are never chosen by the matches they are used on.

Luck is bounded, so that the audit of luck (`arena.standings.luck_audit`) needs no assumption on its spread: a draw that
could bring the sum of a seat below `LEAST` ends the measuring before it falls. The state before the draw
decides that, so the mean stays 0. Such draws are rare.
"""

from collections.abc import Iterator
from math import fsum
from operator import add, sub
from typing import Any, Final

import msgspec

from arena.games import load_game
from arena.games.api import LEAST_VALUE, Game, ValueFunction, value_of
from arena.match.record import ActionStep, ChanceStep, MatchRecord, Step
from arena.match.replay import replay

LEAST: Final = -2.0
"""The least luck of a seat in a match. Measuring ends before a draw that could bring any seat below it."""
SHOWN_FACES: Final = 8
"""The most faces of a draw that are shown: dice are, the order of a whole deck is not."""


class LuckNode(msgspec.Struct, frozen=True):
    """The luck of one draw, by seat; over all seats it adds up to 0.

    `step` counts the steps of the record from 0. `key` is that of the draw, with its `outcome`; cards turned up by a
    decision have no key.
    """

    step: int
    luck: tuple[float, ...]
    key: str = ""
    outcome: tuple[int, ...] = ()


class MatchLuck(msgspec.Struct, frozen=True):
    """The luck of a match by seat, under a version of the value.

    Without a value of the game nothing is known: the version is empty and all luck is 0.
    """

    version: str
    by_seat: tuple[float, ...]
    nodes: tuple[LuckNode, ...]


class LuckMeter:
    """A meter of the luck of a match: notes each step as it is played or replayed, and measures when `luck` is called.

    Noting takes no time, so that no clock runs and no bot thinks on while the value of the game is computed.
    """

    def __init__(self, game: Game[Any, Any], seats: int, value: ValueFunction[Any] | None = None) -> None:
        self._seats = seats
        self._value = value or value_of(game)
        self._passages: list[tuple[int, Any, Any, Step]] = []

    def note_step(self, number: int, before: Any, after: Any, step: Step) -> None:
        """Note that a step led from `before` to `after`; of a decision of several seats note only one step."""
        if self._value is not None:
            self._passages.append((number, before, after, step))

    def luck(self) -> MatchLuck:
        """Measure the luck so far. The sum is rounded once, so that no order of adding matters."""
        nodes = () if self._value is None else tuple(self._measure_nodes(self._value))
        return MatchLuck(
            version="" if self._value is None else self._value.version,
            by_seat=tuple([fsum([node.luck[seat] for node in nodes]) for seat in range(self._seats)]),
            nodes=nodes,
        )

    def _measure_nodes(self, value: ValueFunction[Any]) -> Iterator[LuckNode]:
        """Yield the luck of each draw and of what each action turns up; stop before a seat could fall below `LEAST`."""
        totals = (0.0,) * self._seats
        for number, before, after, step in self._passages:
            if isinstance(step, ChanceStep):
                waiting, drawn = before, (step.key, step.outcome)
            elif isinstance(step, ActionStep):
                waiting, drawn = value.before_reveal(before, after), ("", ())
            else:
                continue  # the result of a simulation follows from the state
            if waiting is None:
                continue
            expected = value(waiting)
            if min([total + LEAST_VALUE - mean for total, mean in zip(totals, expected, strict=True)]) < LEAST:
                return
            luck = tuple(map(sub, value(after), expected))
            totals = tuple(map(add, totals, luck))
            yield LuckNode(number, luck, *drawn)


def luck_of(record: MatchRecord, value: ValueFunction[Any] | None = None) -> MatchLuck:
    """Measure the luck of a recorded match, up to where it stopped. `value` stands in for the game's own.

    Raises CheckFailed if the record cannot be replayed.
    """
    meter = LuckMeter(load_game(record.game), len(record.seats), value)
    before: Any = None
    for number, moment in enumerate(replay(record)):
        if moment.before is not before:  # a decision of several seats has a step for each
            meter.note_step(number, moment.before, moment.after, moment.step)
        before = moment.before
    return meter.luck()


def extreme_nodes(luck: MatchLuck, seat: int, count: int = 3) -> tuple[tuple[LuckNode, ...], tuple[LuckNode, ...]]:
    """Return the luckiest and the unluckiest nodes of a seat, the most extreme first; of equals the earlier one.

    Only nodes that helped the seat are lucky, only those that hurt it unlucky.
    """
    lucky = sorted([node for node in luck.nodes if node.luck[seat] > 0], key=lambda node: -node.luck[seat])
    unlucky = sorted([node for node in luck.nodes if node.luck[seat] < 0], key=lambda node: node.luck[seat])
    return tuple(lucky[:count]), tuple(unlucky[:count])
