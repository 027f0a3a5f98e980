"""`arena verify`: nothing stored is believed; everything is computed again."""

from typing import Final

import click

from arena.cli.completion import complete_league
from arena.cli.edge import print_text, show_events
from arena.cli.options import WORKERS, requesting
from arena.errors import CheckFailed
from arena.operations.events import Event
from arena.operations.verify_leagues import Found, VerifyLeagues, verify_leagues
from arena.store.history import Head, read_head
from arena.text import counted

_PROBLEMS_SHOWN: Final = 20


def _heads(_context: click.Context, _parameter: click.Parameter, roots: tuple[str, ...]) -> tuple[Head, ...]:
    """Return the roots of histories that these texts describe."""
    return tuple(map(read_head, roots))


@click.command()
@requesting(VerifyLeagues)
@click.argument("leagues", nargs=-1, metavar="[LEAGUE]...", shell_complete=complete_league)
@click.option(
    "--workers",
    type=WORKERS,
    help="Matches checked at once; default: all cores if anything has to be simulated again, else 1.",
)
@click.option(
    "--root",
    "roots",
    multiple=True,
    metavar="COUNT:ROOT",
    callback=_heads,
    help="As `league run` or `league status` printed it: were the first COUNT matches changed since?",
)
@click.option(
    "--replay",
    "replays",
    type=click.IntRange(0),
    show_default=False,
    metavar="N",
    help="Play N random jobs of each league again, with the same bots, and print what differs.",
)
def verify(request: VerifyLeagues) -> None:
    """Recompute every stored match and all standings. Exit 1 if anything does not fit.

    Each match of LEAGUE (default: all) is replayed from its luck and actions. The luck of each block must be what the
    secret of its league gives, as far as the secret is stored here or given; each die must be what the luck of its
    block gives, each action legal, each outcome what the rules say; summaries, digests, bots and published standings
    must fit. Simulations are made again, and must be the same to the last bit where the simulator and the machine are;
    elsewhere the difference is printed. Matches of no current league are checked against their own records.

    With --root the first COUNT matches that were stored are computed again, and must be those of that day: whoever kept
    a root sees every later change, even one that fits everywhere else.

    With --replay the bots are asked again, in the sandbox or as --isolation says: their actions should be those that
    are stored. That is evidence, no proof, and no failure: a bot may draw lots, or look at the clock.

    With --cluster the workers of a cluster check the matches, and play those of --replay; the findings are the same.

    Example: arena verify first
    """
    problems = 0

    def print_finding(event: Event) -> None:
        """Print a finding; of the problems the first 20."""
        nonlocal problems
        if isinstance(event, Found):
            problems += event.is_problem
            if not event.is_problem:
                print_text(event.sentence)
            elif problems <= _PROBLEMS_SHOWN:
                print_text(f"PROBLEM {event.sentence}")

    with show_events(print_finding, lambda step: f"{step.task}: {step.counts.words()}") as on:
        verify_leagues(request, on)
    if problems > _PROBLEMS_SHOWN:
        click.echo(f"... and {problems - _PROBLEMS_SHOWN} more")
    if problems:
        raise CheckFailed(f"{counted(problems, 'problem')} found")
