"""Leagues made up for pages of statistics: results without matches, and tournaments whose bots need not exist."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from arena.league.profiles import ProfilePage
from arena.league.standings import entrants
from arena.league.tournament import Player, Tournament
from arena.match.record import Termination
from arena.match.results import MatchResult, PairingRanks
from arena.standings.match_table import match_table
from arena.standings.profile import adjust_for_luck, profile
from arena.standings.ranks import in_schedule_order
from arena.standings.ratings import rate
from arena.standings.sums import sums_of
from arena.standings.table import Standings, Timing, standings, timing
from support import made_matches
from support.made_matches import SETTINGS, bot, key_of, match_result, ranks_by_pairing

BETA = 25.0 / 6.0
FOUR: Final = ("ann", "bob", "cid", "dan")
HOSTILE: Final = (
    *("a|b", "a\\|b", "=1+1", "\x1b[31mred\x1b[0m", "\x1b[2J", "\x9b2J", "two\nlines", "tab\there", "\u2028", "\x01"),
    *("`code`", "nan", "x" * 5000, "日本", "-2+3", "+1", " =1+1", "\t=1+1", "@SUM(A1)", "\uff1d1+1", "1e5", "'"),
    *('quo"te, comma; semicolon', "<img src=x>", "[link](http://example.org)", "=HYPERLINK(1)", "\u202egnp.exe", ""),
)
NUMBERS_THAT_ARE_NONE = re.compile(r"(?<![\w-])[-+]?(nan|inf|Infinity|None)(?!\w)")
"""In a page whose players have ordinary names."""


def tournament(names: Sequence[str] = FOUR) -> Tournament:
    """A league of nim between these players, whose bots have names, versions and hashes of their own."""
    bots = [bot(f"bot{number}", f"{number}abcdef".ljust(64, "0"), version="1.10") for number in range(len(names))]
    field = tuple(Player(name=name, bot=each) for name, each in zip(names, bots, strict=True))
    return made_matches.tournament(players=field, cycles=100)


def result(block: int, players: tuple[str, ...], scores: tuple[int, ...] = (), **changes: Any) -> MatchResult:
    """A match that ended with these scores, of the pairing of these players."""
    return match_result(key_of("+".join(sorted(players)), block, players), players, scores, **changes)


def forfeit(block: int, players: tuple[str, ...], at_fault: int, kind: str = "timeout", **changes: Any) -> MatchResult:
    """A match that the seat `at_fault` lost by its own fault."""
    return result(block, players, at_fault=at_fault, termination=Termination(kind), **changes)


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


def tables(results: Sequence[MatchResult], names: Sequence[str] = FOUR) -> tuple[Standings, tuple[Timing, ...]]:
    """Compute the standings of these matches, and the use of time."""
    field, sums = entrants(tournament(names)), sums_of(match_table(results))
    ratings = rate((one.name for one in field), in_schedule_order(ranks_of(results)), SETTINGS)
    return standings(field, sums, ratings, SETTINGS, scheduled=len(results)), timing(field, sums)


def profile_of(player: str, results: Sequence[MatchResult], names: Sequence[str] = FOUR) -> ProfilePage:
    """Compute the profile of a player of a league of these matches."""
    table, use = tables(results, names)
    (row,) = (one for one in table.rows if one.name == player)
    (timed,) = (one for one in use if one.name == player)
    ranked = sum(one.group == row.group for one in table.rows)
    found = profile(row, match_table(results).of_player(player))
    return ProfilePage("test", (), row, ranked, timed, adjust_for_luck(found, player, sums_of(match_table(results))))


def ranks_of(results: Sequence[MatchResult]) -> list[PairingRanks]:
    """The ranks of these matches by pairing, in the order of first mention."""
    return list(ranks_by_pairing(results).values())


@cache
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
