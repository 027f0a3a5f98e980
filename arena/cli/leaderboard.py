"""`arena leaderboard`: the standings of a league, for people and for programs."""

from pathlib import Path

import click

from arena.cli.league import one_league, stored
from arena.cli.options import results_option, terminal_width
from arena.report.leaderboard import FORMATS, render
from arena.report.table import table


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
        state = one_league(store, name)
        standings, timing = table(store, state)
    shown = render(standings, None if no_timing else timing, format=form, width=terminal_width(), news=state.news)
    click.echo(shown)
