"""The results of a league -> its standings: who is how good, how surely, and how they lost.

Rule: standings are a pure function of the entrants, the settings and the results in schedule order. Deciding times
differ from run to run and are no part of them: `timing` keeps them apart, so that two runs with equal results have
byte-identical `standings_json`, however many matches were played at once.

The unit of every error is the block (matches that share their luck, with the seats rotated), never the match.
Opponents are fixed, not drawn at random, so errors are stratified by pairing:

    score = sum y_b / M,   se^2 = sum_p n_p / (n_p - 1) * sum_{b in p} (y_b - r_p m_b)^2 / M^2

with y_b the entrant's points in block b, m_b its matches there, r_p its mean score in pairing p, n_p the blocks of p
and M all its matches. With complete blocks this is sum (n_p / N)^2 var_p / n_p over block means; an incomplete block
counts by the matches it has. A pairing with one block tells nothing about its own spread: it adds the mean square
about the overall mean over all blocks, sum_b (y_b - r m_b)^2 / (N - 1), which is too wide rather than too narrow.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal

import msgspec

from arena.league.ratings import Rating, RatingSettings, rate
from arena.match.record import FAULTS, Termination

Z_95: Final = 1.959963984540054
"""Half the width, in standard errors, of an interval that holds 95 % of a normal distribution."""

SortKey = Literal["mu", "exposure"]
_Outcome = Literal["win", "draw", "loss"]


class MatchResult(msgspec.Struct, frozen=True, gc=False):
    """What a match adds to a league. All tuples are by seat; `scores` is None after a forfeit, `at_fault` then >= 0.

    `block` is unique in the league; `pairing` is the same for all blocks of the same set of players. `time_ms` is all
    of a seat's deciding time, `slowest_ms` its slowest move.
    """

    block: int
    pairing: int
    players: tuple[str, ...]
    ranks: tuple[int, ...]
    scores: tuple[int, ...] | None
    termination: str
    at_fault: int
    moves: tuple[int, ...]
    time_ms: tuple[float, ...]
    slowest_ms: tuple[float, ...]
    isolation: str = "none"


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
    a standard error. The margin, over matches without a forfeit, is the own score minus the best of the others.
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
    mean_margin: float | None
    margin_error: float | None
    mu: float
    sigma: float
    exposure: float
    score_by_seat: tuple[float | None, ...]
    faults: dict[str, int]


class Standings(msgspec.Struct, frozen=True):
    """The table and what it was made from. `results` is a digest of all results, deciding times left out."""

    sorted_by: SortKey
    is_complete: bool
    matches: int
    scheduled: int
    draw_rate: float | None
    isolation: str
    rating: RatingSettings
    results: str
    rows: tuple[Row, ...]


class Timing(msgspec.Struct, frozen=True):
    """One entrant's use of time; None if it never had to decide."""

    name: str
    moves: int
    mean_ms: float | None
    slowest_ms: float | None


def standings(
    entrants: Iterable[Entrant],
    results: Iterable[MatchResult],
    settings: RatingSettings,
    *,
    scheduled: int,
) -> Standings:
    """Make the standings after `results`, in schedule order, of a league of `scheduled` matches.

    Sorted by mu when every scheduled match is there; by exposure before, as it does not favour the luck of few matches.
    Raises ValueError for results that are none of this league's: void, not of its entrants, or too many.
    """
    field, played = tuple(entrants), tuple(results)
    _check(field, played, scheduled)
    ratings = rate((one.name for one in field), ((one.players, one.ranks) for one in played), settings)
    appearances = _appearances(field, played)
    seats = max((len(one.players) for one in played), default=0)
    sorted_by: SortKey = "mu" if len(played) == scheduled else "exposure"
    return Standings(
        sorted_by=sorted_by,
        is_complete=len(played) == scheduled,
        matches=len(played),
        scheduled=scheduled,
        draw_rate=sum(one.ranks.count(min(one.ranks)) > 1 for one in played) / len(played) if played else None,
        isolation=_isolation(played),
        rating=settings,
        results=_digest(played),
        rows=tuple(
            _row(rank, one, appearances[one.name], ratings[one.name], seats)
            for rank, one in _ranked(field, ratings, sorted_by)
        ),
    )


def standings_json(table: Standings) -> bytes:
    """Write the canonical form: keys in the order of the fields, floats by their shortest exact digits, no spaces."""
    return msgspec.json.encode(table)


def timing(entrants: Iterable[Entrant], results: Iterable[MatchResult]) -> tuple[Timing, ...]:
    """Add up the use of time of each entrant, in the order given."""
    moves: Counter[str] = Counter()
    spent_ms: dict[str, list[float]] = {}
    slowest_ms: dict[str, float] = {}
    for one in results:
        for player, count, spent, slowest in zip(one.players, one.moves, one.time_ms, one.slowest_ms, strict=True):
            if count:
                moves[player] += count
                spent_ms.setdefault(player, []).append(spent)
                slowest_ms[player] = max(slowest, slowest_ms.get(player, 0.0))
    means = {player: math.fsum(spent) / moves[player] for player, spent in spent_ms.items()}
    return tuple(Timing(one.name, moves[one.name], means.get(one.name), slowest_ms.get(one.name)) for one in entrants)


class _Appearance(msgspec.Struct, frozen=True, gc=False):
    """One entrant's share of one match. `margin` is None after a forfeit, `fault` the termination it caused."""

    block: int
    pairing: int
    seat: int
    outcome: _Outcome
    score: float
    margin: int | None
    fault: str | None


