"""What a player took to decide, from the two numbers that a result has of a match: its mean and its slowest decision.

Rule: single decisions are not kept, so there is no percentile of them. There are two of matches: the mean decision of a
match, and its slowest one. The p-th percentile is a value that occurred, which p % of the matches do not exceed.
"""

import math
from collections.abc import Iterable, Sequence

import msgspec

from arena.match.results import MatchResult


class Percentiles(msgspec.Struct, frozen=True):
    """Over matches; None without any."""

    p50: float | None
    p99: float | None


class Times(msgspec.Struct, frozen=True):
    """In milliseconds, over matches in which the player had to decide. `mean` is over all its decisions.

    `slowest_match` is the id of the match with its slowest decision.
    """

    matches: int
    decisions: int
    mean_ms: float | None
    slowest_ms: float | None
    slowest_match: str | None
    means_ms: Percentiles
    slowest_decisions_ms: Percentiles


def times_of(played: Iterable[tuple[str, MatchResult, int]]) -> Times:
    """Look at the player's matches: the id, the result and the seat of each."""
    own = [(match, one, seat) for match, one, seat in played if one.moves[seat]]
    if not own:
        return Times(0, 0, None, None, None, Percentiles(None, None), Percentiles(None, None))
    decisions = sum(one.moves[seat] for _, one, seat in own)
    slowest, match = max(((one.slowest_us[seat] / 1e3, match) for match, one, seat in own), key=lambda found: found[0])
    return Times(
        matches=len(own),
        decisions=decisions,
        mean_ms=sum(one.time_us[seat] for _, one, seat in own) / decisions / 1e3,
        slowest_ms=slowest,
        slowest_match=match,
        means_ms=_percentiles([one.time_us[seat] / one.moves[seat] / 1e3 for _, one, seat in own]),
        slowest_decisions_ms=_percentiles([one.slowest_us[seat] / 1e3 for _, one, seat in own]),
    )


def _percentiles(values: Sequence[float]) -> Percentiles:
    ordered = sorted(values)
    return Percentiles(*(ordered[math.ceil(percent * len(ordered) / 100) - 1] for percent in (50, 99)))
