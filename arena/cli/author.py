"""`arena author`: what the organiser of a league decides about an author."""

from pathlib import Path

import click

from arena.cli import SuggestingGroup
from arena.cli.options import requesting
from arena.operations.authors import RemoveAuthor, remove_author
from arena.text import counted, printable


@click.group(cls=SuggestingGroup)
def author() -> None:
    """Remove an author of submitted bots.

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
