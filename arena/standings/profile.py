"""A player's matches -> all that they tell of the player: by opponent, by seat, by tenth of the schedule, and in time.

Rule: the block is the unit of every error, and opponents are compared with themselves only: whether a player gets
better or worse is asked within each pairing. Matches pass one at a time, so that a million of them need little memory.
"""

from array import array
from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from heapq import merge
from itertools import groupby
from math import ceil
from operator import itemgetter
from typing import Final, Generic, TypeVar

import msgspec

from arena.match.record import FAULTS, PARDONABLE
from arena.match.results import MatchKey, MatchResult, PairingRanks, points
from arena.standings.luck_adjustment import LuckAdjustment
from arena.standings.rows import Row
from arena.standings.scores import Mean, mean_of, share_of
from arena.standings.sums import PairingSums
from arena.statistics.drift import TENTHS, Drift, drift_of

V = TypeVar("V")
Number = int | Fraction
MOST_EXTREMES: Final = 3
"""Of the biggest wins, and of the biggest losses."""
MOST_IDS: Final = 1000
"""Of matches with a kind of fault; the count has all of them."""
_Place = tuple[int, int, int]
"""Of a match in the schedule: block, number of the pairing, rotation."""


class Line(msgspec.Struct, frozen=True):
    """Some of the player's matches. A win is a place before all others (by opponent: before that one).

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
    """Values that occurred, which half and 99 % of the matches do not exceed; None without a match."""

    p50: float | None
    p99: float | None


class Times(msgspec.Struct, frozen=True):
    """Over matches in which the player had to decide: their mean and their slowest decision, in milliseconds.

    Single decisions are not kept, so there is no percentile of them. `slowest_match` has the slowest one of all.
    """

    matches: int
    means_ms: Percentiles
    slowest_decisions_ms: Percentiles
    slowest_match: MatchKey | None


class Fault(msgspec.Struct, frozen=True):
    """How often a fault of that kind occurred, in how many matches; the first `MOST_IDS` of these, as scheduled."""

    kind: str
    faults: int
    matches: int
    first: tuple[MatchKey, ...]


class Extreme(msgspec.Struct, frozen=True):
    """A match that was won or lost by much. `scores` and `players` are by seat."""

    match: MatchKey
    players: tuple[str, ...]
    scores: tuple[Number, ...]
    margin: Number


class Profile(msgspec.Struct, frozen=True):
    """All about one player. `drift` is None where it cannot be tested; `tenths` are empty below ten blocks.

    `total` are all matches, as in the row of the table. `faults` ended their matches, after `pardons` the game went on.
    Opponents are in the order of the score against them, the hardest first.
    """

    total: Line
    opponents: tuple[Line, ...]
    seats: tuple[Line, ...]
    tenths: tuple[Line, ...]
    drift: Drift | None
    times: Times
    faults: tuple[Fault, ...]
    pardons: tuple[Fault, ...]
    opponents_forfeits: int
    wins: tuple[Extreme, ...]
    losses: tuple[Extreme, ...]


_Part = tuple[int, int, Number | None, bool]
"""The player's part in one match: twice the points, -1 to 1 for lost to won, the margin, and an own forfeit."""


def profile(row: Row, pairings: Mapping[str, PairingRanks], results: Iterable[MatchResult]) -> Profile:
    """Gather what the matches of a player tell, whose row of the table is given.

    `pairings` are all of the league by key, in the order of the schedule; `results` are those of the player's pairings,
    in the order of pairings, blocks and rotations. ValueError for another order, or for a match of others.
    """
    player = row.name
    order = {key: number for number, (key, one) in enumerate(pairings.items()) if player in one.players}
    schedule = _Schedule(player, [pairings[key] for key in order], [*order.values()])
    counting, before = _Counting(player), (-1, -1)
    for (key, block), matches in groupby(results, key=lambda one: one.key[:2]):
        if key not in order:
            raise ValueError(f"block {block} of pairing {key} is none of {player}")
        if (order[key], block) <= before:
            raise ValueError(f"block {block} of pairing {key} comes after a later one")
        before = order[key], block
        counting.add(before, tuple(matches), schedule.tenth(before))
    return counting.profile(_total(row), schedule.drift)


