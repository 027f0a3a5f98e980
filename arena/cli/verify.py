"""`arena verify`: nothing stored is believed; everything is computed again."""

import contextlib
import time
from typing import Final

import click

from arena.cli.completion import complete_league
from arena.cli.edge import TerminalLine, print_warning, stoppable
from arena.cli.options import WORKERS, requesting
from arena.errors import CheckFailed
from arena.league import progress
from arena.operations.events import Event, Progress
from arena.operations.verify_leagues import Found, VerifyLeagues, verify_leagues
from arena.store.history import Head, read_head
from arena.text import counted

_PROBLEMS_SHOWN: Final = 20
_BETWEEN_LINES_S: Final = 0.1


def _heads(_context: click.Context, _parameter: click.Parameter, roots: tuple[str, ...]) -> tuple[Head, ...]:
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
    help="Play N random process lives of each league again, with the same bots, and tell what differs.",
)
def verify(request: VerifyLeagues) -> None:
    """Replay every stored match of each LEAGUE (default: all) from its luck and actions, and compute all anew.

    The luck of each block must be what the secret of its league gives, as far as the secret is stored here or given;
    each die must be what the luck of its block gives, each action legal, each outcome what the rules say; summaries,
    digests, bots and published standings must fit. Simulations are made again, and must be the same to the
    last bit where the simulator and the machine are; elsewhere the difference is told. Matches of no current league are
    checked against their own records. Exit 1 if anything does not fit.

    With --root the first COUNT matches that were stored are computed again, and must be those of that day: whoever kept
    a root sees every later change, even one that fits everywhere else.

    With --replay the bots are asked again: their actions should be those that are stored. That is evidence, no proof,
    and no failure: a bot may draw lots, or look at the clock.

    With --cluster the workers of a cluster check the matches, and play those of --replay; the findings are the same.

    Example: arena verify first
    """
    with stoppable(), contextlib.closing(_Printed()) as printed:
        problems = len(verify_leagues(request, printed.hear))
    if problems > _PROBLEMS_SHOWN:
        click.echo(f"... and {problems - _PROBLEMS_SHOWN} more")
    if problems:
        raise CheckFailed(f"{counted(problems, 'problem')} found")


class _Printed:
    """Findings, of the problems the first, and the progress of each league, which goes out of their way."""

    def __init__(self) -> None:
        self._league = ""
        self._drawn_s = 0.0
        self._problems = 0
        self._progress = progress.Progress(total=0)
        self._line = TerminalLine(lambda: f"{self._league}: {self._progress.counts.words()}", self._counts)

    def hear(self, event: Event) -> None:
        """Print or draw an event."""
        match event:
            case Progress():
                self._draw(event)
            case Found():
                self._line.wipe()
                self._problems += event.is_problem
                if not event.is_problem:
                    click.echo(event.sentence)
                elif self._problems <= _PROBLEMS_SHOWN:
                    click.echo(f"PROBLEM {event.sentence}")
            case _:
                print_warning(event)

    def close(self) -> None:
        """Wipe the line away."""
        self._line.wipe()

    def _counts(self) -> tuple[int, int]:
        return self._progress.done, self._progress.total

    def _draw(self, event: Progress) -> None:
        if event.task != self._league:
            self._league, self._progress = event.task, progress.Progress(total=event.total)
        self._progress.total = event.total
        self._progress.add(event.done - self._progress.done, 0)
        if time.monotonic() - self._drawn_s > _BETWEEN_LINES_S:
            self._line.draw()
            self._drawn_s = time.monotonic()
