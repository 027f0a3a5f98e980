"""Looks of players: a colour and a shape each, and how pictures refer to them.

Rule: a look belongs to a player. Pages, plots and pictures of a league take it from `looks_of`. A picture of a game
knows seats only: it writes `seat_colour` and `seat_shape`, which `paint_seats` turns into those of the player there.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple


class Look(NamedTuple):
    """The colour of a player on white and on black, and a shape as an SVG path in a box of 24 by 24."""

    light: str
    dark: str
    shape: str


LOOKS: Final = (
    Look("#0f31d0", "#1498fe", "M12 2a10 10 0 1 0 0 20a10 10 0 0 0 0-20z"),
    Look("#971400", "#f64a4f", "M3 3h18v18H3z"),
    Look("#0d583a", "#309870", "M12 2l11 20H1z"),
    Look("#7f11a1", "#d95ee3", "M12 0l12 12-12 12L0 12z"),
    Look("#6b7103", "#b9f111", "M8 2h8v6h6v8h-6v6H8v-6H2V8h6z"),
    Look("#1b70b4", "#9cb5f2", "M12 0l3 9h9l-7 6 3 9-8-6-8 6 3-9-7-6h9z"),
    Look("#be2a9e", "#f98ac1", "M1 2h22L12 22z"),
    Look("#955d65", "#fcb08c", "M6 2h12l6 10-6 10H6L0 12z"),
    Look("#763ffe", "#927eb3", "M12 1a11 11 0 1 0 0 22a11 11 0 0 0 0-22zm0 7a4 4 0 1 1 0 8a4 4 0 0 1 0-8z"),
    Look("#574068", "#f7ccfd", "M5 1l7 7 7-7 4 4-7 7 7 7-4 4-7-7-7 7-4-4 7-7-7-7z"),
)
"""Looks of the ten seats of the largest table: 4.5:1 on their grounds; the first two also for the colour-blind."""
_COLOUR: Final = re.compile(r"var\(--seat-(\d), #[0-9a-f]{6}\)")
_SHAPE: Final = re.compile(r'd="[^"]*"(?= class="seat-(\d)")')


def looks_of(players: Sequence[str], league: Sequence[str] = ()) -> tuple[int, ...]:
    """Return the index of the look of each player in `LOOKS`: its place among the players of the league.

    Without a league it is the place among the sorted names. Players at one table never look the same: of two whose
    places give the same look, the later one gets the next that is free. There is room for ten.
    """
    places = {name: place for place, name in enumerate(league or sorted({*players}))}
    order = [places.get(name, len(places)) for name in players]
    looks = dict[int, int]()
    for seat in sorted(range(len(players)), key=order.__getitem__):
        candidates = ((order[seat] + step) % len(LOOKS) for step in range(len(LOOKS)))
        looks[seat] = next(look for look in candidates if look not in looks.values())
    return tuple(looks[seat] for seat in range(len(players)))


def seat_colour(seat: int) -> str:
    """Return the colour of a seat for an SVG picture; a page or `paint_seats` sets the variable by player."""
    return f"var(--seat-{seat}, {LOOKS[seat].light})"


def seat_shape(seat: int) -> str:
    """Return the shape of a seat in its colour, in a box of 24 by 24, for an SVG picture; see `paint_seats`."""
    return f'<path d="{LOOKS[seat].shape}" class="seat-{seat}" fill="{seat_colour(seat)}"/>'


def paint_seats(picture: str, looks: Sequence[int] = range(len(LOOKS))) -> str:
    """Return the picture with the shapes, and the colours on white, of the looks by seat."""
    picture = _SHAPE.sub(lambda match: f'd="{LOOKS[looks[int(match[1]) % len(looks)]].shape}"', picture)
    return _COLOUR.sub(lambda match: LOOKS[looks[int(match[1]) % len(looks)]].light, picture)
