"""Observations while a ship settles: falls and their places, rest, and the remaining cargo in canonical values.

Rule: no engine here, only states as it numbers them: roll and pitch, then x y z w x y z of each piece; SI units.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.games.riffraff.falls import hand_at
from arena.games.riffraff.geometry import inverse, split, times
from arena.games.riffraff.model import LOOK_S, LOOKS_PER_WINDOW, REST_SHIFT_M, REST_TILT_RAD, REST_TURN
from arena.games.riffraff.scene import CATCH_PLANE_M
from arena.games.riffraff.table import Fall, PieceId, Pose, Rest, Settled, canonical_pose

WorldState = NDArray[np.float64]
HINGES: Final = 2
POSE: Final = 7
"""Numbers of a state for the ship, and for each piece."""
_MM_DIGITS: Final = 2


def poses(state: WorldState) -> WorldState:
    """The part of a state that tells of the pieces, one row of `POSE` numbers each."""
    return state[HINGES:].reshape(-1, POSE)


class Watch:
    """Observer of the state at the start and after every look.

    `fallen` in the order of falling; `tilt_max_rad` is the largest roll or pitch either way.
    """

    def __init__(self, start: WorldState, ids: Sequence[PieceId], hands_mm: Sequence[tuple[float, float]]) -> None:
        self.fallen: list[Fall] = []
        self.tilt_max_rad = 0.0
        self.looks = 0
        self._ids = ids
        self._hands_mm = hands_mm
        self._aboard = np.ones(len(ids), dtype=bool)
        self._before = start.copy()
        self._window = start.copy()

    @property
    def t_s(self) -> float:
        """Simulated seconds since the start."""
        return round(self.looks * LOOK_S, 3)

    def see(self, state: WorldState) -> tuple[int, ...]:
        """Take note of the state one look later; the indices of pieces that have just fallen."""
        self.looks += 1
        self.tilt_max_rad = max(self.tilt_max_rad, abs(float(state[0])), abs(float(state[1])))
        is_below = self._aboard & (state[HINGES + 2 :: POSE] < CATCH_PLANE_M)
        gone: tuple[int, ...] = ()
        if is_below.any():
            gone = tuple(int(index) for index in np.flatnonzero(is_below))
            self._aboard[list(gone)] = False
            falls = [self._fall(index, poses(self._before)[index], poses(state)[index]) for index in gone]
            self.fallen += sorted(falls, key=lambda fall: (fall.t_s, fall.id))
        self._before[:] = state
        return gone

    def is_at_rest(self, state: WorldState) -> bool:
        """Whether a window ends with this look and hardly anything moved within it; else the next window begins."""
        if self.looks % LOOKS_PER_WINDOW:
            return False
        moved = np.abs(state - self._window)
        self._window[:] = state
        pieces = poses(moved)[self._aboard]
        return bool(
            (moved[:HINGES] < REST_TILT_RAD).all()
            and (pieces[:, :3] < REST_SHIFT_M).all()
            and (pieces[:, 3:] < REST_TURN).all()
        )

    def rests(self, state: WorldState) -> tuple[Rest, ...]:
        """Every piece that has not fallen, with its canonical pose."""
        rows = zip(self._ids, poses(state), self._aboard, strict=True)
        return tuple(Rest(id=name, pose=canonical_pose(pose)) for name, pose, is_aboard in rows if is_aboard)

    def _fall(self, index: int, before: WorldState, after: WorldState) -> Fall:
        """Place and time at which a piece went through the catch plane between two looks, as if it flew straight.

        The hand is found by the rounded place, so that a record tells why a piece was caught or not.
        """
        share = float((before[2] - CATCH_PLANE_M) / (before[2] - after[2]))
        x_mm, y_mm = (
            round(1000 * float(before[axis] + share * (after[axis] - before[axis])), _MM_DIGITS) + 0.0
            for axis in range(2)
        )
        return Fall(
            id=self._ids[index],
            x_mm=x_mm,
            y_mm=y_mm,
            t_s=round((self.looks - 1 + share) * LOOK_S, 4),
            hand=hand_at(x_mm, y_mm, self._hands_mm),
        )


def distance(one: Settled, other: Settled) -> str:
    """The difference of two results of the same placement, for a person; empty if they are the same.

    Only pieces that rest in both are compared.
    """
    if one == other:
        return ""
    phrases = [*_fallen_apart(one, other), *_poses_apart(one, other)]
    names = [name for name in Settled.__struct_fields__ if getattr(one, name) != getattr(other, name)]
    return "; ".join(phrases) or f"same poses, other {', '.join(names)}"


def _fallen_apart(one: Settled, other: Settled) -> Iterator[str]:
    first, second = ({fall.id for fall in result.fallen} for result in (one, other))
    for which, ids in (("first", first - second), ("second", second - first)):
        if ids:
            yield f"fell only in the {which}: {', '.join(sorted(ids))}"


def _poses_apart(one: Settled, other: Settled) -> Iterator[str]:
    there = {rest.id: rest.pose for rest in other.rests}
    both = [(rest.pose, there[rest.id], rest.id) for rest in one.rests if rest.id in there]
    shift_mm, moved = max(((1000 * math.dist(a[:3], b[:3]), name) for a, b, name in both), default=(0.0, ""))
    turn_deg, turned = max(((_angle_deg(a, b), name) for a, b, name in both), default=(0.0, ""))
    tilt_deg = math.degrees(max(abs(one.roll - other.roll), abs(one.pitch - other.pitch)))
    if shift_mm:
        yield f"{moved} is {shift_mm:.3g} mm away"
    if turn_deg:
        yield f"{turned} is turned by {turn_deg:.3g} degrees"
    if tilt_deg:
        yield f"the ship tilts {tilt_deg:.3g} degrees differently"


def _angle_deg(one: Pose, other: Pose) -> float:
    """The angle between two rotations; their quaternions are rounded, so of nearly unit length."""
    (_, before), (_, after) = split(one), split(other)
    w, *axis = times(inverse(before), after)
    return 0.0 if before == after else math.degrees(2 * math.atan2(math.hypot(*axis), abs(w)))
