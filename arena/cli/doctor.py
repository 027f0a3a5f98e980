"""`arena doctor`: whether bots can be run safely here, what this machine can do for a league, and what is missing."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from arena.cli.options import results_option
from arena.doctor import languages, machine, sandbox
from arena.doctor.check_result import Finding, Verdict, looked_at
from arena.process.sandbox import probe, runtimes, scope

_COMMANDS: Final = """
Commands
  need the sandbox, or `--isolation none` for bots you trust: league run, match, check, submit, play
  need no sandbox: leaderboard, league status, show, verify, bots, new-bot, withdraw"""


@click.command()
@results_option
def doctor(results: Path) -> int:
    """Tell whether bots can be run safely here, and what this machine can do for a league.

    It exits with 1 if bots cannot be run safely, and says what to do first.

    Example: arena doctor
    """
    return examine(results, probe.try_to_break_out)


def examine(results: Path, try_to_break_out: Callable[[], probe.Tried]) -> int:
    """Print what is found; the exit code."""
    why_no_group = scope.enter()
    kept = looked_at("sandbox", lambda: sandbox.sandbox(try_to_break_out))
    is_safe = all(finding.verdict is Verdict.OK for finding in kept)
    around = [
        *looked_at("system", machine.system),
        *looked_at("games", machine.games),
        *looked_at("cores", machine.cores),
        *looked_at("clocks", machine.clocks),
        *looked_at("open files", machine.descriptors),
        *looked_at("tools", machine.tools),
        *looked_at("results", lambda: machine.disk(results)),
    ]
    if is_safe:
        kept += looked_at("limits", lambda: sandbox.own_promises(why_no_group))
        kept += looked_at("languages", _languages)
    click.echo("Bots can be run safely here." if is_safe else _unsafe(kept))
    for title, findings in (("Sandbox", kept if is_safe else []), ("Machine", around)):
        if findings:
            click.echo("\n".join(["", title, *(line for finding in findings for line in finding.lines())]))
    click.echo(_COMMANDS)
    return 0 if is_safe else 1


def _unsafe(kept: list[Finding]) -> str:
    lines = [line for finding in kept for line in finding.lines()]
    again = "        then run `arena doctor` again"
    return "\n".join(["Bots cannot be run safely here, so they are not run.", "", "Sandbox", *lines, again])


def _languages() -> list[Finding]:
    return languages.languages(runtimes.search_path(), os.environ.get("PATH", ""), Path.home())
