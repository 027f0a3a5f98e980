"""A position as an SVG document: the ship from the front, the side and above, and the players beside it.

Rule: shows what lies on the table and decides nothing. The document stands alone: no script, no image, no font.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Final, cast

import msgspec
from msgspec.structs import replace

from arena.games.riffraff.drawing import captions
from arena.games.riffraff.drawing.ink import (
    BOLD,
    END,
    FADED,
    FATES,
    INK,
    LINE,
    PAPER,
    SANS,
    SERIF,
    SHEET,
    box,
    circle,
    ink,
    line,
    words,
)
from arena.games.riffraff.drawing.outline import ABOVE, FRONT, SIDE, View
from arena.games.riffraff.drawing.scenery import Ship, hands, reaches, splashes, waves
from arena.games.riffraff.drawing.sidebar import BADGE, CARD_HEIGHT, CARD_WIDTH, SIGNS, legend, order_of_play, seats
from arena.games.riffraff.drawing.stowage import Frame, drawn, labels, sheets, symbol
from arena.games.riffraff.geometry import extents, laid, room_above, rotated, ship_rotation, times
from arena.games.riffraff.scene import AREAS, CATCH_PLANE_M, Face, Kind
from arena.games.riffraff.state import Fallen, Fate, Loaded, State
from arena.games.riffraff.table import NOWHERE, Piece, PieceId

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
        """Where the view's origin lies on the paper."""
        return Frame(self.view, (self.left + self.origin[0], self.top + self.origin[1]), self.scale)


_TOP: Final = 76
_RIGHT: Final = 940
_STEP: Final = CARD_HEIGHT + 8
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
    windows = _windows(len(state.players))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{SANS}">']
    parts.append(f"<title>Riff Raff: {captions.title(state)}</title>")
    parts.append(f"<defs>{_DEFINITIONS}{_clips(windows)}{SIGNS}</defs>")
    parts.append(box(0, 0, WIDTH, HEIGHT, ink(PAPER)))
    parts += _header(state)
    for window in windows:
        parts += _view(state, window)
    parts += _log(state.last[-1]) if state.last and state.pending is None else ()
    parts += legend(state, 24, 716, 113)
    parts += seats(state, _RIGHT, _TOP, _STEP)
    return "\n".join([*parts, "</svg>\n"])


