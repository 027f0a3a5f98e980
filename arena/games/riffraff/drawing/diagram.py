"""A position as text for a terminal: the ship from two sides, its cargo, the players and the last placements.

Rule: shows what lies on the table and decides nothing. Lines are at most 80 characters long; a character stands for 7
x 10 mm of a view. The ship stands upright here even if it heels, for then the deck falls on a whole line; its yards are
tipped as they lie on it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from arena.games.api import SHORT_NAME_MAX, Seat, with_names
from arena.games.riffraff import scene
from arena.games.riffraff.drawing import captions
from arena.games.riffraff.drawing.projection import FRONT, SIDE, Outline, View, chord, piece_solids, solid
from arena.games.riffraff.geometry import area_of, inverse, multiply, rotate, ship_rotation, split, yard_frame
from arena.games.riffraff.scene import KINDS, Kind
from arena.games.riffraff.state import CARDS, Fallen, Loaded, Player, State
from arena.games.riffraff.table import Piece, Pose, ShipAtRest
from arena.text import shorten, wrap_lines

_COLUMNS: Final = 80


def describe(state: State, names: Sequence[str] = ()) -> str:
    """Describe the position for an audience that sees everything, also the cards just played; no newline at the end."""
    load, fallen = captions.newest_load(state)
    names = [shorten(name, SHORT_NAME_MAX) for name in names]
    lines = [captions.title(state), "", *silhouettes(state.table, load.hands_mm if load else (), fallen), ""]
    lines += [_legend(state), "", *_cargo_lines(state, names), "", *_seat_lines(state, names), *_notes(state, names)]
    if state.last:
        lines += ["", *(line for loaded in state.last for line in _loaded_lines(loaded))]
    return wrap_lines(with_names("\n".join(line.rstrip() for line in lines), names), _COLUMNS)


def _legend(state: State) -> str:
    """Return the letters of the kinds, and how ship and yards lean, as lines of one text."""
    heel = captions.heel(math.degrees(state.table.roll))
    trim = captions.trim(math.degrees(state.table.pitch))
    letters = "  ".join(f"{letter} {kind}" for kind, letter in LETTERS.items())
    tips = captions.tips(state.table.yards)
    return f"{letters}\nheel {heel}, trim {trim}; drawn upright\nyards, lowest first: {tips}"


def _cargo_lines(state: State, names: Sequence[str]) -> list[str]:
    """List the pieces on each area, as number, kind and the player who loaded it."""
    cargo = [(area_of(piece, state.table), piece) for piece in state.table.cargo]
    rows = []
    for area in sorted({area for area, _ in cargo}):
        pieces = [
            f"{piece.id} {piece.kind} ({names[piece.by] if names else piece.by})"
            for piece_area, piece in cargo
            if piece_area == area
        ]
        rows += _fold_words(f"  area {area:>2}  ", pieces)
    return ["on board, by area, with the player who loaded each piece:", *rows] if rows else ["nothing on board"]


def _fold_words(head: str, words: list[str]) -> list[str]:
    """Return words behind a head, folded to lines; later lines are indented."""
    lines = [head]
    for number, word in enumerate(words):
        text = word if number == len(words) - 1 else f"{word}, "
        if len(lines[-1]) + len(text.rstrip()) > _COLUMNS:
            lines.append(" " * len(head))
        lines[-1] += text
    return lines


def _seat_lines(state: State, names: Sequence[str]) -> list[str]:
    """Return a line for each player under a head: card, hand, pieces caught and left, supply."""
    kinds = "".join(f"{LETTERS[kind]:>2}" for kind in KINDS)
    labels = [f"{seat} {names[seat] if names else ''}".rstrip() for seat in range(len(state.players))]
    width = max(len(label) for label in (*labels, "seat"))
    head = f"  {'seat':<{width}}{'card':>6}  {'hand':<20}{'caught':>8}{'left':>6} {kinds}"
    rows = zip(labels, state.players, strict=True)
    return [head, *(_seat_row(state, Seat(seat), f"{label:<{width}}", side) for seat, (label, side) in enumerate(rows))]


def _seat_row(state: State, seat: Seat, label: str, player: Player) -> str:
    """Return the line of a player, with a mark if they are to move."""
    mark = ">" if captions.mover(state) == seat else " "
    hand = " ".join(str(card) if card in player.hand else "." for card in CARDS)
    supply = "".join(f"{count or '-':>2}" for count in player.supply)
    card = player.card or "-"
    return f"{mark} {label}{card:>6}  {hand:<20}{player.removed:>8}{player.pieces:>6} {supply}"


def _notes(state: State, names: Sequence[str]) -> list[str]:
    """List the order of play and the pieces out of the game, if there are any."""
    removed = [f"{kind} x{count}" for kind, count in zip(KINDS, state.removed, strict=True) if count]
    order = [names[seat] if names else str(seat) for seat in state.order]
    notes = [f"order of play: {', '.join(order)}"] if order else []
    return [*notes, f"out of the game: {', '.join(removed)}"] if removed else notes


def _loaded_lines(loaded: Loaded) -> list[str]:
    """Describe a placement: the load, how the ship came to rest, and each piece that fell."""
    head = f"{loaded.id} of seat {loaded.seat} on area {loaded.area}: {loaded.load}"
    lines = [head, f"  {captions.settling(loaded)}"]
    for fallen in loaded.fallen:
        place = f"x {fallen.x_mm:.0f} y {fallen.y_mm:.0f}"
        lines.append(f"  {fallen.id} {fallen.kind} fell at {place}: {captions.fate(fallen, f'seat {loaded.seat}')}")
    return lines


LETTERS: Final[Mapping[Kind, str]] = dict(zip(KINDS, "CBOXPLRS", strict=True))
"""The letter of a kind in the diagram."""
_COLUMN_M: Final = 0.007
_ROW_M: Final = 0.010
_TOP_M: Final = 0.345
_BOTTOM_M: Final = -0.025
"""Deck and yards end 5 mm above a whole centimetre, and so do the lines."""
_HALF_COLUMNS: Final[Mapping[str, int]] = {"front": 22, "side": 17}
_ROW_SAMPLES: Final = (0.2, 0.5, 0.8)
"""Heights within a line at which it is looked at; a plank lying flat fills more than half of one."""
_COLUMN_MARGIN: Final = 0.25
"""The part of a column that may be free when it counts as filled."""
_NUMBER_COLUMNS: Final = 3


Hands = Sequence[tuple[float, float]]


class Canvas:
    """A grid of characters; places are given in m, upwards and rightwards positive."""

    def __init__(self, view: View) -> None:
        self._half = _HALF_COLUMNS[view.name]
        self._rows = round((_TOP_M - _BOTTOM_M) / _ROW_M)
        self._cells = [[" "] * (2 * self._half) for _ in range(self._rows)]

    def fill(self, left: float, right: float, bottom: float, top: float, letter: str) -> None:
        """Fill every cell whose centre lies in the rectangle."""
        for row, cells in enumerate(self._cells):
            if bottom <= self._height(row, 0.5) <= top:
                for column in range(len(cells)):
                    if left <= (column - self._half + 0.5) * _COLUMN_M <= right:
                        cells[column] = letter

    def paint(self, outline: Outline, letter: str) -> set[tuple[int, int]]:
        """Fill every cell that the outline covers at one of three heights; return these cells."""
        heights = [v for _, v in outline]
        touched: set[tuple[int, int]] = set()
        for row in range(max(self.row(max(heights)), 0), min(self.row(min(heights)), self._rows - 1) + 1):
            for part in _ROW_SAMPLES:
                ends = chord(outline, self._height(row, part))
                if ends is not None:
                    touched.update((row, column) for column in self._columns(*ends))
        for row, column in touched:
            self._cells[row][column] = letter
        return touched

    def write(self, row: int, column: int, word: str) -> None:
        """Put a word over what is there."""
        self._cells[row][column : column + len(word)] = word

    def lines(self) -> list[str]:
        """Return the lines from the top to the bottom."""
        return ["".join(cells) for cells in self._cells]

    def row(self, height: float) -> int:
        """Return the line in which a height lies."""
        return math.floor((_TOP_M - height) / _ROW_M)

    def column(self, at: float) -> int:
        """Return the column in which a place lies, kept within the canvas."""
        return min(max(math.floor(at / _COLUMN_M) + self._half, 0), 2 * self._half - 1)

    def _columns(self, left: float, right: float) -> range:
        """Return the columns that are filled between two places, as far as the canvas goes."""
        first = math.ceil(left / _COLUMN_M - 1 + _COLUMN_MARGIN) + self._half
        last = math.floor(right / _COLUMN_M - _COLUMN_MARGIN) + self._half
        return range(max(first, 0), min(last, 2 * self._half - 1) + 1)

    def _height(self, row: int, part: float) -> float:
        """Return the height of a part (0 to 1, from the top) of a line."""
        return _TOP_M - (row + part) * _ROW_M


def silhouettes(table: ShipAtRest, hands_mm: Hands, fallen: Sequence[Fallen]) -> list[str]:
    """Draw front view and side view beside each other, under a line that says which is which."""
    front, side = (_view_lines(table, view, hands_mm, fallen) for view in (FRONT, SIDE))
    width = len(front[0])
    empty = next(number for number, pair in enumerate(zip(front, side, strict=True)) if "".join(pair).strip())
    head = [
        f"{'starboard':<{width // 2 - 5}}from the bow{'port':>{width // 2 - 7}}",
        f"{'stern':<{len(side[0]) // 2 - 7}}from starboard{'bow':>{len(side[0]) // 2 - 7}}",
    ]
    rows = [head, *([left, right] for left, right in zip(front[empty:], side[empty:], strict=True))]
    return [f"{left}  {right}".rstrip() for left, right in rows]


def _view_lines(table: ShipAtRest, view: View, hands_mm: Hands, fallen: Sequence[Fallen]) -> list[str]:
    """Return the lines of a view of the ship: rig, sea and cargo."""
    canvas = Canvas(view)
    _draw_rig(canvas, view, table)
    _draw_sea(canvas, _axis_to_right(view), hands_mm, fallen)
    _draw_cargo(canvas, view, table)
    return canvas.lines()


def _axis_to_right(view: View) -> int:
    """Return the axis of the ship frame that runs to the right."""
    return 1 if view is FRONT else 0


def _draw_rig(canvas: Canvas, view: View, table: ShipAtRest) -> None:
    """Draw mast, hull and yards."""
    axis = _axis_to_right(view)
    canvas.fill(-scene.MAST_RADIUS_M, scene.MAST_RADIUS_M, scene.CATCH_PLANE_M, scene.MAST_TOP_M, "|")
    half = scene.HULL_HALF_M[axis]
    canvas.fill(-half, half, scene.DECK_TOP_M - 2 * scene.HULL_HALF_M[2], scene.DECK_TOP_M, "#")
    for number, spar in enumerate(scene.YARD_SPARS):
        turn, shift = yard_frame(number, table)
        canvas.paint(solid(spar, shift, turn, view).outline, "=")


def _draw_sea(canvas: Canvas, axis: int, hands_mm: Hands, fallen: Sequence[Fallen]) -> None:
    """Draw the catch plane as water, with the hands in it and what fell."""
    canvas.fill(-1, 1, _BOTTOM_M, _BOTTOM_M + _ROW_M, "~")
    row = canvas.row(scene.CATCH_PLANE_M)
    for hand in hands_mm:
        at = hand[axis] / 1000
        left, right = canvas.column(at - scene.HAND_RADIUS_M), canvas.column(at + scene.HAND_RADIUS_M)
        canvas.write(row, left, "\\" + "_" * (right - left - 1) + "/")
    for piece in fallen:
        place = (piece.x_mm, piece.y_mm)[axis] / 1000
        canvas.write(row, canvas.column(place), LETTERS[piece.kind])


def _draw_cargo(canvas: Canvas, view: View, table: ShipAtRest) -> None:
    """Draw the pieces from the farthest to the nearest, then the number of each where it can be read."""
    upright = [(piece, pose_on_ship(piece, table)) for piece in table.cargo]
    seen: dict[tuple[int, int], Piece] = {}
    for piece, pose in sorted(upright, key=lambda pair: view.depth(pair[1][:3])):
        for part in piece_solids(piece.kind, pose, view):
            seen |= dict.fromkeys(canvas.paint(part.outline, LETTERS[piece.kind]), piece)
    for piece in table.cargo:
        _write_number(canvas, piece, [cell for cell, owner in seen.items() if owner is piece])


def _write_number(canvas: Canvas, piece: Piece, cells: list[tuple[int, int]]) -> None:
    """Write the digits of the piece's id in its longest line, if that leaves room for a letter beside them."""
    runs = sorted(_runs_of_cells(cells), key=lambda run: (len(run), run[0]), reverse=True)
    digits = piece.id[1:]
    if runs and len(runs[0]) >= max(_NUMBER_COLUMNS, len(digits) + 1):
        longest = [run for run in runs if len(run) == len(runs[0])]
        run = longest[len(longest) // 2]
        row, column = run[(len(run) - len(digits) + 1) // 2]
        canvas.write(row, column, digits)


def _runs_of_cells(cells: Iterable[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Group cells that lie side by side in one line."""
    runs: list[list[tuple[int, int]]] = []
    for cell in sorted(cells):
        if runs and runs[-1][-1] == (cell[0], cell[1] - 1):
            runs[-1].append(cell)
        else:
            runs.append([cell])
    return runs


def pose_on_ship(piece: Piece, table: ShipAtRest) -> Pose:
    """Return the pose of a piece in the frame of the ship."""
    place, rotation = split(piece.pose)
    back = inverse(ship_rotation(table))
    return (*rotate(back, place), *multiply(back, rotation))
