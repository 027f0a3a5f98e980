"""`arena results`: the folder of results as a whole."""

import click
from msgspec.structs import replace

from arena.cli import SuggestingGroup
from arena.cli.options import FOLDER_PATH, requesting
from arena.operations.keep_results import CopyResults, copy_results


@click.group(cls=SuggestingGroup)
def results() -> None:
    """Copy the results folder, for others or as a backup.

    Example: arena results backup saved
    """


@results.command()
@requesting(CopyResults, without=["secrets"])
@click.argument("out", metavar="DIR", type=FOLDER_PATH)
def copy(request: CopyResults) -> None:
    """Copy the results for others to the new folder DIR, without the secrets of luck.

    The copy has the matches stored by now, also while a league runs, bots with their sources, tables, logs and
    judgements. `arena verify` checks it; no league that draws secret luck goes on there.

    Example: arena results copy published
    """
    copy_results(request)
    click.echo(f"{request.results} is copied to {request.out}")


@results.command()
@requesting(CopyResults, without=["secrets"])
@click.argument("out", metavar="DIR", type=FOLDER_PATH)
def backup(request: CopyResults) -> None:
    """Copy the results to the new folder DIR with the secrets of luck, so that leagues go on there.

    Example: arena results backup saved
    """
    copy_results(replace(request, secrets=True))
    click.echo(f"{request.results} is copied to {request.out}, with its secrets: show it to nobody")