def _check(field: Sequence[Entrant], played: Sequence[MatchResult], scheduled: int) -> None:
    names = {one.name for one in field}
    if len(names) != len(field):
        raise ValueError("two entrants have the same name")
    if len(played) > scheduled:
        raise ValueError(f"{len(played)} results for {scheduled} scheduled matches")
    strangers = {player for one in played for player in one.players} - names
    if strangers:
        raise ValueError(f"results of players who are no entrants: {', '.join(sorted(strangers))}")
    for kind, is_fault in {(one.termination, one.at_fault >= 0) for one in played}:
        if kind not in ((*FAULTS,) if is_fault else (Termination.NORMAL,)):
            raise ValueError(f"a result {'with' if is_fault else 'without'} a seat at fault ended as {kind!r}")


def _appearances(field: Sequence[Entrant], played: Sequence[MatchResult]) -> dict[str, list[_Appearance]]:
    shares: dict[str, list[_Appearance]] = {one.name: [] for one in field}
    for one in played:
        margins = (None,) * len(one.players) if one.scores is None else _margins(one.scores)
        places = _places(one.ranks)
        for seat, player in enumerate(one.players):
            fault = one.termination if seat == one.at_fault else None
            shares[player].append(_Appearance(one.block, one.pairing, seat, *places[seat], margins[seat], fault))
    return shares


@lru_cache(maxsize=4096)
def _places(ranks: tuple[int, ...]) -> tuple[tuple[_Outcome, float], ...]:
    """Tell outcome and score by seat. Equal ranks share the mean of their places, which are worth 1 to 0 evenly."""
    places = []
    for rank in ranks:
        better, equal = sum(other < rank for other in ranks), ranks.count(rank)
        outcome: _Outcome = "loss" if better else "win" if equal == 1 else "draw"
        places.append((outcome, 1.0 - (better + (equal - 1) / 2) / (len(ranks) - 1)))
    return tuple(places)


@lru_cache(maxsize=4096)
def _margins(scores: tuple[int, ...]) -> tuple[int, ...]:
    """By seat: the own score minus the best of the others."""
    second, best = sorted(scores)[-2:]
    return tuple(own - (second if own == best else best) for own in scores)


def _isolation(played: Sequence[MatchResult]) -> str:
    """What stood around the bots: one word, or each with its matches."""
    kinds = Counter(one.isolation for one in played)
    if len(kinds) == 1:
        return next(iter(kinds))
    return ", ".join(f"{kind} in {kinds[kind]} matches" for kind in sorted(kinds)) or "not stated"


def _ranked(
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


def _row(rank: int, entrant: Entrant, shares: Sequence[_Appearance], rating: Rating, seats: int) -> Row:
    outcomes = Counter(share.outcome for share in shares)
    score, score_error = _mean_and_error([(share.block, share.pairing, share.score) for share in shares])
    margins = [(share.block, share.pairing, share.margin) for share in shares if share.margin is not None]
    mean_margin, margin_error = _mean_and_error(margins)
    faults = Counter(share.fault for share in shares)
    return Row(
        rank=rank,
        name=entrant.name,
        bot=entrant.bot,
        version=entrant.version,
        hash=entrant.hash,
        matches=len(shares),
        wins=outcomes["win"],
        draws=outcomes["draw"],
        losses=outcomes["loss"],
        score=score,
        score_error=None if score_error is None else Z_95 * score_error,
        mean_margin=mean_margin,
        margin_error=margin_error,
        mu=rating.mu,
        sigma=rating.sigma,
        exposure=rating.exposure,
        score_by_seat=_score_by_seat(shares, seats),
        faults={kind.value: faults[kind] for kind in FAULTS if faults[kind]},
    )


def _score_by_seat(shares: Sequence[_Appearance], seats: int) -> tuple[float | None, ...]:
    scores: list[list[float]] = [[] for _ in range(seats)]
    for share in shares:
        scores[share.seat].append(share.score)
    return tuple(math.fsum(there) / len(there) if there else None for there in scores)


def _mean_and_error(values: Sequence[tuple[int, int, float]]) -> tuple[float | None, float | None]:
    """Average (block, pairing, value) over matches, with the standard error by the formula at the top."""
    if not values:
        return None, None
    mean = math.fsum(value for _, _, value in values) / len(values)
    blocks: dict[int, list[float]] = {}
    pairings: dict[int, set[int]] = {}
    for block, pairing, value in values:
        blocks.setdefault(block, []).append(value)
        pairings.setdefault(pairing, set()).add(block)
    if len(blocks) < 2:
        return mean, None
    overall = _squares(blocks.values()) / (len(blocks) - 1)
    within = (
        _squares([blocks[block] for block in own]) * len(own) / (len(own) - 1) if len(own) > 1 else overall
        for own in pairings.values()
    )
    return mean, math.sqrt(math.fsum(within)) / len(values)


def _squares(blocks: Collection[Sequence[float]]) -> float:
    """Sum the squares of what each block has above or below its share of the total of `blocks`."""
    mean = math.fsum(value for block in blocks for value in block) / sum(map(len, blocks))
    return math.fsum((math.fsum(block) - mean * len(block)) ** 2 for block in blocks)


def _digest(played: Iterable[MatchResult]) -> str:
    """SHA-256 over a line of JSON per result, without the times."""
    digest = hashlib.sha256()
    encode = msgspec.json.Encoder().encode
    for one in played:
        facts = (one.block, one.pairing, one.players, one.ranks, one.scores, one.termination, one.at_fault, one.moves)
        digest.update(encode(facts) + b"\n")
    return digest.hexdigest()
