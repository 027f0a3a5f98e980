"""The results of a league -> its standings: the strength of each player, its uncertainty, and faults.

Rule: standings are a pure function of the entrants, the settings, the sums of the pairings and the ratings. Only the
ratings depend on the order of the schedule; nothing depends on the order in which matches ended. Deciding times differ
from run to run and are no part of them: `timing` keeps them apart, so that two runs with equal results have
byte-identical `standings_json`, however many matches were played at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from arena.match.columns import NUMBERS
from arena.match.secret_luck import UNKNOWN_ORIGIN, LuckOrigin
from arena.standings.luck_adjustment import common_luck_version
from arena.standings.match_table import NOT_MET, Array, Met
from arena.standings.ratings import Rating, RatingSettings
from arena.standings.rows import Entrant, Row, ends, ranked, record, rows_of
from arena.standings.skills import contradicted, fitted
from arena.standings.sums import PairingSums, sums_digest, total
from arena.statistics.comparisons import table_of
from arena.statistics.model import BlockEffect
from arena.statistics.probit import SeatAdvantage


class Standings(msgspec.Struct, frozen=True):
    """The standings of a league and their sources. Rows are `sorted_by` rating; by mu if the field is too large.

    `results` is the digest of all ranks in the order of blocks, and of the sums of the pairings without times. `groups`
    are players whom no match connects to those of another group, the largest group first; players without any match
    stand alone. `seats` are seat advantages, `design_effect` is the effect of blocks on errors. `luck` is
    the origin of all luck; `luck_version` is the value under which all luck was measured, if it was. `contradictions`
    are pairs whose order by mu contradicts the rating at 95 %.
    """

    sorted_by: Literal["rating", "mu"]
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
    """The use of time of one entrant; None if it never had to decide.

    `startup_s` and `idle_s` are sums over all `matches`; `timeouts_by_load` is a count.
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
    played: PairingSums,
    ratings: Mapping[str, Rating],
    settings: RatingSettings,
    *,
    scheduled: int,
    luck: LuckOrigin = UNKNOWN_ORIGIN,
) -> Standings:
    """Make the standings of a league of `scheduled` matches from the sums of its pairings, which come in any order.

    Raises ValueError for results that are not of this league: other players, or too many matches.
    """
    field = tuple(entrants)
    matches = int(played.matches.sum())
    _check(field, played, matches, scheduled)
    names = [entrant.name for entrant in field]
    compared = table_of(names, played.table.pairing_ranks)
    fit = fitted(compared, settings)
    rows, drawn = rows_of(field, played, ratings)
    by_mu = [row.name for row in sorted(rows, key=lambda row: (-round(row.mu, 9), row.name))]
    return Standings(
        sorted_by="rating" if fit or not matches else "mu",
        is_complete=matches == scheduled,
        matches=matches,
        scheduled=scheduled,
        draw_rate=drawn / matches if matches else None,
        isolation=_isolation(played),
        luck=luck,
        luck_version=common_luck_version(played),
        rating=settings,
        results=sums_digest(played),
        design_effect=fit.effect if fit else None,
        seats=fit.seats if fit else (),
        groups=compared.groups,
        contradictions=contradicted(by_mu, fit) if fit else (),
        rows=ranked(rows, compared.groups, fit, settings),
    )


def standings_json(table: Standings) -> bytes:
    """Write the canonical form: keys in a fixed order, floats by their shortest exact digits, no spaces."""
    document = {name: getattr(table, name) for name in Standings.__struct_fields__}
    return msgspec.json.encode(document | {"seats": [*map(_seat, table.seats)], "rows": [*map(record, table.rows)]})


def _seat(one: SeatAdvantage) -> dict[str, object]:
    """Return the advantage of a seat for programs."""
    return {"seat": one.seat, **ends("skill", one.skill), **ends("points", one.points)}


def timing(entrants: Iterable[Entrant], played: PairingSums) -> tuple[Timing, ...]:
    """Add up the use of time of each entrant, in the order given; one that never had to decide spent none."""
    table = played.table
    moves, spent_us, slowest_us, *others = (table.column(name).astype(np.int64) for name in NUMBERS[2:])
    decides = moves != 0
    slowest = np.maximum.reduceat((slowest_us * decides).max(axis=1), table.starts, axis=0)
    sums = [table.added(column.sum(axis=1)) for column in (moves, spent_us * decides, *others)]
    where = table.met
    return tuple(_timing(one.name, played.matches, slowest, sums, where.get(one.name, NOT_MET)) for one in entrants)


def _timing(name: str, matches: Array, slowest_us: Array, sums: Sequence[Array], where: Met) -> Timing:
    moves, spent_us, startup_us, idle_us, timeouts_by_load = (total(column[where]) for column in sums)
    return Timing(
        name=name,
        moves=moves,
        mean_ms=spent_us / moves / 1e3 if moves else None,
        slowest_ms=int(slowest_us[where].max()) / 1e3 if moves else None,
        matches=total(matches[where[0]]),
        startup_s=startup_us / 1e6,
        idle_s=idle_us / 1e6,
        timeouts_by_load=timeouts_by_load,
    )


def _check(field: Sequence[Entrant], played: PairingSums, matches: int, scheduled: int) -> None:
    names = {entrant.name for entrant in field}
    if len(names) != len(field):
        raise ValueError("two entrants have the same name")
    if matches > scheduled:
        raise ValueError(f"{matches} results for {scheduled} scheduled matches")
    strangers = {player for players in played.table.players for player in players} - names
    if strangers:
        raise ValueError(f"results of players who are no entrants: {', '.join(sorted(strangers))}")


def _isolation(played: PairingSums) -> str:
    """Describe the isolation of the bots: one word, or several with the number of matches of each."""
    if len(played.isolation) == 1:
        return next(iter(played.isolation))
    kinds = sorted(played.isolation.items())
    return ", ".join(f"{kind} in {matches.sum()} matches" for kind, matches in kinds) or "not stated"
