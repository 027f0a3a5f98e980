"""Players for `luck_adjustment.py`: the bots of the project without their processes.

Rule: the bots' own modules decide. Each player loads modules of its own, so that a parameter changed in one is not
changed in another.
"""

import importlib
import random
import sys
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from arena.games import load_game
from arena.games.api import Seat

_FOLDER: Final = Path(__file__).resolve().parents[1] / "bots" / "sensible"
_MODULES: Final = ("prospect", "lookahead", "position", "expansions", "worths")
_CARD_WORTHS: Final = (1, 2, 3, 3, 4)


class InProcess(Protocol):
    """A player that is called directly, without a process."""

    def start(self, seed: int) -> None:
        """Begin a match; the seed is the player's own."""

    def act(self, state: Any, seat: Seat, legal: tuple[Any, ...]) -> int:
        """Return the index of the chosen action."""


class Sensible:
    """The bot bots/sensible. `slips`: the share of random moves; other parameters replace constants of prospect.py."""

    def __init__(self, slips: float = 0.0, **constants: Any) -> None:
        self._slips = slips
        self._modules = _load(constants)
        self._rng = random.Random()
        self._worths: Any = None

    def start(self, seed: int) -> None:
        """Begin a match: seed, and forget the match before."""
        self._rng.seed(seed)
        self._worths = self._modules["worths"].Worths()

    def act(self, state: Any, seat: Seat, legal: tuple[Any, ...]) -> int:
        """Decide as bot.py does in the base game, except for slips."""
        if self._slips and self._rng.random() < self._slips:
            return self._rng.randrange(len(legal))
        position = self._modules["position"].seen(load_game("shanghaien").observe(state, seat))
        worths = [self._worths.worth(position, msgspec.to_builtins(action)) for action in legal]
        return worths.index(max(worths))


def _load(constants: dict[str, Any]) -> dict[str, Any]:
    """Load fresh modules of the bot, with these constants in prospect.py."""
    sys.path.insert(0, str(_FOLDER))
    try:
        modules = {name: importlib.import_module(name) for name in _MODULES}
    finally:
        sys.path.remove(str(_FOLDER))
        for name in _MODULES:
            sys.modules.pop(name, None)
    for name, value in constants.items():
        assert hasattr(modules["prospect"], name), f"prospect.py has no {name}"
        setattr(modules["prospect"], name, value)
    return modules


class Greedy:
    """The rule of bots/greedy in the base game: take the card that is worth most, without tricks."""

    def start(self, seed: int) -> None:
        """Do nothing: this player remembers nothing."""

    def act(self, state: Any, seat: Seat, legal: tuple[Any, ...]) -> int:
        """Return the placement of the highest worth, the first of equals; else the first action."""
        best, best_worth = 0, -1
        for index, action in enumerate(map(msgspec.to_builtins, legal)):
            if action["do"] == "place":
                end = action.get("one") or state.one_at
                worth = sum([self._worth(state, seat, die, end) for die in action["dice"]])
                if worth > best_worth:
                    best, best_worth = index, worth
        return best

    def _worth(self, state: Any, seat: Seat, number: int, end: str) -> int:
        if state.players[seat].placed[number - 1] > state.players[1 - seat].placed[number - 1]:
            return 0
        card = state.row[number - 1 if end == "left" else 6 - number]
        return _CARD_WORTHS[card % 5] if card < 40 else 2


class Clumsy(Greedy):
    """A greedy player that makes every second move at random."""

    def __init__(self) -> None:
        self._rng = random.Random()

    def start(self, seed: int) -> None:
        """Seed the random moves of the match."""
        self._rng.seed(seed)

    def act(self, state: Any, seat: Seat, legal: tuple[Any, ...]) -> int:
        """Return a random action in half of the calls, else the greedy one."""
        return self._rng.randrange(len(legal)) if self._rng.random() < 0.5 else super().act(state, seat, legal)


class RandomPlayer:
    """A player that chooses each action with equal chance."""

    def __init__(self) -> None:
        self._rng = random.Random()

    def start(self, seed: int) -> None:
        """Seed the random moves of the match."""
        self._rng.seed(seed)

    def act(self, state: Any, seat: Seat, legal: tuple[Any, ...]) -> int:  # noqa: ARG002 - the signature of a player
        """Return the index of a random action."""
        return self._rng.randrange(len(legal))
