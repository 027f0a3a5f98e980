"""docs/riffraff.md tells the same numbers as the tables that rules and physics read."""

import re
from pathlib import Path

from arena.games.riffraff.actions import Reason
from arena.games.riffraff.legality import DROP_MAX_MM, HANDS_MAX, ranges_mm
from arena.games.riffraff.scene import AREAS, CATCH_PLANE_M, FACES, HAND_RADIUS_M, KINDS, MASS_KG
from arena.games.riffraff.table import SIGMAS

PAGE = (Path(__file__).parents[2] / "docs" / "riffraff.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below that first row."""
    assert PAGE.count(heading) == 1
    lines = PAGE.split(heading, 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def numbers(text: str) -> tuple[float, ...]:
    return tuple(float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text))


def test_masses_and_faces_are_those_of_the_cargo() -> None:
    """Kind by kind, in their order."""
    told = rows("| Kind | Mass | Size | Faces |")

    assert [row[0] for row in told] == list(KINDS)
    assert {row[0]: numbers(row[1]) for row in told} == {kind: (1000 * MASS_KG[kind],) for kind in KINDS}
    for kind, _, _, faces in told:
        assert re.sub(r" \(.*?\)", "", faces).split(", ") == [
            name for known in KINDS if known == kind for name in FACES[known]
        ]


def test_areas_are_where_they_are() -> None:
    """Height of the surface, ranges of u and v; two areas of a yard share a row."""
    told = {}
    for names, surface, u, v in rows("| Area | Surface at | u of the origin | v of the origin |"):
        for index, number in enumerate(numbers(names)):
            told[int(number)] = (numbers(surface)[0], numbers(u), numbers(v)[2 * index : 2 * index + 2])

    assert told == {
        number: (round(1000 * area.surface_m, 1), ranges_mm(area)["u"], ranges_mm(area)["v"])
        for number, area in AREAS.items()
    }


def test_the_weather_is_as_told() -> None:
    """Standard deviations; none in still weather."""
    told = rows("| Weather | Shift along u and v | Turn | Roll and pitch rate |")

    assert {row[0].split("`")[1]: sum(map(numbers, row[1:]), ()) for row in told if "none" not in row[1]} == {
        name: (sigma.uv_mm, sigma.yaw_deg, sigma.kick_rad_s) for name, sigma in SIGMAS.items() if sigma.uv_mm
    }
    assert [row[0] for row in told if row[1:] == ["none"] * 3] == ["`still`"]


def test_hands_and_drop_are_as_told() -> None:
    """How far a hand reaches, where, how many there are, and from how high a piece may be dropped."""
    assert (
        f"a radius of\n  {1000 * HAND_RADIUS_M:.0f} mm, in a plane {-1000 * CATCH_PLANE_M:.0f} mm below the gimbal"
        in PAGE
    )
    assert HANDS_MAX == 2
    assert f"0 to {DROP_MAX_MM} | 1 mm |" in PAGE


def test_every_reason_to_refuse_a_load_is_told() -> None:
    """Those of loads, in the order in which they are looked at last."""
    told = [row[0].strip("`") for row in rows("| Reason | What it means |")]

    assert set(told) == {
        *(Reason.NOT_IN_SUPPLY, Reason.BAD_FACE, Reason.BAD_NUMBER, Reason.OUTSIDE_AREA),
        *(Reason.INTO_OTHER_AREA, Reason.NO_ROOM, Reason.NO_SUPPORT),
    }
