"""Riff Raff: the weather, from dice."""

import json
from statistics import NormalDist, fmean, pstdev

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.api import Chance
from arena.games.luck import draw
from arena.games.riffraff.table import DICE, DIE_FACES, SIGMAS, Noise, Weather, noise

FACE = st.integers(1, DIE_FACES)
DICE_FACES = st.tuples(FACE, FACE, FACE, FACE, FACE)
WEATHERS = st.sampled_from(sorted(SIGMAS))


def amounts(found: Noise) -> tuple[float, ...]:
    return tuple(msgspec.structs.astuple(found))


@pytest.mark.parametrize(
    ("face", "z"),
    [
        (500_001, 0.0),
        (841_345, 1.0),
        (158_656, -1.0),
        (977_250, 2.0),
        (998_650, 3.0),
        (1, -4.8916),
        (1_000_000, 4.8916),
    ],
)
def test_a_die_stands_for_a_quantile(face: int, z: float) -> None:
    """Those of the normal distribution, from the table in any textbook."""
    found = noise((face, face, face, face, face), "breeze")

    assert amounts(found) == pytest.approx((1.5 * z, 1.5 * z, 3 * z, 0.05 * z, 0.05 * z), abs=0.006)
    assert (found.roll_rad_s, found.pitch_rad_s) == pytest.approx((0.05 * z, 0.05 * z), abs=0.00006)


def test_a_storm_is_twice_a_breeze_and_a_calm_half_of_it() -> None:
    """In everything."""
    breeze = SIGMAS["breeze"]

    assert msgspec.structs.astuple(breeze) == (1.5, 3.0, 0.05)
    assert msgspec.structs.astuple(SIGMAS["storm"]) == (3.0, 6.0, 0.1)
    assert msgspec.structs.astuple(SIGMAS["calm"]) == (0.75, 1.5, 0.025)
    assert msgspec.structs.astuple(SIGMAS["still"]) == (0.0, 0.0, 0.0)


@given(faces=DICE_FACES, weather=WEATHERS)
def test_noise_is_rounded_and_opposite_dice_give_opposite_noise(faces: tuple[int, ...], weather: Weather) -> None:
    """There is no -0.0, which would have a JSON text of its own."""
    found = noise(faces, weather)

    opposite = noise(tuple(DIE_FACES + 1 - face for face in faces), weather)

    assert amounts(opposite) == tuple(-amount for amount in amounts(found))
    assert [round(amount, 2) for amount in amounts(found)[:3]] == list(amounts(found)[:3])
    assert [round(amount, 4) for amount in amounts(found)[3:]] == list(amounts(found)[3:])
    assert "-0.0" not in {str(amount) for amount in amounts(found)}
    assert json.loads(msgspec.json.encode(found)) == list(msgspec.structs.astuple(found))


def test_drawn_noise_is_normal() -> None:
    """Mean, deviation and the share within one and two deviations, over 2,000 placements."""
    found = [noise(draw("seed", Chance(key=f"noise/1/0/{number}", kind=DICE)), "breeze") for number in range(2000)]

    for index, sigma in enumerate((1.5, 1.5, 3.0, 0.05, 0.05)):
        z = [amounts(each)[index] / sigma for each in found]

        assert fmean(z) == pytest.approx(0, abs=0.09)
        assert pstdev(z) == pytest.approx(1, abs=0.06)
        for within in (1, 2):
            share = 2 * NormalDist().cdf(within) - 1
            assert fmean(abs(each) < within for each in z) == pytest.approx(share, abs=0.04)
