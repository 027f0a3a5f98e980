"""A position as an SVG document: the ship from the front, the side and above, and the players beside it.

Rule: shows what lies on the table and decides nothing. The document stands alone: no script, no image, no font.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import Final, cast

import msgspec

from arena.games.api import Seat
from arena.games.looks import seat_colour, seat_shape
from arena.games.riffraff.actions import Load
from arena.games.riffraff.drawing import captions, svg
from arena.games.riffraff.drawing.projection import ABOVE, FRONT, SIDE, View, piece_solids
from arena.games.riffraff.drawing.ship import Ship, hands, reaches, splashes, waves
from arena.games.riffraff.drawing.svg import BOLD, END, INK, MIDDLE, SHEET, Frame, ink, words
from arena.games.riffraff.geometry import extents, level_of, multiply, room_between, rotation_about, rotation_of
from arena.games.riffraff.scene import CATCH_PLANE_M, KINDS, Area, Face, Kind
from arena.games.riffraff.state import CARDS, Fallen, Loaded, Phase, Player, State
from arena.games.riffraff.table import Pose, ShipAtRest
from arena.games.riffraff.turns import kind_of
from arena.text import counted

CARD_WIDTH: Final = 316
CARD_HEIGHT: Final = 104
_SIGN_PX: Final = 36
_SIGN_M: Final = 0.036
"""Smaller kinds have smaller signs."""
_FAINT: Final = 0.16
"""The opacity of the sign of a kind that a player has none of."""
_TURNED: Final[dict[Kind, float]] = {"plank": -35, "sailor": -20}


def _slanted_view() -> View:
    """Return a view from before the starboard bow and a little above: three sides of a box are seen."""
    turn, rise = math.radians(-28), math.radians(26)
    s, c, up, flat = math.sin(turn), math.cos(turn), math.sin(rise), math.cos(rise)
    return View("slant", (c, s, 0.0), (s * up, -c * up, flat), (s * flat, -c * flat, up))


def _draw_signs() -> Iterator[str]:
    """Draw every kind as a sign about the origin, `_SIGN_PX` wide or high."""
    view = _slanted_view()
    for kind in KINDS:
        turn = rotation_about("z", _TURNED.get(kind, 0))
        pose: Pose = (0.0, 0.0, 0.0, *turn)
        solids = piece_solids(kind, pose, view)
        hs, vs = ([point[axis] for part in solids for point in part.outline] for axis in (0, 1))
        scale = _SIGN_PX / max(max(hs) - min(hs), max(vs) - min(vs), _SIGN_M)
        middle = (-scale * (max(hs) + min(hs)) / 2, scale * (max(vs) + min(vs)) / 2)
        yield f'<g id="{svg.BADGE.format(kind)}">{svg.symbol(kind, pose, Frame(view, middle, scale))}</g>'


SIGN_DEFINITIONS: Final = "".join(_draw_signs())
"""Definitions of the signs, to be used by name."""


def sign(kind: str, x: float, y: float, scale: float) -> str:
    """Draw the sign of a kind about a point."""
    return f'<use href="#{svg.BADGE.format(kind)}" transform="translate({x:g} {y:g}) scale({scale:g})"/>'


def _draw_shape(seat: Seat, x: float, y: float, size: float) -> str:
    """Draw the shape of a seat's player about a point."""
    return f'<g transform="translate({x - size / 2:g} {y - size / 2:g}) scale({size / 24:g})">{seat_shape(seat)}</g>'


def seats(state: State, left: float, top: float, step: float) -> Iterator[str]:
    """Draw a card for every player, one below the other."""
    for seat, player in enumerate(state.players):
        yield f'<g transform="translate({left:g} {top + step * seat:g})">'
        yield from _draw_seat(state, Seat(seat), player)
        yield "</g>"


