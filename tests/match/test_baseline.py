"""The baseline player: always a legal opponent, whatever the game can list."""

from random import Random
from typing import Any

import pytest
from support.scripted_bot import toy_match
from support.toy_game import HOLD_ON, Lean, ToyFaultPolicy, ToyGame, ToySimulator

from arena.errors import IllegalAction
from arena.games.api import Seat
from arena.games.luck import derive
from arena.match.baseline import BaselinePlayer, random_action
from arena.match.record import MatchRecord
from arena.match.referee import play_match
from arena.match.settings import ClockSettings, MatchSpec


def nim_by(*bot_seeds: int) -> MatchRecord:
    """Play a match of two baselines with these bot_seeds."""
    spec = MatchSpec("m", "nim", {}, derive("baseline"), ClockSettings(), wire_id="m", bot_seeds=bot_seeds)
    return play_match(spec, [BaselinePlayer(), BaselinePlayer()])


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_baseline_plays_actions_that_cannot_be_listed(seats: int) -> None:
    """It plays twenty rounds without one refused answer."""
    record = toy_match(*[BaselinePlayer() for _ in range(seats)], options={"rounds": 20})

    assert record.termination.value == "normal"
    assert [seat.faults for seat in record.seats] == [{}] * seats


def test_the_baseline_plays_the_same_again_by_the_same_bot_seed() -> None:
    """With another bot_seed it plays another match."""
    first, again, other = (nim_by(1, seed).steps for seed in (2, 2, 3))

    assert first == again
    assert first != other


class Rough(ToySimulator):
    """A simulator that allows only one action: to hold on."""

    def require(self, _state: Any, _seat: Seat, action: Any) -> None:
        if action != HOLD_ON:
            raise IllegalAction("the sea is too rough")


def test_a_random_action_is_possible_for_the_simulator_or_the_fallback_action() -> None:
    """If all tries fail it is the fallback action; without a fault policy it is the last try."""
    rough = ToyGame()
    rough.simulator = Rough()
    strict = ToyGame()
    strict.simulator, strict.fault_policy = Rough(), None
    state = rough.setup({}, 2)

    assert random_action(rough, state, Seat(0), Random(1)) == ToyFaultPolicy().fallback_action(state, Seat(0))
    assert isinstance(random_action(strict, state, Seat(0), Random(1)), Lean)
