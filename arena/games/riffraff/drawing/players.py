"""The players as SVG: supply, cards and catch of each; and the kinds of cargo with their signs.

Rule: a state's players and counters are enough; nothing here knows poses.
"""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Final

from arena.games.api import Seat
from arena.games.riffraff.drawing import captions, svg
from arena.games.riffraff.drawing.cargo import Frame, symbol
from arena.games.riffraff.drawing.projection import View, piece_solids
from arena.games.riffraff.drawing.svg import BADGE, BOLD, MIDDLE
from arena.games.riffraff.geometry import about
from arena.games.riffraff.scene import KINDS, Kind
from arena.games.riffraff.state import CARDS, Phase, Player, State
from arena.games.riffraff.table import Pose

CARD_WIDTH: Final = 316
CARD_HEIGHT: Final = 104
_SIGN_PX: Final = 36
_SIGN_M: Final = 0.036
"""Smaller kinds have smaller signs."""
_FAINT: Final = 0.16
"""For the sign of a kind that a player has none of."""
_TURNED: Final[dict[Kind, float]] = {"plank": -35, "sailor": -20}


def _slant() -> View:
    """From before the starboard bow and a little above: three sides of a box are seen."""
    turn, rise = math.radians(-28), math.radians(26)
    s, c, up, flat = math.sin(turn), math.cos(turn), math.sin(rise), math.cos(rise)
    return View("slant", (c, s, 0.0), (s * up, -c * up, flat), (s * flat, -c * flat, up))


def _signs() -> Iterator[str]:
    """Every kind as a sign about the origin, `_SIGN_PX` wide or high."""
    view = _slant()
    for kind in KINDS:
        turn = about("z", _TURNED.get(kind, 0))
        pose: Pose = (0.0, 0.0, 0.0, *turn)
        solids = piece_solids(kind, pose, view)
        hs, vs = ([point[axis] for each in solids for point in each.outline] for axis in (0, 1))
        scale = _SIGN_PX / max(max(hs) - min(hs), max(vs) - min(vs), _SIGN_M)
        middle = (-scale * (max(hs) + min(hs)) / 2, scale * (max(vs) + min(vs)) / 2)
        yield f'<g id="{BADGE.format(kind)}">{symbol(kind, pose, Frame(view, middle, scale))}</g>'


SIGN_DEFINITIONS: Final = "".join(_signs())
"""Definitions of the signs, to be used by name."""


def sign(kind: str, x: float, y: float, scale: float) -> str:
    """The sign of a kind about a point."""
    return f'<use href="#{BADGE.format(kind)}" transform="translate({x:g} {y:g}) scale({scale:g})"/>'


def seats(state: State, left: float, top: float, step: float) -> Iterator[str]:
    """A card for every player, one below the other."""
    for seat, player in enumerate(state.players):
        yield f'<g transform="translate({left:g} {top + step * seat:g})">'
        yield from _seat(state, Seat(seat), player)
        yield "</g>"


def _seat(state: State, seat: Seat, player: Player) -> Iterator[str]:
    moves = captions.mover(state) == seat
    won = state.phase is Phase.OVER and seat in captions.winners(state)
    edge, width = (svg.ACCENT, 2.5) if moves else (svg.BRASS, 2.5) if won else (svg.LINE, 1)
    yield svg.box(0, 0, CARD_WIDTH, CARD_HEIGHT, f'rx="8" fill="{svg.SHEET}" stroke="{edge}" stroke-width="{width}"')
    yield svg.circle((24, 24), 14, svg.SEAT_COLOURS[seat])
    yield svg.words((24, 29.5), seat, 16, f"{MIDDLE} {BOLD} {svg.ink('#ffffff')}")
    yield svg.words((46, 21), f"seat {seat}", 14, f"{BOLD} {svg.ink(svg.INK)}")
    notes = f"{_count(player.pieces)} left" + (f", {player.removed} caught" if player.removed else "")
    yield svg.words((46, 36), notes, 11, svg.ink(svg.FADED))
    if seat == state.captain:
        yield _wheel(110, 15.5)
        yield svg.words((124, 20), "captain", 12, f"{svg.ink(svg.BRASS)} {BOLD}")
    if won:
        yield svg.words((236, 29), "wins", 15, f"{svg.ink(svg.BRASS)} {BOLD} {MIDDLE}")
    yield from _played(player)
    yield from _hand(player, svg.SEAT_COLOURS[seat])
    for column, (kind, count) in enumerate(zip(KINDS, player.supply, strict=True)):
        x = 24 + column * 38
        yield f'<g opacity="{1 if count else _FAINT}">{sign(kind, x, 78, 0.72)}</g>'
        if count > 1:
            yield svg.circle((x + 12, 91), 7.5, svg.INK)
            yield svg.words((x + 12, 94.5), count, 10, f"{MIDDLE} {BOLD} {svg.ink('#ffffff')}")


