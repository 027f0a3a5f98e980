"""The house: always a legal opponent, whatever the game can list."""

from random import Random
from typing import Any

import pytest
from match_raft import HOLD_ON, Kindness, Lean, Raft, Water
from match_raft_table import sail
from match_table import CLOCK

from arena.errors import IllegalAction
from arena.games.api import Seat
from arena.match.baseline import SUGGESTED, HouseGame, baseline_player
from arena.match.record import MatchRecord
from arena.match.referee import hello_for
from arena.match.suggestion import random_action


def game_of_houses(seed: str, *, seats: int = 3) -> MatchRecord:
    game: Any = HouseGame(Raft(), range(seats), seed)
    hello = hello_for(game, {}, CLOCK.startup_ms, seats=seats)
    return sail(*[baseline_player(hello, CLOCK) for _ in range(seats)], game=game, options={"rounds": 20})


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_house_plays_what_cannot_be_listed(seats: int) -> None:
    """Twenty rounds without one refused answer."""
    record = game_of_houses("a", seats=seats)

    assert record.termination.value == "normal"
    assert [seat.faults for seat in record.seats] == [{}] * seats


def test_the_house_plays_the_same_again_by_the_same_seed() -> None:
    """And something else by another one."""
    first, again, other = (game_of_houses(seed).steps for seed in "aab")

    assert first == again
    assert first != other


def test_only_the_house_gets_a_suggestion_and_only_where_it_needs_one() -> None:
    """Other seats see what they always see."""
    game = HouseGame(Raft(), {1}, "a")
    rules = Raft()
    state = rules.setup({}, 2)
    trimming = rules.apply(state, {Seat(0): HOLD_ON, Seat(1): HOLD_ON})

    assert SUGGESTED not in game.observe(state, Seat(0))
    assert set(game.observe(state, Seat(1))[SUGGESTED]) == {"mm"}
    assert SUGGESTED not in game.observe(trimming, Seat(1))


class Rough(Water):
    """Has room for nothing but what is dry."""

    def require(self, _state: Any, _seat: Seat, action: Any) -> None:
        if action != HOLD_ON:
            raise IllegalAction("the sea is too rough")


def test_what_nature_refuses_is_not_suggested() -> None:
    """After some tries in vain comes what stands in; without lenience the last try."""
    rough = Raft()
    rough.simulator = Rough()
    strict = Raft()
    strict.simulator, strict.fault_policy = Rough(), None
    state = rough.setup({}, 2)

    assert random_action(rough, state, Seat(0), Random(1)) == Kindness().fallback_action(state, Seat(0))
    assert isinstance(random_action(strict, state, Seat(0), Random(1)), Lean)
