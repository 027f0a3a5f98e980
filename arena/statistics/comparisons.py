"""Pairings as arrays: a row for each comparison of a block, an entry for each text of ranks that occurred.

Rule: all counts are of ranks of blocks. P pairings of n places have R = n n (n - 1) / 2 rows each (`pairs.comparisons`)
and E entries together. A match of n players is taken apart into its n (n - 1) / 2 pairs. Each counts 2 / n, so that the
match as a whole weighs as much as n - 1 comparisons. A tie of more than two players is taken as so many ties of two,
each by the margin of a match of two. The pairs of one match are not independent of each other, and neither are the
matches of a block: `block_correlation` estimates by how much.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from arena.statistics import pairs
from arena.statistics.model import ProbitSettings
from arena.statistics.newton import Design, Floats, Indices

OUTCOMES: Final = (1, 0, -1)
"""Win, draw and loss of the first of two, in the order of the counts."""
SIGNS: Final = np.array([1.0, -1.0, 1.0, -1.0])
"""The signs with which both players and both seats enter the difference of a row."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """The structure that the rows of all blocks of n seats share.

    `projection` (R, 2n) is how a row depends on the places and on the seats. The others (R, R) are correlations of the
    noise of two rows: `same_match` of one match, where each player has one performance; `shared_seat` of different
    matches, if all the noise were of the seat in that block; `shared_player`, if it were of the player there.
    """

    projection: Floats
    same_match: Floats
    shared_seat: Floats
    shared_player: Floats


@dataclass(frozen=True)
class ComparisonTable:
    """The comparisons of some pairings. `players` are in order of name, `places` (P, n) their numbers in each pairing.

    `pairing`, `times` and `signs` (E, R) are of the entries: the number of the pairing, how often its block had these
    ranks, and the outcome of each comparison. `presence` is the number of the entry's mask among `masks` (M, R), which
    are 0 for the comparisons of a missing match, and 1 for the others.
    """

    players: tuple[str, ...]
    places: Indices
    pairing: Indices
    times: Floats
    signs: npt.NDArray[np.int8]
    presence: Indices
    masks: Floats

    @property
    def seats(self) -> int:
        """The number of seats at a table; 0 without a match."""
        return int(self.places.shape[1])

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Players whom matches connect, directly or through others; the largest group first, names in order.

        Within a group skills can be compared; between two groups nothing is known. A player without a match is a group.
        """
        leader = list(range(len(self.players)))

        def find(place: int) -> int:
            """Return the player who stands for the group of a player, and shorten the way there."""
            while leader[place] != place:
                leader[place] = leader[leader[place]]
                place = leader[place]
            return place

        group_count = len(leader)
        for places in self.places.tolist():
            first, *others = sorted({find(place) for place in places})
            group_count -= len(others)
            for other in others:
                leader[other] = first
            if group_count == 1:
                break
        groups: defaultdict[int, list[str]] = defaultdict(list)
        for place, name in enumerate(self.players):
            groups[find(place)].append(name)
        return tuple(sorted(map(tuple, groups.values()), key=lambda group: (-len(group), group)))

    def select_players(self, players: Sequence[str]) -> "ComparisonTable":
        """Return the table of the pairings that have only these players, given in order of name.

        ValueError for an unknown name.
        """
        kept = np.logical_and.reduce(np.isin(self.places, [self.players.index(name) for name in players]), axis=1)
        number = np.searchsorted(players, self.players)
        entries = kept[self.pairing]
        return replace(
            self,
            players=tuple(players),
            places=number[self.places[kept]],
            pairing=(np.cumsum(kept) - 1)[self.pairing[entries]],
            times=self.times[entries],
            signs=self.signs[entries],
            presence=self.presence[entries],
        )

    def counts(self) -> Floats:
        """Count the wins, draws and losses of each row (P, R, 3)."""
        rows = self.signs.shape[1]
        cells = (self.pairing[:, None] * rows + np.arange(rows)) * len(OUTCOMES) + (1 - self.signs)
        weights = self.masks[self.presence] * self.times[:, None]
        shape = (len(self.places), rows, len(OUTCOMES))
        sums = np.bincount(cells.ravel(), weights=weights.ravel(), minlength=int(np.prod(shape)))
        return sums.astype(np.float64).reshape(shape)

    def points(self, counts: Floats) -> list[tuple[int, int]]:
        """Return (comparisons, points) by these counts, in the order of `players`; 2 points for a win, 1 for a tie."""
        rows = pairs.comparisons(self.seats)
        totals = np.zeros((2, len(self.players)))
        for places, points in (([row.first for row in rows], (2, 1, 0)), ([row.second for row in rows], (0, 1, 2))):
            numbers = self.places[:, places].ravel()
            for column, worth in enumerate(((1, 1, 1), points)):
                totals[column] += np.bincount(
                    numbers, weights=(counts @ np.array(worth)).ravel(), minlength=len(self.players)
                )
        return [(round(count), round(total)) for count, total in totals.T.tolist()]

    def design(self, settings: ProbitSettings) -> Design:
        """Build the design of the fit: a parameter for each player and, unless they are fixed, for each seat."""
        count, rows = len(self.players), pairs.comparisons(self.seats)
        seats = self.seats if settings.seat_sigma > 0.0 else 0
        first = self.places[:, [row.first for row in rows]]
        second = self.places[:, [row.second for row in rows]]
        columns = [first, second]
        if seats:
            columns += [
                np.broadcast_to(np.array([count + getattr(row, side) for row in rows], dtype=np.int64), first.shape)
                for side in ("first_seat", "second_seat")
            ]
        # the difference of two seats, each with half the variance, has that of `seat_sigma`
        seat_precision = 2.0 / settings.seat_sigma**2 if seats else 0.0
        return Design(
            columns=np.stack(columns, axis=2).reshape(-1, len(columns)),
            signs=SIGNS[: len(columns)],
            centre=np.array([settings.mu] * count + [0.0] * seats),
            precision=np.array([settings.sigma**-2] * count + [seat_precision] * seats),
            scale=settings.scale,
            margin=settings.margin,
            weight=pairs.weight(self.seats),
        )


