"""A position as text for a terminal: the ship from two sides, its cargo, the players and the last placements.

Rule: shows what lies on the table and decides nothing. Lines are at most 110 characters long.
"""

import math
from textwrap import wrap
from typing import Final

from arena.games.api import Seat
from arena.games.riffraff.drawing import captions
from arena.games.riffraff.drawing.characters import LETTERS, silhouettes
from arena.games.riffraff.geometry import area_of
from arena.games.riffraff.scene import KINDS
from arena.games.riffraff.state import CARDS, Loaded, Player, State

_COLUMNS: Final = 110


def describe(state: State) -> str:
    """The position for an audience that sees everything, also the cards just played; ends without a newline."""
    load, fallen = captions.at_sea(state)
    lines = [captions.title(state), "", *silhouettes(state.table, load.hands_mm if load else (), fallen), ""]
    lines += [_legend(state), "", *_cargo(state), "", *_seats(state), *_notes(state)]
    if state.last:
        lines += ["", *(line for loaded in state.last for line in _loaded(loaded))]
    return "\n".join(line.rstrip() for line in lines)


def _legend(state: State) -> str:
    heel = captions.heel(math.degrees(state.table.roll))
    trim = captions.trim(math.degrees(state.table.pitch))
    letters = "  ".join(f"{letter} {kind}" for kind, letter in LETTERS.items())
    return f"{letters}\nheel {heel}, trim {trim}; drawn upright"


def _cargo(state: State) -> list[str]:
    """The pieces on each area, as number, kind and the seat that loaded it."""
    lying = [(area_of(piece, state.table), piece) for piece in state.table.cargo]
    rows = []
    for area in sorted({area for area, _ in lying}):
        on = [f"{piece.id} {piece.kind} ({piece.by})" for where, piece in lying if where == area]
        rows += _folded(f"  area {area:>2}  ", on)
    return ["on board, by area (and seat):", *rows] if rows else ["nothing on board"]


def _folded(head: str, words: list[str]) -> list[str]:
    lines = [head]
    for number, word in enumerate(words):
        text = word if number == len(words) - 1 else f"{word}, "
        if len(lines[-1]) + len(text.rstrip()) > _COLUMNS:
            lines.append(" " * len(head))
        lines[-1] += text
    return lines


def _seats(state: State) -> list[str]:
    kinds = "".join(f"{LETTERS[kind]:>4}" for kind in KINDS)
    head = f"  {'seat':<11}{'card':>4}  {'hand':<22}{'caught':>6}{'left':>6}  {kinds}"
    return [head, *(_seat(state, Seat(seat), player) for seat, player in enumerate(state.players))]


def _seat(state: State, seat: Seat, player: Player) -> str:
    mark = ">" if captions.mover(state) == seat else " "
    name = f"{seat} captain" if seat == state.captain else str(seat)
    hand = " ".join(str(card) if card in player.hand else "." for card in CARDS)
    supply = "".join(f"{count or '-':>4}" for count in player.supply)
    card = player.card or "-"
    return f"{mark} {name:<11}{card:>4}  {hand:<22}{player.removed:>6}{player.pieces:>6}  {supply}"


def _notes(state: State) -> list[str]:
    """The order of play and the pieces out of the game, if there are any."""
    out = [f"{kind} x{count}" for kind, count in zip(KINDS, state.removed, strict=True) if count]
    notes = [f"order of play: {', '.join(map(str, state.order))}"] if state.order else []
    return [*notes, f"out of the game: {', '.join(out)}"] if out else notes


def _loaded(loaded: Loaded) -> list[str]:
    head = f"{loaded.id} of seat {loaded.seat} on area {loaded.area}: {loaded.load}"
    lines = [*wrap(head, _COLUMNS, subsequent_indent="    "), f"  {captions.settling(loaded)}"]
    for fallen in loaded.fallen:
        place = f"x {fallen.x_mm:.0f} y {fallen.y_mm:.0f}"
        lines.append(f"  {fallen.id} {fallen.kind} fell at {place}: {captions.fate(fallen, loaded.seat)}")
    return lines
