"""`arena compare`: a sequential test of whether NEW is better than OLD, with as few matches as it needs."""

import re
from typing import get_args

import click

from arena.cli.completion import complete_bot
from arena.cli.edge import print_error, show_events
from arena.cli.options import WORKERS, format_option, requesting
from arena.errors import CheckFailed, SpecError
from arena.operations.compare_bots import CompareBots, ComparisonLuck, TestProgressed, compare_bots
from arena.operations.events import Event
from arena.report.comparison import as_json, as_markdown, as_text, state_line
from arena.report.luck_origin import luck_description
from arena.statistics.sequential import Model, Verdict

_FORMATS = {"text": as_text, "json": as_json, "markdown": as_markdown}


@click.command("compare")
@requesting(CompareBots)
@click.argument("new", shell_complete=complete_bot)
@click.argument("old", shell_complete=complete_bot)
@click.option("--elo0", type=float, help="Hypothesis H0: NEW is better by this Elo or less.")
@click.option("--elo1", type=float, help="Hypothesis H1: NEW is better by this Elo or more.")
@click.option(
    "--model",
    type=click.Choice(get_args(Model)),
    help="Scale of --elo0 and --elo1: standard deviations of a match (`normalised`), Elo by the score (`logistic`), the"
    " same with luck taken off the scores (`luck-adjusted`), or `normalised` by margins (`student`).",
)
@click.option("--alpha", type=float, help="Chance to accept H1 if H0 is true, about.")
@click.option("--beta", type=float, help="Chance to accept H0 if H1 is true, about.")
@click.option("--batch", type=click.IntRange(1, 10_000), help="Blocks between two looks.")
@click.option("--blocks", type=click.IntRange(1, 10_000_000), help="The most blocks to play; default: computed.")
@click.option("--workers", type=WORKERS, help="Matches played at once; default: all cores.")
@format_option(tuple(_FORMATS))
def compare(request: CompareBots, form: str) -> int:
    """Play NEW against OLD until a sequential test has decided whether NEW is better.

    Matches are stored, and the secret under which their luck is drawn. Interrupted, the same command continues, and
    comes to the same verdict as without the stop, at any number of workers.

    The exit code is 0 if H1 was accepted or both play identically, else 1. With --format markdown a job of a forge can
    print the result on a page.

    Example: arena compare ./mybot mybot --elo1 30
    """
    try:
        with show_events(_print_luck, _line, is_left=True) as on:
            outcome = compare_bots(request, on)
    except SpecError as error:
        raise SpecError(re.sub(r"\b(?<!--)(?=(elo[01]|alpha|beta)\b|blocks:)", "--", str(error))) from None
    click.echo(_FORMATS[form](outcome.result, (outcome.new, outcome.old), outcome.luck))
    is_passed = outcome.result.state.verdict in (Verdict.H1, Verdict.IDENTICAL)
    return 0 if is_passed else CheckFailed.exit_code


def _line(step: TestProgressed) -> str:
    """Return the progress in a line: the state of the test, and the time left."""
    return state_line(step.state) + step.counts.left()


def _print_luck(event: Event) -> None:
    """Print the commitment of the luck, unless the luck is public."""
    if isinstance(event, ComparisonLuck) and event.luck.public_seed is None:
        print_error(luck_description(event.luck))
