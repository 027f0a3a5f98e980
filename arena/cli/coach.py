"""`arena coach`: what the decisions of a match, or of a league, cost."""

import click
import msgspec

from arena.cli.completion import complete_bot, complete_league
from arena.cli.edge import print_text, show_events
from arena.cli.options import WORKERS, format_option, page_width, requesting
from arena.errors import SpecError
from arena.operations.coach_league import CoachLeague, coach_league
from arena.operations.coach_match import CoachMatch, CoachRequest, coach_match
from arena.report.coaching import coaching_data, coaching_lines, league_lines
from arena.report.formats import Style, json_text


@click.command()
@requesting(CoachLeague)
@click.argument("match", required=False)
@click.argument("player", required=False)
@click.option("--league", shell_complete=complete_league, help="Judge the matches of this league, not one match.")
@click.option("--matches", type=click.IntRange(1), help="With --league: how many, spread over all pairings.")
@click.option("--workers", type=WORKERS, help="With --league: matches judged at once; default: all cores.")
@click.option(
    "--by",
    metavar="BOT",
    multiple=True,
    shell_complete=complete_bot,
    help="A bot that evaluates; again for a second opinion. Default: the game's value.",
)
@click.option("--move-ms", "budget_ms", type=click.FloatRange(1), help="CPU time of that bot for each decision, in ms.")
@format_option(("table", "json"))
def coach(request: CoachLeague, *, match: str | None, player: str | None, form: str) -> None:
    """Show what the decisions of PLAYER, or of all players, cost in MATCH.

    MATCH is stored in results or one of the last 50 of `arena match`. The cost of a decision is the value of the best
    action less that of the chosen one, in percent of a win: by the game's own value, one step ahead, or by a BOT that
    evaluates, which is told what the seat knew. The ledger adds up the result of each player from luck and mistakes.

    With `--league NAME`, print the mean cost of a decision of each player. Judgements are kept beside the results.

    Example: arena coach 3f9a2c41d07b-0-1 greedy
    """
    if (match is None) == (request.league is None):
        raise SpecError("give either a MATCH or --league NAME")
    style = Style(width=page_width())
    if match is None:
        with show_events() as on:
            mistakes = coach_league(request, on)
        click.echo(json_text(mistakes) if form == "json" else "\n".join(league_lines(mistakes, style)))
        return
    if request.matches is not None or request.workers is not None:
        raise SpecError("--matches and --workers go with --league")
    shared = {name: getattr(request, name) for name in CoachRequest.__struct_fields__}
    coaching = coach_match(CoachMatch(match=match, player=player, **shared))
    if form == "json":
        click.echo(msgspec.json.encode(coaching_data(coaching.record, coaching.judgement, coaching.seats)))
        return
    for line in coaching_lines(coaching.record, coaching.judgement, coaching.seats, style, coaching.others):
        print_text(line)
