"""`arena author`: what the organiser of a league decides about an author."""

from pathlib import Path

import click

from arena.cli import SuggestingGroup
from arena.cli.completion import complete_bot
from arena.cli.options import requesting
from arena.operations.authors import CorrectTime, RemoveAuthor, correct_time, remove_author
from arena.text import counted, printable


@click.group(cls=SuggestingGroup)
def author() -> None:
    """Correct the time of a hand-in, or remove an author of submitted bots.

    Example: arena author remove ada
    """


@author.command()
@requesting(RemoveAuthor)
@click.argument("author", metavar="NAME")
@click.argument("places", nargs=-1, metavar="[FILE|FOLDER]...", type=click.Path(path_type=Path))
def remove(request: RemoveAuthor) -> None:
    """Delete the sources of an author's bots, what they wrote to stderr, and with FOLDER their reports, for ever.

    NAME is the owner of the bots. FILE is the authors.csv of the class, which loses the line of the author; FOLDER is
    one that --to of `arena submit` or `arena report` named. Played names, hashes and matches stay: all results are
    still checked by `arena verify`, which names the matches that can no longer be played again. The command may be
    repeated, also after it was killed.

    Example: arena author remove ada authors.csv reports
    """
    versions = remove_author(request)
    for name, digest in versions:
        click.echo(f"removed: {printable(name)}@{digest[:8]}")
    click.echo(f"{counted(len(versions), 'version')} of {printable(request.author)} removed; the matches stay")


@author.command()
@requesting(CorrectTime)
@click.argument("bot", metavar="BOT[@HASH]", shell_complete=complete_bot)
@click.argument("time")
def time(request: CorrectTime) -> None:
    """Correct the TIME of the last hand-in of a bot, or of that version: 2026-11-27T18:00:00+01:00.

    The next run goes by it: so a bot is taken that was late, or whose hand-in fell into a jump of the clock. The old
    time and your user name are kept, and `arena league history` prints them with the next run.

    Example: arena author time ada 2026-11-27T18:00:00+01:00
    """
    click.echo(printable(str(correct_time(request))))
