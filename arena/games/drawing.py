"""Parts of a picture as SVG text: words, cards, dice, tokens, piles and grids, for the method `picture` of a game.

Rule: equal arguments give equal text, and texts are escaped here. Places and sizes are in pixels; `x` and `y` are the
upper left corner of a part, for words the left end of their line. A colour is a seat, which has its own, or a CSS
colour.
"""

from collections.abc import Iterable
from html import escape
from typing import Final

from arena.games.looks import seat_colour

Colour = int | str
INK: Final = "#1c2733"
PAPER: Final = "#ffffff"
MIDDLE: Final = 'text-anchor="middle"'
_LINE: Final = "#8a94a0"
_DARK: Final = "#b8c4b0"
_PIPS: Final = ((), (4,), (0, 8), (0, 4, 8), (0, 2, 6, 8), (0, 2, 4, 6, 8), (0, 2, 3, 5, 6, 8))
"""The pips of each face by their place in a square of 3 x 3."""


def document(width: float, height: float, parts: Iterable[str], *, title: str = "", text: str = "") -> str:
    """Return the SVG document of that size with the parts in their order, on paper.

    `title` is its name for a screen reader, and `text` its description. A picture without `title` is read by its words.
    """
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    role, about = ' role="img"', (f"<title>{escape(title)}</title>", f"<desc>{escape(text)}</desc>")
    start = f'<svg xmlns="http://www.w3.org/2000/svg" {size}{role if title else ""} font-family="sans-serif">'
    ground = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    return "\n".join([start, *(about if title else ()), ground, *parts, "</svg>"])


def words(x: float, y: float, text: object, *, size: float = 14, colour: Colour = INK, more: str = "") -> str:
    """Draw a line of text that stands on `y`; `more` are further attributes, such as MIDDLE."""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{paint(colour)}" {more}>{escape(str(text))}</text>'


def card(x: float, y: float, text: object = "", *, colour: Colour = INK, size: float = 40) -> str:
    """Draw a card with a text on its face; it is `size` wide, and 1.4 times as high."""
    height = min(size / 2, 1.5 * size / max(1, len(str(text))))
    face = words(x + size / 2, y + 0.7 * size + height / 3, text, size=height, colour=colour, more=MIDDLE)
    return _box(x, y, size, 1.4 * size, PAPER, colour) + face


def hidden(x: float, y: float, *, colour: Colour = INK, size: float = 40) -> str:
    """Draw a card face down."""
    inner = _box(x + size / 8, y + size / 8, 0.75 * size, 1.15 * size, colour, colour)
    return _box(x, y, size, 1.4 * size, PAPER, colour) + inner


def pile(x: float, y: float, count: int, *, colour: Colour = INK, size: float = 40) -> str:
    """Draw a pile of cards face down, at most 3 of them, with their number below."""
    backs = [hidden(x + 3 * place, y - 3 * place, colour=colour, size=size) for place in range(min(count, 3))]
    return "".join([*backs, words(x + size / 2, y + 1.4 * size + 16, count, colour=colour, more=MIDDLE)])


def die(x: float, y: float, face: int, *, colour: Colour = INK, size: float = 32) -> str:
    """Draw a die with the pips of its face, above 6 with its number."""
    box = _box(x, y, size, size, colour, colour)
    if face >= len(_PIPS):
        return box + words(x + size / 2, y + 0.67 * size, face, size=size / 2, colour=PAPER, more=MIDDLE)
    places = [(x + size * (1 + place % 3) / 4, y + size * (1 + place // 3) / 4) for place in _PIPS[face]]
    return box + "".join(f'<circle cx="{h:g}" cy="{v:g}" r="{size / 10:g}" fill="{PAPER}"/>' for h, v in places)


def token(
    x: float, y: float, text: object = "", *, colour: Colour = INK, size: float = 32, disc: Colour | None = None
) -> str:
    """Draw a disc with a text on it; if `disc` is its colour, only its edge and text have `colour`."""
    circle = f'<circle cx="{x + size / 2:g}" cy="{y + size / 2:g}" r="{0.42 * size:g}" stroke-width="{size / 16:g}"'
    letters = PAPER if disc is None else colour
    face = words(x + size / 2, y + 0.67 * size, text, size=size / 2, colour=letters, more=MIDDLE)
    fill, stroke = paint(colour if disc is None else disc), paint(colour)
    return f'{circle} fill="{fill}" stroke="{stroke}"/>{face if text else ""}'


def grid(x: float, y: float, columns: int, rows: int, *, size: float = 32, is_chequered: bool = False) -> str:
    """Draw a board of squares of that size; on a chequered one every second square is dark, not the upper left one."""
    lines = [f"M{x + size * column:g} {y:g}v{size * rows:g}" for column in range(columns + 1)]
    lines += [f"M{x:g} {y + size * row:g}h{size * columns:g}" for row in range(rows + 1)]
    squares = [
        f"M{x + size * column:g} {y + size * row:g}h{size:g}v{size:g}h{-size:g}z"
        for row in range(rows if is_chequered else 0)
        for column in range(1 - row % 2, columns, 2)
    ]
    return f'<path d="{"".join(squares)}" fill="{_DARK}"/><path d="{"".join(lines)}" fill="none" stroke="{_LINE}"/>'


def paint(colour: Colour) -> str:
    """Return a colour as CSS; that of a seat is a variable, which pages set by player."""
    return seat_colour(colour) if isinstance(colour, int) else colour


def _box(x: float, y: float, width: float, height: float, fill: Colour, stroke: Colour) -> str:
    """Draw a rectangle with round corners."""
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{width / 8:g}"'
    return f'<rect {place} fill="{paint(fill)}" stroke="{paint(stroke)}"/>'
