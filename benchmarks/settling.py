"""Section `settle`: what a placement of Riff Raff costs, by the number of pieces aboard, and the memory it takes."""

import contextlib
import resource
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from statistics import mean
from typing import Final, NamedTuple

from measure import interleaved
from tables import Figure, Goal, Row, Table

from arena.errors import IllegalAction
from arena.games.api import Seat
from arena.games.riffraff import physics
from arena.games.riffraff.actions import Load
from arena.games.riffraff.model import STEP_S
from arena.games.riffraff.scene import AREAS, KINDS, Area, Face, Kind
from arena.games.riffraff.table import Noise, PieceId, ship_after
from arena.games.riffraff.table import ShipAtRest as Ship
from arena.games.riffraff.turns import add_piece

_ABOARD: Final = (0, 5, 10, 15, 20)
_GOALS: Final = {0: Goal("<=", 5), 20: Goal("<=", 200)}
_MEMORY_GOAL: Final = Goal("<=", 150)
_NEXT: Final = PieceId("k99")
_SIGMAS: Final = (1.5, 1.5, 3, 0.05, 0.05)
_STEADY: Final[dict[Kind, Face]] = {"bottle": "upright", "barrel": "upright", "sailor": "hang"}


class _Placement(NamedTuple):
    """A placement to measure, and how long it takes in the simulated world."""

    ship: Ship
    area: Area
    load: Load
    noise: Noise
    t_s: float


def measure(_: Path, *, is_quick: bool) -> list[Table]:
    """Measure the CPU time of placements on ships with more and more pieces, beside the engine's share."""
    fleets, count, rounds = (1, 2, 1) if is_quick else (6, 4, 2)
    rng = Random("settle")
    ships = [_ships(rng) for _ in range(fleets)]
    rows = tuple(
        _row(aboard, [placement for fleet in ships for placement in _placements(fleet[aboard], count, rng)], rounds)
        for aboard in _ABOARD
    )
    headers = (
        "pieces aboard",
        "settle\nCPU ms",
        "worst\nCPU ms",
        "floor\nCPU ms",
        "times\nthe floor",
        "placement\nCPU ms",
        "way down\nCPU ms",
        "simulated\ns",
        "floor\nus/step",
    )
    notes = (
        f"mean of {fleets * count} placements in a breeze on {fleets} tidily loaded ships; each its best of {rounds}",
        "settle: from the release to rest; floor: the engine alone, the same steps in a single call",
        "placement: all of it, with the way down, intended and shifted; way down: require alone, with its model",
    )
    return [Table(title="Riff Raff: what a placement costs", headers=headers, rows=rows, notes=notes), _cold()]


def _row(aboard: int, placements: Sequence[_Placement], rounds: int) -> Row:
    best: dict[str, list[float]] = {name: [] for name in _MEASURES}
    for placement in placements:
        samples = interleaved({name: partial(run, placement) for name, run in _MEASURES.items()}, rounds, warm_ups=0)
        for name, seconds in samples.items():
            best[name].append(min(seconds))
    simulated_s = mean(placement.t_s for placement in placements)
    floor_s = mean(best["floor"])
    return (
        str(aboard),
        Figure(1000 * mean(best["settle"]), 1, _GOALS.get(aboard)),
        Figure(1000 * max(best["settle"]), 1),
        Figure(1000 * floor_s, 1),
        Figure(mean(best["settle"]) / floor_s, 2),
        Figure(1000 * mean(best["whole"]), 1),
        Figure(1000 * mean(best["way down"]), 2),
        Figure(simulated_s, 2),
        Figure(1e6 * floor_s / (simulated_s / STEP_S), 1),
    )


def _cold() -> Table:
    """Measure the first use in a process, and the memory of this one after all those placements."""
    physics._canary.cache_clear()  # noqa: SLF001 - it is computed once in a process
    fingerprint_s = _cpu_s(physics.fingerprint)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows: tuple[Row, ...] = (
        ("fingerprint, once in a process, CPU ms", Figure(1000 * fingerprint_s, 0)),
        ("peak memory of this process, MB", Figure(peak_mb, 0, _MEMORY_GOAL)),
    )
    return Table(title="Riff Raff: once in a process", headers=("", "figure"), rows=rows)


def _whole_s(placement: _Placement) -> float:
    physics._intended_pose.cache_clear()  # noqa: SLF001 - as in a match, where no placement comes twice
    return _cpu_s(partial(physics.place, *placement[:-1], _NEXT))


def _way_down_s(placement: _Placement) -> float:
    physics._intended_pose.cache_clear()  # noqa: SLF001 - see above
    return _cpu_s(partial(physics.require, *placement[:3]))


def _settle_s(placement: _Placement) -> float:
    release = physics.begin_placement(*placement[:-1], _NEXT)
    return _cpu_s(partial(physics.run_to_rest, release, placement.load))


def _floor_s(placement: _Placement) -> float:
    world = physics.begin_placement(*placement[:-1], _NEXT).world
    return _cpu_s(partial(world.engine.mj_step, world.model, world.data, round(placement.t_s / STEP_S)))


_MEASURES: Final[dict[str, Callable[[_Placement], float]]] = {
    "whole": _whole_s,
    "way down": _way_down_s,
    "settle": _settle_s,
    "floor": _floor_s,
}


def _cpu_s(call: Callable[[], object]) -> float:
    start_s = time.thread_time()
    call()
    return time.thread_time() - start_s


def _placements(ship: Ship, count: int, rng: Random) -> list[_Placement]:
    """Return `count` legal placements on that ship, on areas in turn."""
    placements: list[_Placement] = []
    while len(placements) < count:
        area = 1 + len(placements) % len(AREAS)
        load, noise = _tidy(rng, area), Noise(*(rng.gauss(0, sigma) for sigma in _SIGMAS))
        with contextlib.suppress(IllegalAction):
            t_s = physics.place(ship, AREAS[area], load, noise, _NEXT).t_s
            placements.append(_Placement(ship, AREAS[area], load, noise, t_s))
    return placements


def _ships(rng: Random) -> dict[int, Ship]:
    """Load a ship area by area, without anything falling; return it at each number of pieces."""
    ships: dict[int, Ship] = {0: Ship()}
    while max(_ABOARD) not in ships:
        aboard = max(ships)
        area = 1 + aboard % len(AREAS)
        load, new = _tidy(rng, area), PieceId(f"k{aboard + 1:02d}")
        with contextlib.suppress(IllegalAction):
            result = physics.place(ships[aboard], AREAS[area], load, Noise(), new)
            if not result.fallen:
                ships[aboard + 1] = ship_after(add_piece(ships[aboard], new, load, area, Seat(0)).values(), result)
    return ships


def _tidy(rng: Random, area: int) -> Load:
    """Choose a piece on its steadiest face, along or across the ship, in the middle of a yard."""
    kind = rng.choice(KINDS)
    face: Face = _STEADY.get(kind, "flat")
    is_yard = AREAS[area].is_yard
    if face == "hang" and not is_yard:
        face = "lying"
    u_mm, v_mm = (round(1000 * rng.uniform(*side), 1) for side in (AREAS[area].u_m, AREAS[area].v_m))
    yaw_deg = rng.choice((0, 180) if face == "hang" else (0, 90, 180, 270))
    return Load(kind, face, 0 if is_yard else u_mm, v_mm, yaw_deg)
