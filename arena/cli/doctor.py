"""`arena doctor`: whether bots can be run safely here, what this machine can do for a league, and what is missing."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from arena.cli.options import results_option
from arena.doctor import machine, sandbox
from arena.doctor.machine import bad, checked
from arena.process.portable import IS_LINUX, LINUX_ONLY
from arena.process.sandbox import runtimes, scope, self_test

_COMMANDS: Final = """
Commands
  need the sandbox, or `--isolation none` for bots you trust: league run, match, check, submit, play
  need no sandbox: leaderboard, league status, show, verify, bots, tournaments, new-bot, withdraw"""


@click.command()
@results_option
def doctor(results: Path) -> int:
    """Tell whether bots can be run safely here, and what this machine can do for a league.

    It exits with 1 if bots cannot be run safely, and says what to do first.

    Example: arena doctor
    """
    return examine(results, self_test.attempt_escapes)


def examine(results: Path, attempt_escapes: Callable[[], self_test.Attempts]) -> int:
    """Print what is found; the exit code."""
    why_no_group = scope.enter() if IS_LINUX else ""
    kept = checked("sandbox", lambda: sandbox.sandbox(attempt_escapes) if IS_LINUX else [bad(LINUX_ONLY)])
    is_safe = all(result.status == "ok" for result in kept)
    around = [
        *checked("system", machine.system),
        *checked("games", machine.games),
        *checked("cores", machine.cores),
        *checked("clocks", machine.clocks),
        *checked("open files", machine.descriptors),
        *checked("tools", machine.tools),
        *checked("results", lambda: machine.disk(results)),
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
