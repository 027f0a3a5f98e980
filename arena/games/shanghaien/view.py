"""A position shown to a seat as plain JSON values, and to a person as text and as a picture (SVG).

Rule: decides nothing. Hidden information, the order of the draw pile, could leave by `observe` only, and never does.
protocol.md describes each field of an observation.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import msgspec
from msgspec import UNSET, UnsetType

from arena.games.api import HEADING, Json, Seat, with_names
from arena.games.drawing import MIDDLE, PAPER, die, document, words
from arena.games.shanghaien.cards import (
    COLOURS,
    NATIONS,
    Card,
    card_winners,
    final_scores,
    is_sailor,
    nation_of,
    neighbour_pips,
)
from arena.games.shanghaien.state import ROUNDS, ROW_SIZE, CardTexts, Choice, Interlude, Player, State, order_by_number
from arena.games.shanghaien.turns import scores_of
from arena.text import counted, shorten

_ENCODER = msgspec.json.Encoder()
_COLUMNS = 80
"""Characters in a line about a player; longer texts go on in the next line."""
_TASKS = {(1, 1): "must place a die", (1, 2): "may place both dice", (2, 2): "must place both dice"}
"""The task of a player by how many dice must be placed, and may be."""
_LABEL_MAX = 11
"""Characters of a name in front of the row, whose six cards take 66 columns."""
_LINE_PX = 20
_SCORE_COLUMNS = {"seat 0": 190, "seat 1": 310, "for seat 0": 460, "for seat 1": 600}
"""Right ends of the columns, in px."""


class PlayerView(msgspec.Struct, frozen=True, gc=False):
    """A player's side of the table, in the text forms of cards."""

    supply: int
    placed: tuple[int, ...]
    sailors: list[str]
    jokers: list[str]
    strength: dict[str, int]
    tricks: list[str]
    trick_used: bool


class BotView(msgspec.Struct, frozen=True, gc=False):
    """The view of a seat; both seats see the same but for `you`. `table` and `expansions` are there with expansions."""

    you: Seat
    round: int
    to_move: Seat
    phase: str
    dice: tuple[int, ...]
    to_place: int
    must_place: int
    tavern: list[str]
    one_at: str | None
    players: list[PlayerView] | list[msgspec.Raw]
    pile: int
    gone: list[str]
    table: list[str] | UnsetType = UNSET
    expansions: dict[str, Json] | UnsetType = UNSET


def observe(state: State, seat: Seat) -> dict[str, Json]:
    """Return the view of `seat` as plain JSON values."""
    players = [_player_view(player, state.variant.texts_of) for player in state.players]
    view: dict[str, Json] = msgspec.to_builtins(_view(state, seat, players))
    return view


def view_for_bots(state: State, seat: Seat) -> BotView:
    """Return the view of `seat` in a form that is written faster than dicts; a side is encoded only when new."""
    texts, (first, second) = state.variant.texts_of, state.players
    return _view(state, seat, [first.view_json or _encode(first, texts), second.view_json or _encode(second, texts)])


def _view(state: State, seat: Seat, players: list[PlayerView] | list[msgspec.Raw]) -> BotView:
    """Return the view of a seat, with the sides of both players in either form."""
    texts_of, expansions = state.variant.texts_of, state.variant.expansions
    return BotView(
        seat,
        state.round,
        state.to_move,
        state.phase.name if isinstance(state.phase, Interlude) else state.phase,
        state.dice,
        state.to_place,
        state.must_place,
        texts_of(state.row),
        state.one_at,
        players,
        len(state.pile),
        texts_of(state.gone),
        texts_of(state.table) if expansions else UNSET,
        {name: e.view(state) for name, e in expansions.items() if e.view is not None} if expansions else UNSET,
    )


def _encode(player: Player, texts_of: CardTexts) -> msgspec.Raw:
    """Encode a player's side as JSON, and keep that with the player."""
    player.view_json = msgspec.Raw(_ENCODER.encode(_player_view(player, texts_of)))
    return player.view_json


