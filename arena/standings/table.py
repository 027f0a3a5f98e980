"""The results of a league -> its standings: who is how good, how surely, and how they lost.

Rule: standings are a pure function of the entrants, the settings, the sums of the pairings and the ratings. Only the
ratings depend on the order of the schedule; nothing depends on the order in which matches ended. Deciding times differ
from run to run and are no part of them: `timing` keeps them apart, so that two runs with equal results have
byte-identical `standings_json`, however many matches were played at once.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from arena.match.results import PairingRanks
from arena.match.secret_luck import UNKNOWN_ORIGIN, LuckOrigin
from arena.standings.luck_adjustment import luck_version
from arena.standings.ratings import Rating, RatingSettings
from arena.standings.rows import Entrant, Row, deprecated, ends, ranked, record, rows_of
from arena.standings.skills import contradicted, fitted, worth
from arena.standings.sums import PairingSums, digest_of
from arena.statistics.model import BlockEffect
from arena.statistics.pairs import connected_groups
from arena.statistics.probit import SeatAdvantage


class Standings(msgspec.Struct, frozen=True):
    """The table and what it was made from. Rows are `sorted_by` MAP; by mu where the field is too large to be fitted.

    `results` is the digest of all ranks in the order of blocks, and of the sums of the pairings without times. `groups`
    are players whom no match connects to those of another group, the largest group first; players without any match
    stand alone. `seats` tells what each seat is worth, `design_effect` what the matches of a block share. `luck` is the
    origin of all luck; `luck_version` is the value under which all luck was measured, if it was. `contradictions` are
    pairs that mu puts in an order of which the skills are sure it is wrong.
    """

    sorted_by: Literal["map", "mu"]
    is_complete: bool
    matches: int
    scheduled: int
    draw_rate: float | None
    isolation: str
    luck: LuckOrigin
    luck_version: str
    rating: RatingSettings
    results: str
    design_effect: BlockEffect | None
    seats: tuple[SeatAdvantage, ...]
    groups: tuple[tuple[str, ...], ...]
    contradictions: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]


class Timing(msgspec.Struct, frozen=True):
    """One entrant's use of time; None if it never had to decide.

    `startup_s` and `idle_s` are of all its `matches` together; `timeouts_by_load` is a count.
    """

    name: str
    moves: int
    mean_ms: float | None
    slowest_ms: float | None
    matches: int = 0
    startup_s: float = 0.0
    idle_s: float = 0.0
    timeouts_by_load: int = 0


def standings(
    entrants: Iterable[Entrant],
    sums: Iterable[PairingSums],
    ranks: Mapping[str, PairingRanks],
    ratings: Mapping[str, Rating],
    settings: RatingSettings,
    *,
    scheduled: int,
    luck: LuckOrigin = UNKNOWN_ORIGIN,
) -> Standings:
    """Make the standings of a league of `scheduled` matches from what it has played, pairing by pairing in any order.

    Raises ValueError for what is none of this league's: other players, or too many matches.
    """
    field = tuple(entrants)
    played = tuple(sums)
    matches = sum(one.matches for one in played)
    _check(field, played, matches, scheduled)
    names = [one.name for one in field]
    fit = fitted(names, played, settings)
    groups = connected_groups(names, played)
    rows, drawn = rows_of(field, played, ratings)
    by_mu = [one.name for one in sorted(rows, key=lambda row: (-round(row.mu, 9), row.name))]
    return Standings(
        sorted_by="map" if fit or not matches else "mu",
        is_complete=matches == scheduled,
        matches=matches,
        scheduled=scheduled,
        draw_rate=drawn / matches if matches else None,
        isolation=_isolation(played),
        luck=luck,
        luck_version=luck_version(played),
        rating=settings,
        results=digest_of(played, ranks),
        design_effect=fit.effect if fit else None,
        seats=fit.seats if fit else (),
        groups=groups,
        contradictions=contradicted(by_mu, fit) if fit else (),
        rows=ranked(rows, groups, fit, settings),
    )


def standings_json(table: Standings) -> bytes:
    """Write the canonical form: keys in a fixed order, floats by their shortest exact digits, no spaces."""
    document = {name: getattr(table, name) for name in Standings.__struct_fields__}
    rows = [record(row) | old for row, old in zip(table.rows, deprecated(table.rows), strict=True)]
    return msgspec.json.encode(document | {"seats": [*map(_seat, table.seats)], "rows": rows})


def _seat(one: SeatAdvantage) -> dict[str, object]:
    """A seat for programs. `error` and `points_error`, standard errors, are names of version 0.1."""
    found = worth(one)
    intervals = ends("skill", found.skill) | ends("points", found.points)
    return {"seat": one.seat, **intervals, "error": one.error, "points_error": one.points_error}


def timing(entrants: Iterable[Entrant], played: Iterable[PairingSums]) -> tuple[Timing, ...]:
    """Add up the use of time of each entrant, in the order given."""
    use: defaultdict[str, list[int]] = defaultdict(lambda: [0] * 7)
    for one in played:
        time, matches = one.time, one.matches
        for place, player in enumerate(one.players):
            own = use[player]
            own[0] += time.moves[place]
            own[1] += time.spent_us[place]
            own[2] = max(own[2], time.slowest_us[place])
            own[3] += matches
            own[4] += time.startup_us[place]
            own[5] += time.idle_us[place]
            own[6] += time.timeouts_by_load[place]
    return tuple(_timing(one.name, *use[one.name]) for one in entrants)


def _timing(
    name: str, moves: int, spent_us: int, slowest_us: int, matches: int, startup_us: int, idle_us: int, by_load: int
) -> Timing:
    return Timing(
        name=name,
        moves=moves,
        mean_ms=spent_us / moves / 1e3 if moves else None,
        slowest_ms=slowest_us / 1e3 if moves else None,
        matches=matches,
        startup_s=startup_us / 1e6,
        idle_s=idle_us / 1e6,
        timeouts_by_load=by_load,
    )


def _check(field: Sequence[Entrant], played: Sequence[PairingSums], matches: int, scheduled: int) -> None:
    names = {one.name for one in field}
    if len(names) != len(field):
        raise ValueError("two entrants have the same name")
    if matches > scheduled:
        raise ValueError(f"{matches} results for {scheduled} scheduled matches")
    strangers = {player for one in played for player in one.players} - names
    if strangers:
        raise ValueError(f"results of players who are no entrants: {', '.join(sorted(strangers))}")


def _isolation(played: Iterable[PairingSums]) -> str:
    """What stood around the bots: one word, or each with its matches."""
    kinds: Counter[str] = Counter()
    for one in played:
        kinds.update(one.isolation)
    if len(kinds) == 1:
        return next(iter(kinds))
    return ", ".join(f"{kind} in {kinds[kind]} matches" for kind in sorted(kinds)) or "not stated"
