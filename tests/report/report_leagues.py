"""Leagues made up for pages of statistics: results without matches, and tournaments whose bots need not exist."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from arena.league.tournament import Player, Tournament
from arena.match.record import Termination
from arena.match.results import MatchKey, MatchResult, PairingRanks, canonical_ranks
from arena.match.settings import ClockSettings
from arena.process.manifest import BotSpec, Manifest
from arena.standings import ranks
from arena.standings.ratings import RatingSettings

BETA = 25.0 / 6.0
RATING = RatingSettings()
FOUR: Final = ("ann", "bob", "cid", "dan")
HOSTILE: Final = ("a|b", "=1+1", "\x1b[31mred", "two\nlines", "`code`", "nan", "x" * 5000, "日本", "-2", "<b>", "")
NUMBERS_THAT_ARE_NONE = re.compile(r"(?<![\w-])[-+]?(nan|inf|Infinity|None)(?!\w)")
"""In a page whose players have ordinary names."""


def tournament(names: Sequence[str] = FOUR, **changes: Any) -> Tournament:
    """A league of nim between these players; `changes` replace any field."""
    fields: dict[str, Any] = {
        "name": "test",
        "game": "nim",
        "options": {},
        "players": tuple(Player(name=name, bot=_bot(number)) for number, name in enumerate(names)),
        "seed": "1",
        "cycles": 100,
        "chunk_blocks": 2,
        "clock": ClockSettings(),
        "rating": RATING,
    }
    return Tournament(**{**fields, **changes})


def result(block: int, players: tuple[str, ...], scores: tuple[int, ...] | None, **changes: Any) -> MatchResult:
    """A match that ended with these scores, of the pairing of these players; the first by name has place 0."""
    none = (0,) * len(players)
    fields: dict[str, Any] = {
        "key": MatchKey("+".join(sorted(players)), block, -players.index(min(players)) % len(players)),
        "players": players,
        "ranks": none if scores is None else tuple(sum(other > own for other in scores) for own in scores),
        "scores": None if scores is None else tuple(map(Fraction, scores)),
        "termination": Termination.NORMAL,
        "at_fault": None,
        "moves": (3,) * len(players),
        "time_us": (6_000,) * len(players),
        "slowest_us": (4_000,) * len(players),
        "startup_us": none,
        "idle_us": none,
        "timeouts_by_load": none,
        "isolation": "none",
    }
    return MatchResult(**{**fields, **changes})


def forfeit(block: int, players: tuple[str, ...], at_fault: int, kind: str = "timeout", **changes: Any) -> MatchResult:
    """A match that the seat `at_fault` lost by its own fault."""
    ranks = canonical_ranks([int(seat == at_fault) for seat in range(len(players))])
    return result(block, players, None, ranks=ranks, at_fault=at_fault, termination=Termination(kind), **changes)


def mirrored(block: int, one: str, other: str, *margins: int) -> list[MatchResult]:
    """The two matches of a block, `one` first in seat 0; by how much `one` wins each."""
    first, second = margins
    return [
        result(block, (one, other), (10 + first, 10)),
        result(block, (other, one), (10, 10 + second)),
    ]


def league(
    skills: Mapping[str, float],
    cycles: int,
    seed: int,
    bonus: Callable[[str, str], float] = lambda _one, _other: 0.0,
) -> list[MatchResult]:
    """A round robin in cycles, with half of the luck shared by both matches of a block.

    `bonus` is what the first of two players has on top against the second.
    """
    rng, names = random.Random(seed), sorted(skills)
    pairs = [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
    found = []
    for cycle in range(cycles):
        for pair in pairs:
            luck = rng.gauss(0.0, BETA)
            for seats in (pair, pair[::-1]):
                lead = skills[seats[0]] - skills[seats[1]] + bonus(*seats) - bonus(*seats[::-1])
                margin = round(lead + luck + rng.gauss(0.0, BETA))
                found.append(result(cycle, seats, (50 + margin, 50)))
    return found


def ranks_of(results: Sequence[MatchResult]) -> list[PairingRanks]:
    """The ranks of these matches by pairing, in the order of first mention."""
    return list(ranks.ranks_of(results).values())


def odd_leagues() -> dict[str, list[MatchResult]]:
    """Leagues of `FOUR` that tell little, or in odd ways."""
    seatings = (("ann", "bob"), ("bob", "ann"))
    return {
        "no match": [],
        "one match": [result(0, ("ann", "bob"), (1, 0))],
        "one block": mirrored(0, "ann", "bob", 1, 1),
        "only draws": [result(block, seats, (3, 3)) for block in range(60) for seats in seatings],
        "only forfeits": [
            forfeit(block, seats, seats.index("ann"), moves=(0, 0)) for block in range(60) for seats in seatings
        ],
        "seats decide": [result(block, seats, (1, 0)) for block in range(60) for seats in seatings],
        "two groups": [
            one
            for block in range(0, 60, 2)
            for one in (*mirrored(block, "ann", "bob", 1, -2), *mirrored(block + 1, "cid", "dan", 3, 0))
        ],
        "three seats": [result(block, ("ann", "bob", "cid"), (block % 3, 2, 2)) for block in range(60)],
        "four seats": [result(block, FOUR, (3, 2, 1, block % 5)) for block in range(5)],
        "huge margins": [one for block in range(60) for one in mirrored(block, "ann", "bob", 10**9, -block)],
    }


def _bot(number: int) -> BotSpec:
    manifest = Manifest(name=f"bot{number}", command=("true",), version="1.10")
    return BotSpec(manifest=manifest, source="/nowhere", folder="/nowhere", digest=f"{number}abcdef".ljust(64, "0"))
