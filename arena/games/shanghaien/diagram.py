"""A position drawn for a person: as text for the terminal and as SVG for a page.

Rule: shows what lies on the table and decides nothing.
"""

import re
from collections import Counter

from arena.games.api import Seat
from arena.games.shanghaien.awards import final_scores
from arena.games.shanghaien.cards import COLOURS, NATIONS, Card, is_sailor, nation_of
from arena.games.shanghaien.state import ROUNDS, Phase, Player, State

_CELL = 12
_COLUMNS = 100
"""Characters in a line about a player; longer ones go on below."""
_TASKS = {(1, 1): "must place a die", (1, 2): "may place both dice", (2, 2): "must place both dice"}
"""By how many dice must be placed, and may be."""
_SEAT_COLOURS = ("#3050b0", "#b03030")


def describe(state: State) -> str:
    """The row with the numbers and both players' dice, then what each player holds; ends without a newline.

    A player's dice show as faces under or over their card: `6 6` is two dice on number 6. At the end of the game there
    is a table of the points instead, nation by nation.
    """
    lines = [_title(state)]
    if state.phase is Phase.OVER:
        lines += _score_lines(state)
    else:
        lines += _row_lines(state) if state.row else []
        for seat, player in enumerate(state.players):
            lines += _wrapped(f"seat {seat}: {_table(state, player)}; {_crew(player)}")
    lines += [note for each in state.variant.expansions.values() if each.notes for note in each.notes(state)]
    return "\n".join(lines)


def _title(state: State) -> str:
    if state.phase is Phase.OVER:
        *_, (_, _, scores) = _account(state)
        return f"the game is over: seat 0 has {scores[0]} points, seat 1 has {scores[1]}"
    return f"round {state.round} of {ROUNDS}, {_what_next(state)}"


def _account(state: State) -> list[tuple[str, tuple[int, int], tuple[int, int]]]:
    """What each seat has and what it scores for it: a row a nation, then the unused tricks, then the sum."""
    first, second = state.players
    tricks = (len(first.tricks), len(second.tricks))
    rows = [
        (nation, (mine, theirs), final_scores(((mine,), (theirs,)), (0, 0)))
        for nation, mine, theirs in zip(NATIONS, first.strength, second.strength, strict=True)
    ]
    total = final_scores((first.strength, second.strength), tricks)
    return [*rows, ("tricks", tricks, tricks), ("points", total, total)]


def _score_lines(state: State) -> list[str]:
    """Columns: what each seat has, then the points each seat gets for it."""
    *rows, (_, _, total) = _account(state)
    lines = [f"  {'':<10}{'seat 0':>8}{'seat 1':>8}{'points 0':>12}{'points 1':>10}"]
    for name, held, points in rows:
        cells = [str(number or "-") for number in (*held, *points)]
        lines.append(f"  {name:<10}{cells[0]:>8}{cells[1]:>8}{cells[2]:>12}{cells[3]:>10}")
    return [*lines, f"  {'together':<10}{'':>16}{total[0]:>12}{total[1]:>10}"]


def _wrapped(line: str) -> list[str]:
    """The line in pieces of at most `_COLUMNS` characters, broken behind commas and semicolons."""
    pieces = [""]
    for part in re.split(r"(?<=[,;]) ", line):
        if pieces[-1].strip() and len(pieces[-1]) + len(part) >= _COLUMNS:
            pieces.append(" " * 7)
        pieces[-1] += f" {part}" if pieces[-1] else part
    return pieces


def _what_next(state: State) -> str:
    mover = f"seat {state.to_move}"
    if state.interlude is not None:
        dice = f" with {' '.join(map(str, state.dice))}" if state.dice else ""
        return f"{mover} to move{dice}, seat {state.interlude.seat} is asked: {state.interlude.name}"
    if state.phase is Phase.ROLLED:
        task = _TASKS[state.must_place, state.to_place]
        return f"{mover} rolled {' and '.join(map(str, state.dice))} and {task}"
    return {Phase.TURN: f"{mover} to move", Phase.ROLLING: f"{mover} rolls"}.get(state.phase, "the deck is shuffled")


def _row_lines(state: State) -> list[str]:
    numbers = _numbers(state)
    theirs, own = (
        [
            " ".join([str(number)] * count)
            for number, count in zip(numbers, _dice_at_positions(state, seat), strict=True)
        ]
        for seat in (Seat(1), Seat(0))
    )
    return [
        _cells("seat 1", theirs),
        _cells("card", [state.variant.faces[card] for card in state.row]),
        _cells("number", [f"({number})" if number else "?" for number in numbers]),
        _cells("seat 0", own),
    ]


def _cells(label: str, cells: list[str]) -> str:
    return f"  {label:<8}{''.join(f'{cell:^{_CELL}}' for cell in cells)}".rstrip()


def _numbers(state: State) -> list[int]:
    """Card numbers by position; zeros while the numbering is open."""
    size = len(state.row)
    if state.one_at is None:
        return [0] * size
    numbers = list(range(1, size + 1))
    return numbers if state.one_at == "left" else numbers[::-1]


def _dice_at_positions(state: State, seat: Seat) -> list[int]:
    placed = state.players[seat].placed
    return [placed[number - 1] if number else 0 for number in _numbers(state)]


