"""Where to hold the hands, given what fell in simulations of a load.

Hands have no body, so a simulation without them tells what falls and where, and any two hands can be judged by it.
"""

import math
from itertools import combinations

SPOTS = 10  # places tried for a hand; all pairs of them are judged
POINTS = 20  # falls that make such places
SAFETY = 0.85  # of a hand's radius: next time things fall a little elsewhere


def beside(here):
    """Two hands where most falls as long as nothing is known: on the side of that area."""
    side = 75.0 if sum(here["v_mm"]) > 0 else -75.0
    return ((45.0, side), (-45.0, side))


def gain(falls, new, hands, radius, holds):
    """By how many pieces the supply changes with a load of piece `new` after which `falls` (id, x, y) fell.

    `falls` in the order of falling: a hand holds only so many pieces, the first that come.
    """
    caught, room = set(), [holds] * len(hands)
    for piece, x, y in falls:
        for number, (hand_x, hand_y) in enumerate(hands):
            if room[number] and math.hypot(x - hand_x, y - hand_y) <= radius:
                room[number] -= 1
                caught.add(piece)
                break
    is_returned = caught == {new}  # it is not allowed to save only the new piece
    return len(falls) - (0 if is_returned else len(caught)) - 1


def best_hands(samples, default, radius, holds):
    """The two hands with the smallest mean `gain` over `samples` of (falls, new), and that mean."""
    points = [(x, y) for falls, _ in samples for _, x, y in falls]
    if not points:
        return default, -1.0
    reach = SAFETY * radius
    judged = []
    for pair in combinations([*default, *spots(points, reach)], 2):
        mean = sum(gain(falls, new, pair, reach, holds) for falls, new in samples) / len(samples)
        judged.append((mean, len(judged), pair))
    mean, _, hands = min(judged)
    return hands, mean


def spots(points, reach):
    """Places for a hand that reach many of the points: the points, and the middles of those close together."""
    some = points[:POINTS]
    middles = [
        ((ax + bx) / 2, (ay + by) / 2)
        for (ax, ay), (bx, by) in combinations(some, 2)
        if math.hypot(ax - bx, ay - by) <= 2 * reach
    ]

    def caught(spot):
        return sum(math.hypot(x - spot[0], y - spot[1]) <= reach for x, y in points)

    places = {(round(x, 1), round(y, 1)) for x, y in some + middles}
    return sorted(places, key=lambda spot: (-caught(spot), spot))[:SPOTS]
