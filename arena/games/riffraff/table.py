"""Cargo on the ship and the result of a placement: the values that rules, physics and records share.

Rule: values only, no rules and no physics. The canonical state between two placements is a `ShipAtRest`: roll, pitch
and one pose for each piece, rounded to `DIGITS` decimals, everything at rest. The physics is a function from a
`ShipAtRest`, a load and a noise to a `Settled`.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Final, Literal, NewType

import msgspec

from arena.games.api import Seat
from arena.games.riffraff.scene import Kind

PieceId = NewType("PieceId", str)
"""`k01`, `k02`...: numbered in the order of loading over the whole match, so that sorting them is that order."""

DIGITS: Final = 5
"""Decimals of roll and pitch (rad), positions (m) and quaternion components in a canonical state."""

Pose = tuple[float, float, float, float, float, float, float]
"""x, y, z of the piece's frame in m, then the unit quaternion w, x, y, z of its rotation; both in the table frame."""


UNPLACED: Final[Pose] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
"""For a piece that has no place yet."""


class Piece(msgspec.Struct, frozen=True):
    """A piece on the ship; `card` is the area it was loaded on, `by` who did that."""

    id: PieceId
    kind: Kind
    card: int
    by: Seat
    pose: Pose


class ShipAtRest(msgspec.Struct, frozen=True):
    """The ship at rest: `roll` and `pitch` in rad, first about x, then about the turned y. `cargo` sorted by id."""

    roll: float = 0.0
    pitch: float = 0.0
    cargo: tuple[Piece, ...] = ()

    def digest(self) -> str:
        """16 hex digits of SHA-256 over ship and poses: equal digests, equal states."""
        poses = [[piece.id, piece.kind, list(piece.pose)] for piece in self.cargo]
        return sha256(msgspec.json.encode([self.roll, self.pitch, poses])).hexdigest()[:16]


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


class Settled(msgspec.Struct, frozen=True):
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
    rests: tuple[Rest, ...]
    digest: str


def canonical(value: float) -> float:
    """Rounded as in every canonical state; never -0.0, which is equal to 0.0 but has another text."""
    return round(float(value), DIGITS) + 0.0


def canonical_pose(pose: Iterable[float]) -> Pose:
    """The pose as it stands in a canonical state."""
    x, y, z, w, i, j, k = map(canonical, pose)
    return (x, y, z, w, i, j, k)


def remaining(pieces: Iterable[Piece], result: Settled) -> ShipAtRest:
    """The ship with those of `pieces` that rest, in the poses of the result."""
    known = {piece.id: piece for piece in pieces}
    cargo = (msgspec.structs.replace(known[rest.id], pose=rest.pose) for rest in result.rests)
    return ShipAtRest(roll=result.roll, pitch=result.pitch, cargo=tuple(cargo))
