"""Made-up leagues for leaderboards, and what can be read of a table."""

import re

import msgspec

from arena.standings.ratings import RatingSettings, rate
from arena.standings.rows import Entrant
from arena.standings.table import MatchResult, Standings, Timing, standings, tallied, timing


def league(
    names: list[str], *, scheduled: int = 4, isolations: tuple[str, ...] = ("sandbox",) * 4
) -> tuple[Standings, tuple[Timing, ...]]:
    """The first two of `names` played a block, a forfeit and a draw."""
    field = [Entrant(name=name, bot=name, version="1.10", hash="0123456789abcdef" * 4) for name in names]
    first, second = names[:2]
    normal = MatchResult(
        block=0,
        pairing=0,
        players=(first, second),
        ranks=(0, 1),
        scores=(30, 12),
        termination="normal",
        at_fault=-1,
        moves=(10, 20),
        time_ms=(12.5, 100.0),
        slowest_ms=(4.0, 61.5),
    )
    change = msgspec.structs.replace
    results = [
        normal,
        change(normal, players=(second, first), ranks=(1, 0), scores=(12, 20)),
        change(normal, block=1, scores=None, termination="timeout", at_fault=1),
        change(normal, block=1, players=(second, first), ranks=(0, 0), scores=(5, 5)),
    ]
    results = [change(one, isolation=kind) for one, kind in zip(results, isolations, strict=True)]
    return made(field, results, scheduled=scheduled), timing(field, results)


def one(first: str, second: str, scores: tuple[int, int] | None, *, block: int = 0, pairing: int = 0) -> MatchResult:
    """A match with these scores, or lost by the first player's crash."""
    return MatchResult(
        block=block,
        pairing=pairing,
        players=(first, second),
        ranks=(1, 0) if scores is None else (int(scores[0] < scores[1]), int(scores[1] < scores[0])),
        scores=scores,
        termination="crash" if scores is None else "normal",
        at_fault=0 if scores is None else -1,
        moves=(3, 3),
        time_ms=(1.0, 1.0),
        slowest_ms=(1.0, 1.0),
        isolation="sandbox",
    )


def made(field: list[Entrant], results: list[MatchResult], *, scheduled: int) -> Standings:
    chosen = RatingSettings()
    ratings = rate([one.name for one in field], [(one.players, one.ranks) for one in results], chosen)
    return standings(field, tallied(results), ratings, chosen, scheduled=scheduled)


def cells(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def below(text: str) -> list[str]:
    """The lines under the table."""
    lines = text.split("\n")
    return lines[lines.index("") + 1 :]
