"""Options of the commands that try bots, and the lines in which they report what they do."""

import contextlib
from collections.abc import Iterator
from typing import Final

import click
import msgspec

from arena.cli.completion import complete_tournament
from arena.conformance.check import outcome_text
from arena.errors import SpecError
from arena.match.record import MatchRecord
from arena.operations.events import Event, OnEvent
from arena.operations.examination import BaselineMet
from arena.operations.trials import CheckBegun, LuckChosen, StepTaken
from arena.report.luck_origin import secret_description
from arena.report.transcript import refusal_lines, result_line

tournament_option: Final = click.option(
    "--for",
    "tournament",
    metavar="FILE|NAME",
    shell_complete=complete_tournament,
    help="Try it as this tournament plays: game, options, seats, clock, limits.",
)


@contextlib.contextmanager
def print_trial() -> Iterator[OnEvent]:
    """Yield a listener that prints the events of a trial; at the end print its luck, with a new secret to repeat it.

    The luck is not printed after a SpecError: nothing was played.
    """
    luck: list[LuckChosen] = []

    def on(event: Event) -> None:
        if isinstance(event, LuckChosen):
            luck.append(event)
        elif lines := trial_lines(event):
            click.echo("\n".join(lines))

    try:
        yield on
    except SpecError:  # nothing was played
        luck.clear()
        raise
    finally:
        for event in luck:
            click.echo(secret_description(event.secret, is_chosen=not event.is_new))


def trial_lines(event: Event) -> list[str]:
    """Return the lines to print for an event of a trial; empty for another event."""
    match event:
        case CheckBegun():
            options = f" with {msgspec.json.encode(event.options).decode()}" if event.options else ""
            return [f"checking {event.bot} at {event.game}{options}: {event.command}"]
        case StepTaken():
            return [event.step.text()]
        case BaselineMet():
            return [_meeting_line(event.record, event.seat), *refusal_lines(event.record)]
    return []


def _meeting_line(record: MatchRecord, seat: int) -> str:
    """Return a line such as `won 18 to 4 in seat 0 against random`, or the fault that ended the match."""
    if record.fault is not None:
        return result_line(record)
    rivals = [entry.player for other, entry in enumerate(record.seats) if other != seat]
    return f"{outcome_text(record, seat)} in seat {seat} against {', '.join(rivals)}"
