"""By what two machines know whether their results can be compared: names, and a fixed scenario to be simulated.

Rule: never changed without need: with it changes every fingerprint, and stored matches are not comparable any more.
"""

import math
import platform
from hashlib import sha256
from typing import Final

import msgspec

from arena.games.riffraff.actions import Load
from arena.games.riffraff.model import model_digest
from arena.games.riffraff.table import Noise

SCENARIO: Final[tuple[tuple[int, Load, Noise], ...]] = (
    (1, Load("barrel", "lying", 40, 20, 30), Noise(0.7, -1.1, 2.5, 0.03, -0.04)),
    (6, Load("sailor", "hang", 0, -60), Noise(-0.4, 0.9, 3.1, -0.05, 0.02)),
    (5, Load("crate", "flat", 2, 90, 45), Noise(1.3, -0.2, -4.0, 0.06, 0.01)),
    (7, Load("chest", "flat", 0, 50, 90), Noise(-0.8, -0.5, 1.7, -0.02, 0.05)),
    (10, Load("plank", "flat", 0, -30, 80, 10), Noise(0.2, 1.9, -2.2, 0.04, -0.03)),
    (8, Load("bottle", "lying", 8, -80, 10, 20, ((0, -90), (60, -90))), Noise(2.1, -1.4, 6.3, 0.09, 0.08)),
)
"""Area, load and noise of one placement after the other: it rolls, hangs, lies across, and the last piece falls."""


def surroundings() -> dict[str, str]:
    """Platform and C library, whose sines the engine uses, and the digest of model and material."""
    return {
        "platform": f"{platform.system()} {platform.machine()}",
        "libc": " ".join(platform.libc_ver()).strip() or "unknown",
        "model": f"sha256:{model_digest()}",
    }


def arithmetic() -> str:
    """16 hex digits over sines and powers, whose last bits differ between processors under the same C library.

    The engine takes them from there. A short scenario can come out the same all the same, a long match not.
    """
    values = [number / 7 for number in range(1, 2000)]
    found = [(math.sin(value), math.cos(value), math.exp(-value), value**0.3, math.atan2(1, value)) for value in values]
    return sha256(msgspec.json.encode(found)).hexdigest()[:16]
