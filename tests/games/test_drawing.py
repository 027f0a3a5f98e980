"""The parts of pictures: well-formed for any text, in the colour of a seat, with the pips and cards that there are."""

from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest

from arena.games.drawing import INK, card, die, document, grid, hidden, pile, token, words

HOSTILE = "</text><script>alert(1)</script>&\"'"
SVG = "{http://www.w3.org/2000/svg}"


def drawn(*parts: str) -> ET.Element:
    return ET.fromstring(document(100, 60.5, parts, title=HOSTILE, text=HOSTILE))


@pytest.mark.parametrize("part", [words, card, token])
def test_a_text_stays_text(part: Callable[..., str]) -> None:
    """Markup in a text, a title or a description comes out as it went in."""
    root = drawn(part(1, 2, HOSTILE, colour=3))

    assert [root.findtext(f"{SVG}{name}") for name in ("title", "desc", "text")] == [HOSTILE] * 3
    assert root.find(f".//{SVG}script") is None


def test_a_document_has_its_size_and_a_role_with_its_title() -> None:
    """Without a title it is read by its words."""
    root, untitled = drawn(), ET.fromstring(document(1, 1, ()))

    assert (root.get("viewBox"), root.get("role")) == ("0 0 100 60.5", "img")
    assert (untitled.get("role"), untitled.find(f"{SVG}title")) == (None, None)


@pytest.mark.parametrize("face", range(1, 21))
def test_a_die_has_the_pips_of_its_face(face: int) -> None:
    """They lie within the die; a face above 6 is a number."""
    root = drawn(die(10, 20, face, size=40))
    pips = [(float(pip.get("cx", "")), float(pip.get("cy", ""))) for pip in root.findall(f"{SVG}circle")]

    assert len({*pips}) == (face if face < 7 else 0)
    assert root.findtext(f"{SVG}text") == (None if face < 7 else str(face))
    assert all(10 < x < 50 and 20 < y < 60 for x, y in pips)


@pytest.mark.parametrize(("count", "cards"), [(0, 0), (1, 1), (3, 3), (99, 3)])
def test_a_pile_has_its_number(count: int, cards: int) -> None:
    """A high pile has three cards and its number."""
    root = drawn(pile(0, 0, count))

    assert len(root.findall(f"{SVG}rect")) - 1 == 2 * cards
    assert root.findtext(f"{SVG}text") == str(count)


def test_a_grid_has_its_lines_and_every_second_square() -> None:
    """The upper left square is light, as on a board of chess."""
    dark, lines = (path.get("d", "") for path in drawn(grid(0, 0, 3, 2, size=10, is_chequered=True)).iter(f"{SVG}path"))

    assert dark.split("z") == ["M10 0h10v10h-10", "M0 10h10v10h-10", "M20 10h10v10h-10", ""]
    assert (lines.count("M"), lines.count("v20"), lines.count("h30")) == (7, 4, 3)


def test_a_colour_is_that_of_a_seat_or_of_css() -> None:
    """A seat has a variable with a colour for a picture that stands alone."""
    assert hidden(0, 0, colour=9).count("var(--seat-9, #") == 3
    assert "var" not in token(0, 0, colour=INK, disc="red")
    assert 'fill="red"' in token(0, 0, disc="red")
