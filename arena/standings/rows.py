"""Sums of pairings, ratings and skills -> the rows of a table, best first.

Rule: a rank is by the rating, complete or not, among the players whom matches connect; equal ones by their score, then
by name. Groups that no match connects stand one after the other, the largest first, each with ranks of its own; players
without a match come last and have none.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Final

import msgspec

from arena.match.record import FAULTS
from arena.standings.luck_adjustment import LuckAdjustment, common_luck_version
from arena.standings.luck_audit import PlayerLuck, audit_luck
from arena.standings.match_table import NO_PAIRINGS, Array, PlayerPairings
from arena.standings.ranks import full_score
from arena.standings.ratings import Rating, RatingSettings
from arena.standings.scores import Mean, Scores, mean_of, scores
from arena.standings.skills import ranking, skills
from arena.standings.sums import PairingSums
from arena.statistics.distributions import SURE_SIGN
from arena.statistics.interval import Interval
from arena.statistics.probit import ProbitFit

_EVEN: Final = 0.5
"""The score of equally good players."""
_PAIR: Final = 2


class Entrant(msgspec.Struct, frozen=True):
    """A player of the league: their name there, and the bot that plays with its full content hash."""

    name: str
    bot: str
    version: str
    hash: str


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """The standing of one entrant. A value that the matches cannot determine is None.

    `rank` is the place in the `group` of players whom matches connect, both from 1. A win is a first place of one's
    own, a draw a shared one, everything else a loss. `score` is the mean of 1, 1/2, 0; with n players, of the mean of
    the shared places scaled to 0..1. `luck_adjusted` is the score with the luck of dice and cards excluded; None unless
    all matches of the league have luck of one version, and its interval is narrower. It has no part in the rank. The
    margin, over matches without a forfeit, is the own score minus the best of the others. `luck` is the audit of luck;
    None without a match whose luck was measured.

    `rating` is the batch estimate of skill, which no order of matches can change; its interval is against the mean of
    all whom matches connect (or against the anchor). `los` is the likelihood of superiority over the player of the next
    row (None if no matches connect the two), and `ahead` whether the 95 % interval of their difference excludes 0.
    `mu` and `sigma` are of TrueSkill.

    `faults` counts the matches that the entrant's own faults ended, by kind; `pardoned` the faults after which a
    lenient game went on.
    """

    rank: int | None = None
    group: int | None = None
    name: str
    bot: str
    version: str
    hash: str
    matches: int
    wins: int
    draws: int
    losses: int
    score: Mean | None
    luck_adjusted: Mean | None
    margin: Mean | None
    rating: Interval | None = None
    los: float | None = None
    ahead: bool | None = None
    mu: float
    sigma: float
    mu_3s: float
    score_by_seat: tuple[float | None, ...]
    faults: dict[str, int]
    pardoned: dict[str, int]
    luck: PlayerLuck | None


def rows_of(field: Iterable[Entrant], sums: PairingSums, ratings: Mapping[str, Rating]) -> tuple[list[Row], int]:
    """Make the rows without ranks and without values of the fit; count the matches with a shared first place, too.

    Rows are in the order of `field`. KeyError for an entrant without a rating.
    """
    results, where = scores(sums.table), sums.table.pairings_of_player
    adjustment = LuckAdjustment(sums) if common_luck_version(sums) else None
    audit = audit_luck(sums, where) if sums.luck_versions else {}
    rows = [
        _row(
            entrant,
            sums,
            results,
            where.get(entrant.name, NO_PAIRINGS),
            ratings[entrant.name],
            luck=audit.get(entrant.name),
            adjustment=adjustment,
        )
        for entrant in field
    ]
    return rows, results.drawn


def _row(
    entrant: Entrant,
    sums: PairingSums,
    results: Scores,
    where: PlayerPairings,
    rating: Rating,
    *,
    luck: PlayerLuck | None,
    adjustment: LuckAdjustment | None,
) -> Row:
    """Return the row of one entrant, without rank and without values of the fit; `where` are their pairings."""
    seats = sums.table.seats
    score = mean_of(results.shares.at(*where), unit=max(1, full_score(seats)), lowest=0.0, highest=1.0)
    return Row(
        **msgspec.structs.asdict(entrant),
        matches=int(results.shares.matches[where[0]].sum()),
        wins=int(results.wins[where].sum()),
        draws=int(results.draws[where].sum()),
        losses=int(results.losses[where].sum()),
        score=score,
        luck_adjusted=adjustment.score(where, score) if adjustment and score else None,
        margin=mean_of(sums.margins.at(*where)),
        mu=rating.mu,
        sigma=rating.sigma,
        mu_3s=rating.exposure,
        score_by_seat=tuple(_score_in_seat(seat, results, where, seats) for seat in range(seats)),
        faults=_faults_by_kind(sums.faults, where),
        pardoned=_faults_by_kind(sums.pardoned, where),
        luck=luck,
    )


def _score_in_seat(seat: int, results: Scores, where: PlayerPairings, seats: int) -> float | None:
    """Return the mean score of a player in one seat; None without a match there."""
    pairings, places = where
    rotations = (places - seat) % seats
    matches = int(results.matches[pairings, rotations].sum())
    points = int(results.points[pairings, rotations, places].sum())
    return points / (full_score(seats) * matches) if matches else None


def _faults_by_kind(by_code: Mapping[str, Array], where: PlayerPairings) -> dict[str, int]:
    """Add up counts by kind and place; return the kinds that occurred in the order of the terminations."""
    counts = {code: int(column[where].sum()) for code, column in by_code.items()}
    return {kind.value: counts[kind] for kind in FAULTS if counts.get(kind)}


def rank_rows(
    rows: Iterable[Row], groups: Sequence[Sequence[str]], fit: ProbitFit | None, settings: RatingSettings
) -> tuple[Row, ...]:
    """Sort rows, best first, and add rank, group, rating, `los` and `ahead`; rows without matches get no rank.

    Without a fit (a field too large for it) they are sorted by mu, and have no rating.
    """
    ratings = skills(fit, settings) if fit else {}
    by_name = {row.name: row for row in rows}
    strength = {name: ratings[name].value if name in ratings else row.mu for name, row in by_name.items()}
    score = {name: row.score.value for name, row in by_name.items() if row.score}
    places = {place.name: place for place in ranking(groups, strength, score)}
    ordered = [by_name[name] for name in (*places, *sorted(by_name.keys() - places.keys()))]
    los = {row.name: _likelihood_better(row, next_row, fit) for row, next_row in pairwise(ordered)}
    pairs = {name for group in groups if len(group) == _PAIR for name in group}
    return tuple(
        msgspec.structs.replace(
            row,
            rank=places[row.name].rank if row.matches else None,
            group=places[row.name].group if row.matches else None,
            rating=ratings.get(row.name) if row.matches else None,
            los=los.get(row.name),
            ahead=_is_ahead(row, los.get(row.name), is_in_pair=row.name in pairs),
        )
        for row in ordered
    )


def inverted_by_mu(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Return the pairs of a group, higher mu first, that have the other order in `rows`, which are sorted by rank."""
    ranked_rows = [row for row in rows if row.rank is not None]
    return [
        (higher.name, lower.name)
        for lower, higher in combinations(ranked_rows, 2)
        if lower.group == higher.group and round(higher.mu - lower.mu, 9) > 0
    ]


