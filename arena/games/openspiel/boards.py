"""Pictures of OpenSpiel's board games, drawn from its own text of a state; other games stay text.

Rule: a board is a line of `_BOARDS`, by OpenSpiel's name of the game. Black and white pieces keep their colours, and a
line below the board names their seats.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from arena.games.drawing import INK, MIDDLE, PAPER, die, document, grid, token, words

_SIZE: Final = 32
_LEFT: Final = 32
_TOP: Final = 40
_STONES: Final = ("#20242a", PAPER)
_CHESSMEN: Final = dict(zip("pnbrqk", "♟♞♝♜♛♚", strict=True))
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


class _Board(NamedTuple):
    """The pieces of both seats and an empty place as OpenSpiel writes them, and how they look.

    `letters` of the columns; `stones`: the colours of the pieces, if they are not those of the seats; `has_points`:
    they stand where lines cross.
    """

    first: str
    second: str
    empty: str = "."
    letters: str = ""
    stones: tuple[str, str] | None = None
    has_points: bool = False


_BOARDS: Final = {
    "breakthrough": _Board("b", "w", letters=_LETTERS, stones=_STONES),
    "chess": _Board("pnbrqk", "PNBRQK", letters=_LETTERS, stones=_STONES),
    "connect_four": _Board("x", "o"),
    "go": _Board("X", "O", "+", "ABCDEFGHJKLMNOPQRST", _STONES, has_points=True),
    "gomoku": _Board("b", "w", stones=_STONES, has_points=True),
    "lines_of_action": _Board("x", "o", letters=_LETTERS),
    "othello": _Board("x", "o", "-", _LETTERS, _STONES),
    "tic_tac_toe": _Board("x", "o"),
}


def draw_board(spiel: Any, title: str) -> str | None:
    """Return the picture of a state of OpenSpiel with a title; None if its game has no board here."""
    name, text = spiel.get_game().get_type().short_name, str(spiel)
    width, height = 2 * _LEFT + 13 * _SIZE, 450
    if name == "backgammon":
        parts = _draw_backgammon(spiel, text)
    elif (board := _BOARDS.get(name)) and (rows := _read_rows(_unfold(text) if name == "chess" else text, board)):
        width, height = 2 * _LEFT + max(220, _SIZE * len(rows[0][1])), _TOP + _SIZE * len(rows) + 88
        parts = _draw_rows(board, rows)
    else:
        return None
    return document(width, height, [words(10, 24, title), *parts], title=title, text=text)


def _unfold(fen: str) -> str:
    """Return the board of a position in FEN as OpenSpiel writes other boards."""
    ranks = re.sub(r"\d", lambda digit: "." * int(digit[0]), fen.partition(" ")[0]).split("/")
    return "\n".join(f"{8 - row}{cells}" for row, cells in enumerate(ranks))


def _read_rows(text: str, board: _Board) -> list[tuple[str, str]]:
    """Return the rows of a board from the top, each as its number and the signs of its places."""
    lines = [re.findall(r"^(\d*)(.*?)\d*$", line.replace(" ", ""))[0] for line in text.splitlines()]
    return [line for line in lines if line[1] and {*line[1]} <= {*board.first, *board.second, board.empty}]


def _draw_rows(board: _Board, rows: list[tuple[str, str]]) -> Iterator[str]:
    """Yield the board with its pieces, numbers and letters, and below it a line for each seat."""
    columns, bottom, points = len(rows[0][1]), _TOP + _SIZE * len(rows), int(board.has_points)
    corner, is_chequered = points * _SIZE / 2, len(board.first) > 1
    yield grid(_LEFT + corner, _TOP + corner, columns - points, len(rows) - points, is_chequered=is_chequered)
    for row, (number, signs) in enumerate(rows):
        yield words(_LEFT - 6, _TOP + _SIZE * row + 21, number, size=12, more='text-anchor="end"')
        for column, sign in enumerate(signs):
            yield _draw_piece(_LEFT + _SIZE * column, _TOP + _SIZE * row, sign, board)
    for column, letter in enumerate(board.letters[:columns]):
        yield words(_LEFT + _SIZE * (column + 0.5), bottom + 16, letter, size=12, more=MIDDLE)
    for seat, pieces in enumerate(board[:2]):
        yield _draw_piece(_LEFT, bottom + 20 + 32 * seat, pieces[-1], board)
        yield words(_LEFT + 40, bottom + 41 + 32 * seat, f"seat {seat}", colour=seat)


def _draw_piece(x: float, y: float, sign: str, board: _Board) -> str:
    """Draw the piece in a square: a chessman or a disc; nothing in an empty one."""
    if sign == board.empty:
        return ""
    seat = 0 if sign in board.first else 1
    colour = seat if board.stones is None else board.stones[seat]
    if len(board.first) > 1:
        more = f'{MIDDLE} stroke="{INK}" stroke-width="0.8"'
        return words(x + 16, y + 26, f"{_CHESSMEN[sign.lower()]}\ufe0e", size=28, colour=colour, more=more)
    return token(x, y, colour=seat, disc=colour)


def _draw_backgammon(spiel: Any, text: str) -> Iterator[str]:
    """Yield the points with their checkers, number 1 at the lower right, the bar, the dice, and checkers borne off."""
    bar, dice = (re.findall(rf"^{word}: (\w+)", text, re.MULTILINE) for word in ("Bar", "Dice"))
    off = re.findall(r"\b[XO]: (\d+)", text)
    yield from (die(310 + 40 * at, 6, int(face), size=28) for at, face in enumerate("".join(dice)))
    yield f'<rect x="{_LEFT}" y="{_TOP}" width="{13 * _SIZE}" height="360" fill="none" stroke="{INK}"/>'
    for point in range(24):
        column, edge, way = (point - 12, _TOP, 1) if point > 11 else (11 - point, _TOP + 360, -1)
        x = _LEFT + _SIZE * (column + column // 6)
        yield f'<path d="M{x} {edge}h{_SIZE}l-16 {way * 150}z" fill="{("#d9c7a0", "#b8c4b0")[point % 2]}"/>'
        for seat in (0, 1):
            yield from _stack(x, edge, way, spiel.board(seat, point), seat)
    for seat, sign in enumerate("xo"):
        yield from _stack(_LEFT + 6 * _SIZE, _TOP + 180, 1 - 2 * seat, "".join(bar).count(sign), seat)
        yield token(_LEFT + 200 * seat, 412, colour=seat)
        yield words(_LEFT + 40 + 200 * seat, 433, f"seat {seat}, {off[seat]} off", colour=seat)


def _stack(x: float, edge: float, way: int, count: int, seat: int) -> Iterator[str]:
    """Yield checkers from the edge on, down or up; the fifth has the number if there are more."""
    for at in range(min(count, 5)):
        number = count if at == 4 and count > 5 else ""
        yield token(x, edge + way * 30 * at - (_SIZE if way < 0 else 0), number, colour=seat)
