"""A player's matches -> the player's results by opponent, seat and tenth of the schedule, with drift, times and faults.

Rule: the block is the unit of every error, and results are compared within a pairing only: drift, too, is tested within
each pairing. Matches come as columns, so that a million of them take seconds.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, lcm
from typing import Final, NamedTuple

import msgspec
import numpy as np

from arena.match.record import FAULTS, PARDONABLE
from arena.match.results import MatchKey, rotate
from arena.standings.luck_adjustment import LuckAdjustment
from arena.standings.match_table import NO_PAIRINGS, Array, MatchTable
from arena.standings.ranks import full_score
from arena.standings.rows import Row
from arena.standings.scores import Mean, mean_of, shares_of
from arena.standings.sums import ExactNumber, PairingSums, Shares
from arena.statistics.drift import TENTHS, Drift, drift_of

MOST_EXTREMES: Final = 3
"""The number of biggest wins listed, of biggest losses, and of closest matches."""
MOST_MATCH_IDS: Final = 1000
"""The most ids listed for a kind of fault; the count has all matches."""
_MOST: Final = 1 << 56
"""The largest score with which 64 bits hold the sums of margins of a block."""


class ProfileLine(msgspec.Struct, frozen=True):
    """Results of some of the player's matches. A win is a place before all others (by opponent: before that one).

    `margin`, over matches without a forfeit, is the own score less the best of the others (or less that opponent's).
    `forfeits` are the player's own. `luck_adjusted` is None where the luck is not known.
    """

    name: str
    matches: int
    wins: int
    draws: int
    losses: int
    score: Mean | None
    margin: Mean | None
    forfeits: int
    luck_adjusted: Mean | None = None


class Percentiles(msgspec.Struct, frozen=True):
    """The median and the 99th percentile over matches, both values that occurred; None without a match."""

    p50: float | None
    p99: float | None


class Times(msgspec.Struct, frozen=True):
    """The use of time over matches in which the player had to decide: percentiles of mean and slowest decision, in ms.

    Single decisions are not kept, so there is no percentile of them. `slowest_match` has the slowest decision.
    """

    matches: int
    means_ms: Percentiles
    slowest_decisions_ms: Percentiles
    slowest_match: MatchKey | None


class Fault(msgspec.Struct, frozen=True):
    """A kind of fault with the numbers of faults and of their matches, and the `first` of these as scheduled."""

    kind: str
    faults: int
    matches: int
    first: tuple[MatchKey, ...]


class Extreme(msgspec.Struct, frozen=True):
    """A match with an extreme `margin`, large or small; `scores` and `players` are by seat."""

    match: MatchKey
    players: tuple[str, ...]
    scores: tuple[ExactNumber, ...]
    margin: ExactNumber


class Profile(msgspec.Struct, frozen=True):
    """The results of one player. `drift` is None where it cannot be tested; `tenths` are empty below ten blocks.

    `total` are all matches, as in the row of the table. `faults` ended their matches, after `pardons` the game went on.
    Opponents are in the order of the score against them, the hardest first. `closest` is empty if all margins are equal
    in size.
    """

    total: ProfileLine
    opponents: tuple[ProfileLine, ...] = ()
    seats: tuple[ProfileLine, ...] = ()
    tenths: tuple[ProfileLine, ...] = ()
    drift: Drift | None = None
    times: Times = Times(0, Percentiles(None, None), Percentiles(None, None), None)
    faults: tuple[Fault, ...] = ()
    pardons: tuple[Fault, ...] = ()
    opponents_forfeits: int = 0
    wins: tuple[Extreme, ...] = ()
    losses: tuple[Extreme, ...] = ()
    closest: tuple[Extreme, ...] = ()


def profile(row: Row, table: MatchTable) -> Profile:
    """Make the profile of the player of `row`, a row of the standings.

    `table` has the player's pairings in the order of the schedule.
    """
    counts = (row.matches, row.wins, row.draws, row.losses)
    total = ProfileLine("all", *counts, row.score, row.margin, sum(row.faults.values()), row.luck_adjusted)
    return _PlayedMatches(row.name, table).profile(total) if table.keys else Profile(total)


def adjust_for_luck(plain: Profile, player: str, sums: PairingSums) -> Profile:
    """Add scores without luck to a profile, in all and by opponent, where they are more precise than the plain ones.

    `sums` cover all pairings whose luck was measured: the factor on luck is pooled over them.
    """
    adjustment = LuckAdjustment(sums)
    pairings, places = sums.table.pairings_of_player.get(player, NO_PAIRINGS)
    against: defaultdict[str, list[int]] = defaultdict(list)
    for number, pairing in enumerate(pairings.tolist()):
        for name in sums.table.players[pairing]:
            against[name].append(number)

    def adjust(line: ProfileLine, name: str) -> ProfileLine:
        entries = against[name]
        score = adjustment.score((pairings[entries], places[entries]), line.score) if line.score and entries else None
        return msgspec.structs.replace(line, luck_adjusted=score)

    opponents = tuple(adjust(line, line.name) for line in plain.opponents)
    return msgspec.structs.replace(plain, total=adjust(plain.total, player), opponents=opponents)


class _Outcomes(NamedTuple):
    """The outcomes of matches for one player, in schedule order, with a column for each value.

    `sign` is -1 to 1 for lost to won; the margin counts where `has_margin` is 1, and is 0 elsewhere.
    """

    pairing: Array
    block: Array
    points: Array
    sign: Array
    margin: Array
    has_margin: Array
    has_forfeited: Array

    @property
    def starts(self) -> Array:
        """The number of the first match of each block."""
        changes = (np.diff(self.pairing, prepend=-1) != 0) | (np.diff(self.block, prepend=-1) != 0)
        return np.flatnonzero(changes)

    def lines(self, labels: Array, names: Sequence[str], full: int, unit: int) -> tuple[ProfileLine, ...]:
        """Make a line for each label that occurs, in ascending order; a label is a number among `names`, by match."""
        masks = {label: labels == label for label in np.unique(labels).tolist()}
        return tuple(
            _Outcomes(*[column[rows] for column in self]).line(names[label], full, unit)
            for label, rows in masks.items()
        )

    def line(self, name: str, full: int, unit: int) -> ProfileLine:
        """Make the line of all these matches; `full` is the number of points of a win over all others."""
        return ProfileLine(
            name=name,
            matches=len(self.sign),
            wins=int((self.sign > 0).sum()),
            draws=int((self.sign == 0).sum()),
            losses=int((self.sign < 0).sum()),
            score=mean_of(self._shares(np.ones_like(self.points), self.points), unit=full, lowest=0.0, highest=1.0),
            margin=mean_of(self._shares(self.has_margin, self.margin, unit)),
            forfeits=int(self.has_forfeited.sum()),
        )

    def _shares(self, matches: Array, values: Array, unit: int = 1) -> Shares:
        """Add up blocks by pairing: their matches, and values in parts of 1 / `unit`."""
        starts = self.starts
        columns = (self.pairing[starts], np.add.reduceat(matches, starts), np.add.reduceat(values, starts))
        counts: defaultdict[int, dict[tuple[int, ExactNumber], int]] = defaultdict(dict)
        for (pairing, m, y), times in Counter(zip(*[column.tolist() for column in columns], strict=True)).items():
            if m:
                counts[pairing][m, _quotient(y, unit)] = times
        return shares_of(counts.values())


class _PlayedMatches:
    """A player's matches in schedule order, with a column for each value; `profile` computes all results from them.

    The first column of `ranks` and `scores` is the player's own; the others follow in order of places of the pairing,
    the first place after the last one. `at_fault` is a seat, -1 without a forfeit. Scores count in parts of
    1 / unit, and are 0 after a forfeit.
    """

    def __init__(self, player: str, table: MatchTable) -> None:
        self._table, self._unit = table, lcm(*[end.score_unit for end in table.ends])
        self._names = [rotate(names, names.index(player)) for names in table.players]
        row, self._rotation = table.present.nonzero()
        order = np.lexsort((self._rotation, table.pairing[row], table.block[row]))
        row, self._rotation = row[order], self._rotation[order]
        self._pairing, self._block, self._end = table.pairing[row], table.block[row], table.end[row, self._rotation]
        place = np.array([names.index(player) for names in table.players])[self._pairing]
        places = (place[:, None] + np.arange(table.seats)) % table.seats
        self._own = (row, self._rotation, place)
        self._seat = (place - self._rotation) % table.seats
        self._ranks = np.take_along_axis(table.ranks[row, self._rotation], places, axis=1).astype(np.int64) - ord("0")
        self._scores = self._scores_by_place(places)
        self._at_fault = np.array([-1 if end.at_fault is None else end.at_fault for end in table.ends])[self._end]
        self._has_forfeited = self._at_fault == self._seat
        own, others = self._ranks[:, :1], self._ranks[:, 1:]
        self._outcomes = self._make_outcomes(
            points=table.points[self._own].astype(np.int64),
            sign=np.where(own[:, 0] > 0, -1, (others > 0).all(axis=1)),
            margin=self._scores[:, 0] - self._scores[:, 1:].max(axis=1),
        )

    def _scores_by_place(self, places: Array) -> Array:
        """Return the stored scores of each match in the order of `places`, the player's first, in parts of 1 / unit.

        `places` are column indices, a row for each match.
        """
        row, rotation, _ = self._own
        scores = np.take_along_axis(self._table.column("scores")[row, rotation].astype(np.int64), places, axis=1)
        factors = np.array([self._unit // end.score_unit for end in self._table.ends], dtype=object)
        if (factors != 1).any() or np.abs(scores).max() >= _MOST:
            scores = scores.astype(object) * factors[self._end][:, None]
        return scores

    def profile(self, total: ProfileLine) -> Profile:
        """Compute the profile around its line `total`."""
        full, unit = full_score(self._table.seats), self._unit
        tenths, drift = self._tenths_and_drift(full)
        return Profile(
            total=total,
            opponents=tuple(
                sorted(self._opponent_lines(), key=lambda one: (one.score.value if one.score else 0, one.name))
            ),
            seats=self._outcomes.lines(self._seat, [*map(str, range(self._table.seats))], full, unit),
            tenths=self._outcomes.lines(tenths, [*map(str, range(1, TENTHS + 1))], full, unit) if len(tenths) else (),
            drift=drift,
            times=self._times(),
            faults=tuple(self._faults()),
            pardons=tuple(self._pardons()),
            opponents_forfeits=int((self._at_fault >= 0).sum() - self._has_forfeited.sum()),
            wins=self._largest_margins(1),
            losses=self._largest_margins(-1),
            closest=self._smallest_margins(),
        )

    def _make_outcomes(self, points: Array, sign: Array, margin: Array) -> _Outcomes:
        """Make the player's outcomes, against all others at once, or one by one if values have a column for each."""
        times = points.size // len(points)
        same = (self._pairing, self._block, self._at_fault < 0, self._has_forfeited)
        pairing, block, has_margin, has_forfeited = (np.repeat(column, times) for column in same)
        values = (points.ravel(), sign.ravel(), margin.ravel())
        return _Outcomes(pairing, block, *values, has_margin.astype(np.int64), has_forfeited)

    def _opponent_lines(self) -> Sequence[ProfileLine]:
        """Make a line for each opponent, from all matches with that player, scored between the two alone."""
        ranks, scores = self._ranks, self._scores
        sign = np.sign(ranks[:, 1:] - ranks[:, :1])
        part = self._make_outcomes(1 + sign, sign, scores[:, :1] - scores[:, 1:])
        known = sorted({name for names in self._names for name in names[1:]})
        numbers = np.array([[known.index(name) for name in names[1:]] for names in self._names])
        return part.lines(numbers[self._pairing].ravel(), known, 2, self._unit)

    def _tenths_and_drift(self, full: int) -> tuple[Array, Drift | None]:
        """Return the tenth of each match from 0 (empty with too few blocks), and the drift of the scores of blocks."""
        starts = self._outcomes.starts
        sizes = np.diff(starts, append=len(self._block))
        scores = np.add.reduceat(self._outcomes.points, starts) / (full * sizes)
        tenths = np.repeat(np.arange(len(starts)) * TENTHS // len(starts), sizes)
        drift = drift_of(scores.tolist(), self._pairing[starts].tolist())
        return tenths[: len(tenths) if len(starts) >= TENTHS else 0], drift

    def _times(self) -> Times:
        """Return the player's use of time over the matches in which they decided."""
        moves, time_us, slowest_us = (
            self._table.column(name)[self._own].astype(np.int64) for name in ("moves", "time_us", "slowest_us")
        )
        rows = np.flatnonzero(moves)
        slowest = slowest_us[rows]
        return Times(
            matches=len(rows),
            means_ms=_percentiles(time_us[rows] / moves[rows]),
            slowest_decisions_ms=_percentiles(slowest),
            slowest_match=self._match_key(rows[slowest.argmax()]) if len(rows) else None,
        )

    def _faults(self) -> Iterator[Fault]:
        """Yield each kind of fault with which the player forfeited, in the order of terminations."""
        rows = np.flatnonzero(self._has_forfeited)
        for kind in FAULTS:
            is_kind = np.array([end.termination is kind for end in self._table.ends])
            hits = rows[is_kind[self._end[rows]]]
            if len(hits):
                yield Fault(kind.value, len(hits), len(hits), tuple(map(self._match_key, hits[:MOST_MATCH_IDS])))

    def _pardons(self) -> Iterator[Fault]:
        """Yield each kind of the player's faults after which the game went on."""
        ends, seats = self._table.ends, self._seat
        rows = np.flatnonzero(np.array([bool(end.pardoned) for end in ends])[self._end]).tolist()
        for kind in PARDONABLE:
            counts = {row: ends[self._end[row]].pardoned[seats[row]].get(kind.value, 0) for row in rows}
            hits = [row for row, count in counts.items() if count]
            if hits:
                yield Fault(
                    kind.value, sum(counts.values()), len(hits), tuple(map(self._match_key, hits[:MOST_MATCH_IDS]))
                )

    def _largest_margins(self, sign: int) -> tuple[Extreme, ...]:
        """Return the wins by the largest margins, or losses if `sign` is -1; `MOST_EXTREMES` at most, largest first.

        Matches with a forfeit or a margin of 0 are left out; of equal ones the first is taken.
        """
        margins = sign * self._outcomes.margin
        rows = np.flatnonzero(margins > 0)
        return tuple(map(self._describe_extreme, rows[np.argsort(-margins[rows], kind="stable")][:MOST_EXTREMES]))

    def _smallest_margins(self) -> tuple[Extreme, ...]:
        """Return the matches whose margins are nearest to 0, at most `MOST_EXTREMES`; of equal ones the first.

        Matches with a forfeit are left out. Empty if all margins are equal in size.
        """
        rows = np.flatnonzero(self._outcomes.has_margin)
        margins = np.abs(self._outcomes.margin[rows])
        closest = rows[np.argsort(margins, kind="stable")][:MOST_EXTREMES] if len({*margins.tolist()}) > 1 else ()
        return tuple(map(self._describe_extreme, closest))

    def _describe_extreme(self, row: int) -> Extreme:
        """Return the match of a row, with players and scores by seat."""
        first = -int(self._seat[row]) % self._table.seats
        scores = [_quotient(score, self._unit) for score in self._scores[row].tolist()]
        players = rotate(self._names[self._pairing[row]], first)
        return Extreme(
            self._match_key(row),
            players,
            rotate(scores, first),
            _quotient(int(self._outcomes.margin[row]), self._unit),
        )

    def _match_key(self, row: int) -> MatchKey:
        return MatchKey(self._table.keys[self._pairing[row]], int(self._block[row]), int(self._rotation[row]))


def _quotient(parts: int, unit: int) -> ExactNumber:
    """Return `parts` / `unit` exactly, as an int if it is whole."""
    value = Fraction(parts, unit)
    return value.numerator if value.denominator == 1 else value


def _percentiles(us: Array) -> Percentiles:
    """Compute percentiles in ms of times in µs: the smallest values that occurred and that p % of all do not exceed."""
    if not len(us):
        return Percentiles(None, None)
    ordered = np.sort(us)
    return Percentiles(*(float(ordered[ceil(percent * len(ordered) / 100) - 1]) / 1e3 for percent in (50, 99)))
