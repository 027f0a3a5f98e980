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

from math import fsum
from typing import Any, Final

import msgspec

from arena.games import load_game
from arena.games.api import LEAST_VALUE, Chance, Game, Simulation, ValueFunction, value_of
from arena.match.record import ChanceStep, MatchRecord, Step
from arena.match.replay import replay

LEAST: Final = -2.0
"""No seat's luck of a match is less. Before a draw that could bring it below, for any seat, measuring ends."""
SHOWN_FACES: Final = 8
"""Faces are shown, the order of a whole deck is not."""


class LuckNode(msgspec.Struct, frozen=True):
    """Luck of one draw, by seat; the seats together have none.

    `step` counts the steps of the record from 0. `key` is that of the draw, with its `outcome`; cards turned up by a
    decision have no key.
    """

    step: int
    luck: tuple[float, ...]
    key: str = ""
    outcome: tuple[int, ...] = ()

    def __str__(self) -> str:
        fell = f": {' '.join(map(str, self.outcome))}" if 0 < len(self.outcome) <= SHOWN_FACES else ""
        by_seat = ", ".join([f"seat {seat} {luck:+.3f}" for seat, luck in enumerate(self.luck)])
        return f"step {self.step}, {self.key or 'cards turned up'}{fell} ({by_seat})"


class MatchLuck(msgspec.Struct, frozen=True):
    """The luck of a match by seat, under a version of the value.

    Without a value of the game nothing is known: the version is empty and all luck is 0.
    """

    version: str
    by_seat: tuple[float, ...]
    nodes: tuple[LuckNode, ...]


class LuckMeter:
    """Measures the luck of a match step by step, as it is played or replayed."""

    def __init__(self, game: Game[Any, Any], seats: int, value: ValueFunction[Any] | None = None) -> None:
        self._game = game
        self._seats = seats
        self._value = value or value_of(game)
        self._nodes: list[LuckNode] = []
        self._totals = (0.0,) * seats
        self._is_over = False

    def passed(self, number: int, before: Any, after: Any, step: Step | None = None) -> None:
        """The match went from `before` to `after` with this step; of a decision of several seats tell only one."""
        value = self._value
        if value is None or self._is_over:
            return
        turn = self._game.turn(before)
        if isinstance(turn, Simulation):  # what is simulated follows from the state: there is no luck in it
            return
        waiting = before if isinstance(turn, Chance) else value.before_reveal(before, after)
        if waiting is None:
            return
        expected = value(waiting)
        if min([total + LEAST_VALUE - own for total, own in zip(self._totals, expected, strict=True)]) < LEAST:
            self._is_over = True
            return
        luck = tuple([there - here for there, here in zip(value(after), expected, strict=True)])
        self._totals = tuple([total + own for total, own in zip(self._totals, luck, strict=True)])
        drawn = (step.key, step.outcome) if isinstance(step, ChanceStep) else ()
        self._nodes.append(LuckNode(number, luck, *drawn))

    def luck(self) -> MatchLuck:
        """The luck so far. The sum is rounded once, so that no order of adding matters."""
        return MatchLuck(
            version="" if self._value is None else self._value.version,
            by_seat=tuple([fsum([node.luck[seat] for node in self._nodes]) for seat in range(self._seats)]),
            nodes=tuple(self._nodes),
        )


def luck_of(record: MatchRecord, value: ValueFunction[Any] | None = None) -> MatchLuck:
    """The luck of a recorded match, up to where it stopped. `value` stands in for the game's own.

    Raises CheckFailed if the record cannot be replayed.
    """
    meter = LuckMeter(load_game(record.game), len(record.seats), value)
    before: Any = None
    for number, moment in enumerate(replay(record)):
        if moment.before is not before:  # a decision of several seats has a moment for each
            meter.passed(number, moment.before, moment.after, moment.step)
        before = moment.before
    return meter.luck()


def extremes(luck: MatchLuck, seat: int, count: int = 3) -> tuple[tuple[LuckNode, ...], tuple[LuckNode, ...]]:
    """The luckiest nodes of a seat and its unluckiest ones, the greatest luck first; of equals the earlier one.

    Only those that helped are lucky, only those that hurt unlucky.
    """
    lucky = sorted([node for node in luck.nodes if node.luck[seat] > 0], key=lambda node: -node.luck[seat])
    unlucky = sorted([node for node in luck.nodes if node.luck[seat] < 0], key=lambda node: node.luck[seat])
    return tuple(lucky[:count]), tuple(unlucky[:count])
