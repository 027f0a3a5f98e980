"""Riff Raff as text: the ship in characters, the tables under it, and the words for what goes on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.riffraff_scenes import AT_SEA, LISTING, ONE_CRATE, TIPPED, fresh

from arena.games.api import news_of
from arena.games.riffraff import GAME
from arena.games.riffraff.drawing.diagram import LETTERS, describe, pose_on_ship
from arena.games.riffraff.drawing.projection import ABOVE, FRONT, SIDE, Point, View, contains, hull, piece_solids
from arena.games.riffraff.geometry import extents, multiply, rotate, rotation_about, ship_rotation
from arena.games.riffraff.scene import KINDS, Kind
from arena.games.riffraff.state import State
from arena.games.riffraff.table import Pose, ShipAtRest


def drawing(state: State) -> list[str]:
    """Return the lines with the ship."""
    lines = describe(state).splitlines()
    return lines[3 : lines.index("", 3)]


def test_what_was_caught_is_told() -> None:
    """In the line of its fall, and among the pieces that are out of the game."""
    lines = describe(AT_SEA).splitlines()

    assert "out of the game: bottle x1, crate x1, rat x1" in lines
    assert "  k12 rat fell at x -70 y -81: caught by seat 2, out of the game" in lines


def test_news_name_the_player_the_place_and_falls_by_fate() -> None:
    """One line a placement, with names in place of seats; nothing falls under the second."""
    before = replace(AT_SEA, placements=30)
    (last,) = AT_SEA.last
    held = replace(AT_SEA, last=(replace(last, area=4, fallen=()),))
    names = ("ann", "bob", "cid", "dan")
    falls = "rat and crate fell, caught by cid, out of the game; plank fell, not caught, to cid"

    assert news_of(GAME, before, AT_SEA, names) == (f"cid put a bottle on the lowest yard; {falls}",)
    assert news_of(GAME, before, held, names) == ("cid put a bottle on the deck by the stern",)
    assert news_of(GAME, AT_SEA, AT_SEA, names) == ()


@pytest.mark.parametrize("table", [LISTING, TIPPED], ids=["heeled", "tipped"])
def test_every_piece_shows(table: ShipAtRest) -> None:
    """Each piece shows by its letter from one side at least, and by its number in the table."""
    state = fresh(table)
    ship, text = "\n".join(drawing(state)), describe(state)

    assert all(LETTERS[piece.kind] in ship for piece in table.cargo)
    assert all(text.count(f"{piece.id} {piece.kind} ({piece.by})") == 1 for piece in table.cargo)
    assert sum(piece.id[1:] in ship for piece in table.cargo) >= 0.7 * len(table.cargo)


def test_a_heeling_ship_is_drawn_upright() -> None:
    """A piece that is fast to the ship looks the same however it leans."""
    (crate,) = ONE_CRATE.cargo
    for roll, pitch in ((0.2, 0.0), (0.0, -0.15), (-0.1, 0.1)):
        ship = ship_rotation(ShipAtRest(roll, pitch))
        turned = replace(crate, pose=(*rotate(ship, (0.0, 0.06, 0.129)), *ship))
        leaning = ShipAtRest(roll, pitch, cargo=(turned,))

        assert pose_on_ship(turned, leaning) == pytest.approx(crate.pose)
        assert drawing(fresh(leaning)) == drawing(fresh(ONE_CRATE))


def test_tipped_yards_are_told() -> None:
    assert "yards, lowest first: 8.0° to port, 8.0° to starboard, 0.9° to starboard" in describe(fresh(TIPPED))


def test_no_line_is_too_long_for_any_tip() -> None:
    """Lines with angles of two digits to starboard fit into 80 columns."""
    table = ShipAtRest(roll=0.5, pitch=0.5, yards=(0.5, 0.5, 0.5))

    assert max(map(len, describe(fresh(table)).splitlines())) <= 80


VIEWS = (FRONT, SIDE, ABOVE)
angles = st.floats(-180, 180)


def bounds(points: list[Point]) -> tuple[float, float, float, float]:
    """Return left, right, bottom and top."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return (min(xs), max(xs), min(ys), max(ys))


def seen(kind: Kind, pose: Pose, view: View) -> tuple[float, float, float, float]:
    """Return the bounds of a piece in a view."""
    return bounds([point for part in piece_solids(kind, pose, view) for point in part.outline])


@given(kind=st.sampled_from(KINDS), yaw=angles, pitch=angles, roll=angles)
def test_a_silhouette_reaches_as_far_as_the_piece(kind: Kind, yaw: float, pitch: float, roll: float) -> None:
    """In every view and however it is turned; round edges are drawn with corners, so 0.2 mm may be missing."""
    rotation = multiply(rotation_about("z", yaw), multiply(rotation_about("y", pitch), rotation_about("x", roll)))
    low, high = extents(kind, rotation)
    at = (0.03, -0.05, 0.2)

    for view, (across, upwards) in zip(VIEWS, ((1, 2), (0, 2), (0, 1)), strict=True):
        found = seen(kind, (*at, *rotation), view)

        expected = (low[across], high[across], low[upwards], high[upwards])
        shift = (at[across], at[across], at[upwards], at[upwards])
        assert found == pytest.approx([one + other for one, other in zip(expected, shift, strict=True)], abs=2e-4)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3))
def test_a_hull_contains_its_points(points: list[tuple[int, int]]) -> None:
    """Its corners are among them, and going round it one only turns left."""
    outline = hull(points)

    assert set(outline) <= set(points)
    if len(outline) > 2:
        assert all(contains(outline, point) for point in points)
        assert not contains(outline, (10, 0))
        corners = zip(outline, outline[1:] + outline[:1], outline[2:] + outline[:2], strict=True)
        assert all((b[0] - a[0]) * (c[1] - b[1]) > (b[1] - a[1]) * (c[0] - b[0]) for a, b, c in corners)
