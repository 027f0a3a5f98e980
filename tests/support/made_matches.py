"""Made-up matches of named players, the standings after them, and leagues whose bots exist on paper only."""

import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Final

from arena.games.api import ranks_by_score
from arena.league.tournament import Player, Tournament
from arena.match.columns import pack_blocks
from arena.match.record import Termination, join_packed
from arena.match.results import MatchKey, MatchResult, PairingRanks, canonical_ranks, rotate
from arena.match.settings import ClockSettings
from arena.process.manifest import BotSpec, Manifest
from arena.standings.match_table import match_table
from arena.standings.ratings import RatingSettings, rate
from arena.standings.rows import Entrant
from arena.standings.sums import PairingSums, sums_of
from arena.standings.table import Standings, standings

RECORD: Final = join_packed("none", "", b"")
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


def pairing_ranks(players: Sequence[str], courses: Iterable[str]) -> PairingRanks:
    """Blocks numbered from 0, by the ranks of each as `PairingRanks` has them."""
    listed = list(courses)
    return PairingRanks(tuple(players), range(len(listed)), "".join(listed))


def ranks_by_pairing(results: Iterable[MatchResult]) -> dict[str, PairingRanks]:
    """The ranks of these matches by the key of the pairing, in the order of first mention."""
    ranks: dict[str, PairingRanks] = {}
    for block in pack_blocks(results):
        before = ranks.get(block.pairing, PairingRanks(block.players, [], ""))
        ranks[block.pairing] = before + PairingRanks(block.players, [block.block], block.ranks)
    return ranks


def facts(sums: PairingSums) -> dict[str, Any]:
    """All values as plain ones, in the order of the keys: equal for equal matches."""
    order = sorted(range(len(sums.table.keys)), key=sums.table.keys.__getitem__)

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(own) for name, own in value.items()}
        return [plain(own) for own in value if own is not None] if isinstance(value, tuple) else value[order].tolist()

    ranks = [(one.players, [*one.blocks], one.ranks) for one in sums.table.pairing_ranks]
    found = {name: plain(value) for name, value in sums._asdict().items() if name != "table"}
    return found | {"ranks": dict(zip(sums.table.keys, ranks, strict=False))}


def made_standings(
    field: Sequence[Entrant],
    results: Sequence[MatchResult],
    *,
    scheduled: int | None = None,
    chosen: RatingSettings = SETTINGS,
) -> Standings:
    """The standings after `results`, which are rated in this order; all that were scheduled unless said otherwise."""
    ratings = rate([one.name for one in field], [(one.players, one.ranks) for one in results], chosen)
    played = sums_of(match_table(results))
    return standings(field, played, ratings, chosen, scheduled=len(results) if scheduled is None else scheduled)


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


def result(
    pairing: str = "p",
    block: int = 0,
    rotation: int = 0,
    *,
    places: tuple[str, ...] = ("ann", "bob"),
    **changes: object,
) -> MatchResult:
    """A match that the first seat won by 3 : 1, with changes."""
    seats = range(len(places))
    values: Any = {
        "isolation": "sandbox",
        "moves": tuple(1 + seat for seat in seats),
        "time_us": tuple(100 + 100 * seat for seat in seats),
        "slowest_us": tuple(10 + 10 * seat for seat in seats),
        "scores": [3 - 2 * seat for seat in seats],
        **changes,
    }
    return match_result(MatchKey(pairing, block, rotation), rotate(places, rotation), **values)


def made(rng: random.Random, key: MatchKey, places: tuple[str, ...], *, luck: float = 0.7) -> MatchResult:
    """A match with random values of every kind that there is."""
    seats = len(places)
    is_forfeit = rng.random() < 0.15
    names = ("time_us", "slowest_us", "startup_us", "idle_us", "timeouts_by_load")
    times: Any = {name: tuple(rng.randrange(1000) for _ in range(seats)) for name in names}
    ranks = canonical_ranks([rng.randrange(seats) for _ in range(seats)])
    has_luck = rng.random() < luck
    return result(
        *key,
        places=places,
        ranks=ranks,
        scores=() if is_forfeit else tuple(Fraction(rng.randrange(-9, 30), rng.choice([1, 1, 2, 3])) for _ in ranks),
        termination=rng.choice([Termination.CRASH, Termination.TIMEOUT]) if is_forfeit else Termination.NORMAL,
        at_fault=rng.randrange(seats) if is_forfeit else None,
        isolation=rng.choice(["sandbox", "none"]),
        luck=tuple(rng.randrange(-2_000_000, 2_000_000) for _ in ranks) if has_luck else (),
        luck_version=rng.choice(["1", "2"]) if has_luck else "",
        pardoned=rng.choice([(), ({"timeout": 2}, *({} for _ in ranks[1:]))]),
        moves=tuple(rng.randrange(4) for _ in ranks),
        **times,
    )
