"""Riff Raff as a picture: everything on board is drawn, where it is, and the document stands alone."""

import math
import re
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace
from support.riffraff_play import GAME
from support.riffraff_scenes import AT_SEA, EMPTY, ONE_CRATE, TIPPED, fallen, fresh, loaded

from arena.games.api import picture_with_names
from arena.games.looks import LOOKS
from arena.games.riffraff.actions import Load
from arena.games.riffraff.drawing.picture import picture
from arena.games.riffraff.drawing.svg import words
from arena.games.riffraff.scene import KINDS
from arena.games.riffraff.state import Phase, State
from arena.games.riffraff.table import ShipAtRest, Yards

SVG = "{http://www.w3.org/2000/svg}"
SCENES = {
    "nothing": fresh(EMPTY),
    "one piece": fresh(ONE_CRATE, seats=2),
    "heeled": AT_SEA,
    "tipped": fresh(TIPPED),
}
scenes = pytest.mark.parametrize("state", SCENES.values(), ids=SCENES)


def views(state: State) -> dict[str, ET.Element]:
    """The groups of the picture that show the ship, by the name of the view."""
    drawing = ET.fromstring(picture(state))
    groups = [each for each in drawing.iter(f"{SVG}g") if each.get("clip-path")]
    return {str(group.get("clip-path")).removeprefix("url(#riffraff-").removesuffix(")"): group for group in groups}


def pieces(view: ET.Element) -> list[str]:
    """The ids of the pieces in a view, in the order of drawing; a sailor comes once for each part."""
    return [str(group.get("data-id")) for group in view.iter(f"{SVG}g") if group.get("class") == "piece"]


def texts(element: ET.Element) -> list[str]:
    """Return the lines of text below an element."""
    return [str(each.text) for each in element.iter(f"{SVG}text")]


def rings(view: ET.Element) -> list[ET.Element]:
    """Return the marks of pieces that fell."""
    return [each for each in view.iter(f"{SVG}circle") if each.get("class") == "fallen"]


@scenes
def test_every_piece_is_drawn_once_in_every_view(state: State) -> None:
    """A sailor part by part, because he hangs on both sides of a yard."""
    expected = sorted(name for piece in state.table.cargo for name in [piece.id] * (4 if piece.kind == "sailor" else 1))

    found = views(state)

    assert sorted(found) == ["above", "front", "side"]
    assert all(sorted(pieces(view)) == expected for view in found.values())


@pytest.mark.parametrize(
    ("roll", "pitch", "view", "lower", "higher"),
    [
        (0.1, 0.0, "front", "10", "9"),
        (-0.1, 0.0, "front", "5", "6"),
        (0.0, 0.1, "side", "2·1", "4·3"),
        (0.0, -0.1, "side", "4·3", "2·1"),
    ],
)
def test_the_ship_leans_to_the_side_that_is_down(roll: float, pitch: float, view: str, lower: str, higher: str) -> None:
    """Plates of odd yard areas lie to port, those of areas 1 and 2 at the bow."""
    drawn = views(fresh(ShipAtRest(roll, pitch)))[view]

    heights = {str(each.text): float(str(each.get("y"))) for each in drawn.iter(f"{SVG}text")}

    assert heights[lower] > heights[higher] + 10


@pytest.mark.parametrize(
    ("yards", "lower", "higher"),
    [((0.1, 0, 0), "6", "5"), ((-0.1, 0, 0), "5", "6"), ((0, 0.1, 0), "8", "7"), ((0, 0, -0.1), "9", "10")],
)
def test_a_yard_tips_to_the_end_that_is_down(yards: Yards, lower: str, higher: str) -> None:
    """About the middle of its underside; the plates of other yards stay where they are."""
    heights, level = (
        {str(each.text): float(str(each.get("y"))) for each in views(fresh(table))["front"].iter(f"{SVG}text")}
        for table in (ShipAtRest(yards=yards), EMPTY)
    )

    middle = (heights[lower] + heights[higher]) / 2
    assert heights[lower] > heights[higher] + 10
    assert middle == pytest.approx(level[lower], abs=0.2)
    others = {"5", "6", "7", "8", "9", "10"} - {lower, higher}
    assert [heights[each] for each in others] == [level[each] for each in others]


@scenes
def test_the_nearest_piece_is_drawn_last(state: State) -> None:
    """Pieces are ordered by depth from above, from the bow and from starboard; a sailor part by part."""
    found, whole = views(state), [piece for piece in state.table.cargo if piece.kind != "sailor"]

    for name, axis, sign in (("above", 2, 1), ("front", 0, 1), ("side", 1, -1)):
        expected = [piece.id for piece in sorted(whole, key=lambda piece: sign * piece.pose[axis])]
        assert [each for each in pieces(found[name]) if each in expected] == expected


