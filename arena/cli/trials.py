"""Options of the commands that try bots, and the lines in which they report what they do."""

import contextlib
from collections.abc import Iterator
from typing import Any, Final

import click
import msgspec
from click.core import ParameterSource

from arena.cli.completion import complete_tournament
from arena.cli.edge import print_warning
from arena.cli.options import F, combine_play, play_options
from arena.conformance.check import outcome_text
from arena.errors import SpecError
from arena.match.record import MatchRecord
from arena.operations.events import Event, OnEvent
from arena.operations.examination import BaselineMet
from arena.operations.trials import CheckBegun, LuckChosen, StepTaken
from arena.report.luck_origin import secret_description
from arena.report.transcript import refusal_lines, result_line

_OF_A_TOURNAMENT: Final = ("game", "options", "move_ms", "bank_ms")


def trial_options(command: F) -> F:
    """Add all options of a command that tries bots."""
    decorated: F = click.option(
        "--for",
        "tournament",
        metavar="FILE|NAME",
        shell_complete=complete_tournament,
        help="Try it as this tournament plays: game, options, seats, clock, limits.",
    )(play_options(command))
    return decorated


def combine_trial(given: dict[str, Any]) -> dict[str, Any]:
    """Make one choice of options that are one; a game that is only the default is no choice.

    SpecError if a tournament and options contradict each other.
    """
    chosen = [name for name in _OF_A_TOURNAMENT if _is_given(name)]
    if given["tournament"] is not None and chosen:
        raise SpecError(f"give either --for or --{chosen[0].replace('_', '-')}: the tournament says it")
    return combine_play(given) | {"game": given["game"] if "game" in chosen else None}


@contextlib.contextmanager
def printed_trial() -> Iterator[OnEvent]:
    """Yield what prints the events of a trial; a new secret of luck is printed at the end, to repeat a failure."""
    luck: list[LuckChosen] = []

    def on(event: Event) -> None:
        if isinstance(event, LuckChosen):
            luck.append(event)
        elif lines := trial_lines(event):
            click.echo("\n".join(lines))
        else:
            print_warning(event)

    try:
        yield on
    except SpecError:  # nothing was played
        luck.clear()
        raise
    finally:
        for event in luck:
            click.echo(secret_description(event.secret, is_chosen=not event.is_new))


def trial_lines(event: Event) -> list[str]:
    """Return the lines for an event of a trial; none for another event."""
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
    """Return `won 18 to 4 in seat 0 against random`, or whose fault ended the match."""
    if record.fault is not None:
        return result_line(record)
    rivals = [entry.player for other, entry in enumerate(record.seats) if other != seat]
    return f"{outcome_text(record, seat)} in seat {seat} against {', '.join(rivals)}"


def _is_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source not in {None, ParameterSource.DEFAULT}