def _player_view(player: Player, texts_of: CardTexts) -> PlayerView:
    """Return a player's side of the table in the text forms of cards."""
    return PlayerView(
        player.supply,
        player.placed,
        texts_of(player.sailors),
        [NATIONS[nation] for _, nation in player.jokers],
        _strength_by_nation(player.strength),
        texts_of(player.tricks),
        player.has_used_trick,
    )


@lru_cache(maxsize=4096)
def _strength_by_nation(strength: tuple[int, ...]) -> dict[str, int]:
    """Return the strength by nation. Cached, as making the dict took a third of the time of an observation."""
    return dict(zip(NATIONS, strength, strict=True))


def describe(state: State, names: Sequence[str] = ()) -> str:
    """Describe the row with the numbers and both players' dice, then what each player holds; no newline at the end.

    A player's dice show as faces under or over their card: `6 6` is two dice on number 6. At the end of the game there
    is a table of the points instead, nation by nation.
    """
    seated = names or ("seat 0", "seat 1")
    lines = [with_names(_heading(state), names)]
    if state.phase == "over":
        lines += _score_lines(state, seated)
    else:
        lines += _row_lines(state, seated) if state.row else []
        for name, player in zip(seated, state.players, strict=True):
            lines += _wrap_line(f"{name}: {'; '.join(_side_lines(state, player))}")
    notes = (note for e in state.variant.expansions.values() if e.notes for note in e.notes(state))
    return "\n".join([*lines, *(with_names(note, names) for note in notes)])


def news(before: State, after: State, names: Sequence[str]) -> tuple[str, ...]:
    """Report after a shanghai who won each card and why, the points and the next round; after the shuffle round 1."""
    is_end = before.phase != "over" and (after.phase == "over" or after.round != before.round)
    lines = _award_lines(before, after, names) if is_end else []
    if after.phase != "over" and (is_end or before.phase == "shuffle"):
        lines.append(f"{HEADING}round {after.round} of {ROUNDS} ---")
    return tuple(lines)


def _award_lines(before: State, after: State, names: Sequence[str]) -> list[str]:
    """List the cards of the row by number with their winners, and the points as if the match ended now."""
    assert before.one_at is not None, "a round ends after its first turn"
    row = order_by_number(before.row, before.one_at)
    placed_dice = zip(*(player.placed for player in before.players), strict=True)
    by_rule = card_winners((before.players[0].placed, before.players[1].placed))
    lines = [f"round {before.round} is over:"]
    for index, (card, dice, ruled) in enumerate(zip(row, placed_dice, by_rule, strict=True)):
        winner = next((seat for seat, p in enumerate(after.players) if card in (*p.sailors, *p.tricks)), None)
        why = _why_won(before, index, dice, winner) if winner == ruled else ", ".join(before.variant.award)
        name = "nobody" if winner is None else names[winner]
        lines.append(f"  ({index + 1}) {before.variant.faces[card]:<12}{name}: {why}")
    first, second = scores_of(after)
    return [*lines, f"points by now: {names[0]} {first}, {names[1]} {second}"]


def _why_won(state: State, index: int, dice: tuple[int, int], winner: int | None) -> str:
    """Compare the dice on the card, and if they are equal the pips beside it; the winner's come first."""
    order = (1, 0) if winner == 1 else (0, 1)
    most, least = (dice[seat] for seat in order)
    if most != least or not most:
        return f"{counted(most, 'die', 'dice')} to {least}" if most else "no dice"
    pips = [neighbour_pips(state.players[seat].placed, index) for seat in order]
    return f"{counted(most, 'die', 'dice')} each, and {pips[0]} pips beside it to {pips[1]}"


def _heading(state: State) -> str:
    """Describe the round and what happens next in it, or the result."""
    if state.phase == "over":
        first, second = scores_of(state)
        return f"the game is over: {first} points for seat 0, {second} for seat 1"
    return f"round {state.round} of {ROUNDS}, {_what_next(state)}"


