"""`arena verify`: nothing stored is believed; everything is computed again."""

from collections.abc import Iterator
from pathlib import Path

import click

from arena.cli.league import stored
from arena.cli.options import results_option, shelf_option
from arena.errors import CheckFailed
from arena.league.wording import counted
from arena.report.audit import audit
from arena.store.bots import BotStore

SHOWN = 20


@click.command()
@click.argument("names", nargs=-1, metavar="[LEAGUE]...")
@results_option
@shelf_option
def verify(names: tuple[str, ...], results: Path, shelf: Path) -> None:
    """Replay every stored match of each LEAGUE (default: all) from its seed and actions, and compute all anew.

    Each die must be what the seed gives, each action legal, each outcome what the rules say; summaries, digests, bots
    and published standings must fit. Matches of no current league are checked against their own records. Exit 1 if
    anything does not fit.

    Example: arena verify first
    """
    with stored(results) as store:
        found = list(_printed(audit(store, BotStore(results, shelf), names or tuple(store.leagues()))))
    if found:
        raise CheckFailed(f"{counted(len(found), 'problem')} found")


def _printed(lines: Iterator[tuple[bool, str]]) -> Iterator[str]:
    """Print the findings; give the problems back, the first of them printed."""
    problems = 0
    for is_problem, text in lines:
        if not is_problem:
            click.echo(text)
            continue
        problems += 1
        if problems <= SHOWN:
            click.echo(f"PROBLEM {text}")
        yield text
    if problems > SHOWN:
        click.echo(f"... and {problems - SHOWN} more")
