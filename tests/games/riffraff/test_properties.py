"""Riff Raff: what holds in every game, whatever is played and whatever falls."""

import json
from collections.abc import Sequence
from random import Random
from typing import Any, cast

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.games_play import Step, steps
from support.riffraff_play import GAME, counts, played, raw_load, start

from arena.errors import BotFault
from arena.games.api import Decision, Json, Over, Seat, Simulation
from arena.games.riffraff.actions import PASS, Load
from arena.games.riffraff.scene import KINDS
from arena.games.riffraff.state import CARDS, Phase, State
from arena.games.riffraff.table import DIE_FACES, SEA_GROWS, SIGMAS, Noise, Weather, sigma_in, to_noise

SEEDS = st.integers(0, 10**6)
SEATS = st.sampled_from((2, 3, 4))
NUMBER = st.floats() | st.integers() | st.none() | st.booleans() | st.text(max_size=3)


@given(seed=SEEDS, seats=SEATS)
def test_what_holds_in_every_state_of_a_game(seed: int, seats: int) -> None:
    """Every piece is in one place, cards go round by round, a turn ends when something falls or all is loaded.

    A second piece needs a yard. Everybody has one turn a round, in the order that was found; only the last round may be
    cut short, by somebody who holds nothing. The game follows from its record: nothing is sampled or simulated.
    """
    play, again = list(steps(GAME, f"riffraff {seed}", Random(seed), seats=seats)), GAME.setup({}, seats)
    turns: dict[int, list[Seat]] = {}

    for step in play:
        state: State = step.state
        assert again == state
        _require_pieces(state)
        _require_cards(state)
        if state.phase is Phase.SETTLING:
            _require_end_of_turn(state, step.after)
        if isinstance(step.turn, Decision) and state.active is not None and not state.loaded and not state.pending:
            order = turns.setdefault(state.round, [])
            order += [state.active] if state.active not in order else []
        again = _replayed(state, step)

    end = play[-1].state
    is_won = min(player.pieces for player in end.players) == 0
    assert [len(order) for order in turns.values()][:-1] == [seats] * (end.round - 1)
    assert len(turns[end.round]) == end.turn + 1
    assert is_won or (end.round, end.turn + 1) == (end.rounds, seats)


def _require_pieces(state: State) -> None:
    """In a supply, on the ship, or out of the game; four sets for two or four players, three for three."""
    ids = [piece.id for piece in state.table.cargo]
    assert counts(state) == (3 if len(state.players) == 3 else 4,) * len(KINDS)
    assert ids == sorted(set(ids))
    assert all(count >= 0 for player in state.players for count in player.supply)
    assert sum(player.removed for player in state.players) == sum(state.removed)


def _require_cards(state: State) -> None:
    """Assert that a hand has as many cards as rounds are left, and none of those that lie open."""
    is_open = state.phase is not Phase.CARD
    left = 10 - (state.round - 1) % 10 - is_open
    for player in state.players:
        assert (len(player.hand), player.card is not None) == (left, is_open)
        assert player.card not in player.hand
        assert set(player.hand) <= set(CARDS)


def _require_end_of_turn(state: State, after: State) -> None:
    goes_on = after.active == state.active and after.round == state.round and after.phase is Phase.LOAD
    assert goes_on == (state.to_load == 2 and not after.last[-1].fallen)
    assert state.loaded == 0 or state.area in range(5, 11)
    assert len(after.last) == state.loaded + 1
    assert after.placements == state.placements + 1


def _replayed(state: State, step: Step) -> State:
    """The next state, from actions, luck and result as they stand in a record."""
    if step.actions:
        plain = {seat: json.loads(msgspec.json.encode(action)) for seat, action in step.actions.items()}
        return GAME.apply(state, {seat: GAME.parse(state, seat, raw) for seat, raw in plain.items()})
    if isinstance(step.turn, Simulation):
        return cast(State, GAME.simulator.apply_result(state, json.loads(msgspec.json.encode(step.result))))
    return state if isinstance(step.turn, Over) else GAME.resolve(state, step.drawn)


