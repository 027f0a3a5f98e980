"""SVG elements as text, and the colours of the ship, its cargo and its players.

Rule: texts on the picture are escaped here.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final
from xml.sax.saxutils import escape

from arena.games.riffraff.drawing.projection import Point
from arena.games.riffraff.scene import KINDS, Kind

INK: Final = "#2b2118"
FADED: Final = "#8a7a66"
PAPER: Final = "#f7f0e1"
SHEET: Final = "#fffaf0"
LINE: Final = "#d9c8a9"
WOOD: Final = "#d9ad74"
TIMBER: Final = "#a9713f"
BRASS: Final = "#c9962e"
IRON: Final = "#5c6470"
FLAG: Final = "#b5382f"
HAND: Final = "#f3cda6"
ACCENT: Final = "#e4572e"
GLOW: Final = "#ffd54a"
SEAT_COLOURS: Final = ("#2f5fa8", "#b5382f", "#2e7d4f", "#8a4fa0")
FATES: Final[Mapping[str, str]] = {"removed": "#3fa35b", "returned": "#e0a526", "to_supply": "#d8392b"}

_PAINTS: Final = ("#9c4a2f", "#2f9e77", "#e28a2b", "#e3c04a", "#56606e", "#d6403a", "#9a9ea8", "#3a69bd")
PAINT: Final[Mapping[Kind, str]] = dict(zip(KINDS, _PAINTS, strict=True))
DETAILS: Final[Mapping[tuple[Kind, int], str]] = {
    ("chest", 1): "#b8613d",
    ("bottle", 1): "#7cc9a8",
    ("rat", 1): "#d79a9a",
    ("sailor", 1): "#f3cda6",
}
"""Parts with a colour of their own, by their place among the parts of the kind."""

SERIF: Final = "Georgia, 'Palatino Linotype', 'DejaVu Serif', serif"
SANS: Final = "'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"
_SHADOW: Final = "#1d1a33"
_LIGHT: Final = "#ffffff"


def polygon(points: Iterable[Point], fill: str, more: str = "") -> str:
    """A closed shape; `points` in pixels."""
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polygon points="{places}" fill="{fill}"{_spaced(more)}/>'


def segment(one: Point, other: Point, stroke: str, width: float, more: str = "") -> str:
    """A straight line."""
    ends = f'x1="{one[0]:.1f}" y1="{one[1]:.1f}" x2="{other[0]:.1f}" y2="{other[1]:.1f}"'
    return f'<line {ends} stroke="{stroke}" stroke-width="{width:g}"{_spaced(more)}/>'


def circle(at: Point, radius: float, fill: str, more: str = "") -> str:
    """A disc."""
    return f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius:g}" fill="{fill}"{_spaced(more)}/>'


def box(left: float, top: float, width: float, height: float, more: str = "") -> str:
    """A rectangle."""
    return f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}"{_spaced(more)}/>'


def words(at: Point, text: object, size: float, more: str = "") -> str:
    """A line of text that starts at the point, or sits about it with `MIDDLE`."""
    return f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" font-size="{size:g}"{_spaced(more)}>{escape(str(text))}</text>'


BADGE: Final = "riffraff-{}"
"""The name of the sign of a kind within the document."""
MIDDLE: Final = 'text-anchor="middle"'
END: Final = 'text-anchor="end"'
BOLD: Final = 'font-weight="bold"'


def ink(colour: str) -> str:
    """The attribute that fills with a colour."""
    return f'fill="{colour}"'


@lru_cache(maxsize=2048)
def lit(colour: str, light: float) -> str:
    """A colour where the light meets it with that cosine; 0.5 leaves it as it is. `light` has two decimals."""
    if light >= 0.5:
        return mixed(colour, _LIGHT, (light - 0.5) * 0.8)
    return mixed(colour, _SHADOW, min((0.5 - light) * 0.45, 0.6))


def mixed(colour: str, other: str, share: float) -> str:
    """A colour with a share of another one."""
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(one + (two - one) * share) for one, two in pairs).hex()


def is_dark(colour: str) -> bool:
    """Whether light letters are easier to read on it than dark ones."""
    red, green, blue = bytes.fromhex(colour[1:])
    return 0.30 * red + 0.59 * green + 0.11 * blue < 140


def _spaced(more: str) -> str:
    return f" {more}" if more else ""
