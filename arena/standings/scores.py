"""Tallies -> scores and margins, with errors from the spread between blocks.

Rule: whole numbers up to the last division, and sums in no order, so that equal results give equal bits.

The unit of every error is the block (matches that share their luck, with the seats rotated), never the match.
Opponents are fixed, not drawn at random, so errors are stratified by pairing:

    score = sum y_b / M,   se^2 = sum_p n_p / (n_p - 1) * sum_{b in p} (y_b - r_p m_b)^2 / M^2

with y_b the entrant's points in block b, m_b its matches there, r_p its mean score in pairing p, n_p the blocks of p
and M all its matches. With complete blocks this is sum (n_p / N)^2 var_p / n_p over block means; an incomplete block
counts by the matches it has. A pairing with one block tells nothing about its own spread: it adds the mean square
about the overall mean over all blocks, sum_b (y_b - r m_b)^2 / (N - 1), which is too wide rather than too narrow.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from arena.standings.outcomes import orders, points
from arena.standings.tally import Spans, Tally


class Scores(msgspec.Struct, frozen=True):
    """What the courses of a pairing come to. Tuples are by place, and within that by seat where they are nested.

    `points` are sums over blocks, 2 for each player beaten and 1 for each one tied. A win is a first place of one's
    own, a draw a shared one, everything else a loss. `drawn` counts matches whose first place is shared.
    """

    points: Spans
    wins: tuple[int, ...]
    draws: tuple[int, ...]
    losses: tuple[int, ...]
    drawn: int
    matches_by_seat: tuple[tuple[int, ...], ...]
    points_by_seat: tuple[tuple[int, ...], ...]


class Share(NamedTuple):
    """One place's part of `Spans`: what it has of y, y y and m y, with blocks, m and m m of the pairing."""

    blocks: int
    matches: int
    matches2: int
    total: int
    total2: int
    product: int

    def squares(self, mean_of: "Share") -> float:
        """Sum the squares of what each block has above or below the mean of `mean_of`: of (y - r m)^2."""
        total, matches = mean_of.total, mean_of.matches
        above = self.total2 * matches**2 - 2 * total * matches * self.product + total**2 * self.matches2
        return above / matches**2


def scores(tally: Tally) -> Scores:
    """Count the courses of a pairing."""
    seats = tally.seats
    places = range(seats)
    wins, draws, losses = ([0] * seats for _ in range(3))
    matches_by_seat, points_by_seat = ([[0] * seats for _ in places] for _ in range(2))
    drawn = 0
    for rotation in places:
        for code, times in counts_by_code(tally, rotation).items():
            ranks = orders(seats)[code - 1]
            drawn += times * (ranks.count(0) > 1)
            for seat, rank in enumerate(ranks):
                place = (seat + rotation) % seats
                outcome = losses if rank else wins if ranks.count(0) == 1 else draws
                outcome[place] += times
                matches_by_seat[place][seat] += times
                points_by_seat[place][seat] += times * points(seats)[code][seat]
    return Scores(
        points=_spans(tally),
        wins=tuple(wins),
        draws=tuple(draws),
        losses=tuple(losses),
        drawn=drawn,
        matches_by_seat=tuple(map(tuple, matches_by_seat)),
        points_by_seat=tuple(map(tuple, points_by_seat)),
    )


def counts_by_code(tally: Tally, rotation: int) -> Counter[int]:
    """How often each order of the seats occurred in matches of that rotation."""
    found = Counter(tally.outcomes[rotation :: tally.seats])
    del found[0]
    return found


def share(spans: Spans, place: int) -> Share:
    """What the player at `place` has of `spans`."""
    own = (spans.total[place], spans.total2[place], spans.product[place])
    return Share(spans.blocks, spans.matches, spans.matches2, *own)


def mean_and_error(parts: Iterable[Share], *, unit: int = 1) -> tuple[float | None, float | None]:
    """Average over matches, with the standard error by the formula at the top; None for what cannot be told.

    `parts` are an entrant's shares of its pairings, whose totals count in so many parts of one: `unit`.
    """
    known = [one for one in parts if one.blocks]
    if not known:
        return None, None
    whole = Share(*map(sum, zip(*known, strict=True)))
    mean = whole.total / (unit * whole.matches)
    if whole.blocks < 2:
        return mean, None
    overall = whole.squares(whole) / (whole.blocks - 1)
    within = [one.squares(one) * one.blocks / (one.blocks - 1) if one.blocks > 1 else overall for one in known]
    return mean, math.sqrt(math.fsum(within)) / (unit * whole.matches)


def _spans(tally: Tally) -> Spans:
    seats = tally.seats
    blocks = matches = matches2 = 0
    total, total2, product = ([0] * seats for _ in range(3))
    for course, times in tally.courses().items():
        count = seats - course.count(0)
        blocks += times
        matches += times * count
        matches2 += times * count * count
        for place, own in enumerate(points_by_place(course)):
            total[place] += times * own
            total2[place] += times * own * own
            product[place] += times * own * count
    return Spans(blocks, matches, matches2, tuple(total), tuple(total2), tuple(product))


def points_by_place(course: Sequence[int]) -> list[int]:
    """Add up the points of a block by place."""
    seats = len(course)
    worth = points(seats)
    return [
        sum(worth[code][(place - rotation) % seats] for rotation, code in enumerate(course)) for place in range(seats)
    ]
