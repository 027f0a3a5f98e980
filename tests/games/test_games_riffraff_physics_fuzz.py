"""Random placements: whatever is tried, the result is a valid table or a refusal, and nothing is left behind."""

import contextlib
import math
from pathlib import Path
from random import Random

import pytest
from riffraff_tables import after, laden, random_load, random_noise, tried

from arena.games.riffraff import engine
from arena.games.riffraff.actions import Load
from arena.games.riffraff.model import HALVINGS, LOOK_S, LOOKS_MAX
from arena.games.riffraff.scene import AREAS, CATCH_PLANE_M, KINDS, Kind
from arena.games.riffraff.table import DIGITS, Settled, ShipAtRest

_PLACES = [(area, kind) for area in AREAS for kind in KINDS]
_LADEN = (0, 0, 6, 12)
"""Pieces aboard before a placement, in turns."""


def _require(table: ShipAtRest, load: Load, result: Settled) -> None:
    """What holds for every result: each piece is somewhere, once; nothing rests in the water; numbers are canonical."""
    names = sorted([*(rest.id for rest in result.rests), *(fall.id for fall in result.fallen)])
    assert names == sorted([*(each.id for each in table.cargo), result.id])
    assert [rest.id for rest in result.rests] == sorted(rest.id for rest in result.rests)
    numbers = [result.roll, result.pitch, *(number for rest in result.rests for number in rest.pose)]
    assert all(number == round(number, DIGITS) and str(number) != "-0.0" for number in numbers)
    assert all(math.hypot(*rest.pose[3:]) == pytest.approx(1, abs=0.0001) for rest in result.rests)
    assert all(rest.pose[2] >= CATCH_PLANE_M for rest in result.rests)
    assert 0 < result.t_s <= LOOKS_MAX * LOOK_S
    assert (result.end == "timeout") == (result.t_s == LOOKS_MAX * LOOK_S)
    assert 0 <= result.halved <= HALVINGS
    assert max(abs(result.roll), abs(result.pitch)) <= math.radians(result.tilt_max_deg) + 0.00002
    assert [fall.t_s for fall in result.fallen] == sorted(fall.t_s for fall in result.fallen)
    assert all(fall.hand is None or fall.hand < len(load.hands_mm) for fall in result.fallen)


def _tried(table: ShipAtRest, area: int, rng: Random, kind: Kind) -> tuple[ShipAtRest, bool]:
    """The table after a random placement, and whether it was refused."""
    load, noise = random_load(rng, area, kind), random_noise(rng)
    result = tried(table, area, load, noise)
    if result is None:
        return table, True
    _require(table, load, result)
    changed = after(table, area, load, result)
    assert changed.digest() == result.digest
    return changed, False


def _refused_in(places: list[tuple[int, Kind]], each: int, seed: str) -> int:
    """How many of `each` random placements per area and kind were refused; all of them are checked."""
    rng = Random(seed)
    return sum(
        _tried(laden(_LADEN[number % len(_LADEN)]), area, rng, kind)[1]
        for area, kind in places
        for number in range(each)
    )


def _grown(placements: int, seed: str, most: int) -> int:
    """How many random placements on growing tables were refused; a ship with `most` pieces makes way for an empty."""
    rng = Random(seed)
    table, refused = ShipAtRest(), 0
    for _ in range(placements):
        table, was_refused = _tried(table, rng.choice(list(AREAS)), rng, rng.choice(KINDS))
        refused += was_refused
        if len(table.cargo) >= most:
            table = ShipAtRest()
    return refused


def test_a_few_random_placements_of_every_kind_on_every_area(tmp_path: Path) -> None:
    """Empty or laden, breeze and all: no divergence, no file, results that are valid."""
    with contextlib.chdir(tmp_path):
        refused = _refused_in(_PLACES, 2, "few")

    assert list(tmp_path.iterdir()) == []
    assert refused < len(_PLACES)


def test_random_placements_on_a_growing_table(tmp_path: Path) -> None:
    """25 random placements one after the other: no divergence, no file, results that are valid."""
    with contextlib.chdir(tmp_path):
        refused = _grown(25, "growing", 20)

    assert list(tmp_path.iterdir()) == []
    assert 0 < refused < 15


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["many", "more"])
def test_100_random_placements_of_every_kind_on_every_area(tmp_path: Path, seed: str) -> None:
    """8,000 placements, on empty and on laden ships: no divergence, no file, results that are valid."""
    with contextlib.chdir(tmp_path):
        refused = _refused_in(_PLACES, 100, seed)

    assert list(tmp_path.iterdir()) == []
    assert 0.1 < refused / (100 * len(_PLACES)) < 0.5


@pytest.mark.slow
def test_a_thousand_random_placements_on_growing_tables(tmp_path: Path) -> None:
    """1,000 random placements, up to 24 pieces aboard: no divergence, no file, results that are valid."""
    with contextlib.chdir(tmp_path):
        refused = _grown(1000, "thousand", 24)

    assert list(tmp_path.iterdir()) == []
    assert 0.1 < refused / 1000 < 0.5


def test_the_engine_does_not_start_afresh_by_itself() -> None:
    """The engine's silent reset after a divergence is off, so that every divergence is seen."""
    world = engine.afloat(ShipAtRest())

    assert world.model.opt.disableflags & world.engine.mjtDisableBit.mjDSBL_AUTORESET
