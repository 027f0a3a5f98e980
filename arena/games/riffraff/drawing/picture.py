"""A position as an SVG document: the ship from the front, the side and above, and the players beside it.

Rule: shows what lies on the table and decides nothing. The document stands alone: no script, no image, no font.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import Final, cast

import msgspec

from arena.games.riffraff.actions import Load
from arena.games.riffraff.drawing import captions, players, svg
from arena.games.riffraff.drawing.cargo import Frame, drawn, labels, sheets, symbol
from arena.games.riffraff.drawing.projection import ABOVE, FRONT, SIDE, View
from arena.games.riffraff.drawing.ship import Ship, hands, reaches, splashes, waves
from arena.games.riffraff.drawing.svg import BOLD, END, FADED, INK, SHEET, ink, words
from arena.games.riffraff.falls import kind_of
from arena.games.riffraff.geometry import extents, laid, room_above, rotated, ship_rotation, times
from arena.games.riffraff.scene import CATCH_PLANE_M, Area, Face
from arena.games.riffraff.state import Fallen, Loaded, State
from arena.games.riffraff.table import Pose, ShipAtRest

WIDTH: Final = 1280
HEIGHT: Final = 800
_SCALE: Final = 1250
_FROM_ABOVE: Final = 800
_GAP_M: Final = 0.001
"""Between a piece that is held and the yard over it."""
_COLUMNS: Final = 27
"""Letters in a line of words under water, beside the ball."""
_LINES: Final = 8
"""Of them, before names give way to numbers."""


class Window(msgspec.Struct, frozen=True):
    """A view in its place on the paper; pixels, `origin` from the upper left corner of the window."""

    view: View
    left: int
    top: int
    width: int
    height: int
    origin: tuple[int, int]
    scale: int

    @property
    def frame(self) -> Frame:
        """The view with its origin on the paper."""
        return Frame(self.view, (self.left + self.origin[0], self.top + self.origin[1]), self.scale)

    @property
    def surface(self) -> float:
        """The height of the sea in a view from the front or the side."""
        return self.frame.at((0.0, 0.0, CATCH_PLANE_M))[1]

    def box(self, more: str) -> str:
        """The whole window as a rectangle."""
        return svg.box(self.left, self.top, self.width, self.height, more)


_TOP: Final = 76
_RIGHT: Final = 940
_STEP: Final = players.CARD_HEIGHT + 8
_FRONT: Final = Window(FRONT, 24, _TOP, 480, 628, (240, 416), _SCALE)
_SIDE: Final = Window(SIDE, 516, _TOP, 412, 628, (206, 416), _SCALE)

_ROUNDED: Final = 'rx="10"'
_DEFINITIONS: Final = (
    '<linearGradient id="riffraff-sky" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#cfe6ef"/>'
    '<stop offset="0.66" stop-color="#fdf3dc"/></linearGradient>'
    '<linearGradient id="riffraff-sea" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#3f97ab"/>'
    '<stop offset="1" stop-color="#123f5c"/></linearGradient>'
)


def picture(state: State) -> str:
    """The position for an audience that sees everything, also the cards just played; 1280 x 800 pixels."""
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    windows = (_FRONT, _SIDE, _above(len(state.players)))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{svg.SANS}">']
    parts.append(f"<title>Riff Raff: {captions.title(state)}</title>")
    clips = (f'<clipPath id="riffraff-{each.view.name}">{each.box(_ROUNDED)}</clipPath>' for each in windows)
    parts.append(f"<defs>{_DEFINITIONS}{''.join(clips)}{players.SIGN_DEFINITIONS}</defs>")
    parts.append(svg.box(0, 0, WIDTH, HEIGHT, ink(svg.PAPER)))
    parts += _header(state)
    for window in windows:
        parts += _view(state, window)
    parts += _log(state.last[-1]) if state.last and state.pending is None else ()
    parts += players.legend(state, 24, 716, 113)
    parts += players.seats(state, _RIGHT, _TOP, _STEP)
    return "\n".join([*parts, "</svg>\n"])


def _above(seats: int) -> Window:
    """The view from above, in the room that the players leave of their column."""
    top = _TOP + _STEP * seats + 4
    width, height = players.CARD_WIDTH, HEIGHT - 24 - top
    return Window(ABOVE, _RIGHT, top, width, height, (width // 2, height // 2), _FROM_ABOVE)


def _header(state: State) -> Iterator[str]:
    sentence = captions.what_next(state)
    yield words((24, 46), "Riff Raff", 34, f'{BOLD} {ink(INK)} font-family="{svg.SERIF}"')
    yield words((204, 30), f"round {state.round} of {state.variant.rounds}", 13, ink(FADED))
    yield words((204, 51), sentence[:1].upper() + sentence[1:], 18, f"{BOLD} {ink(INK)}")
    yield from players.order_of_play(state, WIDTH - 24, 38)


def _view(state: State, window: Window) -> Iterator[str]:
    frame, ship = window.frame, Ship(state.table, window.frame)
    load, fallen = captions.at_sea(state)
    places = load.hands_mm if load else ()
    yield f'<g clip-path="url(#riffraff-{window.view.name})">'
    if window.view is ABOVE:
        yield window.box('fill="url(#riffraff-sea)"')
        yield from hands(frame, places)
    else:
        yield from _sea(window, ship)
    yield ship.hull()
    yield from _aboard(state, frame, ship)
    yield from (reaches if window.view is ABOVE else hands)(frame, places)
    yield from splashes(frame, fallen)
    yield from (_names(window) if window.view is ABOVE else _captions(state, window))
    yield "</g>"
    yield window.box(f'{_ROUNDED} fill="none" stroke="{svg.LINE}"')


def _sea(window: Window, ship: Ship) -> Iterator[str]:
    """Sky, rod and ball, and the sea over them."""
    surface, middle = window.surface, window.frame.origin[0]
    yield window.box('fill="url(#riffraff-sky)"')
    yield svg.segment((middle, window.top), (middle, surface), "#b9a98c", 0.8, 'stroke-dasharray="2 5"')
    yield ship.under_water()
    sea, depth = 'fill="url(#riffraff-sea)" fill-opacity="0.75"', window.top + window.height - surface
    yield svg.box(window.left, surface, window.width, depth, sea)
    yield waves(surface, window.left, window.left + window.width)


def _aboard(state: State, frame: Frame, ship: Ship) -> Iterator[str]:
    """Cargo among mast and yards, from the farthest to the nearest, then the ids."""
    newest = state.last[-1].id if state.last and state.pending is None else None
    pieces = drawn(state.table.cargo, frame.view)
    rigging = ship.rigging()
    layers = [*rigging, *sheets(pieces, frame, newest)]
    yield from (layer.ink for layer in sorted(layers, key=lambda layer: layer.depth))
    if state.pending is not None:
        held = symbol(kind_of(state.pending), _held(state.table, state.pending, state.active_area), frame)
        yield f'<g class="held" opacity="0.65">{held}</g>'
    if frame.view is not ABOVE:
        yield from labels(pieces, rigging, frame)


def _held(table: ShipAtRest, load: Load, area: Area) -> Pose:
    """The pose of the piece that is about to be lowered, under the next yard above its area."""
    kind, ship = kind_of(load), ship_rotation(table)
    lying = laid(kind, cast(Face, load.face), load.yaw_deg)
    height = room_above(area) - extents(kind, lying)[1][2] - _GAP_M
    return (*rotated(ship, (load.u_mm / 1000, load.v_mm / 1000, height)), *times(ship, lying))


def _names(window: Window) -> Iterator[str]:
    """The view from above and its sides."""
    right, top = window.left + window.width - 14, window.top + 24
    yield words((window.left + 14, top), "from above", 14, f"{BOLD} {ink(SHEET)}")
    bottom = window.top + window.height
    for text, y in (("bow", window.top + window.height / 2 + 4), ("port", top), ("starboard", bottom - 14)):
        yield words((right, y), text, 11, f"{END} {ink(SHEET)}")


def _captions(state: State, window: Window) -> Iterator[str]:
    """The name of the view and its sides, and on the sky how the ship leans in it."""
    left, right, top = window.left + 14, window.left + window.width - 14, window.top + 24
    if window.view is FRONT:
        name, ends = "from the bow", ("starboard", "port")
        lean = f"heel {captions.heel(math.degrees(state.table.roll))}"
    else:
        name, ends = "from starboard", ("stern", "bow")
        lean = f"trim {captions.trim(math.degrees(state.table.pitch))}"
    yield words((left, top), name, 14, f"{BOLD} {ink(INK)}")
    yield words((right, top), lean, 14, f"{END} {ink(INK)}")
    yield words((left, window.surface - 10), ends[0], 11, ink(FADED))
    yield words((right, window.surface - 10), ends[1], 11, f"{END} {ink(FADED)}")


def _log(last: Loaded) -> Iterator[str]:
    """Under water: the last load, and the pieces that fell with their fates."""
    top = _FRONT.surface + 34
    lines = (
        f"seat {last.seat} loaded {last.id}",
        f"a {last.kind}, {last.load.face}, on area {last.area}",
        f"tilt up to {last.tilt_max_deg:.1f}°, {last.end} after {last.t_s:.1f} s",
    )
    for row, text in enumerate(lines):
        yield words((_FRONT.left + 14, top + 16 * row), text, 12, ink(SHEET))
    yield from _fates(last.fallen, _SIDE.left + 14, top)


def _fates(fallen: Sequence[Fallen], left: float, top: float) -> Iterator[str]:
    """The number of falls and their fates: with names, or only with numbers if there are too many."""
    yield words((left, top), f"{len(fallen)} fell" if fallen else "nothing fell", 12, f"{BOLD} {ink(SHEET)}")
    groups = _by_fate(fallen, lambda each: f"{each.id} {each.kind}")
    if sum(len(lines) for _, lines in groups) > _LINES:
        groups = _by_fate(fallen, lambda each: each.kind)
    row = 1
    for fate, lines in groups:
        yield svg.circle((left + 5, top + 16 * row - 4), 4.5, svg.FATES[fate], f'stroke="{SHEET}"')
        for each in lines:
            yield words((left + 16, top + 16 * row), each, 11, ink(SHEET))
            row += 1


def _by_fate(fallen: Sequence[Fallen], name: Callable[[Fallen], str]) -> list[tuple[str, list[str]]]:
    """The lines about each fate; equal names are counted."""
    groups = []
    for fate, text in (("removed", "caught"), ("returned", "caught alone"), ("to_supply", "not caught")):
        counts = Counter(name(each) for each in fallen if each.fate == fate)
        if counts:
            names = ", ".join(f"{each} x{number}" if number > 1 else each for each, number in counts.items())
            groups.append((fate, wrap(f"{text}: {names}", _COLUMNS)))
    return groups
