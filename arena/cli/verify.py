"""`arena verify`: nothing stored is believed; everything is computed again."""

import contextlib
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

import click
from msgspec import UNSET

from arena.cli.completion import complete_league
from arena.cli.edge import TerminalLine, stoppable
from arena.cli.options import (
    WORKERS,
    ClusterOptions,
    backend_of,
    bots_option,
    chosen_secret,
    cluster_options,
    isolation_option,
    local_workers,
    prepare_isolation,
    results_option,
    secret_file_option,
)
from arena.errors import ArenaError, CheckFailed
from arena.games import load_game
from arena.games.api import simulator_of
from arena.league.driver import Backend, LocalBackend
from arena.league.progress import Progress
from arena.league.tournament import ClusterSettings, Tournament, largest_limits
from arena.match.secret_luck import Secret
from arena.process.cores import usable_cores
from arena.process.limits import Isolation
from arena.store.bots import BotStore
from arena.store.folder import stored
from arena.store.history import read_head
from arena.store.matches import MatchStore
from arena.store.secrets import SecretKeeper
from arena.text import counted
from arena.verify.audit import AuditSettings, audit
from arena.verify.match import Checker, check_here, parallel_checker

_PROBLEMS_SHOWN: Final = 20
_BETWEEN_LINES_S: Final = 0.1


@click.command()
@click.argument("names", nargs=-1, metavar="[LEAGUE]...", shell_complete=complete_league)
@click.option(
    "--workers",
    type=WORKERS,
    help="Matches checked at once; default: all cores if anything has to be simulated again, else 1.",
)
@click.option(
    "--root",
    "roots",
    multiple=True,
    metavar="COUNT:ROOT",
    help="As `league run` or `league status` printed it: were the first COUNT matches changed since?",
)
@click.option(
    "--replay",
    "replays",
    type=click.IntRange(0),
    metavar="N",
    help="Play N random process lives of each league again, with the same bots, and tell what differs.",
)
@cluster_options
@isolation_option
@secret_file_option
@results_option
@bots_option
def verify(
    names: tuple[str, ...],
    workers: int | None,
    cluster: ClusterOptions,
    roots: tuple[str, ...],
    replays: int | None,
    isolation: Isolation,
    secret_file: Path | None,
    results: Path,
    bots_folder: Path,
) -> None:
    """Replay every stored match of each LEAGUE (default: all) from its luck and actions, and compute all anew.

    The luck of each block must be what the secret of its league gives, as far as the secret is stored here or given;
    each die must be what the luck of its block gives, each action legal, each outcome what the rules say; summaries,
    digests, bots and published standings must fit. Simulations are made again, and must be the same to the
    last bit where the simulator and the machine are; elsewhere the difference is told. Matches of no current league are
    checked against their own records. Exit 1 if anything does not fit.

    With --root the first COUNT matches that were stored are computed again, and must be those of that day: whoever kept
    a root sees every later change, even one that fits everywhere else.

    With --replay the bots are asked again: their actions should be those that are stored. That is evidence, no proof,
    and no failure: a bot may draw lots, or look at the clock.

    With --cluster the workers of a cluster check the matches, and play those of --replay; the findings are the same.

    Example: arena verify first
    """
    kept, given = tuple(map(read_head, roots)), chosen_secret(None, secret_file)
    used = cluster.chosen(UNSET, workers)
    with stored(results) as store, stoppable(), contextlib.closing(_Watch()) as watch:
        leagues = names or tuple(store.leagues())
        games = set(_games(store, leagues))
        for name in leagues if replays else ():
            prepare_isolation(isolation, store.league(name).game)
        is_slow = any(simulator_of(load_game(game)) is not None for game in games)
        processes = workers or (len(usable_cores()) if is_slow else 1)
        bots = BotStore(results, bots_folder)

        def open_backend(tournament: Tournament) -> Backend:
            local = 1 if used else min(processes, local_workers(workers, largest_limits(tournament)))
            return backend_of(used, tournament, bots, isolation, LocalBackend(local))

        at_hand = partial(_secrets, SecretKeeper(store, results), given)
        with _checker(used, games, processes) as checked:
            look = AuditSettings(checked, watch.heard, at_hand, kept, replays or 0, isolation, open_backend)
            found = list(_printed(audit(store, bots, leagues, look), watch))
    if found:
        raise CheckFailed(f"{counted(len(found), 'problem')} found")


def _checker(
    cluster: ClusterSettings | None, games: Iterable[str], processes: int
) -> contextlib.AbstractContextManager[Checker]:
    """The checker of all matches: the cluster's workers, or so many processes here."""
    if cluster is None:
        return contextlib.nullcontext(check_here) if processes == 1 else parallel_checker(processes)
    from arena.cluster.checker import cluster_checker  # noqa: PLC0415 - only for a cluster

    return cluster_checker(cluster, games, partial(click.echo, err=True))


def _secrets(keeper: SecretKeeper, given: Secret | None, commitments: Iterable[str]) -> list[Secret]:
    """The secrets of these commitments that are stored, and the given one if it is one of them."""
    known = tuple(commitments)
    return [*([given] if given is not None and given.commitment in known else []), *keeper.at_hand(known)]


def _games(store: MatchStore, leagues: Iterable[str]) -> Iterator[str]:
    """The games of these leagues that are here. One that cannot be read is for the audit to tell."""
    for name in leagues:
        with contextlib.suppress(ArenaError):
            game = store.league(name).game
            load_game(game)
            yield game


class _Watch:
    """The progress of one league after another; on a terminal it goes out of the way when anything else is printed."""

    def __init__(self) -> None:
        self._league = ""
        self._drawn_s = 0.0
        self._progress = Progress(total=0)
        self._line = TerminalLine(self._words, self._counts)

    def heard(self, league: str, done: int, total: int) -> None:
        """So many matches of the league are checked."""
        if league != self._league:
            self._league, self._progress = league, Progress(total=total)
        self._progress.total = total
        self._progress.add(done - self._progress.done, 0)
        if time.monotonic() - self._drawn_s > _BETWEEN_LINES_S:
            self._line.draw()
            self._drawn_s = time.monotonic()

    def close(self) -> None:
        """Wipe the line away."""
        self._line.wipe()

    def _words(self) -> str:
        return f"{self._league}: {self._progress.words()}"

    def _counts(self) -> tuple[int, int]:
        return self._progress.counts()


def _printed(lines: Iterable[tuple[bool, str]], watch: _Watch) -> Iterator[str]:
    """Print the findings; give the problems back, the first of them printed."""
    problems = 0
    for is_problem, text in lines:
        watch.close()
        if not is_problem:
            click.echo(text)
            continue
        problems += 1
        if problems <= _PROBLEMS_SHOWN:
            click.echo(f"PROBLEM {text}")
        yield text
    if problems > _PROBLEMS_SHOWN:
        click.echo(f"... and {problems - _PROBLEMS_SHOWN} more")
