"""Made-up matches of named players, the standings after them, and leagues whose bots exist on paper only."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Final

from arena.games.api import ranks_by_score
from arena.league.tournament import Player, Tournament
from arena.match.record import PackedRecord, Termination
from arena.match.results import MatchKey, MatchResult, PairingRanks
from arena.match.settings import ClockSettings
from arena.process.manifest import BotSpec, Manifest
from arena.standings.ranks import by_pairing, ranks_of
from arena.standings.ratings import RatingSettings, rate
from arena.standings.rows import Entrant
from arena.standings.sums import sums_of
from arena.standings.table import Standings, standings

RECORD: Final = PackedRecord(codec="none", digest="", body=b"")
SETTINGS: Final = RatingSettings()


def match_result(
    key: MatchKey,
    players: Sequence[str],
    scores: Sequence[int | Fraction] = (),
    *,
    at_fault: int | None = None,
    **changes: Any,
) -> MatchResult:
    """A match of these players, by seat: a draw unless scores are given, or a timeout of the seat `at_fault`."""
    seats = range(len(players))
    is_normal = at_fault is None
    points = tuple(map(Fraction, scores or [0] * len(seats)))
    fields: dict[str, Any] = {
        "key": key,
        "players": tuple(players),
        "ranks": ranks_by_score(points if is_normal else [-(seat == at_fault) for seat in seats]),
        "scores": points if is_normal else None,
        "termination": Termination.NORMAL if is_normal else Termination.TIMEOUT,
        "at_fault": at_fault,
        "isolation": "none",
        "moves": (3,) * len(seats),
        "time_us": (6_000,) * len(seats),
        "slowest_us": (4_000,) * len(seats),
        **dict.fromkeys(("startup_us", "idle_us", "timeouts_by_load"), (0,) * len(seats)),
    }
    return MatchResult(**{**fields, **changes})


def key_of(pairing: str, block: int, players: Sequence[str]) -> MatchKey:
    """The key of the match with these players, by seat; the first by name has place 0."""
    return MatchKey(pairing, block, -players.index(min(players)) % len(players))


def pairing_ranks(players: Sequence[str], courses: Iterable[str], *, first: int = 0) -> PairingRanks:
    """Blocks numbered from `first`, by the ranks of each as `PairingRanks` has them."""
    listed = list(courses)
    return PairingRanks(tuple(players), range(first, first + len(listed)), "".join(listed))


def ranks_by_pairing(results: Iterable[MatchResult]) -> dict[str, PairingRanks]:
    """The ranks of these matches by the key of the pairing, in the order of first mention."""
    return {key: ranks_of(*own) for key, own in by_pairing(results).items()}


def made_standings(
    field: Sequence[Entrant],
    results: Sequence[MatchResult],
    *,
    scheduled: int | None = None,
    chosen: RatingSettings = SETTINGS,
) -> Standings:
    """The standings after `results`, which are rated in this order; all that were scheduled unless said otherwise."""
    ratings = rate([one.name for one in field], [(one.players, one.ranks) for one in results], chosen)
    return standings(
        field, sums_of(results), ratings, chosen, scheduled=len(results) if scheduled is None else scheduled
    )


def bot(name: str, digest: str = "", version: str = "1") -> BotSpec:
    """A bot that exists on paper only."""
    manifest = Manifest(name=name, command=("true",), version=version)
    return BotSpec(
        manifest=manifest, source=f"/nowhere/{name}", folder="/nowhere", digest=digest or name.ljust(64, "0")
    )


def players(*names: str) -> tuple[Player, ...]:
    return tuple(Player(name=name, bot=bot(name)) for name in names)


def tournament(*names: str, **changes: Any) -> Tournament:
    """A league of nim between these players; `changes` replace any field."""
    fields: dict[str, Any] = {
        "name": "test",
        "game": "nim",
        "options": {},
        "players": players(*(names or ("ann", "bob", "cid"))),
        "seed": "1",
        "cycles": 4,
        "chunk_blocks": 2,
        "clock": ClockSettings(),
        "rating": SETTINGS,
    }
    return Tournament(**{**fields, **changes})