def _draw_seat(state: State, seat: Seat, player: Player) -> Iterator[str]:
    """Draw the card of a player: seat, pieces, cards and supply; in a coloured frame if they move or have won."""
    moves = captions.mover(state) == seat
    is_winner = state.phase is Phase.OVER and seat in captions.winners(state)
    edge, width = (svg.ACCENT, 2.5) if moves else (svg.BRASS, 2.5) if is_winner else (svg.LINE, 1)
    yield svg.box(0, 0, CARD_WIDTH, CARD_HEIGHT, f'rx="8" fill="{SHEET}" stroke="{edge}" stroke-width="{width}"')
    yield _draw_shape(seat, 24, 24, 28)
    yield words((46, 21), f"seat {seat}", 14, f"{BOLD} {ink(INK)}")
    notes = f"{counted(player.pieces, 'piece')} left" + (f", {player.removed} caught" if player.removed else "")
    yield words((46, 36), notes, 11, ink(svg.FADED))
    if seat == state.captain:
        yield words((220, 20), "captain", 12, f"{ink(svg.BRASS)} {BOLD}")
    if is_winner:
        yield words((236, 39), "wins", 15, f"{ink(svg.BRASS)} {BOLD} {MIDDLE}")
    yield from _draw_played_card(player)
    yield from _draw_hand(player, seat_colour(seat))
    for column, (kind, count) in enumerate(zip(KINDS, player.supply, strict=True)):
        x = 24 + column * 38
        yield f'<g opacity="{1 if count else _FAINT}">{sign(kind, x, 78, 0.72)}</g>'
        if count > 1:
            yield svg.circle((x + 12, 91), 7.5, INK)
            yield words((x + 12, 94.5), count, 10, f"{MIDDLE} {BOLD} {ink('#ffffff')}")


def _draw_played_card(player: Player) -> Iterator[str]:
    """Draw the card of this round as a playing card, face up for the audience."""
    if player.card is not None:
        yield svg.box(276, 7, 28, 38, f'rx="4" stroke="{INK}" fill="#ffffff"')
        yield words((290, 32.5), player.card, 17, f'{MIDDLE} {BOLD} {ink(INK)} font-family="{svg.SERIF}"')


def _draw_hand(player: Player, colour: str) -> Iterator[str]:
    """Draw cards one to ten; those already played are blanks."""
    for index, card in enumerate(CARDS):
        left = 12 + index * 22.5
        fill, edge, text = (colour, colour, "#ffffff") if card in player.hand else ("none", svg.LINE, svg.LINE)
        yield svg.box(left, 46, 19, 13, f'rx="3" fill="{fill}" stroke="{edge}"')
        yield words((left + 9.5, 56), card, 9.5, f"{MIDDLE} {ink(text)}")


def legend(state: State, left: float, top: float, step: float) -> Iterator[str]:
    """Draw every kind with its name, and how many are on board and out of the game."""
    aboard = Counter(piece.kind for piece in state.table.cargo)
    for column, (kind, removed) in enumerate(zip(KINDS, state.removed, strict=True)):
        x = left + column * step
        yield sign(kind, x + 20, top + 24, 0.95)
        yield words((x + 43, top + 18), kind, 12, f"{BOLD} {ink(INK)}")
        notes = [f"{aboard[kind]} on board"] if aboard[kind] else []
        notes += [f"{removed} out"] if removed else []
        for row, note in enumerate(notes or ["-"]):
            yield words((x + 43, top + 31 + 12 * row), note, 10, ink(svg.FADED))


def order_of_play(state: State, right: float, y: float) -> Iterator[str]:
    """Draw seats in order of play, the one whose turn it is in a ring."""
    for index, seat in enumerate(reversed(state.order)):
        x = right - 14 - index * 38
        if captions.mover(state) == seat:
            yield svg.circle((x, y), 15, "none", f'stroke="{svg.ACCENT}" stroke-width="2.5"')
        yield _draw_shape(seat, x, y, 18)
        if index < len(state.order) - 1:
            yield svg.segment((x - 23, y), (x - 15.5, y), svg.FADED, 1.5)
    if state.order:
        left = right - 26 - 38 * (len(state.order) - 1) - 8
        yield words((left, y + 4), "order of play", 11, f"{svg.END} {ink(svg.FADED)}")


