"""`arena submit`: bots are checked, play a baseline, and come onto the list; one step by step, or many at once."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, count
from pathlib import Path

import click

from arena.cli.completion import complete_bot
from arena.cli.edge import show_events
from arena.cli.options import FILE_PATH, FOLDER_PATH, WORKERS, page_width, requesting
from arena.cli.trials import print_trial, tournament_option, trial_lines
from arena.errors import CheckFailed, Interrupted
from arena.operations.events import Event
from arena.operations.submit_bots import (
    BotsExamined,
    Submissions,
    SubmissionVerdict,
    SubmitBots,
    SubmittedBot,
    submit_bot,
    submit_bots,
)
from arena.report.formats import format_listing
from arena.text import counted, join_lines, join_words, printable


@click.command()
@requesting(SubmitBots)
@click.argument("bots", nargs=-1, required=True, metavar="BOT...", shell_complete=complete_bot)
@click.option("--baseline", help="The bot that each plays one block against.")
@click.option("--owner", help="Owner of the bots; default: the name of each folder, of single files you.")
@click.option(
    "--authors", type=FILE_PATH, help="File of a class, with the columns author,hand_in,address,active; docs/course.md."
)
@click.option("--replace", is_flag=True, help="Each is a new version of the submitted bot of its name.")
@click.option("--take-over", is_flag=True, help="Give names of other owners to the owners of these bots.")
@click.option("--workers", type=WORKERS, help="Bots examined at once; default: all cores.")
@click.option(
    "--to",
    "reports",
    type=FOLDER_PATH,
    help="Folder for a text for the author of each bot: every step, and why.",
)
@tournament_option
def submit(request: SubmitBots, reports: Path | None) -> None:
    """Check bots, let each play a baseline, and put them on the list. Exit 1 if one is refused.

    Each BOT is tried as the tournament of --for plays; without one, as `arena check` does. Then it plays a block
    against the baseline.

    A name belongs to the owner whose bot was submitted first under it, with all names that look like it; --replace
    makes this bot the new version of its owner's. The owner of handed-in/ann is ann. The luck follows from a new
    secret, which is printed.

    The steps of a single BOT are printed. Several are examined at the same time; a table at the end shows which are
    accepted and which are refused, and why. After Ctrl-C those that were accepted are on the list.

    With --authors each BOT is a hand-in, or a folder or archive of hand-ins as a learning platform exports them: the
    file names the author of each, and a bot replaces their earlier version.

    Example: arena submit handed-in/*
    """
    if len(request.bots) == 1 and reports is None and request.authors is None:
        _submit_one(request)
        return
    submissions: list[SubmittedBot] = []
    try:
        with print_trial() as on_trial:

            def hear(event: Event) -> None:
                """Keep the submissions of the last event, and print the other events."""
                if isinstance(event, Submissions):
                    submissions.extend(event.submissions)
                else:
                    on_trial(event)

            with show_events(hear, _words, is_left=True) as on:
                submit_bots(request, on)
    finally:
        if submissions:
            _print_table(submissions, reports, is_class=request.authors is not None)
    verdicts = Counter(submission.verdict for submission in submissions)
    if missed := verdicts[SubmissionVerdict.NOT_EXAMINED]:
        raise Interrupted(f"interrupted: {counted(missed, 'bot')} not examined; give the same command again")
    if refused := verdicts[SubmissionVerdict.REFUSED]:
        raise CheckFailed(f"{refused} of {counted(verdicts.total(), 'bot')} refused")


def _submit_one(request: SubmitBots) -> None:
    """Submit a single bot and print each step; SpecError or CheckFailed if it is refused."""
    with print_trial() as on_trial, show_events(on_trial) as on:
        bot, place = submit_bot(request, on)
    if place:
        click.echo(f"{bot.label} is there already: {place}")
    else:
        click.echo(f"submitted: {bot.label}; a tournament may name it `{bot.name}@{bot.digest[:8]}`")


def _words(step: BotsExamined) -> str:
    """Return the progress in a line: bots examined and refused, the time left, and the bots that run."""
    running = f"; running: {join_words([printable(name) for name in step.running])}" if step.running else ""
    return f"{step.done}/{step.total} bots examined, {step.refused} refused{step.counts.left()}{running}"


def _print_table(submissions: Sequence[SubmittedBot], reports: Path | None, *, is_class: bool) -> None:
    """Print the table, of a class with the authors, and the number of each verdict.

    With `reports`, the folder for them, write a text for each author.
    """
    if is_class:
        headers = ["result", "author", "hand-in", "why"]
        rows = [[bot.verdict, bot.owner, printable(bot.text), join_lines(bot.reason)] for bot in submissions]
    else:
        headers = ["bot", "result", "why"]
        rows = [[printable(bot.text), bot.verdict, join_lines(bot.reason)] for bot in submissions]
    click.echo(format_listing(headers, rows, page_width()))
    counts = Counter(submission.verdict for submission in submissions)
    click.echo("\n" + ", ".join(f"{number} {verdict}" for verdict, number in counts.items()))
    if reports is not None:
        reports.mkdir(parents=True, exist_ok=True)
        for file, submission in _report_files(submissions, is_class=is_class):
            (reports / file).write_text(f"{_report(submission)}\n", encoding="utf-8")
        click.echo(f"a text for each author is in {reports}/")


def _report(submission: SubmittedBot) -> str:
    """Return the text for the author of a bot, with the verdict first."""
    lines = [line for event in submission.events for line in trial_lines(event)]
    head = [f"{submission.verdict}: {submission.for_author}", *([""] if lines or submission.details else [])]
    return "\n".join([*head, *lines, submission.details]).rstrip()


def _report_files(submissions: Sequence[SubmittedBot], *, is_class: bool) -> Iterator[tuple[str, SubmittedBot]]:
    """Yield file names and submissions: `ada.txt` for owner ada, then `ada-2.txt`; for a single file its bot's name.

    A hand-in of a class that is nobody's has no text.
    """
    taken = set[str]()
    for submission in submissions:
        name = submission.owner
        if is_class and not name:
            continue
        if not name or "/" in name:  # no owner, or the user
            name = submission.bot.name if submission.bot is not None else Path(submission.text).stem
        numbered = chain((name,), (f"{name}-{number}" for number in count(2)))
        file = next(file for file in numbered if file.casefold() not in taken)
        taken.add(file.casefold())
        yield f"{file}.txt", submission
