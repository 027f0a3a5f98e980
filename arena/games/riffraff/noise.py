"""The weather: the noise that an unsteady hand and the sea add to a placement, from dice that nobody sees in advance.

Rule: each of the five amounts is normal with mean 0. It follows from one die of a million faces, so that the luck of a
match stays a list of whole numbers, and it is rounded, so that what a log says is exactly what was done.
"""

from collections.abc import Mapping
from statistics import NormalDist
from typing import Final

import msgspec

from arena.games.api import Dice
from arena.games.riffraff.state import Weather
from arena.games.riffraff.table import Noise

FACES: Final = 1_000_000
DICE: Final = Dice(count=5, faces=FACES)
"""Shift along u, shift along v, turn, roll rate, pitch rate."""


class Sigma(msgspec.Struct, frozen=True):
    """Standard deviations: of both shifts in mm, of the turn in degrees, of both rates in rad/s."""

    uv_mm: float
    yaw_deg: float
    kick_rad_s: float


SIGMAS: Final[Mapping[Weather, Sigma]] = {
    "still": Sigma(0.0, 0.0, 0.0),
    "calm": Sigma(0.75, 1.5, 0.025),
    "breeze": Sigma(1.5, 3.0, 0.05),
    "storm": Sigma(3.0, 6.0, 0.1),
}
_NORMAL: Final = NormalDist()


def noise(faces: tuple[int, ...], weather: Weather) -> Noise:
    """The noise of these dice in this weather."""
    sigma = SIGMAS[weather]
    u, v, yaw, roll, pitch = (_NORMAL.inv_cdf((face - 0.5) / FACES) for face in faces)
    return Noise(
        u_mm=_rounded(u * sigma.uv_mm, 2),
        v_mm=_rounded(v * sigma.uv_mm, 2),
        yaw_deg=_rounded(yaw * sigma.yaw_deg, 2),
        roll_rad_s=_rounded(roll * sigma.kick_rad_s, 4),
        pitch_rad_s=_rounded(pitch * sigma.kick_rad_s, 4),
    )


def _rounded(amount: float, digits: int) -> float:
    """Adding 0 makes -0.0, which JSON would keep apart from 0.0, the same as 0.0."""
    return round(amount, digits) + 0.0
