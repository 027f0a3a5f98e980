"""`arena ask`: the answers of a bot for the requests of a stored match, compared with the recorded ones."""

import sys

import click
from msgspec.structs import replace

from arena.cli.completion import complete_bot
from arena.cli.edge import print_text
from arena.cli.options import page_width, requesting
from arena.errors import SpecError
from arena.operations.ask_bot import AskBot, RequestDue, ask_bot, play_on
from arena.operations.events import Event, ignore
from arena.report.answers import detail_lines, difference_lines
from arena.report.transcript import result_line, transcript


@click.command("ask")
@requesting(AskBot)
@click.argument("bot", shell_complete=complete_bot)
@click.argument("match", metavar="MATCH")
@click.option("--as", "player", metavar="PLAYER", help="The player whose requests BOT gets; default: that of its name.")
@click.option(
    "--step", type=click.IntRange(1), help="Only the answer for this step, as `arena show` numbers it; default: all."
)
@click.option(
    "--play-on",
    "is_played_on",
    is_flag=True,
    help="With --step: play the match on from there with BOT, on the same luck.",
)
@click.option("--wait", is_flag=True, help="Name the process and wait for Enter before the request, for a debugger.")
def ask_or_play_on(request: AskBot, *, is_played_on: bool, wait: bool) -> int:
    """Ask a bot for its answers in a stored match. Exit 1 if one differs from the record.

    BOT is a name or a path; MATCH is stored in results or one of the last 50 of `arena match`. BOT gets the lines that
    PLAYER got in the match, up to the step. Its answers are compared with the recorded ones, which are played on
    whatever it says. With --play-on its own count from the step on, and so do those of the other bots, in the versions
    that played.

    With --wait no clock runs; docs/debug.md shows gdb, pdb and node. Sandboxed processes are hard to attach to:
    `--isolation none` helps.

    Example: arena ask ./mybot 3f9a2c41d07b-0-1 --step 12
    """
    if is_played_on:
        if wait and request.step is not None:
            raise SpecError("give either --wait or --play-on: after a stop the bots would not play as in a match")
        return _play_on(request)
    comparison = ask_bot(replace(request, no_clock=wait), _wait if wait else ignore)
    step, answers = request.step, comparison.answers
    if step is not None:
        lines = detail_lines(comparison.record, comparison.seat, step, answers)
    else:
        lines = difference_lines(answers, len(comparison.steps), page_width())
    print_text("\n".join(lines))
    if step is None and not comparison.is_same and answers:
        first = next((answer.step for answer in answers if not answer.is_same), answers[-1].step)
        click.echo(
            f"`--step {first}` shows the table there, with note and stderr; `--play-on`, too, plays on", err=True
        )
    return int(not comparison.is_same)


def _play_on(request: AskBot) -> int:
    """Print the match from the step on, and both results; return exit code 0."""
    outcome = play_on(request)
    for line in transcript(outcome.continuation, every_state=False, start=request.step or 1):
        print_text(line)
    instead = f"from step {request.step} on with {outcome.bot} as {outcome.player}"
    click.echo(f"as it was: {result_line(outcome.record)}\n{instead}: {result_line(outcome.continuation)}")
    return 0


def _wait(event: Event) -> None:
    """Name the process and wait for Enter, if the event is RequestDue."""
    if isinstance(event, RequestDue):
        pids = ", ".join(map(str, event.pids))
        click.echo(f"process {pids} runs {event.bot}; the request for step {event.step} comes after Enter", err=True)
        sys.stdin.readline()
