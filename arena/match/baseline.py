"""The baseline player: a legal opponent inside this process, so that a bot can be checked without another one.

Rule: it knows no game, and follows from its bot_seed alone. An action that no list holds is sampled by the game.
"""

import random
from typing import Any, Final

import msgspec

from arena.errors import IllegalAction
from arena.games.api import Game, Randomness, Seat, fault_policy_of, simulator_of
from arena.match.participant import ActionRequest, Participant
from arena.match.settings import ClockSettings
from arena.protocol.messages import Answer, MatchStart

_TRIES: Final = 20
"""Samples before giving up: in Riff Raff two of three are possible, on a full ship fewer."""


class BaselinePlayer(Participant):
    """A player that chooses among the legal actions at random, by its bot_seed. It has no clock."""

    def __init__(self) -> None:
        super().__init__("house", "house", ClockSettings(decides="wall").terms())

    def begin(self, start: MatchStart, game: Game[Any, Any]) -> None:
        """Seed the choices of this match."""
        super().begin(start, game)
        self._game = game
        self._random = random.Random(start.bot_seed)  # noqa: S311 - play, not secrets

    def ask(self, request: ActionRequest) -> Answer:
        """Return a random action: its index where the game lists the legal actions, else the action itself."""
        self.moves += 1
        if request.legal is not None:
            return Answer(id=self.moves, action=self._random.randrange(len(request.legal)))
        action = random_action(self._game, request.state, request.seat, self._random)
        return Answer(id=self.moves, action=msgspec.to_builtins(action))


def random_action(game: Game[Any, Any], state: Any, seat: Seat, rng: Randomness) -> Any:
    """Sample an action that is legal by the rules, and possible for the simulator if a few tries find one.

    If they find none: the fallback action, or, without a fault policy, the last sample.
    """
    simulator, fault_policy = simulator_of(game), fault_policy_of(game)
    action = game.sample(state, seat, rng)
    for _ in range(_TRIES):
        try:
            if simulator is not None:
                simulator.require(state, seat, action)
        except IllegalAction:
            action = game.sample(state, seat, rng)
        else:
            return action
    return action if fault_policy is None else fault_policy.fallback_action(state, seat)
