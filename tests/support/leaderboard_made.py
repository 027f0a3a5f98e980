"""Made-up leagues for leaderboards, and what can be read of a table."""

import re
from typing import Any

import msgspec

from arena.match.record import Termination
from arena.match.results import MatchKey, MatchResult
from arena.standings.match_table import match_table
from arena.standings.rows import Entrant
from arena.standings.sums import sums_of
from arena.standings.table import Standings, Timing, timing
from support.made_matches import made_standings, match_result


def league(
    names: list[str], *, scheduled: int = 4, isolations: tuple[str, ...] = ("sandbox",) * 4
) -> tuple[Standings, tuple[Timing, ...]]:
    """The first two of `names` played a block, a forfeit and a draw."""
    field = [Entrant(name=name, bot=name, version="1.10", hash="0123456789abcdef" * 4) for name in names]
    first, second = names[:2]
    normal = one(first, second, (30, 12), moves=(10, 20), time_us=(12_500, 100_000), slowest_us=(4_000, 61_500))
    change = msgspec.structs.replace
    results = [
        normal,
        turned(normal, (12, 20)),
        change(normal, key=normal.key._replace(block=1), scores=None, termination=Termination.TIMEOUT, at_fault=1),
        turned(normal, (5, 5), block=1),
    ]
    results = [change(one, isolation=kind) for one, kind in zip(results, isolations, strict=True)]
    return made_standings(field, results, scheduled=scheduled), timing(field, sums_of(match_table(results)))


def one(
    first: str, second: str, scores: tuple[int, int] | None, *, block: int = 0, pairing: int = 0, **changes: Any
) -> MatchResult:
    """A match with these scores, or lost by the first player's crash; `first` has place 0 of the pairing if earlier."""
    fields: dict[str, Any] = {"isolation": "sandbox", "time_us": (1000, 1000), "slowest_us": (1000, 1000)}
    if scores is None:
        fields |= {"at_fault": 0, "termination": Termination.CRASH}
    key = MatchKey(f"p{pairing}", block, int(second < first))
    return match_result(key, (first, second), scores or (), **{**fields, **changes})


def turned(match: MatchResult, scores: tuple[int, int], *, block: int = 0) -> MatchResult:
    """The match with the seats swapped, and other scores by seat."""
    first, second = match.players
    times = {name: getattr(match, name) for name in ("moves", "time_us", "slowest_us")}
    return one(second, first, scores, block=block, **times)


def cells(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def below(text: str) -> list[str]:
    """The lines under the table."""
    lines = text.split("\n")
    return lines[lines.index("") + 1 :]