def _table(state: State, player: Player) -> str:
    held = Counter(state.variant.faces[card] for card in player.tricks)
    tricks = ", ".join(f"{kind} x{count}" if count > 1 else kind for kind, count in held.items()) or "none"
    used = ", one used this round" if player.has_used_trick else ""
    dice = "1 die" if player.supply == 1 else f"{player.supply} dice"
    return f"{dice} in supply; tricks: {tricks}{used}"


def _crew(player: Player) -> str:
    crews = [f"{nation} {sum_}" for nation, sum_ in zip(NATIONS, player.strength, strict=True) if sum_]
    return f"sailors: {', '.join(crews) or 'none'}"


def picture(state: State) -> str:
    """An SVG of the row, 6 cards of 90 x 120 px; seat 1 with his dice sits above it, seat 0 below.

    The dice just rolled lie in the upper right corner. At the end of the game there is a table of the points instead.
    With expansions a player can hold so many kinds of tricks that the line about them needs a wider picture.
    """
    width = 800 if state.variant.expansions else 640
    size = f'width="{width}" height="300" viewBox="0 0 {width} 300"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">']
    parts.append(f'<rect width="{width}" height="300" fill="white"/>')
    parts.append(f'<text x="20" y="20" font-size="14">{_title(state)}</text>')
    if state.phase is Phase.OVER:
        return "\n".join([*parts, *_score_table(state), "</svg>"])
    parts += _rolled(state, right=width - 20)
    for index, (card, number) in enumerate(zip(state.row, _numbers(state), strict=True)):
        left = 20 + index * 102
        parts += _card(left, card, state.variant.faces[card], str(number or "?"))
        for seat, top in ((1, 80), (0, 228)):
            parts += _pips(left, top, _dice_at_positions(state, Seat(seat))[index], _SEAT_COLOURS[seat])
    for seat, top in ((1, 46), (0, 262)):
        player = state.players[seat]
        for line, text in enumerate((f"seat {seat}: {_table(state, player)}", _crew(player))):
            parts.append(
                f'<text x="20" y="{top + 18 * line}" font-size="12" fill="{_SEAT_COLOURS[seat]}">{text}</text>'
            )
    return "\n".join([*parts, "</svg>"])


def _score_table(state: State) -> list[str]:
    """A row a nation with its colour: what each seat has, and in bold what it scores."""
    parts = [
        f'<text x="{x}" y="50" font-size="12" text-anchor="end" fill="{_SEAT_COLOURS[seat]}">{title} {seat}</text>'
        for title, columns in (("seat", (240, 320)), ("points", (440, 520)))
        for seat, x in enumerate(columns)
    ]
    *rows, (_, _, total) = _account(state)
    for y, (name, held, points) in enumerate(rows, start=1):
        parts += _score_row(50 + 22 * y, name, held, points)
    return parts + _score_row(50 + 22 * (len(rows) + 1), "together", None, total)


def _score_row(y: int, name: str, held: tuple[int, int] | None, points: tuple[int, int]) -> list[str]:
    colour = COLOURS.get(name)
    swatch = [f'<rect x="20" y="{y - 11}" width="13" height="13" rx="3" fill="{colour}"/>'] if colour else []
    cells = [(x, number, "normal") for x, number in zip((240, 320), held or (), strict=False)]
    cells += [(x, number, "bold") for x, number in zip((440, 520), points, strict=True)]
    return [
        *swatch,
        f'<text x="44" y="{y}" font-size="13">{name}</text>',
        *(
            f'<text x="{x}" y="{y}" font-size="13" font-weight="{weight}" text-anchor="end">{number or "-"}</text>'
            for x, number, weight in cells
        ),
    ]


def _rolled(state: State, *, right: int) -> list[str]:
    """The dice that lie there, in the colour of the seat to move."""
    colour = _SEAT_COLOURS[state.to_move]
    parts = []
    for index, face in enumerate(state.dice):
        left = right - 24 * (len(state.dice) - index) + 4
        parts += [
            f'<rect x="{left}" y="6" width="20" height="20" rx="4" fill="white" stroke="{colour}" stroke-width="2"/>',
            f'<text x="{left + 10}" y="21" font-size="14" text-anchor="middle" fill="{colour}">{face}</text>',
        ]
    return parts


def _card(left: int, card: Card, face: str, number: str) -> list[str]:
    """Black on white with a border in the nation's colour: light colours would make white text unreadable."""
    colour = COLOURS[NATIONS[nation_of(card)]] if is_sailor(card) else "#3a3a3a"
    frame = f'<rect x="{left + 3}" y="103" width="84" height="114" rx="8" fill="white" stroke="{colour}"'
    return [
        f'{frame} stroke-width="6"/>',
        f'<text x="{left + 45}" y="150" font-size="12" text-anchor="middle">{face}</text>',
        f'<text x="{left + 45}" y="200" font-size="22" text-anchor="middle">{number}</text>',
    ]


def _pips(left: int, top: int, count: int, colour: str) -> list[str]:
    return [
        f'<rect x="{left + 15 * die}" y="{top}" width="13" height="13" rx="3" fill="{colour}"/>' for die in range(count)
    ]