@scenes
def test_labels_are_readable(state: State) -> None:
    """Each names a piece on board, no two touch, and most pieces have one from the bow or from starboard."""
    named = set()
    for name in ("front", "side"):
        labels = [each for each in views(state)[name].iter(f"{SVG}text") if re.fullmatch(r"k\d\d", str(each.text))]
        places = [(float(str(each.get("x"))), float(str(each.get("y")))) for each in labels]
        named |= {str(each.text) for each in labels}

        assert len({each.text for each in labels}) == len(labels)
        assert all(
            abs(x - a) >= 14 or abs(y - b) >= 8 for index, (x, y) in enumerate(places) for a, b in places[:index]
        )

    ids = {piece.id for piece in state.table.cargo}
    assert named <= ids
    assert len(named) >= 0.8 * len(ids)


@scenes
def test_a_picture_stands_alone(state: State) -> None:
    """Nothing is loaded or run, every name that is used is defined, and the size is the size of the view box."""
    text = picture(state)
    drawing = ET.fromstring(text)
    names = [str(each.get("id")) for each in drawing.iter() if each.get("id")]
    used = re.findall(r'href="#([^"]+)"', text) + re.findall(r"url\(#([^)]+)\)", text)

    assert drawing.get("viewBox") == f"0 0 {drawing.get('width')} {drawing.get('height')}" == "0 0 1280 800"
    assert {each.tag.removeprefix(SVG) for each in drawing.iter()} <= {
        *("svg", "title", "defs", "linearGradient", "stop", "clipPath", "g", "use"),
        *("rect", "circle", "ellipse", "line", "path", "polygon", "text"),
    }
    assert len(names) == len(set(names))
    assert set(used) <= set(names)
    assert len(re.findall("(?:href|url)", text)) == len(used)
    assert picture(state) == text


def test_players_have_their_colour_and_shape() -> None:
    """On their cards and in the order of play, whatever their seats."""
    state = fresh(ONE_CRATE, seats=2)
    one, other = ((look.shape, look.light) for look in LOOKS[:2])

    for names, looks in ((("zoe", "adam"), [one, other]), (("adam", "zoe"), [other, one])):
        drawing = ET.fromstring(picture_with_names(GAME, state, names, ("zoe", "adam")))
        cards = [drawing.find(f".//{SVG}g[{SVG}text='{name}']/{SVG}g/{SVG}path") for name in names]
        shapes = {(path.get("d"), path.get("fill")) for path in drawing.iter(f"{SVG}path") if path.get("class")}
        assert [(card.get("d"), card.get("fill")) for card in cards if card is not None] == looks
        assert shapes == {*looks}


def test_words_are_escaped() -> None:
    """Texts of any source are escaped."""
    assert "<b>&amp;</b>" not in words((0, 0), "<b>&", 10)
    assert ET.fromstring(words((0, 0), "<b>&\"'", 10)).text == "<b>&\"'"


def test_what_fell_is_marked_in_every_view() -> None:
    """Where it crossed the catch plane; the list below tells names and fates."""
    found = views(AT_SEA)
    text = " ".join(texts(ET.fromstring(picture(AT_SEA))))

    for view in found.values():
        assert [each.get("data-id") for each in rings(view)] == ["k12", "k11", "k05"]
        assert [each.get("stroke") for each in rings(view)] == ["#3fa35b", "#3fa35b", "#d8392b"]
    assert "3 fell caught: k12 rat, k11 crate not caught: k05 plank" in text


def test_an_avalanche_is_told_in_numbers() -> None:
    """Many falls are counted, for names would not fit under the ship."""
    falls = [fallen(f"k{number:02d}", kind, 50, -100) for number, kind in enumerate(3 * KINDS, start=1)]
    state = replace(AT_SEA, last=(loaded(*falls),))

    found = texts(ET.fromstring(picture(state)))

    assert "24 fell" in found
    assert "not caught: chest x3," in found
    assert not any("k24" in text for text in found)


def test_a_piece_on_its_way_is_drawn_over_its_place() -> None:
    """Faintly and without a name; hands are those that wait for it, and what fell before is gone."""
    load = Load(kind="barrel", face="lying", u_mm=0, v_mm=60, hands_mm=((0.0, 90.0),))
    state = replace(AT_SEA, phase=Phase.SETTLING, pending=load)

    for name, view in views(state).items():
        assert [each.get("class") for each in view.iter(f"{SVG}g")].count("held") == 1
        assert not rings(view)
        assert len(list(view.iter(f"{SVG}ellipse"))) == (0 if name == "above" else 1)
    assert not any("held" in str(each.get("class")) for view in views(AT_SEA).values() for each in view.iter())


@pytest.mark.parametrize("tip", [0.14, 0.0, -0.07])
def test_a_piece_on_its_way_is_aligned_with_its_yard(tip: float) -> None:
    """The lower edge of a held crate runs along the yard, as it will be let go."""
    load = Load(kind="crate", face="flat", u_mm=0, v_mm=60)
    state = replace(AT_SEA, phase=Phase.SETTLING, pending=load, table=ShipAtRest(yards=(tip, 0.0, 0.0)))

    (held,) = (each for each in views(state)["front"].iter(f"{SVG}g") if each.get("class") == "held")

    corners = [tuple(map(float, place.split(","))) for place in str(held[0].get("points")).split()]
    (x, y), (a, b) = sorted(corners, key=lambda corner: corner[1])[2:]
    assert math.atan((y - b) / (a - x)) == pytest.approx(tip, abs=0.005)
