"""Made leagues of `MatchResult`s, a player's columns of them, and a page computed naively: the reference."""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import chain
from statistics import fmean
from typing import Any, NamedTuple

from hypothesis import strategies as st

from arena.match.record import FAULTS, PARDONABLE
from arena.match.results import MatchKey, MatchResult, rotate
from arena.standings.match_table import match_table
from arena.standings.profile import Profile, profile
from arena.standings.ratings import Rating
from arena.standings.rows import Entrant, rows_of
from arena.standings.sums import sums_of
from support.made_matches import match_result


def made(pairing: str, block: int, rotation: int, places: Sequence[str], **changes: Any) -> MatchResult:
    """A match of these players, by place in their pairing."""
    return match_result(MatchKey(pairing, block, rotation), rotate(tuple(places), rotation), **changes)


NAMES = ("ann", "=1+1", "a|b", "\x1b[31mred", "日本")


@st.composite
def leagues(draw: st.DrawFn) -> list[MatchResult]:
    """Matches of 2 to 4 seats: forfeits, pardons, ties, fractions, incomplete blocks, players who never decide."""
    seats = draw(st.integers(2, 4))
    places = st.permutations(NAMES).map(lambda names: tuple(names[:seats]))
    tables = draw(st.lists(places, min_size=1, max_size=4, unique_by=frozenset))
    results: list[MatchResult] = []
    for number, table in enumerate(tables):
        for block in draw(st.sets(st.integers(0, 30), max_size=12)):
            rotations = draw(st.sets(st.integers(0, seats - 1), min_size=1))
            results += [draw(_match(f"k{number}", block, rotation, table)) for rotation in rotations]
    return results


@st.composite
def matches(draw: st.DrawFn) -> MatchResult:
    """One such match."""
    seats = draw(st.integers(2, 4))
    block, rotation = draw(st.integers(0, 30)), draw(st.integers(0, seats - 1))
    return draw(_match("k0", block, rotation, draw(st.permutations(NAMES))[:seats]))


