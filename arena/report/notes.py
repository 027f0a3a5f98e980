"""Sentences below a leaderboard: its sources, the meaning of its columns, and conclusions that it does not allow.

Rule: one sentence a line, and only those that say something about this table.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from arena.report.formats import clipped, half_width, percent, some
from arena.report.luck_origin import luck_description
from arena.standings.luck_audit import LEVEL, PlayerLuck
from arena.standings.rows import Row
from arena.standings.skills import worth
from arena.standings.table import Standings, Timing
from arena.statistics.model import ProbitSettings, chances_at
from arena.statistics.probit import SeatAdvantage
from arena.text import counted

_ORDERS: Final = {"map": "MAP", "mu": "mu (too many players for MAP)"}
_LUCK_ADJUSTED: Final = (
    "luck-adjusted: the score with luck excluded (control variate: the game's value function, version {}), where that"
    " is surer; no part of rank, mu or MAP"
)
_MOST_NAMED: Final = 5
_IDLE_S: Final = 0.1
_STARTUP_S: Final = 1.0
"""Seconds a match from which on it is told who takes them."""


def notes(
    standings: Standings, headers: Sequence[str], timing: Sequence[Timing], news: Sequence[str] = ()
) -> list[str]:
    """The sentences for a table with these columns; `timing` is empty where times are left out, `news` as it is."""
    luck = luck_description(standings.luck, standings.isolation)
    return [
        _summary(standings),
        *news,
        *([luck] if luck else ()),
        *_of_intervals(standings.rows, headers),
        *(_of_skills(standings) if "MAP" in headers else ()),
        *(_of_ahead(standings) if "ahead" in headers else ()),
        *([_LUCK_ADJUSTED.format(standings.luck_version)] if "luck-adjusted %" in headers else ()),
        *_of_pardons(standings.rows),
        *_of_waiting(timing),
        *_of_load(timing),
        *_of_seats(standings.seats),
        *luck_audit(standings),
        *_of_contradictions(standings),
        *_of_groups(standings),
    ]


def luck_audit(standings: Standings) -> list[str]:
    """The audit of luck: a sentence for each player who stands out, or one that says that nobody does."""
    known = {row.name: row.luck for row in standings.rows if row.luck is not None}
    if not standings.matches:
        return []
    if not known:
        return ["luck audit: not tested: no match has its luck measured (no value of the game, or `luck: false`)"]
    named = {name: luck for name, luck in known.items() if luck.stands_out}
    if named:
        return [_outlier(name, luck) for name, luck in zip(clipped([*named]), named.values(), strict=True)]
    measured = counted(max(luck.matches for luck in known.values()), "match", "matches")
    chance = f"somebody is named by chance in at most {percent(LEVEL)} % of leagues"
    return [f"luck audit: nobody is luckier than chance explains (up to {measured} a player; {chance})"]


def _outlier(name: str, luck: PlayerLuck) -> str:
    return (
        f"WARNING: luck audit: {name} is luckier than a player can be who does not know draws before they fall:"
        f" {luck.mean:+.3f} wins a match by luck in {counted(luck.matches, 'match', 'matches')}, at least"
        f" {luck.least:+.3f} ({percent(1 - LEVEL)} %); chance makes anybody of a league so lucky with a"
        f" probability of {luck.p:.1g} at most"
    )


def _summary(standings: Standings) -> str:
    state = "" if standings.is_complete else ", incomplete"
    draws = "" if standings.draw_rate is None else f"; draws {percent(standings.draw_rate)} %"
    played = f"{standings.matches} of {standings.scheduled} matches{state}; ranks by {_ORDERS[standings.sorted_by]}"
    is_open = "none" in standings.isolation
    warning = ". UNSANDBOXED: bots could read the files of this account, and each other's" if is_open else ""
    return f"{played}{draws}; isolation: {standings.isolation}{warning}"


def _of_intervals(rows: Sequence[Row], headers: Sequence[str]) -> Iterator[str]:
    """Explanations of the intervals that are not plain ones."""
    shown = [row.score and half_width(row.score.interval, 1, 100.0) for row in rows]
    if any(each and not each.startswith("±") for each in shown):
        yield (
            "score: an interval of 95 % ends at 0 or 100 %, and where all blocks are equal it is a bound: -8.2/+4.2"
            " reaches 8.2 down and 4.2 up, -13.9 only down"
        )
    if "margin" in headers and any(row.margin and not row.margin.interval.is_bounded for row in rows):
        yield "±?: blocks that are all equal, or a single one, tell nothing of how far a margin may be off"


def _of_skills(standings: Standings) -> Iterator[str]:
    if not standings.matches:
        return
    effect, rating = standings.design_effect, standings.rating
    unit = "as of independent matches" if effect is None else f"from blocks (design effect {effect.players:.2f})"
    model = ProbitSettings(beta=rating.beta, draw_probability=rating.draw_probability)
    score = chances_at(rating.beta, model.scale, model.margin).score
    yield (
        f"MAP: skill fitted to all matches jointly, on the scale of mu; 95 % intervals {unit};"
        f" {rating.beta:.2f} points (beta) more are a score of {percent(score)} % against {percent(1 - score)} %"
    )


def _of_ahead(standings: Standings) -> Iterator[str]:
    if any(row.los is not None for row in standings.rows):
        yield (
            "LOS: likelihood of superiority over the player in the next line; ahead: whether it is 95 % or more"
            " (all pairs: `arena matrix`)"
        )


def _of_pardons(rows: Sequence[Row]) -> Iterator[str]:
    """A sentence for each of the worst: such faults are no forfeits, so the table does not show them."""
    guilty = sorted((row for row in rows if row.pardoned), key=lambda row: -sum(row.pardoned.values()))
    named = guilty[:_MOST_NAMED]
    for row, name in zip(named, clipped([row.name for row in named]), strict=True):
        kinds = ", ".join(f"{count} {kind}" for kind, count in row.pardoned.items())
        faults = counted(sum(row.pardoned.values()), "fault", "faults")
        yield f"{name}: {faults} in {counted(row.matches, 'match', 'matches')}, after which the game went on ({kinds})"
    if guilty[_MOST_NAMED:]:
        yield f"{counted(len(guilty) - _MOST_NAMED, 'other player')} had such faults too"


def _of_waiting(timing: Sequence[Timing]) -> Iterator[str]:
    """Time in which the league waited for a bot that did nothing, or that was starting."""
    idle = {one.name: one.idle_s / one.matches for one in timing if one.idle_s > _IDLE_S * one.matches}
    startup = {one.name: one.startup_s / one.matches for one in timing if one.startup_s > _STARTUP_S * one.matches}
    for what, found in (("idle while they owed answers", idle), ("start-up", startup)):
        if found:
            worst = sorted(found, key=lambda name: (-found[name], name))
            told = zip(clipped(worst[:_MOST_NAMED]), worst, strict=False)
            more = f" and {len(worst) - _MOST_NAMED} more" if worst[_MOST_NAMED:] else ""
            yield f"{what}, seconds a match: {', '.join(f'{shown} {found[name]:.1f}' for shown, name in told)}{more}"


def _of_load(timing: Sequence[Timing]) -> Iterator[str]:
    """Forfeits that a machine with less to do would not have seen."""
    late = [one.name for one in timing if one.timeouts_by_load]
    if late:
        count = counted(sum(one.timeouts_by_load for one in timing), "timeout")
        yield (
            f"WARNING: {count} by wall time came while the bot waited for a core for longer than it was late"
            f" ({some(clipped(late))}): the machine was too busy; play with fewer `--workers`, or let CPU time decide"
        )


def _of_seats(seats: Sequence[SeatAdvantage]) -> Iterator[str]:
    """Of two seats the second one loses what the first one wins."""
    told = seats[:1] if len(seats) == 2 else seats
    found = [(one.seat, worth(one).points) for one in told]
    if found:
        listed = ", ".join(f"seat {seat} {points.value:+.1f} {half_width(points, 1)}" for seat, points in found)
        yield f"seat advantage, percentage points of score ±95 %: {listed}"


def _of_contradictions(standings: Standings) -> Iterator[str]:
    pairs = standings.contradictions
    if pairs:
        named = some([" better than ".join(clipped((lower, higher))) for higher, lower in pairs])
        yield f"mu depends on the order of matches; its order contradicts MAP at 95 % for: {named}"


def _of_groups(standings: Standings) -> Iterator[str]:
    idle = {row.name for row in standings.rows if not row.matches}
    groups = [group for group in standings.groups if not idle.issuperset(group)]
    if len(groups) > 1:
        named = " | ".join(some(clipped(group)) for group in groups[:_MOST_NAMED])
        more = f" | {len(groups) - _MOST_NAMED} more" if len(groups) > _MOST_NAMED else ""
        yield f"WARNING: no match connects these groups; nothing compares them, each has its own ranks: {named}{more}"
    if idle and standings.matches:
        yield f"without a match: {some(clipped(sorted(idle)))}"