def _total(row: Row) -> Line:
    counts = (row.matches, row.wins, row.draws, row.losses)
    return Line("all", *counts, row.score, row.margin, sum(row.faults.values()), row.luck_adjusted)


def luck_adjusted(found: Profile, player: str, pairings: Iterable[PairingSums]) -> Profile:
    """The same with scores without luck, in all and by opponent, where they tell more than the plain ones.

    `pairings` are all whose luck was measured: the factor on luck is pooled over them.
    """
    known = [*pairings]
    adjustment = LuckAdjustment(known)
    own = [(one, one.players.index(player)) for one in known if player in one.players]

    def adjusted(line: Line, met: Sequence[tuple[PairingSums, int]]) -> Line:
        score = adjustment.score(met, line.score) if line.score and met else None
        return msgspec.structs.replace(line, luck_adjusted=score)

    opponents = [adjusted(line, [each for each in own if line.name in each[0].players]) for line in found.opponents]
    return msgspec.structs.replace(found, total=adjusted(found.total, own), opponents=tuple(opponents))


class _Schedule:
    """The blocks of a player as they are scheduled: what a tenth of them is, and whether scores drift."""

    def __init__(self, player: str, pairings: Sequence[PairingRanks], numbers: Sequence[int]) -> None:
        scores: list[float] = []
        of: list[int] = []
        blocks = [_scores(player, one, number) for one, number in zip(pairings, numbers, strict=True)]
        total = sum(len(one.blocks) for one in pairings)
        self._starts: list[tuple[int, int]] = []
        """Block and pairing of the first block of each tenth."""
        for place, (block, number, score) in enumerate(merge(*blocks)):
            if place * TENTHS // total == len(self._starts):
                self._starts.append((block, number))
            scores.append(score)
            of.append(number)
        self._has_tenths = total >= TENTHS
        self.drift = drift_of(scores, of)

    def tenth(self, at: tuple[int, int]) -> int:
        """The tenth, from 1, of a block of a pairing; 0 if there are too few blocks for tenths."""
        return bisect_right(self._starts, at[::-1]) if self._has_tenths else 0


def _scores(player: str, pairing: PairingRanks, number: int) -> Iterator[tuple[int, int, float]]:
    """The blocks of a pairing with its number and the player's mean score in each."""
    place, seats = pairing.players.index(player), len(pairing.players)
    known: dict[str, float] = {}
    for block, start in zip(pairing.blocks, range(0, len(pairing.ranks), seats * seats), strict=True):
        course = pairing.ranks[start : start + seats * seats]
        if course not in known:
            known[course] = _score(course, place, seats)
        yield block, number, known[course]


def _score(course: str, place: int, seats: int) -> float:
    played = [
        (rotation, tuple(map(int, course[rotation * seats : (rotation + 1) * seats])))
        for rotation in range(seats)
        if course[rotation * seats] != "-"
    ]
    gained = sum(points(ranks)[(place - rotation) % seats] for rotation, ranks in played)
    return gained / (2 * (seats - 1) * len(played))


