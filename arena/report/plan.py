"""The forecast of a league in words: matches, sample, time, and the least difference that it can show."""

import math
from collections import Counter
from collections.abc import Iterator
from textwrap import wrap
from typing import Final

from arena.league.forecast import Capacity, LeagueForecast, LeagueSample, ShownDifference
from arena.league.progress import duration_text, whole_text
from arena.league.schedule import match_count, tables_of
from arena.league.tournament import Tournament
from arena.text import counted, printable

_LABEL: Final = 18
_NAMED: Final = 5


def plan_lines(plan: LeagueForecast, width: int | None) -> Iterator[str]:
    """Yield the lines of a forecast, broken at `width`."""
    for label, text in _labelled_texts(plan):
        first, *more = [text] if width is None else wrap(text, max(width - _LABEL, _LABEL))
        yield f"{label:<{_LABEL}}{first}"
        for line in more:
            yield f"{'':<{_LABEL}}{line}"


def matches_in_words(tournament: Tournament, done: int) -> str:
    """Describe the matches of a league: `600, 420 of them left`."""
    whole = whole_text(tournament)
    return f"{whole}, {max(match_count(tournament) - done, 0)} of them left" if done else whole


def _labelled_texts(plan: LeagueForecast) -> Iterator[tuple[str, str]]:
    """Yield (label, text) for each line of a forecast."""
    tournament, sample, done = plan.tournament, plan.sample, plan.stored
    yield "league", f"{tournament.name}: {counted(len(tournament.players), 'player')}, game {tournament.game}"
    yield "matches", matches_in_words(tournament, done)
    met, known = len(sample.seconds), len(tables_of(tournament))
    played = counted(len(sample.results), "match", "matches")
    yield "sample", f"{played} of {met} of {counted(known, 'pairing')} in {sample.wall_s:.0f} s; none of it is stored"
    yield from _time_texts(sample, max(match_count(tournament) - done, 0), plan.capacity)
    yield "difference", _describe_difference(plan.difference)
    if forfeits := Counter(row.players[row.at_fault] for row in sample.results if row.at_fault is not None):
        named = ", ".join(f"{count} by {printable(name)}" for name, count in forfeits.most_common(_NAMED))
        yield "forfeits", f"in the sample {forfeits.total()}: {named}; `arena check` tells why"
    for text in sample.failures[:_NAMED]:
        yield "broken off", printable(text)


def _time_texts(sample: LeagueSample, left: int, capacity: Capacity) -> Iterator[tuple[str, str]]:
    """Yield (label, text) on the time of a match and of the `left` matches; a lower bound if no match ended."""
    mean_s = sample.mean_s
    if mean_s is None:
        yield "time a match", f"no match ended within {sample.wall_s:.0f} s"
        yield (
            "time left",
            f"more than {duration_text(left * sample.wall_s / capacity.cores)} with {_capacity(capacity)}",
        )
        return
    yield "time a match", f"{_seconds_text(mean_s)} on one core{_describe_extremes(sample)}"
    yield "time left", f"about {duration_text(math.ceil(left * mean_s / capacity.cores))} with {_capacity(capacity)}"


def _describe_extremes(sample: LeagueSample) -> str:
    """Describe the pairings with the quickest and the slowest matches, if there are several; else return nothing."""
    if len(sample.seconds) < 2:
        return ""
    names = {row.key.pairing: " v ".join(map(printable, row.places)) for row in sample.results}
    ends = [pick(sample.seconds, key=sample.seconds.__getitem__) for pick in (min, max)]
    quick, slow = (f"{_seconds_text(sample.seconds[key])} ({names[key]})" for key in ends)
    return f": from {quick} to {slow}"


def _seconds_text(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 100 else duration_text(seconds)


def _describe_difference(least: ShownDifference) -> str:
    """Describe the least difference in score that the league can show."""
    blocks = f"{counted(least.blocks, 'block')} of each player"
    if least.points >= 100.0:
        return f"none: {blocks} are too few"
    elo = "" if least.elo is None else f" ({least.elo:.0f} Elo)"
    source = "by the spread of the sample" if least.is_measured else "as of chance alone, as the sample is too small"
    return (
        f"{least.points:.1f} points of score{elo}: {blocks} tell two players apart at 95 % who differ by this or more"
        f" ({source}); half of it takes four times the matches"
    )


def _capacity(capacity: Capacity) -> str:
    """Describe the workers, and the machines they run on."""
    workers = counted(capacity.workers, "worker")
    if not capacity.machines:
        return f"{workers} on this machine"
    unfit = f", {capacity.unfit} more cannot play" if capacity.unfit else ""
    machines = counted(capacity.machines, "machine")
    return f"{workers} on {machines}, as quick as {capacity.cores:.1f} cores of this one{unfit}"
