"""Whether it is a game: careless loading sheds cargo, and careful bots are challenged. Fixed seeds, minutes."""

import time
from collections.abc import Callable
from functools import partial
from random import Random

import pytest
from rocking import avalanches, matches_of, share_with_fall
from support.riffraff_play import is_placeable
from support.riffraff_tables import after, random_load, random_noise, settled, tidy_load

from arena.errors import IllegalAction
from arena.games.riffraff import physics
from arena.games.riffraff.actions import Load
from arena.games.riffraff.scene import AREAS, KINDS
from arena.games.riffraff.table import ShipAtRest

_Policy = Callable[[Random, ShipAtRest, int], Load]
_CANDIDATES = 6
_MOST = 15

pytestmark = pytest.mark.slow


def _legal(draw: Callable[[Random], Load], rng: Random, table: ShipAtRest, area: int) -> Load:
    """Draw loads until one is not refused."""
    while True:
        load = draw(rng)
        if not is_placeable(AREAS[area], load):
            continue
        try:
            physics.require(table, AREAS[area], load)
        except IllegalAction:
            continue
        return load


def _careless(rng: Random, table: ShipAtRest, area: int) -> Load:
    return _legal(lambda rng: random_load(rng, area, rng.choice(KINDS)), rng, table, area)


def _looking_ahead(rng: Random, table: ShipAtRest, area: int) -> Load:
    """Choose the tidy load that, without noise, loses nothing and tilts the ship least."""
    loads = [_legal(partial(_tidy, area), rng, table, area) for _ in range(_CANDIDATES)]
    return min(loads, key=partial(_regret, table, area))


def _tidy(area: int, rng: Random) -> Load:
    return tidy_load(rng, area, rng.choice(KINDS))


def _regret(table: ShipAtRest, area: int, load: Load) -> tuple[int, float]:
    result = settled(table, area, load)
    return len(result.fallen), result.tilt_max_deg + 115 * max(abs(result.roll), abs(result.pitch))


def _falls(policy: _Policy, placements: int, seed: str) -> list[tuple[int, bool]]:
    """Pieces aboard before each placement in a breeze, and whether anything fell."""
    rng = Random(seed)
    table, seen = ShipAtRest(), list[tuple[int, bool]]()
    for _ in range(placements):
        area = rng.choice(list(AREAS))
        load = policy(rng, table, area)
        result = settled(table, area, load, random_noise(rng))
        seen.append((len(table.cargo), bool(result.fallen)))
        table = ShipAtRest() if len(table.cargo) >= _MOST else after(table, area, load, result)
    return seen


def _share(seen: list[tuple[int, bool]], low: int, high: int) -> float:
    falls = [has_fallen for aboard, has_fallen in seen if low <= aboard <= high]
    assert len(falls) > 30
    return sum(falls) / len(falls)


def test_careless_loading_sheds_cargo() -> None:
    """Random legal poses: something falls in 10 to 25 % of placements on a ship with few pieces, then in 20 to 50 %."""
    start_s = time.thread_time()

    seen = _falls(_careless, 500, "careless")

    cpu_s = time.thread_time() - start_s
    assert 0.10 <= _share(seen, 0, 4) <= 0.25
    assert 0.20 <= _share(seen, 5, _MOST) <= 0.50
    assert cpu_s / len(seen) < 0.3


def test_looking_ahead_hardly_ever_sheds_cargo() -> None:
    """The calmest of six tidy loads, simulated without the noise to come: falls in less than a tenth of placements."""
    seen = _falls(_looking_ahead, 100, "ahead")

    assert _share(seen, 0, _MOST) < 0.10


def test_careful_bots_are_challenged() -> None:
    """Look-ahead, tidy and one that knows its noise: something falls in 8 to 15 % of loads, one avalanche a match."""
    matches = matches_of("careful", 40)

    share, error = share_with_fall(placement for match in matches for placement in match.placements)
    assert error < 0.013
    assert 0.08 <= share <= 0.15
    assert 0.6 <= avalanches(matches) / len(matches) <= 1.5
