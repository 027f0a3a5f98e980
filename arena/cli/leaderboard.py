"""`arena leaderboard`: the standings of a league, for people and for programs."""

from pathlib import Path

import click

from arena.cli.league import stored
from arena.cli.options import results_option
from arena.errors import SpecError
from arena.report.leaderboard import FORMATS, render
from arena.report.table import table
from arena.store.matches import MatchStore


@click.command()
@click.argument("name", required=False)
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Of the output.")
@click.option("--no-timing", is_flag=True, help="Leave times out: equal results then give equal bytes.")
@results_option
def leaderboard(name: str | None, form: str, no_timing: bool, results: Path) -> None:
    """Print the standings of league NAME; NAME may be left out if there is only one.

    Example: arena leaderboard first --format markdown
    """
    with stored(results) as store:
        tournament = store.league(name or _only_league(store))
        standings, timing = table(store, tournament)
    click.echo(render(standings, None if no_timing else timing, format=form))


def _only_league(store: MatchStore) -> str:
    names = store.leagues()
    if len(names) != 1:
        raise SpecError(f"which league? known: {', '.join(names) or 'none'}")
    return names[0]
