"""The simulated ship: a placement in, its result out.

Rule: a result is a function of table, area, load and noise, bit for bit, in any process and order. It holds for one
fingerprint; another version of the engine plays as well, but differently.
"""

import math
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import sha256
from typing import Final, Literal, NamedTuple, cast

import msgspec

from arena.errors import IllegalAction
from arena.games.api import Seat
from arena.games.riffraff.actions import Load
from arena.games.riffraff.engine import World, by_id, engine, require_apart
from arena.games.riffraff.lowering import Descent
from arena.games.riffraff.model import HALVINGS, LOOKS_MAX, SCENARIO, arithmetic, surroundings
from arena.games.riffraff.noise import STILL, Noise
from arena.games.riffraff.scene import AREAS, Area, Kind
from arena.games.riffraff.settling import HINGES, Watch, distance
from arena.games.riffraff.table import Piece, PieceId, Pose, Settled, ShipAtRest, canonical, remaining

__all__ = ["distance", "fingerprint", "place", "released", "require", "require_apart", "run_to_rest"]

_INTENTIONS_KEPT: Final = 64
_NOBODY: Final = Seat(0)
"""The seat of the player does not matter here."""
_TILT_DIGITS: Final = 3


def require(table: ShipAtRest, area: Area, load: Load) -> None:
    """IllegalAction if the piece finds no room or no support in its intended pose, without any noise.

    The geometry of the load is taken for granted: kind, face and place are allowed on that area.
    """
    _intended(table, area, load)


def place(table: ShipAtRest, area: Area, load: Load, noise: Noise, piece: PieceId) -> Settled:
    """The result of putting the piece on the area with an unsteady hand while a wave hits the ship.

    A shift that leaves no room is halved, `HALVINGS` times at most, and then left out. Raises as `require` does, and
    HarnessFault if the simulation breaks down; the table is a value, so nothing has changed then.
    """
    return run_to_rest(released(table, area, load, noise, piece), load)


class Released(NamedTuple):
    """A piece just let go; `pieces` are all aboard and the new one, in the order of the bodies in the world."""

    world: World
    pieces: tuple[Piece, ...]
    new: Piece
    halved: int


def released(table: ShipAtRest, area: Area, load: Load, noise: Noise, piece: PieceId) -> Released:
    """The ship at the moment at which a placement begins to settle. Raises as `require` does."""
    require(table, area, load)
    pose, halved = _shifted(table, area, load, noise)
    new = Piece(id=piece, kind=cast(Kind, load.kind), card=area.number, by=_NOBODY, pose=pose)
    pieces = by_id((*table.cargo, new))
    world = World(table, [(piece.kind, piece.pose) for piece in pieces])
    world.data.qvel[:HINGES] = noise.roll_rad_s, noise.pitch_rad_s
    return Released(world, pieces, new, halved)


@lru_cache(maxsize=_INTENTIONS_KEPT)
def _intended(table: ShipAtRest, area: Area, load: Load) -> Pose:
    """The pose in which the piece is let go without noise. Kept, as every load is checked first and then placed."""
    return Descent(table, area, load).release(STILL, 0.0)


def _shifted(table: ShipAtRest, area: Area, load: Load, noise: Noise) -> tuple[Pose, int]:
    """The pose in which an unsteady hand lets the piece go, and the number of times the shift was halved."""
    if not (noise.u_mm or noise.v_mm or noise.yaw_deg):
        return _intended(table, area, load), 0
    descent = Descent(table, area, load)
    for halved in range(HALVINGS):
        with suppress(IllegalAction):
            return descent.release(noise, 0.5**halved), halved
    return _intended(table, area, load), HALVINGS


def run_to_rest(release: Released, load: Load) -> Settled:
    """The result; the world is left in its last state."""
    world, pieces = release.world, release.pieces
    watch = Watch(world.state, [piece.id for piece in pieces], load.hands_mm)
    end: Literal["rest", "timeout"] = "timeout"
    while watch.looks < LOOKS_MAX:
        world.look()
        for index in watch.see(world.state):
            world.free(index)
        if watch.is_at_rest(world.state):
            end = "rest"
            break
    roll, pitch = map(canonical, world.state[:HINGES])
    result = Settled(
        id=release.new.id,
        end=end,
        halved=release.halved,
        t_s=watch.t_s,
        tilt_max_deg=round(math.degrees(watch.tilt_max_rad), _TILT_DIGITS),
        fallen=tuple(watch.fallen),
        roll=roll,
        pitch=pitch,
        rests=watch.rests(world.state),
        digest="",
    )
    return msgspec.structs.replace(result, digest=remaining(pieces, result).digest())


def fingerprint() -> dict[str, str]:
    """The causes of results besides the arguments. Equal fingerprints promise the same results, bit for bit."""
    return dict(_fingerprint())


@cache
def _fingerprint() -> dict[str, str]:
    return {"engine": f"mujoco {engine().__version__}", **surroundings(), "canary": _canary()}


def _canary() -> str:
    """16 hex digits over the machine's arithmetic and a fixed scenario, both to the last bit."""
    table, seen = ShipAtRest(), sha256(arithmetic().encode())
    for number, (area, load, noise) in enumerate(SCENARIO, start=1):
        release = released(table, AREAS[area], load, noise, PieceId(f"k{number:02d}"))
        result = run_to_rest(release, load)
        seen.update(msgspec.json.encode(result) + release.world.state.tobytes())
        table = remaining(release.pieces, result)
    return seen.hexdigest()[:16]
