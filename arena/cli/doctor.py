"""`arena doctor`: whether bots can be run safely here, what this machine can do for a league, and what is missing."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from msgspec import UNSET

from arena.cli.options import ClusterOptions, cluster_options, results_option, width_option
from arena.doctor import machine, sandbox
from arena.doctor.machine import checked
from arena.league.tournament import ClusterSettings
from arena.process.sandbox import runtimes, scope, self_test
from arena.report.formats import listing
from arena.text import counted, printable

if TYPE_CHECKING:
    from arena.cluster.survey import SurveyedWorker, WorkerReport

_COMMANDS: Final = """
Commands
  need the sandbox, or `--isolation none` for bots you trust: league run, match, check, submit, play
  need no sandbox: leaderboard, league status, show, verify, bots, tournaments, new-bot, withdraw"""


@click.command()
@cluster_options
@results_option
@width_option
def doctor(results: Path, cluster: ClusterOptions, width: int | None) -> int:
    """Tell whether bots can be run safely here, and what this machine can do for a league.

    It exits with 1 if bots cannot be run safely, and says what to do first. With --cluster it looks at each worker of a
    cluster instead, on the worker's own machine, and exits with 1 if any cannot play.

    Example: arena doctor
    """
    settings = cluster.chosen(UNSET, None)
    return examine(results, self_test.attempt_escapes) if settings is None else examine_cluster(settings, width)


def examine(results: Path, attempt_escapes: Callable[[], self_test.Attempts]) -> int:
    """Print what is found; the exit code."""
    why_no_group = scope.enter()
    kept = checked("sandbox", lambda: sandbox.sandbox(attempt_escapes))
    is_safe = all(result.status == "ok" for result in kept)
    around = [
        *checked("system", machine.system),
        *checked("games", machine.games),
        *checked("cores", machine.cores),
        *checked("clocks", machine.clocks),
        *checked("open files", machine.descriptors),
        *checked("tools", machine.tools),
        *checked("results", lambda: [*machine.disk(results), *machine.privacy(results)]),
    ]
    if is_safe:
        kept += checked("limits", lambda: sandbox.own_promises(why_no_group))
        folders, path = runtimes.search_path, os.environ.get("PATH", "")
        kept += checked("languages", lambda: sandbox.languages(folders(), path, Path.home()))
    click.echo("Bots can be run safely here." if is_safe else "Bots cannot be run safely here, so they are not run.")
    for title, found in (("Sandbox", kept), ("Machine", around)):
        click.echo("\n".join(["", title, *(line for result in found for line in result.lines())]))
        if found is kept and not is_safe:
            click.echo("        then run `arena doctor` again")
    click.echo(_COMMANDS)
    return 0 if is_safe else 1


def examine_cluster(settings: ClusterSettings, width: int | None) -> int:
    """Print a table of the workers of a cluster, and what is not as it should be; the exit code."""
    from arena.cluster.survey import SurveyedWorker, faults, report, survey  # noqa: PLC0415 - only for a cluster

    here, workers = report(), survey(settings)
    found = {worker.name: list(faults(worker, here)) for worker in workers}
    unfit = [name for name, results in found.items() if any(each.status == "BAD" for each in results)]
    click.echo(f"{counted(len(workers), 'worker')}, {len(workers) - len(unfit)} of them can play.\n")
    headers = ["worker", "host", "arena", "sandbox", "games", "cores", "speed", "clock", "languages"]
    own = SurveyedWorker("(here)", here)
    click.echo(listing(headers, [_worker_row(each, here) for each in [*workers, own]], width))
    for line in (line for results in found.values() for result in results for line in result.lines()):
        click.echo(line)
    return 1 if unfit or not workers else 0


def _worker_row(worker: "SurveyedWorker", here: "WorkerReport") -> list[str]:
    """A line of the table; games are those that are the same as here, speed is relative to this machine."""
    told = worker.report
    if told is None:
        return [printable(worker.name), *["?"] * 7, ""]
    same = [game for game, identity in here.identities.items() if told.identities.get(game) == identity]
    return [
        printable(worker.name),
        printable(told.host),
        printable(told.arena),
        "fails" if told.sandbox else "holds",
        f"{len(same)} of {len(here.identities)}",
        str(told.cores),
        f"{told.speed / here.speed:.2f}",
        f"{round(worker.ahead_s):+d} s",
        printable(", ".join(told.languages)),
    ]
