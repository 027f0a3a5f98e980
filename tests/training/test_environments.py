"""Environments pass PettingZoo's own tests, and are games of arena: luck, rewards, hidden choices, refusals."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test, seed_test
from support.golden import Golden
from support.hands import hands_on_offer

import arena
from arena.errors import IllegalAction, SpecError
from arena.games.api import Json
from arena.games.shanghaien.expansions import EXPANSIONS

pytestmark = pytest.mark.slow

VARIANTS: list[tuple[str, dict[str, Json]]] = [
    ("connect_four", {}),
    ("kuhn_poker", {}),
    ("nim", {}),
    ("nim", {"heaps": [1, 7], "misere": True}),
    ("shanghaien", {}),
    ("shanghaien", {"expansions": [*EXPANSIONS]}),
    ("hands", {}),
]
OF_MASKED = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}
"""The test warns of each environment with a mask that is not one of PettingZoo's."""
OF_ZEROS = {"Observation numpy array is all zeros."}
"""Nim without counters."""


@pytest.fixture(autouse=True)
def _hands() -> Iterator[None]:
    with hands_on_offer():
        yield


def played(env: Any, rng: np.random.Generator) -> list[Any]:
    """All that a game shows, by random legal actions."""
    seen = []
    for agent in env.agent_iter():
        last, reward, is_over, _, _ = env.last()
        seen.append((agent, last["observation"].tolist(), last["action_mask"].tolist(), reward, env.render()))
        env.step(None if is_over else int(rng.choice(np.flatnonzero(last["action_mask"]))))
    return seen


@pytest.mark.parametrize(("game", "options"), VARIANTS)
def test_an_environment_passes_the_tests_of_pettingzoo(game: str, options: dict[str, Json]) -> None:
    """With no warning but those that each environment with a mask gets."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(arena.env(game, options), num_cycles=300)
        seed_test(lambda: arena.env(game, options), num_cycles=300)

    assert {str(each.message) for each in caught} <= OF_MASKED | (OF_ZEROS if game == "nim" else set())


@pytest.mark.parametrize("seats", [2, 3])
def test_a_parallel_environment_passes_them_too(seats: int) -> None:
    """Seats that have nothing to decide are live, and have a mask of zeros."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(arena.parallel_env("hands", seats=seats), num_cycles=300)

    env = arena.parallel_env("hands", seats=seats)
    env.reset(seed=1)
    seen, *_ = env.step(dict.fromkeys(env.agents, 1))
    assert [int(seen[agent]["action_mask"].sum()) for agent in env.agents] == [3, 0, 0][:seats]
    _, rewards, ended, _, _ = [env.step(dict.fromkeys(env.agents, 0)) for _ in range(3)][-1]
    assert (set(ended.values()), set(rewards.values()), env.agents) == ({True}, {0.0}, [])


def test_a_seed_sets_a_series_of_games() -> None:
    """The same games for the same seed, other luck in each game of the series, other games for another seed."""
    env = arena.env("shanghaien")

    def series(seed: int) -> list[list[Any]]:
        env.reset(seed=seed)
        first = played(env, np.random.default_rng(1))
        env.reset()
        return [first, played(env, np.random.default_rng(1))]

    one, again, other = series(1), series(1), series(2)
    assert one == again
    assert one[0] != one[1]
    assert one[0] != other[0]


def test_luck_of_training_is_no_luck_of_a_league() -> None:
    """Neither that of the same public seed: all blocks of it have other cards."""
    env = arena.env("kuhn_poker")
    deals = set()
    for seed in range(30):
        env.reset(seed=seed)
        deals.add(env.unwrapped.table.state.cards)

    assert len(deals) == 6
    assert env.unwrapped.table._luck != arena_luck(29)


def arena_luck(seed: int) -> str:
    from arena.match.secret_luck import Secret, draw_block  # noqa: PLC0415 - for this test only

    return draw_block(Secret.public(str(seed)), "0-0", 2).luck


def test_seats_that_decide_at_once_see_nothing_of_each_other() -> None:
    """The view of the second seat is the same whatever the first one chose; a single choice follows for seat 0."""
    views = []
    for hand in range(3):
        env = arena.env("hands")
        env.reset(seed=1)
        env.step(hand)
        views.append(env.last()[0]["observation"].tolist())
        assert env.agent_selection == "seat_1"
        env.step(0)
        assert env.agent_selection == "seat_0"
        env.step(1)
        assert env.agent_selection == "seat_0"

    assert views[0] == views[1] == views[2]


def test_a_single_legal_action_is_played_without_the_seat() -> None:
    """As in a match: in nim with the heaps 1 and 1 nobody has a choice after the first action."""
    env = arena.env("nim", {"heaps": [1, 1]})
    env.reset()
    env.step(0)

    assert env.terminations == {"seat_0": True, "seat_1": True}
    assert env.rewards == {"seat_0": -1.0, "seat_1": 1.0}
    env = arena.env("shanghaien")
    env.reset(seed=3)
    while any(env.agents) and not env.last()[2]:
        mask = env.last()[0]["action_mask"]
        assert mask.sum() > 1
        env.step(int(np.flatnonzero(mask)[-1]))


def test_the_rewards_are_the_mean_over_the_others() -> None:
    """Of three seats the first is better than both, the others tie."""
    env = arena.env("hands", seats=3)
    env.reset()
    while not env.last()[2]:
        env.step(1 if env.agent_selection == "seat_0" else 0)

    assert env.rewards == {"seat_0": 1.0, "seat_1": -0.5, "seat_2": -0.5}


def test_an_illegal_action_is_named_with_the_legal_ones() -> None:
    """And changes nothing."""
    env = arena.env("kuhn_poker")
    env.reset(seed=1)

    for action, told in ((3, r"action 3 \(calls\) is not legal now; legal are 0, 1"), (4, "action 4 is not legal")):
        with pytest.raises(IllegalAction, match=told):
            env.step(action)
    assert env.agent_selection == "seat_0"
    env.step(np.int64(0))
    assert env.agent_selection == "seat_1"


def test_a_game_that_cannot_be_learned_is_refused(golden: Golden) -> None:
    """In a sentence that names both capabilities; so are one seat at a time, and seats that the game does not have."""
    with golden.raises(SpecError):
        arena.env("riffraff")
    with golden.raises(SpecError):
        arena.parallel_env("nim")
    with pytest.raises(SpecError, match="3"):
        arena.env("nim", seats=3)
    with pytest.raises(SpecError, match="no_such"):
        arena.env("nim", {"no_such": 1})
