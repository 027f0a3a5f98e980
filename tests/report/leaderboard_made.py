"""Made-up leagues for leaderboards, and what can be read of a table."""

import re
from fractions import Fraction
from typing import Any

import msgspec

from arena.match.record import Termination
from arena.match.results import MatchKey, MatchResult
from arena.standings.ratings import RatingSettings, rate
from arena.standings.rows import Entrant
from arena.standings.sums import sums_of
from arena.standings.table import Standings, Timing, standings, timing


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
    return made(field, results, scheduled=scheduled), timing(field, sums_of(results))


def one(
    first: str, second: str, scores: tuple[int, int] | None, *, block: int = 0, pairing: int = 0, **changes: Any
) -> MatchResult:
    """A match with these scores, or lost by the first player's crash; `first` has place 0 of the pairing if earlier."""
    fields: dict[str, Any] = {
        "key": MatchKey(f"p{pairing}", block, int(second < first)),
        "players": (first, second),
        "ranks": (1, 0) if scores is None else (int(scores[0] < scores[1]), int(scores[1] < scores[0])),
        "scores": None if scores is None else tuple(map(Fraction, scores)),
        "termination": Termination.CRASH if scores is None else Termination.NORMAL,
        "at_fault": 0 if scores is None else None,
        "isolation": "sandbox",
        "moves": (3, 3),
        "time_us": (1000, 1000),
        "slowest_us": (1000, 1000),
        "startup_us": (0, 0),
        "idle_us": (0, 0),
        "timeouts_by_load": (0, 0),
    }
    return MatchResult(**{**fields, **changes})


def turned(match: MatchResult, scores: tuple[int, int], *, block: int = 0) -> MatchResult:
    """The match with the seats swapped, and other scores by seat."""
    first, second = match.players
    times = {name: getattr(match, name) for name in ("moves", "time_us", "slowest_us")}
    return one(second, first, scores, block=block, **times)


def made(field: list[Entrant], results: list[MatchResult], *, scheduled: int) -> Standings:
    chosen = RatingSettings()
    ratings = rate([one.name for one in field], [(one.players, one.ranks) for one in results], chosen)
    return standings(field, sums_of(results), ratings, chosen, scheduled=scheduled)


def cells(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def below(text: str) -> list[str]:
    """The lines under the table."""
    lines = text.split("\n")
    return lines[lines.index("") + 1 :]
