"""Tallies and ratings -> the rows of a table, best first.

Rule: a row is calculated from its own entrant's pairings only; what depends on its neighbours is put in afterwards.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import msgspec

from arena.match.record import FAULTS
from arena.standings.luck_adjustment import luck_version, without_luck
from arena.standings.luck_audit import PlayerLuck, audited
from arena.standings.outcomes import full_score
from arena.standings.ratings import Rating, RatingSettings
from arena.standings.scores import Scores, mean_and_error, scores, share
from arena.standings.skills import skills
from arena.standings.tally import Tallied, Tally
from arena.statistics.bands import bands
from arena.statistics.probit import ProbitFit

Z_95: Final = 1.959963984540054
"""Half the width, in standard errors, of an interval that holds 95 % of a normal distribution."""

SortKey = Literal["mu", "exposure"]


class Entrant(msgspec.Struct, frozen=True):
    """A player of the league: its name there, and the bot behind it with its full content hash."""

    name: str
    bot: str
    version: str
    hash: str


class Row(msgspec.Struct, frozen=True):
    """One entrant's standing. What its matches cannot tell is None.

    A win is a first place of one's own, a draw a shared one, everything else a loss. `score` is the mean of 1, 1/2, 0;
    with n players, of the mean of the shared places scaled to 0..1. `score_error` is a 95 % half width, `margin_error`
    a standard error. `luck_free` is the score with the luck of dice and cards excluded, `luck_free_error` a 95 % half
    width; None unless all matches of the league have luck of one version. It has no part in the rank. The margin, over
    matches without a forfeit, is the own score minus the best of the others. `luck` is the audit of luck; None without
    a match whose luck was measured.

    `skill` is the batch estimate (MAP), which no order of matches can change, with `skill_error`, a 95 % half width
    against the mean of all whom matches connect (or against the anchor). `superiority` is how likely the entrant is
    better than the one in the next row; None if no matches connect the two. Entrants of one `band` cannot be told apart
    from row to row.

    `faults` counts the matches that the entrant's own faults ended, by kind; `pardoned` the faults after which a
    lenient game went on.
    """

    rank: int
    name: str
    bot: str
    version: str
    hash: str
    matches: int
    wins: int
    draws: int
    losses: int
    score: float | None
    score_error: float | None
    luck_free: float | None
    luck_free_error: float | None
    mean_margin: float | None
    margin_error: float | None
    mu: float
    sigma: float
    exposure: float
    skill: float | None
    skill_error: float | None
    superiority: float | None
    band: int
    score_by_seat: tuple[float | None, ...]
    faults: dict[str, int]
    pardoned: dict[str, int]
    luck: PlayerLuck | None


class _Met(NamedTuple):
    """An entrant in one pairing: the pairing's tally and scores, and the entrant's place."""

    tally: Tally
    scores: Scores
    place: int


def ranked(
    field: Sequence[Entrant], ratings: Mapping[str, Rating], sorted_by: SortKey
) -> Iterator[tuple[int, Entrant]]:
    """Best first, with ranks from 1. Values that agree to 9 decimals differ by rounding only: they share the rank."""
    value = {one.name: round(getattr(ratings[one.name], sorted_by), 9) for one in field}
    ordered = sorted(field, key=lambda one: (-value[one.name], one.name))
    rank = 0
    for place, one in enumerate(ordered):
        if place == 0 or value[one.name] != value[ordered[place - 1].name]:
            rank = place + 1
        yield rank, one


def rows_of(
    ranked: Iterable[tuple[int, Entrant]], played: Sequence[Tallied], ratings: Mapping[str, Rating]
) -> tuple[list[Row], int]:
    """Make the rows without what follows from the batch estimate; and count the matches with a shared first place."""
    met: defaultdict[str, list[_Met]] = defaultdict(list)
    drawn = 0
    for one in played:
        found = scores(one.tally)
        drawn += found.drawn
        for place, player in enumerate(one.players):
            met[player].append(_Met(one.tally, found, place))
    seats = max((one.tally.seats for one in played), default=0)
    rows = [_row(rank, entrant, met[entrant.name], ratings[entrant.name], seats) for rank, entrant in ranked]
    rows = _with_audit(rows, met)
    return (_without_luck(rows, met) if luck_version(played) else rows), drawn


def _row(rank: int, entrant: Entrant, met: Sequence[_Met], rating: Rating, seats: int) -> Row:
    score, score_error = mean_and_error(
        [share(one.scores.points, one.place) for one in met], unit=full_score(seats) if met else 1
    )
    mean_margin, margin_error = mean_and_error([share(one.tally.sums.margins, one.place) for one in met])
    return Row(
        rank=rank,
        name=entrant.name,
        bot=entrant.bot,
        version=entrant.version,
        hash=entrant.hash,
        matches=sum(one.scores.points.matches for one in met),
        wins=sum(one.scores.wins[one.place] for one in met),
        draws=sum(one.scores.draws[one.place] for one in met),
        losses=sum(one.scores.losses[one.place] for one in met),
        score=score,
        score_error=None if score_error is None else Z_95 * score_error,
        luck_free=None,
        luck_free_error=None,
        mean_margin=mean_margin,
        margin_error=margin_error,
        mu=rating.mu,
        sigma=rating.sigma,
        exposure=rating.exposure,
        skill=None,
        skill_error=None,
        superiority=None,
        band=1,
        score_by_seat=tuple(_score_at(seat, met, seats) for seat in range(seats)),
        faults=_faults((one.tally.sums.faults, one.place) for one in met),
        pardoned=_faults((one.tally.sums.pardoned, one.place) for one in met),
        luck=None,
    )


def _with_audit(rows: Iterable[Row], met: Mapping[str, Sequence[_Met]]) -> list[Row]:
    """Put in the audit of luck, which takes all players together."""
    found = audited({row.name: [(one.tally, one.place) for one in met[row.name]] for row in rows})
    return [msgspec.structs.replace(row, luck=found.get(row.name)) for row in rows]


def _without_luck(rows: Iterable[Row], met: Mapping[str, Sequence[_Met]]) -> list[Row]:
    """Put in the scores without luck."""
    found = []
    for row in rows:
        score, error = without_luck([(one.tally, one.place) for one in met[row.name]])
        width = None if error is None else Z_95 * error
        found.append(msgspec.structs.replace(row, luck_free=score, luck_free_error=width))
    return found


def _score_at(seat: int, met: Sequence[_Met], seats: int) -> float | None:
    matches = sum(one.scores.matches_by_seat[one.place][seat] for one in met)
    points = sum(one.scores.points_by_seat[one.place][seat] for one in met)
    return points / (full_score(seats) * matches) if matches else None


def _faults(counted: Iterable[tuple[Mapping[str, tuple[int, ...]], int]]) -> dict[str, int]:
    """Add up what is counted by kind and place, each at its place: what happened, in the order of the terminations."""
    counts: Counter[str] = Counter()
    for by_kind, place in counted:
        for kind, by_place in by_kind.items():
            counts[kind] += by_place[place]
    return {kind.value: counts[kind] for kind in FAULTS if counts[kind]}


def compared(rows: Sequence[Row], fit: ProbitFit | None, settings: RatingSettings) -> tuple[Row, ...]:
    """Put in what the batch estimate says of each row, and of each beside the next."""
    if fit is None:
        return tuple(rows)
    by_name = skills(fit, settings)
    order = [row.name for row in rows]
    band_of = {
        name: number for number, band in enumerate(bands(order, fit.likelihood_better), start=1) for name in band
    }
    next_of = dict(pairwise(order))
    return tuple(
        msgspec.structs.replace(
            row,
            skill=by_name[row.name].mean if row.matches else None,
            skill_error=Z_95 * by_name[row.name].error if row.matches else None,
            superiority=fit.likelihood_better(row.name, next_of[row.name]) if row.name in next_of else None,
            band=band_of[row.name],
        )
        for row in rows
    )