WIDTH: Final = 1280
HEIGHT: Final = 800
_SCALE: Final = 1250
_FROM_ABOVE: Final = 800
_GAP_M: Final = 0.001
"""The gap between a piece that is held and the yard over it."""
_COLUMNS: Final = 27
"""Letters in a line of words under water, beside the ball."""
_LINES: Final = 8
"""The most such lines with names; if there were more, numbers take their place."""


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
        """Draw the whole window as a rectangle."""
        return svg.box(self.left, self.top, self.width, self.height, more)


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
    """Draw the position for an audience that sees everything, also the cards just played; 1280 x 800 pixels."""
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    windows = (_FRONT, _SIDE, _window_from_above(len(state.players)))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{svg.SANS}">']
    parts.append(f"<title>Riff Raff: {captions.title(state)}</title>")
    clips = (f'<clipPath id="riffraff-{window.view.name}">{window.box(_ROUNDED)}</clipPath>' for window in windows)
    parts.append(f"<defs>{_DEFINITIONS}{''.join(clips)}{SIGN_DEFINITIONS}</defs>")
    parts.append(svg.box(0, 0, WIDTH, HEIGHT, ink(svg.PAPER)))
    parts += _draw_header(state)
    for window in windows:
        parts += _draw_view(state, window)
    parts += _draw_last_load(state.last[-1]) if state.last and state.pending is None else ()
    parts += legend(state, 24, 716, 113)
    parts += seats(state, _RIGHT, _TOP, _STEP)
    return "\n".join([*parts, "</svg>\n"])