def table_of(players: Iterable[str], pairings: Iterable[pairs.PlayedPairing]) -> ComparisonTable:
    """Count the comparisons of `pairings`, in any order; those of equal players merge, those without a match drop out.

    ValueError for a pairing that is none, or for unequal numbers of seats; KeyError for a player who is not in
    `players`.
    """
    place = {name: place for place, name in enumerate(sorted(set(players)))}
    played = [(entry.players, ranks) for entry in pairings if "".join(ranks := entry.block_ranks).strip(pairs.MISSING)]
    sizes = sorted({len(names) for names, _ in played})
    if len(sizes) > 1:
        raise ValueError(f"matches of {' and of '.join(map(str, sizes))} players cannot share one table")
    seats = sizes[0] if sizes else 0
    all_ranks = [*chain.from_iterable([ranks for _, ranks in played])]
    distinct = {ranks: index for index, ranks in enumerate(sorted(set(all_ranks)))}
    numbers = [place[name] for names, _ in played for name in names]
    tables = np.array(numbers, dtype=np.int64).reshape(len(played), seats)
    seating = np.zeros(len(played), dtype=np.int64)
    for column in tables.T:
        _, seating = np.unique(seating * len(place) + column, return_inverse=True)
    if played and (seats < 2 or {*map(len, distinct)} != {seats * seats} or not np.diff(np.sort(tables)).all()):
        raise ValueError("a pairing needs two or more different players and a rank for each")
    code = np.array([distinct[ranks] for ranks in all_ranks], dtype=np.int64)
    occurred = np.repeat(seating, [len(ranks) for _, ranks in played]) * len(distinct) + code
    entries, times = np.unique(occurred, return_counts=True)
    pairing, code = np.divmod(entries, max(1, len(distinct)))
    # a comparison of a match that is not there is not a number
    signs = np.array([pairs.signs(ranks, seats) for ranks in distinct], dtype=np.float64)
    signs = signs.reshape(len(distinct), len(pairs.comparisons(seats)))
    masks, presence = np.unique(~np.isnan(signs), axis=0, return_inverse=True)
    return ComparisonTable(
        players=tuple(place),
        places=tables[np.unique(seating, return_index=True)[1]],
        pairing=pairing,
        times=times.astype(np.float64),
        signs=np.nan_to_num(signs)[code].astype(np.int8),
        presence=presence[code],
        masks=masks.astype(np.float64),
    )


@lru_cache
def block_pattern(seats: int) -> Pattern:
    """Return the pattern of all blocks of that many seats."""
    rows = pairs.comparisons(seats)
    projection = np.zeros((len(rows), 2 * seats))
    for number, row in enumerate(rows):
        ends = (row.first, row.second, seats + row.first_seat, seats + row.second_seat)
        projection[number, ends] = SIGNS
    # both sides of a row have half of its variance
    by_place, by_seat = (half @ half.T / 2.0 for half in (projection[:, :seats], projection[:, seats:]))
    rotation = np.array([row.rotation for row in rows])
    is_same = rotation[:, None] == rotation
    return Pattern(
        projection=projection,
        same_match=np.where(is_same, by_place, 0.0),
        shared_seat=np.where(is_same, 0.0, by_seat),
        shared_player=np.where(is_same, 0.0, by_place),
    )
