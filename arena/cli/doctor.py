"""`arena doctor`: whether bots can be run safely here, what this machine can do for a league, and what is missing."""

from typing import TYPE_CHECKING, Final

import click

from arena.cli.options import page_width, requesting
from arena.operations.examine_machine import (
    ClusterDiagnosis,
    Diagnosis,
    ExamineMachine,
    examine_cluster,
    examine_machine,
)
from arena.operations.playing import ClusterChoice
from arena.report.formats import format_listing
from arena.text import counted, printable

if TYPE_CHECKING:
    from arena.cluster.survey import SurveyedWorker, WorkerReport

_COMMANDS: Final = """
Commands
  need the sandbox, or `--isolation none` for bots you trust: league run, match, check, submit, play
  need no sandbox: leaderboard, league status, show, verify, bots, tournaments, new-bot, withdraw"""


@click.command()
@requesting(ExamineMachine)
def doctor(request: ExamineMachine) -> int:
    """Examine whether bots can be run safely here, and what this machine can do for a league.

    The exit code is 1 if bots cannot be run safely; then the output says what to do first. With --cluster it looks at
    each worker of a cluster instead, on the worker's own machine, and exits with 1 if any cannot play.

    Example: arena doctor
    """
    if request.cluster == ClusterChoice():
        return _print_diagnosis(examine_machine(request))
    return _print_workers(examine_cluster(request))


def _print_diagnosis(diagnosis: Diagnosis) -> int:
    """Print the diagnosis of this machine; return the exit code."""
    click.echo(
        "Bots can be run safely here." if diagnosis.is_safe else "Bots cannot be run safely here, so they are not run."
    )
    for title, results in (("Sandbox", diagnosis.sandbox), ("Machine", diagnosis.machine)):
        click.echo("\n".join(["", title, *(line for result in results for line in result.lines())]))
        if title == "Sandbox" and not diagnosis.is_safe:
            click.echo("        then run `arena doctor` again")
    click.echo(_COMMANDS)
    return 0 if diagnosis.is_safe else 1


def _print_workers(diagnosis: ClusterDiagnosis) -> int:
    """Print a table of the workers and of this machine, then the problems.

    Return 1 if a worker cannot play, or if there is none; else 0.
    """
    workers, here = diagnosis.workers, diagnosis.here.report
    assert here is not None, "this machine reports itself"
    click.echo(f"{counted(len(workers), 'worker')}, {len(workers) - diagnosis.unfit} of them can play.\n")
    headers = ["worker", "host", "arena", "sandbox", "games", "cores", "speed", "clock", "languages"]
    rows = [_worker_row(worker, here) for worker in [*workers, diagnosis.here]]
    click.echo(format_listing(headers, rows, page_width()))
    for line in (line for results in diagnosis.results.values() for result in results for line in result.lines()):
        click.echo(line)
    return 1 if diagnosis.unfit or not workers else 0


def _worker_row(worker: "SurveyedWorker", here: "WorkerReport") -> list[str]:
    """Return a row of the table: games are compared with this machine's, speed is relative to it.

    A worker without a report has question marks.
    """
    report = worker.report
    if report is None:
        return [printable(worker.name), *["?"] * 7, ""]
    same = [game for game, identity in here.identities.items() if report.identities.get(game) == identity]
    return [
        printable(worker.name),
        printable(report.host),
        printable(report.arena),
        "fails" if report.sandbox else "holds",
        f"{len(same)} of {len(here.identities)}",
        str(report.cores),
        f"{report.speed / here.speed:.2f}",
        f"{round(worker.ahead_s):+d} s",
        printable(", ".join(report.languages)),
    ]