def _match(key: str, block: int, rotation: int, table: Sequence[str]) -> st.SearchStrategy[MatchResult]:
    seats = len(table)

    def each(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
        return st.tuples(*[values] * seats)

    fields: dict[str, Any] = {
        "moves": each(st.integers(0, 3)),
        "time_us": each(st.integers(0, 9)),
        "slowest_us": each(st.integers(0, 9)),
        "pardoned": st.just(()) | each(st.dictionaries(st.sampled_from(PARDONABLE), st.integers(1, 3), max_size=2)),
    }
    scores = each(st.integers(-2, 2) | st.sampled_from([Fraction(1, 3), Fraction(-1, 2)]))
    normal = st.fixed_dictionaries({**fields, "scores": scores})
    forfeit = st.fixed_dictionaries(
        {**fields, "at_fault": st.integers(0, seats - 1), "termination": st.sampled_from(FAULTS)}
    )
    return (normal | normal | forfeit).map(lambda changes: made(key, block, rotation, table, **changes))


class Part(NamedTuple):
    """One match as the reference sees it."""

    match: MatchResult
    place: tuple[int, int, int]
    score: Fraction
    margin: Fraction | None


class Reference:
    """One player's page, each number computed from all matches anew."""

    def __init__(self, player: str, results: Sequence[MatchResult]) -> None:
        self.player = player
        keys = list(dict.fromkeys(one.key.pairing for one in results))
        own = [one for one in results if player in one.players]
        self.parts = sorted(
            (
                Part(one, (one.key.block, keys.index(one.key.pairing), one.key.rotation), *self.against_all(one))
                for one in own
            ),
            key=lambda part: part.place,
        )
        self.blocks = sorted({part.place[:2] for part in self.parts})

    def seat(self, one: MatchResult) -> int:
        return one.players.index(self.player)

    def against(self, one: MatchResult, others: Sequence[int]) -> tuple[Fraction, Fraction | None]:
        """The share of these other seats that came after the player, ties for half; and the margin to the best."""
        seat = self.seat(one)
        beaten = [Fraction(sum([one.ranks[seat] < one.ranks[o], one.ranks[seat] <= one.ranks[o]]), 2) for o in others]
        margin = None if one.scores is None else one.scores[seat] - max(one.scores[other] for other in others)
        return sum(beaten, Fraction(0)) / len(others), margin

    def against_all(self, one: MatchResult) -> tuple[Fraction, Fraction | None]:
        return self.against(one, [seat for seat in range(len(one.players)) if seat != self.seat(one)])

    def opponents(self) -> dict[str, list[Part]]:
        names = {name for part in self.parts for name in part.match.players} - {self.player}
        return {
            name: [
                part._replace(score=score, margin=margin)
                for part in self.parts
                if name in part.match.players
                for score, margin in [self.against(part.match, [part.match.players.index(name)])]
            ]
            for name in names
        }

    def seats(self) -> dict[str, list[Part]]:
        return grouped(self.parts, lambda part: str(self.seat(part.match)))

    def tenths(self) -> dict[str, list[Part]]:
        if len(self.blocks) < 10:
            return {}
        return grouped(self.parts, lambda part: str(1 + self.blocks.index(part.place[:2]) * 10 // len(self.blocks)))

    def faults(self, kind: str) -> list[str]:
        return [
            str(part.match.key)
            for part in self.parts
            if part.match.at_fault == self.seat(part.match) and part.match.termination.value == kind
        ]

    def pardons(self, kind: str) -> list[tuple[str, int]]:
        counts = [
            (str(part.match.key), part.match.pardoned[self.seat(part.match)].get(kind, 0))
            for part in self.parts
            if part.match.pardoned
        ]
        return [(match, count) for match, count in counts if count]

    def extremes(self, sign: int) -> list[tuple[str, Fraction]]:
        own = [(part.match.key, part.margin) for part in self.parts if part.margin is not None]
        largest = sorted([(key, margin) for key, margin in own if sign * margin > 0], key=lambda one: -sign * one[1])
        return [(str(key), margin) for key, margin in largest[:3]]

    def closest(self) -> list[tuple[str, Fraction]]:
        own = [(str(part.match.key), part.margin) for part in self.parts if part.margin is not None]
        sizes = {abs(margin) for _, margin in own}
        return sorted(own, key=lambda one: abs(one[1]))[:3] if len(sizes) > 1 else []

    def percentiles(self, of: Callable[[MatchResult, int], float]) -> tuple[float | None, float | None]:
        values = sorted(
            of(part.match, self.seat(part.match)) for part in self.parts if part.match.moves[self.seat(part.match)]
        )
        if not values:
            return None, None
        half, most = (
            next(value for value in values if sum(one <= value for one in values) >= share * len(values))
            for share in (Fraction(1, 2), Fraction(99, 100))
        )
        return half, most


def grouped(parts: Iterable[Part], name: Callable[[Part], str]) -> dict[str, list[Part]]:
    found: dict[str, list[Part]] = {}
    for part in parts:
        found.setdefault(name(part), []).append(part)
    return found


def error_of(parts: Sequence[tuple[Part, Fraction]]) -> float | None:
    """The standard error of the mean of these values, by the formula at the top of `arena.standings.scores`."""
    blocks: dict[tuple[int, int], list[Fraction]] = {}
    for part, value in parts:
        blocks.setdefault(part.place[:2], []).append(value)
    if len(blocks) < 2:
        return None
    mean = sum((value for _, value in parts), Fraction(0)) / len(parts)
    single, total = [], Fraction(0)
    for pairing in {pairing for _, pairing in blocks}:
        own = [values for (_, one), values in blocks.items() if one == pairing]
        if len(own) > 1:
            own_mean = sum(chain(*own), Fraction(0)) / sum(map(len, own))
            total += squares(own, own_mean) * len(own) / (len(own) - 1)
        else:
            single += own
    of_all, alone = len(single) * squares(list(blocks.values()), mean), len(blocks) * squares(single, mean)
    total += max(of_all, alone) / (len(blocks) - 1)
    return math.sqrt(total) / len(parts)


def squares(blocks: Sequence[Sequence[Fraction]], mean: Fraction) -> Fraction:
    return sum(((sum(values) - mean * len(values)) ** 2 for values in blocks), Fraction(0))


def mean_score(parts: Sequence[Part]) -> float:
    return fmean(part.score for part in parts)


def page_of(player: str, results: Sequence[MatchResult]) -> Profile:
    """A player's page, whose row has nothing but the name."""
    (row,), _ = rows_of([Entrant(player, "", "", "")], sums_of(match_table(())), {player: Rating(25.0, 8.0)})
    return profile(row, match_table(results).of_player(player))