def _windows(players: int) -> tuple[Window, ...]:
    """The three views; the one from above fills what the players leave of their column."""
    top = _TOP + _STEP * players + 4
    height = HEIGHT - 24 - top
    return (_FRONT, _SIDE, Window(ABOVE, _RIGHT, top, CARD_WIDTH, height, (CARD_WIDTH // 2, height // 2), _FROM_ABOVE))


def _clips(windows: Sequence[Window]) -> str:
    return "".join(
        f'<clipPath id="riffraff-{each.view.name}">'
        f"{box(each.left, each.top, each.width, each.height, _ROUNDED)}</clipPath>"
        for each in windows
    )


def _header(state: State) -> Iterator[str]:
    yield words((24, 46), "Riff Raff", 34, f'{BOLD} {ink(INK)} font-family="{SERIF}"')
    yield words((204, 30), f"round {state.round} of {state.variant.rounds}", 13, ink(FADED))
    yield words((204, 51), _capital(captions.what_next(state)), 18, f"{BOLD} {ink(INK)}")
    yield from order_of_play(state, WIDTH - 24, 38)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _view(state: State, window: Window) -> Iterator[str]:
    frame, ship = window.frame, Ship(state.table, window.frame)
    load, fallen = captions.at_sea(state)
    places = load.hands_mm if load else ()
    newest = state.last[-1].id if state.last and state.pending is None else None
    yield f'<g clip-path="url(#riffraff-{window.view.name})">'
    if window.view is ABOVE:
        yield box(window.left, window.top, window.width, window.height, 'fill="url(#riffraff-sea)"')
        yield from hands(frame, places)
        yield ship.hull()
    else:
        yield from _sea(window, ship, frame)
    yield from _aboard(state, frame, ship, newest)
    yield from (reaches if window.view is ABOVE else hands)(frame, places)
    yield from splashes(frame, fallen, BADGE)
    yield from _captions(state, window)
    yield "</g>"
    yield box(window.left, window.top, window.width, window.height, f'{_ROUNDED} fill="none" stroke="{LINE}"')


def _sea(window: Window, ship: Ship, frame: Frame) -> Iterator[str]:
    """Sky, rod and ball, the sea over them, then the hull."""
    surface = frame.at((0.0, 0.0, CATCH_PLANE_M))[1]
    right, bottom = window.left + window.width, window.top + window.height
    yield box(window.left, window.top, window.width, window.height, 'fill="url(#riffraff-sky)"')
    yield line((frame.origin[0], window.top), (frame.origin[0], surface), "#b9a98c", 0.8, 'stroke-dasharray="2 5"')
    yield ship.under_water()
    sea = 'fill="url(#riffraff-sea)" fill-opacity="0.75"'
    yield box(window.left, surface, window.width, bottom - surface, sea)
    yield waves(frame, window.left, right)
    yield ship.hull()


def _aboard(state: State, frame: Frame, ship: Ship, newest: PieceId | None) -> Iterator[str]:
    """Cargo among mast and yards, from the farthest to the nearest, then the ids."""
    pieces = drawn(state.table.cargo, frame.view)
    rigging = list(ship.rigging())
    layers = [*rigging, *sheets(pieces, frame, newest)]
    yield from (layer.ink for layer in sorted(layers, key=lambda layer: layer.depth))
    held = _held(state)
    if held is not None:
        yield f'<g class="held" opacity="0.65">{symbol(held.kind, held.pose, frame)}</g>'
    if frame.view is not ABOVE:
        yield from labels(pieces, rigging, frame)


def _held(state: State) -> Piece | None:
    """The piece that is about to be lowered, under the next yard above its area; None if nobody holds one."""
    load, seat, area = state.pending, state.active, state.area
    if load is None or seat is None or area is None:
        return None
    piece = Piece(state.next_id, cast(Kind, load.kind), area, seat, NOWHERE)
    lying = laid(piece.kind, cast(Face, load.face), load.yaw_deg)
    height = room_above(AREAS[area]) - extents(piece.kind, lying)[1][2] - _GAP_M
    ship = ship_rotation(state.table)
    place = rotated(ship, (load.u_mm / 1000, load.v_mm / 1000, height))
    return replace(piece, pose=(*place, *times(ship, lying)))


def _captions(state: State, window: Window) -> Iterator[str]:
    """What the view is, and on the sky how the ship leans in it."""
    left, right, top = window.left + 14, window.left + window.width - 14, window.top + 24
    if window.view is ABOVE:
        yield words((left, top), "from above", 14, f"{BOLD} {ink(SHEET)}")
        yield words((right, window.top + window.height / 2 + 4), "bow", 11, f"{END} {ink(SHEET)}")
        yield words((right, top), "port", 11, f"{END} {ink(SHEET)}")
        yield words((right, window.top + window.height - 14), "starboard", 11, f"{END} {ink(SHEET)}")
        return
    is_front = window.view is FRONT
    name, ends = ("from the bow", ("starboard", "port")) if is_front else ("from starboard", ("stern", "bow"))
    table = state.table
    lean = captions.heel(math.degrees(table.roll)) if is_front else captions.trim(math.degrees(table.pitch))
    yield words((left, top), name, 14, f"{BOLD} {ink(INK)}")
    yield words((right, top), f"{'heel' if is_front else 'trim'} {lean}", 14, f"{END} {ink(INK)}")
    surface = window.frame.at((0.0, 0.0, CATCH_PLANE_M))[1]
    yield words((left, surface - 10), ends[0], 11, ink(FADED))
    yield words((right, surface - 10), ends[1], 11, f"{END} {ink(FADED)}")


def _log(last: Loaded) -> Iterator[str]:
    """Under water: what was loaded last, and what fell and became of it."""
    top = _FRONT.frame.at((0.0, 0.0, CATCH_PLANE_M))[1] + 34
    told = [f"seat {last.seat} loaded {last.id}", f"a {last.load.kind}, {last.load.face}, on area {last.area}"]
    told += [f"tilt up to {last.tilt_max_deg:.1f}°, {last.end} after {last.t_s:.1f} s"]
    for row, text in enumerate(told):
        yield words((_FRONT.left + 14, top + 16 * row), text, 12, ink(SHEET))
    yield from _fates(last.fallen, _SIDE.left + 14, top)


def _fates(fallen: Sequence[Fallen], left: float, top: float) -> Iterator[str]:
    """How many fell, and in what manner they ended: with names, or only with numbers if there are too many."""
    yield words((left, top), f"{len(fallen)} fell" if fallen else "nothing fell", 12, f"{BOLD} {ink(SHEET)}")
    row = 1
    for fate, lines in _told(fallen):
        yield circle((left + 5, top + 16 * row - 4), 4.5, FATES[fate], f'stroke="{SHEET}"')
        for each in lines:
            yield words((left + 16, top + 16 * row), each, 11, ink(SHEET))
            row += 1


def _told(fallen: Sequence[Fallen]) -> list[tuple[Fate, list[str]]]:
    groups: list[tuple[Fate, str]] = [("removed", "caught"), ("returned", "caught alone"), ("to_supply", "not caught")]
    found = [(fate, text, [each for each in fallen if each.fate == fate]) for fate, text in groups]
    named = [
        (fate, wrap(f"{text}: {', '.join(f'{each.id} {each.kind}' for each in ended)}", _COLUMNS))
        for fate, text, ended in found
        if ended
    ]
    if sum(len(lines) for _, lines in named) <= _LINES:
        return named
    return [(fate, wrap(f"{text}: {_counted(ended)}", _COLUMNS)) for fate, text, ended in found if ended]


def _counted(fallen: Sequence[Fallen]) -> str:
    kinds = Counter(each.kind for each in fallen)
    return ", ".join(f"{kind} x{number}" if number > 1 else kind for kind, number in kinds.items())