def _window_from_above(seats: int) -> Window:
    """Return the window of the view from above, in the room that the players leave of their column."""
    top = _TOP + _STEP * seats + 4
    width, height = CARD_WIDTH, HEIGHT - 24 - top
    return Window(ABOVE, _RIGHT, top, width, height, (width // 2, height // 2), _FROM_ABOVE)


def _draw_header(state: State) -> Iterator[str]:
    """Draw the title, the round, what comes next, and the order of play."""
    sentence = captions.what_next(state)
    yield words((24, 46), "Riff Raff", 34, f'{BOLD} {ink(INK)} font-family="{svg.SERIF}"')
    yield words((204, 30), f"round {state.round} of {state.rounds}", 13, ink(svg.FADED))
    yield words((204, 51), sentence[:1].upper() + sentence[1:], 18, f"{BOLD} {ink(INK)}")
    yield from order_of_play(state, WIDTH - 24, 38)


def _draw_view(state: State, window: Window) -> Iterator[str]:
    """Draw the ship in one window: sea, hands, hull, cargo and what fell."""
    frame, ship = window.frame, Ship(state.table, window.frame)
    load, fallen = captions.newest_load(state)
    places = load.hands_mm if load else ()
    yield f'<g clip-path="url(#riffraff-{window.view.name})">'
    if window.view is ABOVE:
        yield window.box('fill="url(#riffraff-sea)"')
        yield from hands(frame, places)
    else:
        yield from _draw_sea(window, ship)
    yield ship.hull()
    yield from _draw_cargo(state, frame, ship)
    yield from (reaches if window.view is ABOVE else hands)(frame, places)
    yield from splashes(frame, fallen)
    yield from (_draw_names(window) if window.view is ABOVE else _draw_captions(window))
    yield "</g>"
    yield window.box(f'{_ROUNDED} fill="none" stroke="{svg.LINE}"')


def _draw_sea(window: Window, ship: Ship) -> Iterator[str]:
    """Draw sky, rod and ball, and the sea over them."""
    surface, middle = window.surface, window.frame.origin[0]
    yield window.box('fill="url(#riffraff-sky)"')
    yield svg.segment((middle, window.top), (middle, surface), "#b9a98c", 0.8, 'stroke-dasharray="2 5"')
    yield ship.under_water()
    sea, depth = 'fill="url(#riffraff-sea)" fill-opacity="0.75"', window.top + window.height - surface
    yield svg.box(window.left, surface, window.width, depth, sea)
    yield waves(surface, window.left, window.left + window.width)


def _draw_cargo(state: State, frame: Frame, ship: Ship) -> Iterator[str]:
    """Draw cargo among mast and yards, from the farthest to the nearest, then the ids."""
    newest = state.last[-1].id if state.last and state.pending is None else None
    pieces = svg.project_pieces(state.table.cargo, frame.view)
    rigging = ship.rigging()
    layers = [*rigging, *svg.piece_layers(pieces, frame, newest)]
    yield from (layer.ink for layer in sorted(layers, key=lambda layer: layer.depth))
    if state.pending is not None:
        piece = svg.symbol(kind_of(state.pending), _held_pose(state.table, state.pending, state.active_area), frame)
        yield f'<g class="held" opacity="0.65">{piece}</g>'
    if frame.view is not ABOVE:
        yield from svg.labels(pieces, rigging, frame)


def _held_pose(table: ShipAtRest, load: Load, area: Area) -> Pose:
    """Return the pose of the piece that is about to be lowered, under the next yard above its area."""
    kind, level = kind_of(load), level_of(area, table)
    rotation = rotation_of(kind, cast(Face, load.face), load.yaw_deg)
    low, high = extents(kind, rotation)
    v_m = load.v_mm / 1000
    height = room_between(area, table, (v_m + low[1], v_m + high[1])) - high[2] - _GAP_M
    return (*level.to_table((load.u_mm / 1000, v_m, height)), *multiply(level.rotation, rotation))


def _draw_names(window: Window) -> Iterator[str]:
    """Name the view from above and its sides."""
    right, top = window.left + window.width - 14, window.top + 24
    yield words((window.left + 14, top), "from above", 14, f"{BOLD} {ink(SHEET)}")
    bottom = window.top + window.height
    for text, y in (("bow", window.top + window.height / 2 + 4), ("port", top), ("starboard", bottom - 14)):
        yield words((right, y), text, 11, f"{END} {ink(SHEET)}")


def _draw_captions(window: Window) -> Iterator[str]:
    """Name the view and its sides."""
    left, right, top = window.left + 14, window.left + window.width - 14, window.top + 24
    names = ("from the bow", "starboard", "port") if window.view is FRONT else ("from starboard", "stern", "bow")
    yield words((left, top), names[0], 14, f"{BOLD} {ink(INK)}")
    yield words((left, window.surface - 10), names[1], 11, ink(svg.FADED))
    yield words((right, window.surface - 10), names[2], 11, f"{END} {ink(svg.FADED)}")


def _draw_last_load(last: Loaded) -> Iterator[str]:
    """Describe under water the last load, and the pieces that fell with their fates."""
    top = _FRONT.surface + 34
    lines = (
        f"seat {last.seat} loaded {last.id}",
        f"a {last.kind}, {last.load.face}, on area {last.area}",
    )
    for row, text in enumerate(lines):
        yield words((_FRONT.left + 14, top + 16 * row), text, 12, ink(SHEET))
    yield from _draw_fates(last.fallen, _SIDE.left + 14, top)


def _draw_fates(fallen: Sequence[Fallen], left: float, top: float) -> Iterator[str]:
    """Describe the number of falls and their fates: with names, or only with numbers if there are too many."""
    yield words((left, top), f"{len(fallen)} fell" if fallen else "nothing fell", 12, f"{BOLD} {ink(SHEET)}")
    groups = _lines_by_fate(fallen, lambda piece: f"{piece.id} {piece.kind}")
    if sum(len(lines) for _, lines in groups) > _LINES:
        groups = _lines_by_fate(fallen, lambda piece: piece.kind)
    row = 1
    for fate, lines in groups:
        yield svg.circle((left + 5, top + 16 * row - 4), 4.5, svg.FATES[fate], f'stroke="{SHEET}"')
        for line in lines:
            yield words((left + 16, top + 16 * row), line, 11, ink(SHEET))
            row += 1


def _lines_by_fate(fallen: Sequence[Fallen], name: Callable[[Fallen], str]) -> list[tuple[str, list[str]]]:
    """Return the lines about each fate; equal names are counted."""
    groups = []
    for fate, text in (("removed", "caught"), ("returned", "caught alone"), ("to_supply", "not caught")):
        counts = Counter(name(piece) for piece in fallen if piece.fate == fate)
        if counts:
            names = ", ".join(f"{word} x{number}" if number > 1 else word for word, number in counts.items())
            groups.append((fate, wrap(f"{text}: {names}", _COLUMNS)))
    return groups
