"""The results of a league -> all that they tell of one player: by opponent, by seat, in the course of the schedule.

Rule: the block is the unit of every error, and opponents are compared with themselves only: whether a player gets
better or worse is asked within each pairing.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from statistics import fmean
from typing import Final, NamedTuple

import msgspec

from arena.league.tournament import Tournament
from arena.match.record import FAULTS, PARDONABLE, fraction_written
from arena.match.results import MatchResult
from arena.report.means import Mean, Value, by_block, mean_of
from arena.report.times import Times, times_of
from arena.standings.skills import fitted, points_of, ranking, skills
from arena.standings.sums import sums_of
from arena.statistics.drift import Drift, drift_of

TENTHS: Final = 10
MOST_EXTREMES: Final = 3
"""Of the biggest wins, and of the biggest losses."""


class Line(msgspec.Struct, frozen=True):
    """Some of the player's matches. A win is a place before all others (by opponent: before that one).

    `margin`, over matches without a forfeit, is the own score less the best of the others (or less that opponent's).
    `forfeits` are the player's own. `score_without_luck` is None unless the luck is known.
    """

    name: str
    matches: int
    wins: int
    draws: int
    losses: int
    score: Mean
    margin: Mean
    score_without_luck: Mean | None
    forfeits: int


class Standing(msgspec.Struct, frozen=True):
    """Rank, skill and its 95 % half width by the batch fit, among the `players` that matches connect with this one."""

    rank: int
    players: int
    skill: float
    error: float


class FaultKind(msgspec.Struct, frozen=True):
    """The matches that the player lost in this way, in the order of the schedule."""

    kind: str
    matches: tuple[str, ...]


class Pardon(msgspec.Struct, frozen=True):
    """Faults of this kind after which the game went on, by match, in the order of the schedule."""

    kind: str
    faults: int
    matches: tuple[str, ...]


class Extreme(msgspec.Struct, frozen=True):
    """A match that was won or lost by much. `scores` and `players` are by seat."""

    match: str
    players: tuple[str, ...]
    scores: tuple[int | str, ...]
    margin: int | str


class Profile(msgspec.Struct, frozen=True):
    """One player's page. `standing` is None without a match, `drift` where it cannot be asked."""

    league: str
    player: str
    bot: str
    version: str
    hash: str
    arguments: tuple[str, ...]
    standing: Standing | None
    total: Line
    opponents: tuple[Line, ...]
    seats: tuple[Line, ...]
    tenths: tuple[Line, ...]
    drift: Drift | None
    times: Times
    faults: tuple[FaultKind, ...]
    pardons: tuple[Pardon, ...]
    opponents_forfeits: int
    wins: tuple[Extreme, ...]
    losses: tuple[Extreme, ...]


class Share(NamedTuple):
    """The player's part in one match, against all others or against one; `luck_free` is its score without luck."""

    match: str
    result: MatchResult
    seat: int
    sign: int
    score: float
    margin: Fraction | None
    luck_free: float | None

    @property
    def has_forfeited(self) -> bool:
        """Whether the player itself ended the match."""
        return self.result.at_fault == self.seat

    def value(self, value: float) -> Value:
        """`value` as one of this match."""
        return Value(self.result.key[:2], self.result.key.pairing, value)


def profile(
    tournament: Tournament,
    player: str,
    results: Sequence[MatchResult],
    ids: Sequence[str],
    luck_free: Callable[[str], float | None] = lambda _: None,
) -> Profile:
    """Gather what `results`, all of the league in schedule order with their `ids`, tell of `player`.

    `luck_free` gives the player's score in a match, by its id, without the luck of that match.
    """
    (entry,) = (each for each in tournament.players if each.name == player)
    shares = [
        _share(one, match, one.players.index(player), luck_free(match))
        for one, match in zip(results, ids, strict=True)
        if player in one.players
    ]
    normal = [share for share in shares if share.margin is not None]
    return Profile(
        league=tournament.name,
        player=player,
        bot=entry.bot.name,
        version=entry.bot.manifest.version,
        hash=entry.bot.digest,
        arguments=entry.arguments,
        standing=_standing([each.name for each in tournament.players], player, results, tournament),
        total=_line("all", shares),
        opponents=tuple(_by_opponent(player, shares)),
        seats=tuple(_lines((f"{share.seat}", share) for share in sorted(shares, key=lambda share: share.seat))),
        tenths=tuple(_tenths(shares)),
        drift=_drift(shares),
        times=times_of([(share.match, share.result, share.seat) for share in shares]),
        faults=tuple(_faults(shares)),
        pardons=tuple(_pardons(shares)),
        opponents_forfeits=sum(share.result.at_fault not in {None, share.seat} for share in shares),
        wins=_extremes([share for share in normal if (share.margin or 0) > 0]),
        losses=_extremes([share for share in normal if (share.margin or 0) < 0]),
    )


def _share(one: MatchResult, match: str, seat: int, luck_free: float | None) -> Share:
    """The part of whoever sits there, against all others. Equal ranks share the mean of their places."""
    own, others = one.ranks[seat], [rank for place, rank in enumerate(one.ranks) if place != seat]
    points = sum((own < rank) + (own == rank) / 2 for rank in others)
    sign = -1 if any(rank < own for rank in others) else 0 if own in others else 1
    margin = None if one.margins is None else one.margins[seat]
    return Share(match, one, seat, sign, points / len(others), margin, luck_free)


def _against(share: Share, other: int) -> Share:
    """The same match against the seat `other` alone."""
    one = share.result
    if len(one.players) == 2:
        return share
    sign = (one.ranks[share.seat] < one.ranks[other]) - (one.ranks[share.seat] > one.ranks[other])
    margin = None if one.scores is None else one.scores[share.seat] - one.scores[other]
    return share._replace(sign=sign, score=(1 + sign) / 2, margin=margin, luck_free=None)


def _standing(
    names: Iterable[str], player: str, results: Sequence[MatchResult], tournament: Tournament
) -> Standing | None:
    field, pairings = tuple(names), sums_of(results)
    found = fitted(field, pairings, tournament.rating)
    played = points_of(found.table) if found else {}
    if found is None or player not in played:
        return None
    (group,) = (each for each in found.groups if player in each)
    known = skills(found, tournament.rating)
    order = ranking(
        found.groups,
        {name: own.value for name, own in known.items()},
        {name: own.score for name, own in played.items()},
    )
    (place,) = (place for place in order if place.name == player)
    return Standing(place.rank, len(group), known[player].value, known[player].error)


def _by_opponent(player: str, shares: Sequence[Share]) -> Iterator[Line]:
    """The hardest opponent first; of equals, by name."""
    own = [
        (other, _against(share, seat))
        for share in shares
        for seat, other in enumerate(share.result.players)
        if other != player
    ]
    yield from sorted(_lines(own), key=lambda line: (line.score.value or 0.0, line.name))


def _tenths(shares: Sequence[Share]) -> Iterator[Line]:
    """Cut the player's blocks, in the order of the schedule, into ten parts as equal as can be; none of too few."""
    order = list(dict.fromkeys(share.result.key[:2] for share in shares))
    if len(order) < TENTHS:
        return
    place = {block: index * TENTHS // len(order) for index, block in enumerate(order)}
    named = [(str(place[share.result.key[:2]] + 1), share) for share in shares]
    yield from sorted(_lines(named), key=lambda line: int(line.name))


def _drift(shares: Sequence[Share]) -> Drift | None:
    blocks = by_block(share.value(share.score) for share in shares)
    number = {name: place for place, name in enumerate(sorted({pairing for pairing, _ in blocks}))}
    return drift_of([fmean(own) for own in blocks.values()], [number[pairing] for pairing, _ in blocks])


def _lines(named: Iterable[tuple[str, Share]]) -> Iterator[Line]:
    """A line for each name, in the order of first mention."""
    found: defaultdict[str, list[Share]] = defaultdict(list)
    for name, share in named:
        found[name].append(share)
    for name, own in found.items():
        yield _line(name, own)


def _line(name: str, shares: Sequence[Share]) -> Line:
    signs = Counter(share.sign for share in shares)
    without_luck = [share.value(share.luck_free) for share in shares if share.luck_free is not None]
    return Line(
        name=name,
        matches=len(shares),
        wins=signs[1],
        draws=signs[0],
        losses=signs[-1],
        score=mean_of(share.value(share.score) for share in shares),
        margin=mean_of(share.value(float(share.margin)) for share in shares if share.margin is not None),
        score_without_luck=mean_of(without_luck) if without_luck else None,
        forfeits=sum(share.has_forfeited for share in shares),
    )


def _faults(shares: Sequence[Share]) -> Iterator[FaultKind]:
    for kind in FAULTS:
        own = tuple(share.match for share in shares if share.has_forfeited and share.result.termination == kind.value)
        if own:
            yield FaultKind(kind.value, own)


def _pardons(shares: Sequence[Share]) -> Iterator[Pardon]:
    for kind in PARDONABLE:
        counts = {
            share.match: share.result.pardoned[share.seat].get(kind.value, 0)
            for share in shares
            if share.result.pardoned
        }
        if any(counts.values()):
            yield Pardon(kind.value, sum(counts.values()), tuple(match for match, count in counts.items() if count))


def _extremes(shares: Sequence[Share]) -> tuple[Extreme, ...]:
    """The biggest first; of equals the earlier one."""
    found = sorted(shares, key=lambda share: -abs(Fraction(share.margin or 0)))[:MOST_EXTREMES]
    return tuple(
        Extreme(
            share.match,
            share.result.players,
            tuple([fraction_written(score) for score in share.result.scores or ()]),
            fraction_written(share.margin or Fraction(0)),
        )
        for share in found
    )
