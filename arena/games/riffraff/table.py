"""Noise, cargo on the ship and the result of a placement: the values that rules, physics and records share.

Rule: values only, no rules and no physics. The canonical state between two placements is a `ShipAtRest`: roll, pitch,
the three yards and one pose for each piece, rounded to `DIGITS` decimals, everything at rest. The physics is a function
from a `ShipAtRest`, a load and a noise to a `Result`. Each of the five amounts of noise is normal with mean 0. It
follows from one die of a million faces, so that the luck of a match stays a list of whole numbers, and it is rounded,
so that a log says exactly what was done.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from statistics import NormalDist
from typing import Final, Literal, NewType

import msgspec

from arena.games.api import Dice, Seat
from arena.games.riffraff.scene import Kind

PieceId = NewType("PieceId", str)
"""`k01`, `k02`...: numbered in the order of loading over the whole match, so that sorting them is that order."""

DIGITS: Final = 5
"""Decimals of roll and pitch (rad), positions (m) and quaternion components in a canonical state."""

Pose = tuple[float, float, float, float, float, float, float]
"""x, y, z of the piece's frame in m, then the unit quaternion w, x, y, z of its rotation; both in the table frame."""


Yards = tuple[float, float, float]
EVEN_KEEL: Final[Yards] = (0.0, 0.0, 0.0)

UNPLACED: Final[Pose] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
"""The pose of a piece that has no place yet."""


class Piece(msgspec.Struct, frozen=True):
    """A piece on the ship; `card` is the area it was loaded on, `by` who did that."""

    id: PieceId
    kind: Kind
    card: int
    by: Seat
    pose: Pose


class ShipAtRest(msgspec.Struct, frozen=True):
    """The ship at rest: `roll` and `pitch` in rad, first about x, then about the turned y. `cargo` sorted by id.

    `yards`: how far each is tipped on the ship, the lowest first, in rad; port up is positive, as with roll.
    """

    roll: float = 0.0
    pitch: float = 0.0
    yards: Yards = EVEN_KEEL
    cargo: tuple[Piece, ...] = ()

    def digest(self) -> str:
        """Return 16 hex digits of SHA-256 over ship and poses: equal digests, equal states."""
        poses = [[piece.id, piece.kind, list(piece.pose)] for piece in self.cargo]
        return sha256(msgspec.json.encode([self.roll, self.pitch, self.yards, poses])).hexdigest()[:16]


class Fall(msgspec.Struct, frozen=True):
    """A piece that fell: place and time at which its centre crossed the catch plane, and the hand there, if any."""

    id: PieceId
    x_mm: float
    y_mm: float
    t_s: float
    hand: int | None


class Rest(msgspec.Struct, frozen=True):
    """The pose in which a piece came to rest."""

    id: PieceId
    pose: Pose


class Result(msgspec.Struct, frozen=True):
    """The result of a placement.

    `id` is the piece that was placed. `end`: everything came to rest, or the simulated time ran out and the poses are
    taken as they are. `halved`: how often the shift of the noise had to be halved to find room. `t_s`: simulated
    seconds. `fallen` in the order of falling. `rests`: every piece still on the ship, sorted by id. `digest`: of the
    table after it.
    """

    id: PieceId
    end: Literal["rest", "timeout"]
    halved: int
    t_s: float
    tilt_max_deg: float
    fallen: tuple[Fall, ...]
    roll: float
    pitch: float
    yards: Yards
    rests: tuple[Rest, ...]
    digest: str


class Motion(msgspec.Struct, frozen=True):
    """The movement of a placement, for a viewer: a frame every `every_s` until `seconds`.

    `channels`: roll, pitch and the three yards in 0.0001 rad, then for each of `ids` x y z in 0.1 mm and w x y z in
    thousandths, in the ship frame; of each the first number and the differences of the frames after it, without the
    zeros at the end.
    """

    seconds: float
    every_s: float
    ids: tuple[PieceId, ...]
    kinds: tuple[Kind, ...]
    channels: tuple[tuple[int, ...], ...]


def canonical(value: float) -> float:
    """Round as in every canonical state; never to -0.0, which is equal to 0.0 but has another text."""
    return round(float(value), DIGITS) + 0.0


def canonical_pose(pose: Iterable[float]) -> Pose:
    """Return the pose as it stands in a canonical state."""
    x, y, z, w, i, j, k = map(canonical, pose)
    return (x, y, z, w, i, j, k)


def ship_after(pieces: Iterable[Piece], result: Result) -> ShipAtRest:
    """Return the ship with those of `pieces` that rest, in the poses of the result."""
    known = {piece.id: piece for piece in pieces}
    cargo = (msgspec.structs.replace(known[rest.id], pose=rest.pose) for rest in result.rests)
    return ShipAtRest(roll=result.roll, pitch=result.pitch, yards=result.yards, cargo=tuple(cargo))


Weather = Literal["still", "calm", "breeze", "storm"]
DIE_FACES: Final = 1_000_000
DICE: Final = Dice(count=5, faces=DIE_FACES)
"""The dice of a noise: shift along u, shift along v, turn, roll rate, pitch rate."""


class Noise(msgspec.Struct, frozen=True, array_like=True):
    """The unsteady hand and the wave of one placement: shifts in mm, a turn in degrees, rates in rad/s."""

    u_mm: float = 0.0
    v_mm: float = 0.0
    yaw_deg: float = 0.0
    roll_rad_s: float = 0.0
    pitch_rad_s: float = 0.0


STILL: Final = Noise()


class Sigma(msgspec.Struct, frozen=True):
    """Standard deviations: of both shifts in mm, of the turn in degrees, of both rates in rad/s in the first round."""

    uv_mm: float
    yaw_deg: float
    kick_rad_s: float


SIGMAS: Final[Mapping[Weather, Sigma]] = {
    "still": Sigma(0.0, 0.0, 0.0),
    "calm": Sigma(0.75, 1.5, 0.025),
    "breeze": Sigma(1.5, 3.0, 0.05),
    "storm": Sigma(3.0, 6.0, 0.1),
}
SEA_GROWS: Final = 1.5
"""The growth of the wave from the first round (times 1) to the last (times 1 + this), even from round to round."""
_NORMAL: Final = NormalDist()
_DIGITS: Final = (2, 2, 2, 4, 4)
_KICK_DIGITS: Final = 4


def sigma_in(weather: Weather, number: int, rounds: int) -> Sigma:
    """Return the deviations in the round of that number, from 1: hands stay equally unsteady, the sea grows."""
    sigma = SIGMAS[weather]
    kick_rad_s = sigma.kick_rad_s * (1 + SEA_GROWS * (number - 1) / (rounds - 1))
    return msgspec.structs.replace(sigma, kick_rad_s=round(kick_rad_s, _KICK_DIGITS))


def to_noise(faces: tuple[int, ...], sigma: Sigma) -> Noise:
    """Convert the faces of `DICE` to a noise with these deviations."""
    sigmas = (sigma.uv_mm, sigma.uv_mm, sigma.yaw_deg, sigma.kick_rad_s, sigma.kick_rad_s)
    amounts = (_NORMAL.inv_cdf((face - 0.5) / DIE_FACES) * width for face, width in zip(faces, sigmas, strict=True))
    # Adding 0 makes -0.0, which JSON would keep apart from 0.0, the same as 0.0.
    return Noise(*(round(amount, digits) + 0.0 for amount, digits in zip(amounts, _DIGITS, strict=True)))