class _Counted:
    """A line while it is counted: by pairing, how often blocks came to so many matches and points, or margin."""

    def __init__(self) -> None:
        self.signs = [0, 0, 0]
        """Draws, wins and losses: the last one is that of -1."""
        self.forfeits = 0
        self.points: defaultdict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
        self.margins: defaultdict[int, Counter[tuple[int, Number]]] = defaultdict(Counter)

    def add(self, pairing: int, parts: Sequence[_Part]) -> None:
        """Add the player's parts in the matches of a block."""
        total, normal = 0, 0
        total_margin: Number = 0
        for gained, sign, margin, has_forfeited in parts:
            total += gained
            self.signs[sign] += 1
            self.forfeits += has_forfeited
            if margin is not None:
                total_margin += margin
                normal += 1
        self.points[pairing][len(parts), total] += 1
        if normal:
            self.margins[pairing][normal, total_margin] += 1

    def line(self, name: str, full: int) -> Line:
        """The line; `full` are the points of a win over all."""
        return Line(
            name=name,
            matches=sum(self.signs),
            wins=self.signs[1],
            draws=self.signs[0],
            losses=self.signs[-1],
            score=mean_of(map(share_of, self.points.values()), unit=full, lowest=0.0, highest=1.0),
            margin=mean_of(map(share_of, self.margins.values())),
            forfeits=self.forfeits,
        )


class _First(Generic[V]):
    """The first few of many that come in any order."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: list[tuple[tuple[Number, ...], V]] = []

    def takes(self, place: tuple[Number, ...]) -> bool:
        """Whether something at that place is one of the first by now. No place occurs twice."""
        return len(self._found) < self._most or place < self._found[-1][0]

    def add(self, place: tuple[Number, ...], value: V) -> None:
        """Take it in, if it is one of the first by now."""
        if self.takes(place):
            insort(self._found, (place, value), key=itemgetter(0))
            del self._found[self._most :]

    def values(self) -> tuple[V, ...]:
        """In order."""
        return tuple(value for _, value in self._found)


class _Kind:
    """A kind of fault while it is counted."""

    def __init__(self) -> None:
        self.faults = self.matches = 0
        self.first: _First[MatchKey] = _First(MOST_IDS)

    def add(self, place: _Place, match: MatchKey, count: int) -> None:
        self.faults += count
        self.matches += 1
        self.first.add(place, match)


class _Counting:
    """A player's matches while they pass, block by block."""

    def __init__(self, player: str) -> None:
        self._player = player
        self._seats = 2
        self._opponents: defaultdict[str, _Counted] = defaultdict(_Counted)
        self._by_seat: defaultdict[int, _Counted] = defaultdict(_Counted)
        self._tenths: defaultdict[int, _Counted] = defaultdict(_Counted)
        self._faults: defaultdict[str, _Kind] = defaultdict(_Kind)
        self._pardons: defaultdict[str, _Kind] = defaultdict(_Kind)
        self._opponents_forfeits = 0
        self._wins, self._losses = _First[Extreme](MOST_EXTREMES), _First[Extreme](MOST_EXTREMES)
        self._slowest: _First[MatchKey] = _First(1)
        self._means_us, self._slowest_us = array("d"), array("q")

    def add(self, at: tuple[int, int], matches: Sequence[MatchResult], tenth: int) -> None:
        """Add the matches of a block: its pairing and number, and the tenth of the schedule it is in."""
        pairing, number = at
        parts = []
        for one in matches:
            seat = one.players.index(self._player)
            part = _part(one, seat)
            parts.append(part)
            self._by_seat[seat].add(pairing, [part])
            place = number, pairing, one.key.rotation
            self._add_time(one, seat, place)
            self._add_faults(one, seat, place)
            self._add_extreme(one, part[2], place)
        if tenth:
            self._tenths[tenth].add(pairing, parts)
        self._add_opponents(pairing, matches, parts)

    def profile(self, total: Line, drift: Drift | None) -> Profile:
        """All that has been counted."""
        full = 2 * (self._seats - 1)
        opponents = [one.line(name, 2) for name, one in self._opponents.items()]
        return Profile(
            total=total,
            opponents=tuple(sorted(opponents, key=lambda line: (line.score.value if line.score else 0.0, line.name))),
            seats=tuple(self._by_seat[seat].line(str(seat), full) for seat in sorted(self._by_seat)),
            tenths=tuple(self._tenths[tenth].line(str(tenth), full) for tenth in sorted(self._tenths)),
            drift=drift,
            times=self._times(),
            faults=tuple(_faults([kind.value for kind in FAULTS], self._faults)),
            pardons=tuple(_faults([kind.value for kind in PARDONABLE], self._pardons)),
            opponents_forfeits=self._opponents_forfeits,
            wins=self._wins.values(),
            losses=self._losses.values(),
        )

    def _add_opponents(self, pairing: int, matches: Sequence[MatchResult], parts: Sequence[_Part]) -> None:
        self._seats = len(matches[0].players)
        for other in matches[0].players:
            if other != self._player:
                against = parts if self._seats == 2 else [_against(one, self._player, other) for one in matches]
                self._opponents[other].add(pairing, against)

    def _add_time(self, one: MatchResult, seat: int, place: _Place) -> None:
        if one.moves[seat]:
            self._means_us.append(one.time_us[seat] / one.moves[seat])
            self._slowest_us.append(one.slowest_us[seat])
            self._slowest.add((-one.slowest_us[seat], *place), one.key)

    def _add_faults(self, one: MatchResult, seat: int, place: _Place) -> None:
        if one.at_fault == seat:
            self._faults[one.termination.value].add(place, one.key, 1)
        elif one.at_fault is not None:
            self._opponents_forfeits += 1
        if one.pardoned:
            for kind, count in one.pardoned[seat].items():
                self._pardons[kind].add(place, one.key, count)

    def _add_extreme(self, one: MatchResult, margin: Number | None, place: _Place) -> None:
        if margin and one.scores is not None:
            extremes = self._wins if margin > 0 else self._losses
            rank = (-margin if margin > 0 else margin, *place)
            if extremes.takes(rank):
                extremes.add(rank, Extreme(one.key, one.players, tuple(map(_plain, one.scores)), margin))

    def _times(self) -> Times:
        return Times(
            matches=len(self._means_us),
            means_ms=_percentiles(self._means_us),
            slowest_decisions_ms=_percentiles(self._slowest_us),
            slowest_match=next(iter(self._slowest.values()), None),
        )


