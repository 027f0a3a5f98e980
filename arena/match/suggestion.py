"""Actions for those at the table who cannot choose from a list: the house bot, and a person who wants an example.

Rule: a suggestion is legal for the rules and possible for the nature, as far as a few tries find one.
"""

from typing import Any, Final

from arena.errors import IllegalAction
from arena.games.api import Game, Randomness, Seat
from arena.games.doors import lenience_of, nature_of

_TRIES: Final = 20
"""In the second game two of three samples find room, on a full ship fewer."""


def suggest(game: Game[Any, Any], state: Any, seat: Seat, rng: Randomness) -> Any:
    """Some action. After tries in vain what stands in for one, or, without lenience, the last that was tried."""
    nature, lenience = nature_of(game), lenience_of(game)
    action = game.sample(state, seat, rng)
    for _ in range(_TRIES):
        try:
            if nature is not None:
                nature.insist(state, seat, action)
        except IllegalAction:
            action = game.sample(state, seat, rng)
        else:
            return action
    return action if lenience is None else lenience.stand_in(state, seat)