def _is_ahead(row: Row, los: float | None, *, is_in_pair: bool) -> bool | None:
    """Return True if a player is significantly better than the next one; None if `los` is.

    The 95 % interval of their difference must exclude 0 and, in a group of two, that of the score 1/2.
    """
    if los is None:
        return None
    return los >= SURE_SIGN and not (is_in_pair and row.score and row.score.interval.low <= _EVEN)


def _likelihood_better(one: Row, other: Row, fit: ProbitFit | None) -> float | None:
    """Return the likelihood that `one` is better than `other`; None if matches do not tell."""
    return fit.likelihood_better(one.name, other.name) if fit and one.matches and other.matches else None


def row_fields(row: Row) -> dict[str, object]:
    """Return a row for programs, by the names of the columns; an interval is a value with its `_low` and `_high`."""
    return {
        "rank": row.rank,
        "group": row.group,
        "player": row.name,
        **{name: getattr(row, name) for name in ("bot", "version", "hash", "matches", "wins", "draws", "losses")},
        **interval_fields("score", row.score),
        **interval_fields("luck_adjusted", row.luck_adjusted),
        **interval_fields("margin", row.margin),
        **interval_fields("rating", row.rating),
        **{name: getattr(row, name) for name in ("los", "ahead", "mu", "sigma", "mu_3s")},
        **{name: getattr(row, name) for name in ("score_by_seat", "faults", "pardoned", "luck")},
    }


def interval_fields(name: str, estimate: Mean | Interval | None) -> dict[str, float | None]:
    """Return a value with both ends of its interval, by name; None for an end that is not known."""
    if isinstance(estimate, Mean):
        estimate = estimate.interval
    if estimate is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    low, high = (end if math.isfinite(end) else None for end in (estimate.low, estimate.high))
    return {name: estimate.value, f"{name}_low": low, f"{name}_high": high}
