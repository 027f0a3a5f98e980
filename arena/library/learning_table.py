"""A game from choice to choice with numbered actions and encoded views: an environment but for the interface.

Rule: a learner is asked where a bot is: luck comes and single legal actions are played without it. Luck follows from a
public seed, under a label of its own, so that no league ever has this luck.
"""

from collections.abc import Mapping
from operator import index
from random import SystemRandom
from typing import Any, Final, SupportsIndex

import numpy as np

from arena.errors import IllegalAction, SpecError
from arena.games import load_game
from arena.games.api import Chance, Decision, Json, Over, Seat, action_numbers_of, encoder_of, is_simultaneous
from arena.games.luck import derive, draw
from arena.library.game import Rules

_SEED_BITS: Final = 64


class LearningTable:
    """A game that stops where a seat has a choice, with numbered actions and encoded views.

    `deciding`: the seats that decide now, none after the end. `actions`: all actions of the variant by their number.
    """

    def __init__(self, name: str, options: Mapping[str, Json], seats: int | None) -> None:
        self._game, self._rules = load_game(name), Rules(name)
        self.name, self.version = name, self._rules.version
        self.seats = self._rules.seat_counts[0] if seats is None else seats
        self.state = self._first = self._rules.setup(options, seats=self.seats)
        numbers, encode = action_numbers_of(self._game, options, self.seats), encoder_of(self._game)
        if numbers is None or encode is None:
            lacks = [word for word, capability in (("all_actions", numbers), ("encode", encode)) if capability is None]
            raise SpecError(
                f"{name} cannot be learned: it has no {' and no '.join(lacks)}. A game needs both: all_actions(options,"
                " seats), which numbers its actions, and encode(view), which gives numbers for a view"
            )
        self._numbers, self._encode = numbers, encode
        self.actions = tuple(numbers)
        self.is_simultaneous = is_simultaneous(self._game)
        try:
            self.shape = self._encode_view(Seat(0)).shape
        except ValueError as error:
            raise SpecError(f"{name} cannot be learned with these options: {error}") from None
        self._seed, self._episode = SystemRandom().getrandbits(_SEED_BITS), 0
        self._legal: dict[Seat, dict[int, Any]] = {}
        self._single_actions: dict[Seat, Any] = {}

    @property
    def deciding(self) -> tuple[Seat, ...]:
        """The seats that have a choice now."""
        return tuple(self._legal)

    def begin(self, seed: int | None) -> None:
        """Begin the next game; a seed begins a series of games, which goes on without one.

        The first series has a random seed if none is given.
        """
        if seed is not None:
            self._seed, self._episode = seed, 0
        self._luck = derive("training", self._seed, self._episode)
        self._episode += 1
        self.state = self._first
        self._play_to_choice()

    def observation(self, seat: Seat) -> dict[str, Any]:
        """Return the encoded view of the seat (float32) and the mask of its legal actions (int8)."""
        mask = np.zeros(len(self.actions), np.int8)
        mask[[*self._legal.get(seat, ())]] = 1
        return {"observation": self._encode_view(seat), "action_mask": mask}

    def require_legal(self, seat: Seat, action: SupportsIndex) -> int:
        """Return the number of an action; IllegalAction unless it is a legal action of the seat."""
        number = index(action)
        if number not in self._legal[seat]:
            action_text = f" ({self.actions[number]})" if 0 <= number < len(self.actions) else ""
            legal = ", ".join(map(str, sorted(self._legal[seat])))
            raise IllegalAction(f"seat {seat}: action {number}{action_text} is not legal now; legal are {legal}")
        return number

    def play(self, numbers: Mapping[Seat, int]) -> None:
        """Play an action, by its number, for each seat in `deciding`, up to the next choice; nothing is checked."""
        actions = {seat: self._legal[seat][number] for seat, number in numbers.items()}
        self.state = self._game.apply(self.state, self._single_actions | actions)
        self._play_to_choice()

    def rewards(self) -> tuple[float, ...]:
        """Return by seat, after the end, the mean over the others of 1, 0 or -1 for a better, equal or worse rank."""
        ranks = self._game.outcome(self.state).ranks
        return tuple(sum((rank < other) - (rank > other) for other in ranks) / (self.seats - 1) for rank in ranks)

    def describe(self) -> str:
        """Return the position as text; nothing is hidden."""
        return self._rules.describe(self.state)

    def _encode_view(self, seat: Seat) -> Any:
        return np.asarray(self._encode(self._game.observe(self.state, seat)), dtype=np.float32)

    def _play_to_choice(self) -> None:
        """Play luck and single legal actions, until a seat has a choice or, with no seat `deciding`, the game ends."""
        self._legal = {}
        while not isinstance(turn := self._game.turn(self.state), Over):
            if not isinstance(turn, Decision):
                drawn = draw(self._luck, turn) if isinstance(turn, Chance) else None
                self.state = self._rules.resolve(self.state, drawn)
                continue
            legal = {seat: self._game.legal(self.state, seat) or () for seat in turn.seats}
            self._single_actions = {seat: actions[0] for seat, actions in legal.items() if len(actions) == 1}
            self._legal = {
                seat: {self._numbers[action]: action for action in actions}
                for seat, actions in legal.items()
                if seat not in self._single_actions
            }
            if self._legal:
                return
            self.state = self._game.apply(self.state, self._single_actions)
