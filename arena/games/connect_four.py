"""Connect Four: discs fall into seven columns of six; four discs of one player in a row win.

A state is two numbers, the discs of each seat. Bit 7 c + r is row r of column c, both from 0; the seventh bit of each
column stays empty, so that no row of four runs over the edge of the board.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, Final

import msgspec

from arena.games.api import Decision, Json, Number, Outcome, Over, Seat, Turn, ranks_by_score, with_names
from arena.games.base import BaseGame, NoOptions
from arena.games.drawing import MIDDLE, document, token, words

COLUMNS: Final = 7
ROWS: Final = 6
_FULL: Final = sum(1 << 7 * column + row for column in range(COLUMNS) for row in range(ROWS))
_COLOURS: Final[dict[str, int | str]] = {"x": 0, "o": 1, ".": "#e4e8ec"}


class Drop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The action to drop a disc into that column, 0 to 6 from the left; people count from 1."""

    column: Number

    def __str__(self) -> str:
        return f"drops into column {self.column + 1}"


class State(msgspec.Struct, frozen=True):
    """The discs of each seat, the seat that moves next, and the last disc, 0 before the first."""

    discs: tuple[int, int] = (0, 0)
    to_move: Seat = Seat(0)
    last: int = 0


class ConnectFour(BaseGame):
    """The game as `arena.games.api.Game` asks for it; `BaseGame` does the rest."""

    name: ClassVar[str] = "connect_four"
    rules_version: ClassVar[str] = "1"
    seat_counts: ClassVar[tuple[int, ...]] = (2,)
    summary: ClassVar[str] = "Drop a disc into a column. Four of your own in a row, a column or a diagonal win."
    action_type = Drop

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        """Return the empty board."""
        self.read_options(options, seats, NoOptions)
        return State()

    def turn(self, state: State) -> Turn:
        """Let seats move in turn, until one has four in a row or the board is full."""
        if sum(state.discs) == _FULL or _fours(state.discs[1 - state.to_move]):
            return Over()
        return Decision((state.to_move,))

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        """Return the rows from the top, `x` for seat 0 and `o` for seat 1: nothing is hidden."""
        return {"you": seat, "to_move": state.to_move, "board": _rows(state)}

    def legal(self, state: State, seat: Seat) -> tuple[Drop, ...]:
        """Return the columns that have room, from the left."""
        free = ~sum(state.discs) if seat == state.to_move else 0
        return tuple([Drop(column) for column in range(COLUMNS) if free >> 7 * column + ROWS - 1 & 1])

    def all_actions(self, _options: Mapping[str, Json], _seats: int) -> tuple[Drop, ...]:
        """Return all columns."""
        return tuple(map(Drop, range(COLUMNS)))

    @staticmethod
    def encode(view: Json) -> Json:
        """Encode the seat's discs, the other's, and free cells: three times 6 x 7 numbers, 1 where they are."""
        return [float(cell == kind) for kind in ("xo.", "ox.")[view["you"]] for cell in "".join(view["board"])]

    def apply(self, state: State, actions: Mapping[Seat, Drop]) -> State:
        """Drop the disc on the lowest free row."""
        bottom = 1 << 7 * actions[state.to_move].column
        in_column = sum(state.discs) & bottom * ((1 << ROWS) - 1)
        discs = list(state.discs)
        discs[state.to_move] |= in_column + bottom
        return State((discs[0], discs[1]), Seat(1 - state.to_move), last=in_column + bottom)

    def outcome(self, state: State) -> Outcome:
        """Score 1 for four in a row, and 1/2 each on a full board without it."""
        share = Fraction(1) if _fours(state.discs[1 - state.to_move]) else Fraction(1, 2)
        scores = (share, 1 - share) if state.to_move == 1 else (1 - share, share)
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def describe(self, state: State, names: Sequence[str] = ()) -> str:
        """Describe the board, with the numbers of its columns."""
        title = "the game is over" if isinstance(self.turn(state), Over) else f"seat {state.to_move} to move"
        rows = [" ".join(row) for row in [*_rows(state), "1234567"]]
        return "\n".join([with_names(f"{title} (x is seat 0, o is seat 1)", names), *rows])

    def picture(self, state: State) -> str:
        """Draw the board; a dark edge marks the last disc, or the four in a row."""
        marked = _fours(state.discs[1 - state.to_move]) or [state.last]
        parts = [words(40 * column + 24, 20, column + 1, more=MIDDLE) for column in range(COLUMNS)]
        parts += [words(8 + 144 * seat, 290, f"{'xo'[seat]} seat {seat}", size=13, colour=seat) for seat in (0, 1)]
        for row, cells in enumerate(_rows(state)):
            for column, cell in enumerate(cells):
                x, y, disc = 40 * column + 6, 40 * row + 30, 1 << 7 * column + ROWS - 1 - row
                parts += [token(x - 3, y - 3, size=42)] if any(disc & four for four in marked) else []
                parts.append(token(x, y, cell.strip("."), colour=_COLOURS[cell], size=36))
        return document(288, 300, parts)


def _fours(discs: int) -> list[int]:
    """Return the discs of each four in a row: a column goes up by 1, a row by 7, the diagonals by 6 and 8."""
    firsts = [(step, discs & discs >> step & discs >> 2 * step & discs >> 3 * step) for step in (1, 6, 7, 8)]
    return [first << step * place for step, first in firsts for place in range(4) if first]


def _rows(state: State) -> list[str]:
    """Return the board as text, a row a line from the top."""
    first, second = state.discs
    cells = ["x" if first >> bit & 1 else "o" if second >> bit & 1 else "." for bit in range(7 * COLUMNS)]
    return ["".join(cells[row::7]) for row in reversed(range(ROWS))]


GAME: Final = ConnectFour()
