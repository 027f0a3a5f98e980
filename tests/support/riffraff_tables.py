"""Loads and laden tables for tests of the physics: as bots would make them, from a seed."""

from functools import cache
from random import Random

from arena.errors import IllegalAction
from arena.games.api import Seat
from arena.games.riffraff import physics
from arena.games.riffraff.actions import Load, Reason
from arena.games.riffraff.scene import AREAS, FACES, KINDS, Face, Kind
from arena.games.riffraff.table import STILL, Noise, Piece, PieceId, Pose, Result, ShipAtRest, ship_after
from arena.games.riffraff.turns import add_piece

BREEZE = Noise(u_mm=1.5, v_mm=1.5, yaw_deg=3, roll_rad_s=0.05, pitch_rad_s=0.05)
"""Standard deviations."""
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
"""The rotation by nothing, as a quaternion."""
_TRIES = 200
_AT_REST_ON: dict[Kind, Face] = {"bottle": "upright", "barrel": "upright", "sailor": "hang"}


def piece(number: int, kind: Kind, pose: Pose) -> Piece:
    """A piece that lies there, whoever loaded it."""
    return Piece(id=PieceId(f"k{number:02d}"), kind=kind, card=1, by=Seat(0), pose=pose)


def settled(table: ShipAtRest, area: int, load: Load, noise: Noise = STILL) -> Result:
    """The result of a placement; the piece gets the first id after all others."""
    newest = max((int(each.id[1:]) for each in table.cargo), default=0)
    return physics.place(table, AREAS[area], load, noise, PieceId(f"k{newest + 1:02d}"))


def tried(table: ShipAtRest, area: int, load: Load, noise: Noise = STILL) -> Result | None:
    """The result of a placement, or None if there is no room or no support."""
    try:
        return settled(table, area, load, noise)
    except IllegalAction as refusal:
        if refusal.reason not in {Reason.NO_ROOM, Reason.NO_SUPPORT}:
            raise
        return None


def after(table: ShipAtRest, area: int, load: Load, result: Result) -> ShipAtRest:
    """The table as the result leaves it."""
    return ship_after(add_piece(table, result.id, load, area, Seat(0)).values(), result)


def put(table: ShipAtRest, area: int, load: Load, noise: Noise = STILL) -> ShipAtRest:
    """The table after a placement."""
    return after(table, area, load, settled(table, area, load, noise))


def random_load(rng: Random, area: int, kind: Kind) -> Load:
    """Any face, any place on the area, any direction."""
    faces = [face for face in FACES[kind] if face != "hang" or AREAS[area].is_yard]
    u, v = (1000 * rng.uniform(*side) for side in (AREAS[area].u_m, AREAS[area].v_m))
    return Load(kind, rng.choice(faces), round(u, 1), round(v, 1), rng.randrange(360))


def tidy_load(rng: Random, area: int, kind: Kind) -> Load:
    """The steadiest face, along or across the ship, in the middle of a yard."""
    is_yard = AREAS[area].is_yard
    face: Face = _AT_REST_ON.get(kind, "flat")
    if face == "hang" and not is_yard:
        face = "lying"
    load = random_load(rng, area, kind)
    yaw_deg = rng.choice((0, 180) if face == "hang" else (0, 90, 180, 270))
    return Load(kind, face, 0 if is_yard else load.u_mm, load.v_mm, yaw_deg)


def random_noise(rng: Random) -> Noise:
    """What a breeze may bring."""
    return Noise(*(rng.gauss(0, getattr(BREEZE, name)) for name in Noise.__struct_fields__))


@cache
def laden(pieces: int, seed: str = "laden") -> ShipAtRest:
    """A ship with that many pieces, loaded tidily area by area; what would throw anything off was not done."""
    rng = Random(seed)
    table = ShipAtRest()
    for _ in range(_TRIES):
        if len(table.cargo) == pieces:
            return table
        area = 1 + len(table.cargo) % len(AREAS)
        load = tidy_load(rng, area, rng.choice(KINDS))
        result = tried(table, area, load)
        if result is not None and not result.fallen:
            table = after(table, area, load, result)
    raise AssertionError(f"no ship with {pieces} pieces in {_TRIES} tries")