def _what_next(state: State) -> str:
    """Describe who must do what now."""
    mover = f"seat {state.to_move}"
    if isinstance(state.phase, Interlude):
        before = f"{mover} rolled {' and '.join(map(str, state.dice))}" if state.dice else f"{mover} to move"
        who = " and" if state.phase.seat == state.to_move else f", seat {state.phase.seat}"
        task = "must choose" if isinstance(state.phase, Choice) else "rolls again"
        return f"{before}{who} {task} ({state.phase.name.replace('_', ' ')})"
    if state.phase == "rolled":
        task = _TASKS[state.must_place, state.to_place]
        return f"{mover} rolled {' and '.join(map(str, state.dice))} and {task}"
    return {"turn": f"{mover} to move", "rolling": f"{mover} rolls"}.get(state.phase, "the deck is shuffled")


def _tally(state: State) -> list[tuple[str, tuple[int, ...]]]:
    """Count a row a nation, then the unused tricks: what seats 0 and 1 have of it, and what they score for it."""
    first, second = state.players
    held = [*zip(NATIONS, first.strength, second.strength, strict=True)]
    rows = [(nation, (mine, theirs, *final_scores(((mine,), (theirs,)), (0, 0)))) for nation, mine, theirs in held]
    return [*rows, ("tricks", (len(first.tricks), len(second.tricks)) * 2)]


def _score_lines(state: State, seated: Sequence[str]) -> list[str]:
    """Return the table of points at the end: a line for each nation, for tricks, and for the sums."""
    first, second = (shorten(name, _LABEL_MAX) for name in seated)
    heads = ("points 0", "points 1") if first == "seat 0" else (f"for {first}", f"for {second}")
    rows = [
        ("", first, second, *heads),
        *((name, *[number or "-" for number in numbers]) for name, numbers in _tally(state)),
        ("together", "", "", *scores_of(state)),
    ]
    left, right = (max(8, len(name) + 2) for name in (first, second))
    shape = f"  {{:<10}}{{:>{left}}}{{:>{right}}}{{:>{max(12, len(heads[0]) + 2)}}}{{:>{max(10, len(heads[1]) + 2)}}}"
    return [shape.format(*row) for row in rows]


def _wrap_line(line: str) -> list[str]:
    """Break the line into pieces of at most `_COLUMNS` characters, behind commas and semicolons."""
    pieces = [""]
    for part in re.split(r"(?<=[,;]) ", line):
        if pieces[-1].strip() and len(pieces[-1]) + len(part) >= _COLUMNS:
            pieces.append(" " * 7)
        pieces[-1] += f" {part}" if pieces[-1] else part
    return pieces


def _cards_by_position(state: State) -> list[tuple[Card, int, tuple[int, int]]]:
    """Return by position the card, its number (0 while the numbering is open), and both seats' dice on it."""
    if state.one_at is None:
        return [(card, 0, (0, 0)) for card in state.row]
    first, second = state.players
    row = order_by_number(state.row, state.one_at)
    by_number = [*zip(row, range(1, ROW_SIZE + 1), zip(first.placed, second.placed, strict=True), strict=True)]
    return list(order_by_number(tuple(by_number), state.one_at))


def _row_lines(state: State, seated: Sequence[str]) -> list[str]:
    """Return the row as lines: seat 1's dice, cards, numbers, seat 0's dice."""
    positions = _cards_by_position(state)
    above, below = [[" ".join([str(number)] * dice[seat]) for _, number, dice in positions] for seat in (1, 0)]
    first, second = (shorten(name, _LABEL_MAX) for name in seated)
    rows = [
        (second, above),
        ("card", [state.variant.faces[card] for card, _, _ in positions]),
        ("number", [f"({number})" if number else "?" for _, number, _ in positions]),
        (first, below),
    ]
    width = max(8, len(first) + 1, len(second) + 1)
    return [f"  {label:<{width}}{''.join(f'{cell:^11}' for cell in cells)}".rstrip() for label, cells in rows]