def _part(one: MatchResult, seat: int) -> _Part:
    """The player's part in a match, against all others. Equal ranks share the mean of their places."""
    gained, sign = _outcome(one.ranks, seat)
    margin = None
    if one.scores is not None:
        scores = [*map(_plain, one.scores)]
        own = scores.pop(seat)
        margin = own - max(scores)
    return gained, sign, margin, one.at_fault == seat


@lru_cache(maxsize=4096)
def _outcome(ranks: tuple[int, ...], seat: int) -> tuple[int, int]:
    sign = -1 if ranks[seat] else 1 if ranks.count(0) == 1 else 0
    return points(ranks)[seat], sign


def _against(one: MatchResult, player: str, other: str) -> _Part:
    """The player's part against one of the others alone."""
    seat, theirs = one.players.index(player), one.players.index(other)
    sign = (one.ranks[seat] < one.ranks[theirs]) - (one.ranks[seat] > one.ranks[theirs])
    margin = None if one.scores is None else _plain(one.scores[seat]) - _plain(one.scores[theirs])
    return 1 + sign, sign, margin, one.at_fault == seat


def _plain(score: Fraction) -> Number:
    """The same number; whole ones are added several times as fast as an int."""
    return score.numerator if score.denominator == 1 else score


def _faults(kinds: Iterable[str], found: Mapping[str, _Kind]) -> Iterator[Fault]:
    for kind in kinds:
        if kind in found:
            yield Fault(kind, found[kind].faults, found[kind].matches, found[kind].first.values())


def _percentiles(us: Sequence[float]) -> Percentiles:
    """The p-th one is a value that p % of all do not exceed, and that occurred."""
    if not us:
        return Percentiles(None, None)
    ordered = sorted(us)
    return Percentiles(*(ordered[ceil(percent * len(ordered) / 100) - 1] / 1e3 for percent in (50, 99)))
