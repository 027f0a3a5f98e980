"""What stands below a leaderboard: what it was made from, what its columns mean, and what not to conclude from it.

Rule: one sentence a line, and only those that say something about this table.
"""

from collections.abc import Iterator, Sequence
from string import ascii_lowercase
from typing import Final

from arena.report.formats import clipped, percent
from arena.report.luck_origin import origin_told
from arena.standings.luck_audit import LEVEL, PlayerLuck
from arena.standings.rows import Row
from arena.standings.table import Standings, Timing
from arena.statistics.interval import Z_95
from arena.statistics.probit import SeatAdvantage
from arena.text import counted

NO_SPREAD: Final = 1e-12
_MOST_NAMED: Final = 5
_IDLE_S: Final = 0.1
_STARTUP_S: Final = 1.0
"""Seconds a match from which on it is told who takes them."""


def footer(standings: Standings, headers: Sequence[str], timing: Sequence[Timing]) -> list[str]:
    """The sentences for a table with these columns; `timing` is empty where times are left out."""
    return [
        _summary(standings),
        *_of_luck_origin(standings),
        *(_of_skills(standings) if "MAP" in headers else ()),
        *(_of_bands(standings) if "LOS %" in headers else ()),
        *(_of_luck(standings) if "luck-free %" in headers else ()),
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


def band_letters(rows: Sequence[Row]) -> dict[int, str]:
    """A letter for each band: a, b, ..., z, aa, ab."""
    return {band: _letters(band) for band in sorted({row.band for row in rows})}


def _letters(number: int) -> str:
    """Numbers from 1 as spreadsheets name their columns."""
    text = ""
    while number:
        number, last = divmod(number - 1, len(ascii_lowercase))
        text = ascii_lowercase[last] + text
    return text


def _summary(standings: Standings) -> str:
    order = "sorted by mu" if standings.is_complete else "incomplete, so sorted by mu-3s"
    draws = "" if standings.draw_rate is None else f"; draws {percent(standings.draw_rate)} %"
    has_bound = any(row.score_error is not None and row.score_error <= NO_SPREAD for row in standings.rows)
    bound = "; where all blocks are equal, a one-sided 95 % bound" if has_bound else ""
    played = f"{standings.matches} of {standings.scheduled} matches"
    return f"{played}, {order}{draws}{bound}; isolation: {standings.isolation}{_warning(standings.isolation)}"


def _warning(isolation: str) -> str:
    """What it means if bots were not kept apart."""
    if "none" not in isolation:
        return ""
    return ". UNSANDBOXED: bots could read the files of this account, and each other's"


def _of_luck_origin(standings: Standings) -> Iterator[str]:
    if told := origin_told(standings.luck, standings.isolation):
        yield told


def _of_skills(standings: Standings) -> Iterator[str]:
    effect = standings.design_effect
    if standings.matches:
        spread = "" if effect is None else f", which vary {effect.players:.2f} times as much as independent matches"
        yield f"MAP: the skill by all matches at once, in any order, on the scale of mu; errors by block{spread}"


def _of_bands(standings: Standings) -> Iterator[str]:
    if any(row.superiority is not None for row in standings.rows):
        yield (
            "LOS: how likely a player is better than the one in the next line; those with the same letter cannot be"
            " told apart from line to line (LOS below 95 %)"
        )


def _of_luck(standings: Standings) -> Iterator[str]:
    yield (
        "luck-free: the score with the luck of each match excluded, as the value of the game measures it"
        f" (version {standings.luck_version}); may lie outside 0 to 100; no part of rank, mu or MAP"
    )


def _of_pardons(rows: Sequence[Row]) -> Iterator[str]:
    """A sentence for each of the worst: such faults are no forfeits, so the table does not show them."""
    guilty = sorted((row for row in rows if row.pardoned), key=lambda row: (-sum(row.pardoned.values()), row.rank))
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
            f" ({_some(clipped(late))}): the machine was too busy; play with fewer `--workers`, or let CPU time decide"
        )


def _of_seats(seats: Sequence[SeatAdvantage]) -> Iterator[str]:
    """Of two seats the second one loses what the first one wins."""
    told = seats[:1] if len(seats) == 2 else seats
    worth = [f"seat {one.seat} {one.points:+.1f} ±{Z_95 * one.points_error:.1f}" for one in told]
    if worth:
        yield f"what a seat is worth, in points of score %: {', '.join(worth)}"


def _of_contradictions(standings: Standings) -> Iterator[str]:
    pairs = standings.contradictions
    if pairs:
        named = _some([" better than ".join(clipped((lower, higher))) for higher, lower in pairs])
        yield f"WARNING: mu depends on the order of matches and is contradicted by MAP, which is sure of: {named}"


def _of_groups(standings: Standings) -> Iterator[str]:
    idle = {row.name for row in standings.rows if not row.matches}
    groups = [group for group in standings.groups if not idle.issuperset(group)]
    if len(groups) > 1:
        named = " | ".join(_some(clipped(group)) for group in groups[:_MOST_NAMED])
        more = f" | {len(groups) - _MOST_NAMED} more" if len(groups) > _MOST_NAMED else ""
        yield f"WARNING: no match connects these groups, so they cannot be compared: {named}{more}"
    if idle and standings.matches:
        yield f"without a match: {_some(clipped(sorted(idle)))}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
