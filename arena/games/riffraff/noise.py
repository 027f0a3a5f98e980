"""The weather: the noise that an unsteady hand and the sea add to a placement, from dice that nobody sees in advance.

Rule: each of the five amounts is normal with mean 0. It follows from one die of a million faces, so that the luck of a
match stays a list of whole numbers, and it is rounded, so that what a log says is exactly what was done.
"""

from collections.abc import Mapping
from statistics import NormalDist
from typing import Final, Literal

import msgspec

from arena.games.api import Dice

Weather = Literal["still", "calm", "breeze", "storm"]
DIE_FACES: Final = 1_000_000
DICE: Final = Dice(count=5, faces=DIE_FACES)
"""Shift along u, shift along v, turn, roll rate, pitch rate."""


class Noise(msgspec.Struct, frozen=True, array_like=True):
    """The unsteady hand and the wave of one placement: shifts in mm, a turn in degrees, rates in rad/s."""

    u_mm: float = 0.0
    v_mm: float = 0.0
    yaw_deg: float = 0.0
    roll_rad_s: float = 0.0
    pitch_rad_s: float = 0.0


STILL: Final = Noise()


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
_DIGITS: Final = (2, 2, 2, 4, 4)


def noise(faces: tuple[int, ...], weather: Weather) -> Noise:
    """The noise of these dice in this weather."""
    sigma = SIGMAS[weather]
    sigmas = (sigma.uv_mm, sigma.uv_mm, sigma.yaw_deg, sigma.kick_rad_s, sigma.kick_rad_s)
    amounts = (_NORMAL.inv_cdf((face - 0.5) / DIE_FACES) * each for face, each in zip(faces, sigmas, strict=True))
    # Adding 0 makes -0.0, which JSON would keep apart from 0.0, the same as 0.0.
    return Noise(*(round(amount, digits) + 0.0 for amount, digits in zip(amounts, _DIGITS, strict=True)))
