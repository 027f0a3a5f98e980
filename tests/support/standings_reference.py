"""The formulas of the standings once more, match by match with floats: slow, independent, and there to compare with."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import Any

import msgspec

from arena.match.results import MatchResult


class _Appearance(msgspec.Struct, frozen=True, gc=False):
    """One entrant's share of one match. `margin` is None after a forfeit, `fault` the termination it caused."""

    block: tuple[str, int]
    pairing: str
    seat: int
    outcome: str
    score: float
    margin: Fraction | None
    fault: str | None


def reference(names: Iterable[str], played: Sequence[MatchResult]) -> dict[str, dict[str, Any]]:
    """What each row says of its matches, without the ratings."""
    seats = max((len(one.players) for one in played), default=0)
    shares = _appearances(names, played)
    return {name: _row(own, seats) for name, own in shares.items()}


def draw_rate(played: Sequence[MatchResult]) -> float | None:
    """The share of matches with a shared first place."""
    return sum(one.ranks.count(min(one.ranks)) > 1 for one in played) / len(played) if played else None


def times(names: Iterable[str], played: Iterable[MatchResult]) -> dict[str, tuple[int, float | None, float | None]]:
    """Moves, mean and slowest time by player."""
    own: dict[str, list[tuple[int, int, int]]] = {name: [] for name in names}
    for one in played:
        for player, moves, spent, slowest in zip(one.players, one.moves, one.time_us, one.slowest_us, strict=True):
            if moves:
                own[player].append((moves, spent, slowest))
    return {
        name: (
            sum(moves for moves, _, _ in found),
            sum(us for _, us, _ in found) / sum(moves for moves, _, _ in found) / 1e3 if found else None,
            max((us / 1e3 for _, _, us in found), default=None),
        )
        for name, found in own.items()
    }


def _appearances(names: Iterable[str], played: Sequence[MatchResult]) -> dict[str, list[_Appearance]]:
    shares: dict[str, list[_Appearance]] = {name: [] for name in names}
    for one in played:
        margins = (None,) * len(one.players) if one.scores is None else _margins(one.scores)
        places = _places(one.ranks)
        for seat, player in enumerate(one.players):
            fault = one.termination.value if seat == one.at_fault else None
            shares[player].append(_Appearance(one.key[:2], one.key.pairing, seat, *places[seat], margins[seat], fault))
    return shares


def _places(ranks: tuple[int, ...]) -> tuple[tuple[str, float], ...]:
    """Tell outcome and score by seat. Equal ranks share the mean of their places, which are worth 1 to 0 evenly."""
    places = []
    for rank in ranks:
        better, equal = sum(other < rank for other in ranks), ranks.count(rank)
        outcome = "loss" if better else "win" if equal == 1 else "draw"
        places.append((outcome, 1.0 - (better + (equal - 1) / 2) / (len(ranks) - 1)))
    return tuple(places)


def _margins(scores: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """By seat: the own score minus the best of the others."""
    second, best = sorted(scores)[-2:]
    return tuple(own - (second if own == best else best) for own in scores)


def _row(shares: Sequence[_Appearance], seats: int) -> dict[str, Any]:
    outcomes = Counter(share.outcome for share in shares)
    score, score_error = _mean_and_error([(share.block, share.pairing, share.score) for share in shares])
    margins = [(share.block, share.pairing, float(share.margin)) for share in shares if share.margin is not None]
    mean_margin, margin_error = _mean_and_error(margins)
    return {
        "matches": len(shares),
        "wins": outcomes["win"],
        "draws": outcomes["draw"],
        "losses": outcomes["loss"],
        "score": score,
        "score_error": score_error,
        "margin": mean_margin,
        "margin_error": margin_error,
        "score_by_seat": _score_by_seat(shares, seats),
        "faults": Counter(share.fault for share in shares if share.fault is not None),
    }


def _score_by_seat(shares: Sequence[_Appearance], seats: int) -> tuple[float | None, ...]:
    scores: list[list[float]] = [[] for _ in range(seats)]
    for share in shares:
        scores[share.seat].append(share.score)
    return tuple(math.fsum(there) / len(there) if there else None for there in scores)


def _mean_and_error(values: Sequence[tuple[tuple[str, int], str, float]]) -> tuple[float | None, float | None]:
    """Average (block, pairing, value) over matches, with the standard error by the formula at the top."""
    if not values:
        return None, None
    mean = math.fsum(value for _, _, value in values) / len(values)
    blocks: dict[tuple[str, int], list[float]] = {}
    pairings: dict[str, set[tuple[str, int]]] = {}
    for block, pairing, value in values:
        blocks.setdefault(block, []).append(value)
        pairings.setdefault(pairing, set()).add(block)
    if len(blocks) < 2:
        return mean, None
    within = [
        _squares([blocks[block] for block in own]) * len(own) / (len(own) - 1)
        for own in pairings.values()
        if len(own) > 1
    ]
    single = [blocks[block] for own in pairings.values() if len(own) == 1 for block in own]
    about_all = _squares(blocks.values(), mean) / (len(blocks) - 1)
    alone = _squares(single, mean) * len(blocks) / (len(blocks) - 1)
    return mean, math.sqrt(math.fsum([*within, max(len(single) * about_all, alone)])) / len(values)


def _squares(blocks: Collection[Sequence[float]], about: float | None = None) -> float:
    """Sum the squares of what each block has above or below its share of the total of `blocks`, or of a mean."""
    total, matches = math.fsum(value for block in blocks for value in block), sum(map(len, blocks))
    mean = total / matches if about is None else about
    return math.fsum((math.fsum(block) - mean * len(block)) ** 2 for block in blocks)