def _count(pieces: int) -> str:
    return "1 piece" if pieces == 1 else f"{pieces} pieces"


def _played(player: Player) -> Iterator[str]:
    """The card of this round as a playing card, face up for the audience."""
    if player.card is None:
        yield svg.box(276, 7, 28, 38, f'rx="4" stroke="{svg.LINE}" stroke-dasharray="3 2" fill="none"')
        return
    yield svg.box(276, 7, 28, 38, f'rx="4" stroke="{svg.INK}" fill="#ffffff"')
    yield svg.words((290, 32.5), player.card, 17, f'{MIDDLE} {BOLD} {svg.ink(svg.INK)} font-family="{svg.SERIF}"')


def _hand(player: Player, colour: str) -> Iterator[str]:
    """Cards one to ten; those already played are blanks."""
    for index, card in enumerate(CARDS):
        left = 12 + index * 22.5
        fill, edge, text = (colour, colour, "#ffffff") if card in player.hand else ("none", svg.LINE, svg.LINE)
        yield svg.box(left, 46, 19, 13, f'rx="3" fill="{fill}" stroke="{edge}"')
        yield svg.words((left + 9.5, 56), card, 9.5, f"{MIDDLE} {svg.ink(text)}")


def _wheel(x: float, y: float) -> str:
    """A ship's wheel."""
    spokes = (
        svg.segment((x + 2 * c, y + 2 * s), (x + 9 * c, y + 9 * s), svg.BRASS, 1.5)
        for c, s in ((math.cos(step * math.pi / 4), math.sin(step * math.pi / 4)) for step in range(8))
    )
    ring = f'stroke="{svg.BRASS}" stroke-width="1.6"'
    return "".join(spokes) + svg.circle((x, y), 6, "none", ring) + svg.circle((x, y), 2, svg.BRASS)


def legend(state: State, left: float, top: float, step: float) -> Iterator[str]:
    """Every kind with its name, and how many are on board and out of the game."""
    aboard = Counter(piece.kind for piece in state.table.cargo)
    for column, (kind, out) in enumerate(zip(KINDS, state.removed, strict=True)):
        x = left + column * step
        yield sign(kind, x + 20, top + 24, 0.95)
        yield svg.words((x + 43, top + 18), kind, 12, f"{BOLD} {svg.ink(svg.INK)}")
        notes = [f"{aboard[kind]} on board"] if aboard[kind] else []
        notes += [f"{out} out"] if out else []
        for row, note in enumerate(notes or ["-"]):
            yield svg.words((x + 43, top + 31 + 12 * row), note, 10, svg.ink(svg.FADED))


def order_of_play(state: State, right: float, y: float) -> Iterator[str]:
    """Seats in order of play, the one whose turn it is in a ring."""
    for index, seat in enumerate(reversed(state.order)):
        x = right - 14 - index * 38
        if captions.mover(state) == seat:
            yield svg.circle((x, y), 15, "none", f'stroke="{svg.ACCENT}" stroke-width="2.5"')
        yield svg.circle((x, y), 11, svg.SEAT_COLOURS[seat])
        yield svg.words((x, y + 4.5), seat, 13, f"{MIDDLE} {BOLD} {svg.ink('#ffffff')}")
        if index < len(state.order) - 1:
            yield svg.segment((x - 23, y), (x - 15.5, y), svg.FADED, 1.5)
    if state.order:
        left = right - 26 - 38 * (len(state.order) - 1) - 8
        yield svg.words((left, y + 4), "order of play", 11, f"{svg.END} {svg.ink(svg.FADED)}")
