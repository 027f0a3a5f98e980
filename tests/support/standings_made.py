"""Made-up matches between four players, by their first letters, and the standings after them."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from hypothesis import strategies as st

from arena.match.record import FAULTS, Termination
from arena.match.results import MatchResult, rotate
from arena.standings.ratings import RatingSettings
from arena.standings.rows import Entrant, Row
from arena.standings.table import Standings
from support.made_matches import SETTINGS, key_of, made_standings, match_result

NAMES = ("ann", "bob", "cid", "dot")
FIELD = tuple(Entrant(name=name, bot=f"{name}bot", version="1.0", hash=name * 8) for name in NAMES)


def played(
    players: str, scores: Sequence[int], *, block: int = 0, pairing: int = 0, time_us: int = 100_000
) -> MatchResult:
    """A normal match: `players` by their first letters and by seat; the higher score is better."""
    seats = _seats(players)
    times: dict[str, Any] = {"time_us": (time_us,) * len(seats), "slowest_us": (time_us // 4,) * len(seats)}
    return match_result(key_of(f"p{pairing}", block, seats), seats, scores, moves=(10,) * len(seats), **times)


def forfeited(players: str, kind: str, at_fault: int, *, block: int = 0, pairing: int = 0) -> MatchResult:
    """A match that the seat `at_fault` lost by `kind`, the others sharing the first place."""
    seats = _seats(players)
    key = key_of(f"p{pairing}", block, seats)
    return match_result(key, seats, at_fault=at_fault, termination=Termination(kind))


def _seats(letters: str) -> tuple[str, ...]:
    return tuple(next(name for name in NAMES if name[0] == letter) for letter in letters)


def block_of(pairing: int, block: int, players: str, *wins: int) -> list[MatchResult]:
    """The matches of one block, seats rotated; `wins` tells for each whether the first of `players` won it."""
    matches = []
    for seat, won in enumerate(wins):
        seats, scores = (players, (won, 1 - won)) if seat == 0 else (players[::-1], (1 - won, won))
        matches.append(played(seats, scores, block=block, pairing=pairing))
    return matches


def table(
    *results: MatchResult,
    scheduled: int | None = None,
    chosen: RatingSettings = SETTINGS,
    field: Sequence[Entrant] = FIELD,
) -> Standings:
    return made_standings(field, results, scheduled=scheduled, chosen=chosen)


def row(found: Standings, name: str) -> Row:
    return next(row for row in found.rows if row.name == name)


@st.composite
def leagues(draw: st.DrawFn, seats: int = 2, most_blocks: int = 12) -> list[MatchResult]:
    """Blocks in any pairings, some cut short, some with forfeits, some with ties; at tables of that many seats."""
    tables = ["".join(letters) for letters in combinations("abcd", seats)]
    results = []
    for block in range(draw(st.integers(0, most_blocks))):
        pairing = draw(st.integers(0, len(tables) - 1))
        for rotation in range(draw(st.integers(1, seats))):
            players = "".join(rotate(tables[pairing], rotation))
            scores = draw(st.tuples(*[st.integers(-9, 9)] * seats))
            kind = draw(st.sampled_from((None, None, None, *FAULTS)))
            if kind is None:
                results.append(played(players, scores, block=block, pairing=pairing))
            else:
                guilty = draw(st.integers(0, seats - 1))
                results.append(forfeited(players, kind, guilty, block=block, pairing=pairing))
    return results
