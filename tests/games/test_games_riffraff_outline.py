"""Riff Raff: what parts and pieces look like from three sides, held against the geometry of the rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from riffraff_scenes import ONE_CRATE

from arena.games.riffraff.drawing.projection import ABOVE, FRONT, SIDE, Point, View, chord, contains, hull, piece_solids
from arena.games.riffraff.drawing.ship import Ship
from arena.games.riffraff.drawing.svg import Frame
from arena.games.riffraff.geometry import about, extents, times
from arena.games.riffraff.scene import KINDS, Kind
from arena.games.riffraff.table import Pose, ShipAtRest

VIEWS = (FRONT, SIDE, ABOVE)
angles = st.floats(-180, 180)


def bounds(points: list[Point]) -> tuple[float, float, float, float]:
    """Left, right, bottom and top."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return (min(xs), max(xs), min(ys), max(ys))


def seen(kind: Kind, pose: Pose, view: View) -> tuple[float, float, float, float]:
    """The bounds of a piece in a view."""
    return bounds([point for part in piece_solids(kind, pose, view) for point in part.outline])


@given(kind=st.sampled_from(KINDS), yaw=angles, pitch=angles, roll=angles)
def test_a_silhouette_reaches_as_far_as_the_piece(kind: Kind, yaw: float, pitch: float, roll: float) -> None:
    """In every view and however it is turned; round edges are drawn with corners, so 0.2 mm may be missing."""
    rotation = times(about("z", yaw), times(about("y", pitch), about("x", roll)))
    low, high = extents(kind, rotation)
    at = (0.03, -0.05, 0.2)

    for view, (across, upwards) in zip(VIEWS, ((1, 2), (0, 2), (0, 1)), strict=True):
        found = seen(kind, (*at, *rotation), view)

        expected = (low[across], high[across], low[upwards], high[upwards])
        shift = (at[across], at[across], at[upwards], at[upwards])
        assert found == pytest.approx([one + other for one, other in zip(expected, shift, strict=True)], abs=2e-4)


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (FRONT, (0.046, 0.074, 0.115, 0.143)),
        (SIDE, (-0.014, 0.014, 0.115, 0.143)),
        (ABOVE, (-0.014, 0.014, 0.046, 0.074)),
    ],
)
def test_an_upright_crate_is_a_square_in_every_view(view: View, expected: tuple[float, ...]) -> None:
    """28 mm wide and high, upon the lowest yard, one face towards the eye."""
    (crate,) = ONE_CRATE.cargo

    (body,) = piece_solids(crate.kind, crate.pose, view)

    assert bounds(list(body.outline)) == pytest.approx(expected)
    assert len(body.outline) == 4
    assert len(body.facets) == 1
    assert hull(body.facets[0].points) == body.outline


def test_the_upper_end_of_a_cylinder_has_the_light_of_the_sky() -> None:
    """Also where the piece stands on its head."""
    for degrees in (0, 180):
        parts = piece_solids("barrel", (0, 0, 0, *about("x", degrees)), ABOVE)

        caps = [facet.light for part in parts for facet in part.facets if len(facet.points) == 24]

        assert caps == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(("pitch", "is_upwards"), [(0.2, True), (-0.2, False)])
def test_from_the_bow_the_nearest_of_mast_and_yards_is_drawn_last(pitch: float, *, is_upwards: bool) -> None:
    """The highest where one looks down on the decks, the lowest where one looks up."""
    rigging = Ship(ShipAtRest(pitch=pitch), Frame(FRONT, (0.0, 0.0), 1000.0)).rigging()

    heights = [-min(y for _, y in sheet.hides[0]) for sheet in rigging[:7]]

    assert heights == sorted(heights, reverse=not is_upwards)
    assert len(set(heights)) == 7


def test_port_is_right_from_the_bow_and_the_bow_is_right_from_starboard() -> None:
    """And what is nearer to the eye has the greater depth."""
    bow, port, mast_top = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

    assert [FRONT.flat(each) for each in (bow, port, mast_top)] == [(0, 0), (1, 0), (0, 1)]
    assert [SIDE.flat(each) for each in (bow, port, mast_top)] == [(1, 0), (0, 0), (0, 1)]
    assert [ABOVE.flat(each) for each in (bow, port, mast_top)] == [(1, 0), (0, 1), (0, 0)]
    assert (FRONT.depth(bow), SIDE.depth(port), ABOVE.depth(mast_top)) == (1, -1, 1)


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


def test_a_chord_is_the_width_at_a_height() -> None:
    """Of a triangle with a base of 4 and a height of 2; none above it."""
    triangle = ((0.0, 0.0), (4.0, 0.0), (2.0, 2.0))

    assert chord(triangle, 1.0) == (1.0, 3.0)
    assert chord(triangle, 0.0) == (0.0, 4.0)
    assert chord(triangle, 2.5) is None
