"""A position drawn for a person: as text for the terminal and as SVG for a page.

Rule: shows what lies on the table and decides nothing.
"""

from collections import Counter

from arena.games.api import Seat
from arena.games.shanghaien.awards import final_scores
from arena.games.shanghaien.cards import COLOURS, NATIONS, Card, is_sailor, nation_of
from arena.games.shanghaien.state import ROUNDS, Phase, Player, State

_CELL = 12
_SEAT_COLOURS = ("#3050b0", "#b03030")


def describe(state: State) -> str:
    """The row with the numbers and both players' dice, then what each player holds; ends without a newline.

    A player's dice show as faces under or over their card: `6 6` is two dice on number 6.
    """
    lines = [_title(state)]
    if state.row:
        lines += _row_lines(state)
    for seat, player in enumerate(state.players):
        lines.append(f"seat {seat}: {_table(state, player)}; {_crew(player)}")
    lines += [note for each in state.variant.expansions.values() if each.notes for note in each.notes(state)]
    return "\n".join(lines)


def _title(state: State) -> str:
    if state.phase is Phase.OVER:
        first, second = state.players
        scores = final_scores((first.strength, second.strength), (len(first.tricks), len(second.tricks)))
        return f"the game is over: seat 0 has {scores[0]} points, seat 1 has {scores[1]}"
    return f"round {state.round} of {ROUNDS}, {_what_next(state)}"


def _what_next(state: State) -> str:
    mover = f"seat {state.to_move}"
    if state.interlude is not None:
        dice = f" with {' '.join(map(str, state.dice))}" if state.dice else ""
        return f"{mover} to move{dice}, seat {state.interlude.seat} is asked: {state.interlude.name}"
    if state.phase is Phase.ROLLED:
        task = "must place both dice" if state.to_place == 2 else "must place a die"
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
    return f"{player.supply} dice in supply; tricks: {tricks}{used}"


def _crew(player: Player) -> str:
    crews = [f"{nation} {sum_}" for nation, sum_ in zip(NATIONS, player.strength, strict=True) if sum_]
    return f"sailors: {', '.join(crews) or 'none'}"


def picture(state: State) -> str:
    """An SVG of the row, 6 cards of 90 x 120 px; seat 1 with his dice sits above it, seat 0 below.

    With expansions a player can hold so many kinds of tricks that the line about them needs a wider picture.
    """
    width = 800 if state.variant.expansions else 640
    size = f'width="{width}" height="300" viewBox="0 0 {width} 300"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">']
    parts.append(f'<rect width="{width}" height="300" fill="white"/>')
    parts.append(f'<text x="20" y="20" font-size="14">{_title(state)}</text>')
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


def _card(left: int, card: Card, face: str, number: str) -> list[str]:
    """Black on white with a border in the nation's colour: light colours would make white text unreadable."""
    colour = COLOURS[NATIONS[nation_of(card)]] if is_sailor(card) else "#3a3a3a"
    frame = f'<rect x="{left + 3}" y="103" width="84" height="114" rx="8" fill="white" stroke="{colour}"'
    return [
        f'{frame} stroke-width="6"/>',
        f'<text x="{left + 45}" y="150" font-size="14" text-anchor="middle">{face}</text>',
        f'<text x="{left + 45}" y="200" font-size="22" text-anchor="middle">{number}</text>',
    ]


def _pips(left: int, top: int, count: int, colour: str) -> list[str]:
    return [
        f'<rect x="{left + 15 * die}" y="{top}" width="13" height="13" rx="3" fill="{colour}"/>' for die in range(count)
    ]
