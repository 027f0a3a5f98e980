"""A position drawn as SVG for a page.

Rule: shows what lies on the table and decides nothing.
"""

from arena.games.shanghaien.cards import COLOURS, NATIONS, Card, is_sailor, nation_of
from arena.games.shanghaien.state import State
from arena.games.shanghaien.turns import scores_of
from arena.games.shanghaien.view import account, heading, places, side_lines

_SEAT_COLOURS = ("#3050b0", "#b03030")
_SCORE_COLUMNS = {"seat 0": 240, "seat 1": 320, "points 0": 440, "points 1": 520}
"""Right ends of the columns, in px."""


def picture(state: State) -> str:
    """An SVG of the row, 6 cards of 90 x 120 px; seat 1 with its dice sits above it, seat 0 below.

    The dice just rolled lie in the upper right corner. At the end of the game there is a table of the points instead.
    With expansions a player can hold so many kinds of tricks that the line about them needs a wider picture.
    """
    width = 800 if state.variant.expansions else 640
    size = f'width="{width}" height="300" viewBox="0 0 {width} 300"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">',
        f'<rect width="{width}" height="300" fill="white"/>',
        _text(20, 20, 14, heading(state)),
    ]
    parts += _score_table(state) if state.phase == "over" else _table(state, right=width - 20)
    return "\n".join([*parts, "</svg>"])


def _table(state: State, *, right: int) -> list[str]:
    parts = _rolled(state, right=right)
    for index, (card, number, dice) in enumerate(places(state)):
        left = 20 + index * 102
        parts += _card(left, card, state.variant.faces[card], str(number or "?"))
        for seat, top in ((1, 80), (0, 228)):
            parts += [_square(left + 15 * die, top, _SEAT_COLOURS[seat]) for die in range(dice[seat])]
    for seat, top in ((1, 46), (0, 262)):
        holds, crew = side_lines(state, state.players[seat])
        fill = f' fill="{_SEAT_COLOURS[seat]}"'
        parts += [_text(20, top, 12, f"seat {seat}: {holds}", fill), _text(20, top + 18, 12, crew, fill)]
    return parts


def _score_table(state: State) -> list[str]:
    """A row a nation with its colour: what each seat has, and in bold what it scores."""
    parts = [
        _text(x, 50, 12, column, f' text-anchor="end" fill="{_SEAT_COLOURS[int(column[-1])]}"')
        for column, x in _SCORE_COLUMNS.items()
    ]
    rows: list[tuple[str, tuple[int | None, ...]]] = [*account(state), ("together", (None, None, *scores_of(state)))]
    for row, (name, numbers) in enumerate(rows, start=1):
        y = 50 + 22 * row
        parts += [_square(20, y - 11, COLOURS[name])] if name in COLOURS else []
        parts.append(_text(44, y, 13, name))
        for (column, x), number in zip(_SCORE_COLUMNS.items(), numbers, strict=True):
            weight = "bold" if column.startswith("points") else "normal"
            style = f' font-weight="{weight}" text-anchor="end"'
            parts += [] if number is None else [_text(x, y, 13, str(number or "-"), style)]
    return parts


def _rolled(state: State, *, right: int) -> list[str]:
    """The dice that lie there, in the colour of the seat to move."""
    colour = _SEAT_COLOURS[state.to_move]
    parts = []
    for index, face in enumerate(state.dice):
        left = right - 24 * (len(state.dice) - index) + 4
        parts += [
            f'<rect x="{left}" y="6" width="20" height="20" rx="4" fill="white" stroke="{colour}" stroke-width="2"/>',
            _text(left + 10, 21, 14, str(face), f' text-anchor="middle" fill="{colour}"'),
        ]
    return parts


def _card(left: int, card: Card, face: str, number: str) -> list[str]:
    """Black on white with a border in the nation's colour: light colours would make white text unreadable."""
    colour = COLOURS[NATIONS[nation_of(card)]] if is_sailor(card) else "#3a3a3a"
    frame = f'<rect x="{left + 3}" y="103" width="84" height="114" rx="8" fill="white" stroke="{colour}"'
    middle = ' text-anchor="middle"'
    return [
        f'{frame} stroke-width="6"/>',
        _text(left + 45, 150, 12, face, middle),
        _text(left + 45, 200, 22, number, middle),
    ]


def _text(x: int, y: int, size_px: int, text: str, style: str = "") -> str:
    return f'<text x="{x}" y="{y}" font-size="{size_px}"{style}>{text}</text>'


def _square(x: int, y: int, colour: str) -> str:
    return f'<rect x="{x}" y="{y}" width="13" height="13" rx="3" fill="{colour}"/>'