@given(
    card=st.sampled_from(CARDS), spoiled=st.dictionaries(st.sampled_from(Load.__struct_fields__), NUMBER, max_size=3)
)
def test_any_load_is_read_or_refused(card: int, spoiled: dict[str, Json]) -> None:
    """The state is as before, and what is read is read again as the same."""
    state = played(start(2), card, 1)
    assume(state.phase is Phase.LOAD and state.active == 0)
    before = repr(state)

    try:
        action = GAME.parse(state, Seat(0), raw_load(state) | spoiled)
    except BotFault as fault:
        text = fault.message
    else:
        text = str(action)
        assert GAME.parse(state, Seat(0), msgspec.to_builtins(action)) == action
    assert 0 < len(text) < 600
    assert repr(state) == before


class First:
    """A random source without luck: it always chooses the first."""

    def choice(self, seq: Sequence[Any], /) -> Any:
        return seq[0]


def test_who_finds_no_pose_passes() -> None:
    """The first of all poses, in the corner of an area, reaches into another one."""
    state = played(start(), 7, 3, 2, 1)

    assert GAME.sample(state, Seat(0), First()) == PASS


@pytest.mark.parametrize("card", CARDS)
def test_sampled_loads_are_legal_and_various(card: int) -> None:
    """Every kind, most faces, hands held out or not; hardly ever a pass."""
    state = played(replace(start(2), captain=Seat(0)), card, card % 10 + 1)
    state = replace(state, captain=Seat(0), order=(Seat(0), Seat(1)), turn=0, phase=Phase.LOAD, to_load=1)
    rng = Random(card)

    found = [GAME.sample(state, Seat(0), rng) for _ in range(200)]

    loads = [action for action in found if isinstance(action, Load)]
    assert all(GAME.parse(state, Seat(0), msgspec.to_builtins(load)) == load for load in loads)
    assert len(loads) > 190
    assert {load.kind for load in loads} == set(KINDS)
    assert len({(load.kind, load.face) for load in loads}) >= 13
    assert {len(load.hands_mm) for load in loads} == {0, 2}


FACE = st.integers(1, DIE_FACES)
DICE_FACES = st.tuples(FACE, FACE, FACE, FACE, FACE)
WEATHERS = st.sampled_from(sorted(SIGMAS))


def amounts(found: Noise) -> tuple[float, ...]:
    return tuple(msgspec.structs.astuple(found))


@given(weather=WEATHERS, rounds=st.sampled_from([10, 20]), number=st.integers(1, 20))
def test_the_sea_grows_evenly_from_round_to_round(weather: Weather, rounds: int, number: int) -> None:
    """The wave grows evenly to that of the last round; hands stay as they are."""
    number = min(number, rounds)
    first, now = sigma_in(weather, 1, rounds), sigma_in(weather, number, rounds)

    share = (number - 1) / (rounds - 1)

    assert first == SIGMAS[weather]
    assert (now.uv_mm, now.yaw_deg) == (first.uv_mm, first.yaw_deg)
    assert now.kick_rad_s == pytest.approx(first.kick_rad_s * (1 + SEA_GROWS * share), abs=0.00006)
    assert now.kick_rad_s > first.kick_rad_s or number == 1 or weather == "still"


@given(faces=DICE_FACES, weather=WEATHERS)
def test_noise_is_rounded_and_opposite_dice_give_opposite_noise(faces: tuple[int, ...], weather: Weather) -> None:
    """There is no -0.0, which would have a JSON text of its own."""
    found = to_noise(faces, SIGMAS[weather])

    opposite = to_noise(tuple(DIE_FACES + 1 - face for face in faces), SIGMAS[weather])

    assert amounts(opposite) == tuple(-amount for amount in amounts(found))
    assert [round(amount, 2) for amount in amounts(found)[:3]] == list(amounts(found)[:3])
    assert [round(amount, 4) for amount in amounts(found)[3:]] == list(amounts(found)[3:])
    assert "-0.0" not in {str(amount) for amount in amounts(found)}
    assert json.loads(msgspec.json.encode(found)) == list(msgspec.structs.astuple(found))