def _side_lines(state: State, player: Player) -> tuple[str, str]:
    """Describe the supply and tricks of a player, and their sailors."""
    held = Counter(state.variant.faces[card] for card in player.tricks)
    tricks = ", ".join(f"{kind} x{count}" if count > 1 else kind for kind, count in held.items()) or "none"
    used = ", one used this round" if player.has_used_trick else ""
    dice = counted(player.supply, "die", "dice")
    crews = [f"{nation} {sum_}" for nation, sum_ in zip(NATIONS, player.strength, strict=True) if sum_]
    return f"{dice} in supply; tricks: {tricks}{used}", f"sailors: {', '.join(crews) or 'none'}"


def picture(state: State) -> str:
    """Draw the row, 6 cards of 90 x 120 px, as SVG; seat 1 with its dice sits above it, seat 0 below.

    The dice just rolled lie in the upper right corner. At the end of the game there is a table of the points instead.
    With expansions a player can hold so many kinds of tricks that the line about them needs a wider picture; below the
    table stands a line for each expansion that has something in force.
    """
    notes = [note for e in state.variant.expansions.values() if e.notes for note in e.notes(state)]
    width, height = (800 if state.variant.expansions else 640), 300 + _LINE_PX * len(notes)
    parts = [words(20, 20, _heading(state), more='font-weight="bold"')]
    parts += _draw_scores(state) if state.phase == "over" else _draw_table(state, right=width - 20)
    parts += [words(20, 300 + _LINE_PX * line, note, size=12) for line, note in enumerate(notes)]
    return document(width, height, parts)


def _draw_table(state: State, *, right: int) -> list[str]:
    """Draw the rolled dice, the row with the dice on it, and the lines of both players."""
    rolled = enumerate(state.dice)
    parts = [die(right - 24 * (len(state.dice) - at), 6, face, colour=state.to_move, size=20) for at, face in rolled]
    for index, (card, number, dice) in enumerate(_cards_by_position(state)):
        left = 20 + index * 102
        parts += _card(left, card, state.variant.faces[card], str(number or "?"))
        for seat, top in ((1, 80), (0, 228)):
            parts += [die(left + 15 * at, top, number, colour=seat, size=13) for at in range(dice[seat])]
    for seat, top in ((1, 46), (0, 262)):
        holds, crew = _side_lines(state, state.players[seat])
        parts += [words(20, top, f"seat {seat}: {holds}", size=12, colour=seat)]
        parts += [words(20, top + 18, crew, size=12, colour=seat)]
    return parts


def _draw_scores(state: State) -> list[str]:
    """Draw a row a nation with its colour: what each seat has, and in bold what it scores."""
    parts = [
        words(x, 50, column, size=12, colour=int(column[-1]), more='text-anchor="end"')
        for column, x in _SCORE_COLUMNS.items()
    ]
    rows: list[tuple[str, tuple[int | None, ...]]] = [*_tally(state), ("together", (None, None, *scores_of(state)))]
    for row, (name, numbers) in enumerate(rows, start=1):
        y = 50 + 22 * row
        parts += [die(20, y - 11, 0, colour=COLOURS[name], size=13)] if name in COLOURS else []
        parts.append(words(44, y, name, size=13))
        for (column, x), number in zip(_SCORE_COLUMNS.items(), numbers, strict=True):
            weight = "bold" if column.startswith("for") else "normal"
            style = f'font-weight="{weight}" text-anchor="end"'
            parts += [] if number is None else [words(x, y, number or "-", size=13, more=style)]
    return parts


def _card(left: int, card: Card, face: str, number: str) -> list[str]:
    """Draw a card with its nation's colour as border and flag, and its words in ink: light colours hide white text."""
    colour = COLOURS[NATIONS[nation_of(card)]] if is_sailor(card) else "#3a3a3a"
    frame = f'<rect x="{left + 3}" y="103" width="84" height="114" rx="8" stroke-width="6"'
    return [
        f'{frame} fill="{PAPER}" stroke="{colour}"/>',
        f'<path d="M {left + 8} 112 h 74 v 14 l -37 8 l -37 -8 z" fill="{colour}" opacity="0.35"/>',
        words(left + 45, 150, face, size=12, more=MIDDLE),
        words(left + 45, 200, number, size=22, more=MIDDLE),
    ]
