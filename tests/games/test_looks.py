"""Colours and shapes of players: readable, told apart, and those of a player in every match of a league."""

from itertools import combinations, permutations
from math import dist

import pytest

from arena.games.looks import LOOKS, looks_of, paint_seats, seat_colour, seat_shape

LEAGUE = [f"p{number}" for number in range(14)]
GROUNDS = {"light": ("#ffffff", "#f5f7f9"), "dark": ("#14171b", "#12161b")}


def linear(colour: str) -> list[float]:
    """Red, green and blue as amounts of light (IEC 61966-2-1)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def oklab(colour: str) -> tuple[float, ...]:
    """Oklab (Ottosson 2020), in which equal distances look equally far."""
    to_cones = ((0.41222, 0.53633, 0.05145), (0.21190, 0.68070, 0.10740), (0.08830, 0.28172, 0.62998))
    to_lab = ((0.21045, 0.79362, -0.00407), (1.97800, -2.42859, 0.45059), (0.02590, 0.78277, -0.80868))
    cones = [sum(a * b for a, b in zip(row, linear(colour), strict=True)) ** (1 / 3) for row in to_cones]
    return tuple(sum(a * b for a, b in zip(row, cones, strict=True)) for row in to_lab)


@pytest.mark.parametrize("mode", GROUNDS)
def test_colours_can_be_read_and_told_apart(mode: str) -> None:
    """Contrast 4.5:1 on each ground (WCAG 2), at least 0.13 between two in Oklab; no two shapes are equal."""
    colours = [getattr(look, mode) for look in LOOKS]
    pairs = [sorted(map(luminance, (colour, ground))) for colour in colours for ground in GROUNDS[mode]]

    assert min((high + 0.05) / (low + 0.05) for low, high in pairs) >= 4.5
    assert min(dist(oklab(one), oklab(other)) for one, other in combinations(colours, 2)) > 0.13
    assert len({look.shape for look in LOOKS}) == len(LOOKS) == 10


def test_a_player_keeps_its_look_in_every_seat_and_match() -> None:
    """Whoever else plays, unless two places of a league of more than ten give the same look; then both differ."""
    assert {looks_of(table, LEAGUE) for table in permutations(LEAGUE[:3])} == {*permutations(range(3))}
    assert looks_of(["p5", "p2"], LEAGUE[:6]) == (5, 2)
    assert looks_of(["p12", "p2"], LEAGUE) == looks_of(["p2", "p12"], LEAGUE)[::-1] == (3, 2)
    assert sorted(looks_of(LEAGUE[4:], LEAGUE)) == [*range(10)]
    assert looks_of(["b", "a"]) == (1, 0)
    assert looks_of(["a", "a", "?"], ["a"]) == (0, 1, 2)
    assert looks_of("aab") == (0, 1, 2)


def test_a_picture_gets_the_looks_of_the_players() -> None:
    """Alone it has colours and shapes of its seats; other paths stay."""
    drawing = f'<path d="M1" stroke="{seat_colour(9)}"/>{seat_shape(0)}'

    for order in ((0,) * 9 + (9,), (3,) * 9 + (1,)):
        first, last = LOOKS[order[0]], LOOKS[order[9]]
        shape = f'<path d="{first.shape}" class="seat-0" fill="{first.light}"/>'
        assert paint_seats(drawing, order) == f'<path d="M1" stroke="{last.light}"/>{shape}'
    assert paint_seats(drawing) == paint_seats(drawing, (0,) * 9 + (9,))
