"""Actions for those at the table who cannot choose from a list: the house bot, and a person who wants an example.

Rule: a suggestion is legal for the rules and possible for the nature, as far as a few tries find one.
"""

from typing import Any, Final

from arena.errors import IllegalAction
from arena.games.api import Game, Randomness, Seat, fault_policy_of, simulator_of

_TRIES: Final = 20
"""In the second game two of three samples find room, on a full ship fewer."""


def random_action(game: Game[Any, Any], state: Any, seat: Seat, rng: Randomness) -> Any:
    """Some action. After tries in vain what stands in for one, or, without lenience, the last that was tried."""
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
