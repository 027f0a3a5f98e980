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
from arena.standings.match_table import NO_PAIRINGS, Array, PlayerPairings
from arena.standings.ratings import Rating, RatingSettings
from arena.standings.rows import Entrant, Row, interval_fields, rank_rows, row_fields, rows_of
from arena.standings.skills import contradicted_pairs, fit_skills
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
    sums: PairingSums,
    ratings: Mapping[str, Rating],
    settings: RatingSettings,
    *,
    scheduled: int,
    luck: LuckOrigin = UNKNOWN_ORIGIN,
) -> Standings:
    """Make the standings of a league of `scheduled` matches from the sums of its pairings, which come in any order.

    Raises ValueError for results that are not of this league (other players, or too many matches) and for two entrants
    of one name; KeyError for an entrant without a rating.
    """
    field = tuple(entrants)
    matches = int(sums.matches.sum())
    _require_consistent(field, sums, matches, scheduled)
    names = [entrant.name for entrant in field]
    comparisons = table_of(names, sums.table.pairing_ranks)
    fit = fit_skills(comparisons, settings)
    rows, drawn = rows_of(field, sums, ratings)
    by_mu = [row.name for row in sorted(rows, key=lambda row: (-round(row.mu, 9), row.name))]
    return Standings(
        sorted_by="rating" if fit or not matches else "mu",
        is_complete=matches == scheduled,
        matches=matches,
        scheduled=scheduled,
        draw_rate=drawn / matches if matches else None,
        isolation=_describe_isolation(sums),
        luck=luck,
        luck_version=common_luck_version(sums),
        rating=settings,
        results=sums_digest(sums),
        design_effect=fit.effect if fit else None,
        seats=fit.seats if fit else (),
        groups=comparisons.groups,
        contradictions=contradicted_pairs(by_mu, fit) if fit else (),
        rows=rank_rows(rows, comparisons.groups, fit, settings),
    )


def standings_json(table: Standings) -> bytes:
    """Write the canonical form: keys in a fixed order, floats by their shortest exact digits, no spaces."""
    document = {name: getattr(table, name) for name in Standings.__struct_fields__}
    seats, rows = [*map(_seat_fields, table.seats)], [*map(row_fields, table.rows)]
    return msgspec.json.encode(document | {"seats": seats, "rows": rows})


def _seat_fields(seat: SeatAdvantage) -> dict[str, object]:
    """Return the advantage of a seat for programs."""
    return {"seat": seat.seat, **interval_fields("skill", seat.skill), **interval_fields("points", seat.points)}


def timing(entrants: Iterable[Entrant], sums: PairingSums) -> tuple[Timing, ...]:
    """Add up the use of time of each entrant, in the order given; one that never had to decide spent none."""
    table = sums.table
    moves, spent_us, slowest_us, *others = (table.column(name).astype(np.int64) for name in NUMBERS[2:])
    decides = moves != 0
    slowest = np.maximum.reduceat((slowest_us * decides).max(axis=1), table.starts, axis=0)
    columns = [table.sum_pairings(column.sum(axis=1)) for column in (moves, spent_us * decides, *others)]
    where = table.pairings_of_player
    names = [entrant.name for entrant in entrants]
    return tuple(_timing(name, sums.matches, slowest, columns, where.get(name, NO_PAIRINGS)) for name in names)


def _timing(name: str, matches: Array, slowest_us: Array, columns: Sequence[Array], where: PlayerPairings) -> Timing:
    """Return the use of time of one entrant, in the units of `Timing`; `where` are their pairings."""
    moves, spent_us, startup_us, idle_us, timeouts_by_load = (total(column[where]) for column in columns)
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


def _require_consistent(field: Sequence[Entrant], sums: PairingSums, matches: int, scheduled: int) -> None:
    """Raise ValueError if names repeat, if there are too many matches, or if somebody is no entrant."""
    names = {entrant.name for entrant in field}
    if len(names) != len(field):
        raise ValueError("two entrants have the same name")
    if matches > scheduled:
        raise ValueError(f"{matches} results for {scheduled} scheduled matches")
    strangers = {player for players in sums.table.players for player in players} - names
    if strangers:
        raise ValueError(f"results of players who are no entrants: {', '.join(sorted(strangers))}")


def _describe_isolation(sums: PairingSums) -> str:
    """Describe the isolation of the bots: one word, or several with the number of matches of each."""
    if len(sums.isolation) == 1:
        return next(iter(sums.isolation))
    kinds = sorted(sums.isolation.items())
    return ", ".join(f"{kind} in {matches.sum()} matches" for kind, matches in kinds) or "not stated"
