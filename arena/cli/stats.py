"""`arena leaderboard`, `stats` and `matrix`: the pages of a league, computed from its stored matches."""

import os
import sys

import click

from arena.cli.completion import complete_league
from arena.cli.edge import show_events
from arena.cli.options import columns_option, format_option, names_with_commas, page_width, requesting, wants_colours
from arena.operations.read_standings import ReadStandings, read_standings
from arena.operations.read_stats import ReadMatrix, ReadStats, read_matrix, read_stats
from arena.report.formats import Style
from arena.report.leaderboard import leaderboard_page
from arena.report.luck_origin import luck_description
from arena.report.matrix import matrix_page
from arena.report.profile import profile_page


@click.command()
@requesting(ReadStandings)
@click.argument("league", required=False, shell_complete=complete_league)
@format_option()
@click.option("--no-timing", is_flag=True, help="Leave times out: equal results then give equal bytes.")
@columns_option
def leaderboard(request: ReadStandings, form: str, no_timing: bool, style: Style) -> None:
    """Print the standings of a league.

    LEAGUE may be left out if there is only one. In csv and json all columns are there, unless --columns names some.

    Example: arena leaderboard first --columns player,score,faults
    """
    table = read_standings(request)
    times = None if no_timing else table.timing
    click.echo(leaderboard_page(table.standings, times, news=table.news).render(form, style))


def _players(context: click.Context, parameter: click.Parameter, value: str) -> int | tuple[str, ...] | None:
    """Return the number of players to show, or their names; None for all of them."""
    if value == "all":
        return None
    if value.isascii() and value.isdigit():
        return int(value)
    return names_with_commas(context, parameter, value)


@click.command()
@requesting(ReadMatrix)
@click.argument("league", required=False, shell_complete=complete_league)
@click.option("--players", callback=_players, metavar="N|all|A,B,...", help="Show the best N players, all, or these.")
@format_option()
@click.option("--columns", metavar="A,B,...", callback=names_with_commas, help="With csv or json: only these columns.")
def matrix(request: ReadMatrix, form: str, columns: tuple[str, ...]) -> None:
    """Print who scored what against whom.

    LEAGUE may be left out if there is only one. Marks in the cells show who is significantly better than whom, by all
    matches and with a correction for the number of pairs. A cell is shaded by how surprising it is beside the skills of
    the two, in a terminal without NO_COLOR. Below the table stands whether one skill per player explains the results,
    and the cycles (A beats B beats C beats A).

    Example: arena matrix first --players 10
    """
    compared, luck = read_matrix(request)
    is_coloured = sys.stdout.isatty() and wants_colours(os.environ)
    page = matrix_page(compared, luck=luck_description(luck), is_coloured=is_coloured)
    click.echo(page.render(form, Style(width=page_width(), columns=columns)))


@click.command()
@requesting(ReadStats)
@click.argument("player")
@click.argument("league", required=False, shell_complete=complete_league)
@click.option(
    "--luck", is_flag=True, help="Replay matches whose luck was not stored, to exclude it from scores; takes a while."
)
@format_option()
@columns_option
def stats(request: ReadStats, form: str, style: Style) -> None:
    """Print all results of one player of a league.

    LEAGUE may be left out if there is only one. There are results by opponent, by seat and by tenth of the schedule,
    time per move, faults, and extreme matches with their ids. Where the luck of all matches was stored, scores without
    it stand beside the others if they are more precise.

    Example: arena stats greedy first
    """
    with show_events() as on:
        page, luck = read_stats(request, on)
    click.echo(profile_page(page, luck=luck_description(luck)).render(form, style))
