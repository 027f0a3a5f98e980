"""`arena grades` and `report`: results of a league for the marks of a course, and for its authors."""

import click

from arena.cli.completion import complete_league
from arena.cli.edge import show_events
from arena.cli.options import FOLDER_PATH, columns_option, format_option, requesting
from arena.operations.grades import ReadGrades, ReportAuthors, read_grades, report_authors
from arena.report.formats import Style
from arena.report.grades import grades_page
from arena.text import printable


@click.command()
@requesting(ReadGrades)
@click.argument("league", required=False, shell_complete=complete_league)
@click.option("--yardstick", required=True, metavar="PLAYER", help="Player with whom all others are compared.")
@format_option(("csv", "table", "markdown", "json"))
@columns_option
def grades(request: ReadGrades, form: str, style: Style) -> None:
    """Print each player of a league with the author of the bot, for a mark book.

    LEAGUE may be left out if there is only one. A line has the rank, the score against the yardstick with its 95 %
    interval, whether the player is significantly better, the faults, and the mean cost of a decision if `arena coach
    --league` has run. The author is the owner of a submitted bot. --format table --columns all explains the columns.

    Example: arena grades first --yardstick greedy
    """
    with show_events() as on:
        page = grades_page(read_grades(request, on))
    click.echo(page.render(form, style))


@click.command()
@requesting(ReportAuthors)
@click.argument("league", required=False, shell_complete=complete_league)
@click.option("--to", "out", type=FOLDER_PATH, required=True, help="New folder, or one with former reports.")
def report(request: ReportAuthors) -> None:
    """Write a page for each author of a league, as Markdown and as HTML.

    LEAGUE may be left out if there is only one. A page has the results of the author's own bots: rank, scores by
    opponent, faults with the end of stderr, matches to look at, and the costliest decisions if `arena coach --league`
    has run. It has nothing that another author's bot wrote. The author is the owner of a submitted bot.

    Example: arena report first --to reports
    """
    for author, file in report_authors(request).items():
        click.echo(f"{printable(author)}: {request.out / file}.md and .html")
