"""`arena league run FILE --plan`: matches, time and the difference that a league can show, from a sample of a minute.

Rule: nothing of the results folder is written, and no luck of the league is drawn: what is built for the sample lies in
a temporary folder.
"""

import math
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import Final, NamedTuple

import click

from arena.cli.edge import TerminalLine, stoppable
from arena.cli.update import begun_as, is_known, matches_in_words
from arena.errors import Interrupted, MachineFault, SpecError
from arena.league.plan import LeagueSample, SampleTimes, ShownDifference, shown_difference, take_sample
from arena.league.progress import duration_text
from arena.league.schedule import match_count, tables_of
from arena.league.state import state_of
from arena.league.tournament import ClusterSettings, Tournament
from arena.operations.playing import prepare_isolation
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec
from arena.process.scratch import scratch_folder
from arena.store.bots import BotStore
from arena.store.folder import stored
from arena.text import counted, printable

TIMES: Final = SampleTimes()
_LABEL: Final = 18
_NAMED: Final = 5


class Capacity(NamedTuple):
    """The workers of a league in words, and the number of cores of this machine that are as quick."""

    cores: float
    text: str


def print_plan(
    tournament: Tournament,
    results: Path,
    isolation: Isolation,
    workers: int,
    width: int | None,
    cluster: ClusterSettings | None = None,
) -> None:
    """Play a sample here and print the plan, with lines broken at `width`, for so many workers or for a cluster.

    MachineFault if bots cannot play here, or if no worker of the cluster can play.
    """
    done = stored_matches(results, tournament)
    prepare_isolation(isolation, tournament.game)
    capacity = Capacity(workers, f"{counted(workers, 'worker')} on this machine")
    if cluster is not None:
        capacity = capacity_of(cluster, tournament.game, isolation)
    matches = 0

    def count(so_far: int) -> None:
        nonlocal matches
        matches = so_far
        line.draw()

    line = TerminalLine(lambda: f"{matches} matches sampled, at most a minute")
    with stoppable(), scratch_folder("arena-plan-") as scratch:
        prepare = partial(installed_copy, BotStore(results, results, isolation), scratch, isolation)
        try:
            sample = take_sample(tournament, prepare, isolation, workers, TIMES, count)
        except KeyboardInterrupt:
            raise Interrupted("interrupted; nothing was stored") from None
    line.wipe()
    for label, text in _plan(tournament, sample, done, capacity):
        first, *more = [text] if width is None else wrap(text, max(width - _LABEL, _LABEL))
        click.echo(f"{label:<{_LABEL}}{first}")
        for each in more:
            click.echo(f"{'':<{_LABEL}}{each}")


def capacity_of(cluster: ClusterSettings, game: str, isolation: Isolation) -> Capacity:
    """All workers of a cluster that can play the game, by their speeds. MachineFault if there is none."""
    from arena.cluster.survey import fit_for, report, survey  # noqa: PLC0415 - only for a cluster

    workers, here = survey(cluster), report()
    fit = fit_for(game, isolation, workers, here)
    if not fit:
        found = counted(len(workers), "worker")
        raise MachineFault(f"the cluster has {found}, and none can play {game}; `arena doctor --cluster` tells why")
    cores = sum(each.speed for each in fit) / here.speed
    machines = counted(len({each.host for each in fit}), "machine")
    unfit = f", {len(workers) - len(fit)} more cannot play" if len(workers) > len(fit) else ""
    text = f"{counted(len(fit), 'worker')} on {machines}, as quick as {cores:.1f} cores of this one{unfit}"
    return Capacity(cores, text)


def stored_matches(results: Path, tournament: Tournament) -> int:
    """The matches of the tournament that are stored."""
    if not is_known(results, tournament.name):
        return 0
    with stored(results) as store:
        return state_of(begun_as(store, tournament), store.ranks).stored


def installed_copy(store: BotStore, scratch: Path, isolation: Isolation, bot: BotSpec) -> BotSpec:
    """The copy of a bot in the results, or one that is made in the temporary folder."""
    try:
        return store.installed(bot.digest)
    except SpecError:
        return BotStore(scratch, scratch, isolation).install(bot)


def _plan(tournament: Tournament, sample: LeagueSample, done: int, capacity: Capacity) -> Iterator[tuple[str, str]]:
    yield "league", f"{tournament.name}: {counted(len(tournament.players), 'player')}, game {tournament.game}"
    yield "matches", matches_in_words(tournament, done)
    met, known = len(sample.seconds), len(tables_of(tournament))
    played = counted(len(sample.results), "match", "matches")
    yield "sample", f"{played} of {met} of {counted(known, 'pairing')} in {sample.wall_s:.0f} s; none of it is stored"
    yield from _time(sample, max(match_count(tournament) - done, 0), capacity)
    yield "difference", _difference(shown_difference(tournament, sample.results))
    if forfeits := Counter(one.players[one.at_fault] for one in sample.results if one.at_fault is not None):
        named = ", ".join(f"{count} by {printable(name)}" for name, count in forfeits.most_common(_NAMED))
        yield "forfeits", f"in the sample {forfeits.total()}: {named}; `arena check` tells why"
    for text in sample.failures[:_NAMED]:
        yield "broken off", printable(text)


def _time(sample: LeagueSample, left: int, capacity: Capacity) -> Iterator[tuple[str, str]]:
    mean_s = sample.mean_s
    if mean_s is None:
        yield "time a match", f"no match ended within {sample.wall_s:.0f} s"
        yield "time left", f"more than {duration_text(left * sample.wall_s / capacity.cores)} with {capacity.text}"
        return
    yield "time a match", f"{_seconds(mean_s)} on one core{_range(sample)}"
    yield "time left", f"about {duration_text(math.ceil(left * mean_s / capacity.cores))} with {capacity.text}"


def _range(sample: LeagueSample) -> str:
    """The quickest and the slowest pairing, where there are several."""
    if len(sample.seconds) < 2:
        return ""
    names = {one.key.pairing: " v ".join(map(printable, one.places)) for one in sample.results}
    ends = [pick(sample.seconds, key=sample.seconds.__getitem__) for pick in (min, max)]
    quick, slow = (f"{_seconds(sample.seconds[key])} ({names[key]})" for key in ends)
    return f": from {quick} to {slow}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 100 else duration_text(seconds)


def _difference(found: ShownDifference) -> str:
    each = f"{counted(found.blocks, 'block')} of each player"
    if found.points >= 100.0:
        return f"none: {each} are too few"
    elo = "" if found.elo is None else f" ({found.elo:.0f} Elo)"
    source = "by the spread of the sample" if found.is_measured else "as of chance alone, as the sample is too small"
    return (
        f"{found.points:.1f} points of score{elo}: {each} tell two players apart at 95 % who differ by this or more"
        f" ({source}); half of it takes four times the matches"
    )
