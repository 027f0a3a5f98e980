"""`arena coach`: what every decision of a match cost."""

import click
import msgspec

from arena.cli.completion import complete_bot
from arena.cli.edge import stoppable
from arena.cli.options import format_option, page_width, requesting
from arena.operations.coach_match import CoachMatch, coach_match
from arena.report.coaching import coaching_data, coaching_lines
from arena.report.formats import Style


@click.command()
@requesting(CoachMatch)
@click.argument("match", metavar="MATCH")
@click.argument("player", required=False)
@click.option(
    "--by", metavar="BOT", shell_complete=complete_bot, help="A bot that evaluates; default: the game's value."
)
@click.option("--move-ms", "budget_ms", type=click.FloatRange(1), help="CPU time of that bot for each decision, in ms.")
@format_option(("table", "json"))
def coach(request: CoachMatch, *, form: str) -> None:
    """Show what the decisions of PLAYER, or of all players, cost in MATCH.

    MATCH is stored in results or one of the last 50 of `arena match`. The cost of a decision is the value of the best
    action less that of the chosen one, in percent of a win: by the game's own value, one step ahead, or by a BOT that
    evaluates, which is told what the seat knew. The ledger adds up the result of each player from luck and mistakes.

    Example: arena coach 3f9a2c41d07b-0-1 greedy
    """
    with stoppable():
        coaching = coach_match(request)
    if form == "json":
        click.echo(msgspec.json.encode(coaching_data(coaching.record, coaching.judgement, coaching.seats)))
        return
    for line in coaching_lines(coaching.record, coaching.judgement, coaching.seats, Style(width=page_width())):
        click.echo(line)
