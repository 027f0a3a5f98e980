"""`arena site`: web pages of leagues, as files or live."""

import click

from arena.cli import SuggestingGroup
from arena.cli.completion import complete_league
from arena.cli.edge import show_events
from arena.cli.options import FOLDER_PATH, requesting
from arena.operations.events import Event
from arena.operations.sites import BuildSite, ServeSite, Serving, build_site, serve_site
from arena.text import counted


@click.group(cls=SuggestingGroup)
def site() -> None:
    """Make web pages of leagues.

    Example: arena site build --to site
    """


@site.command("build")
@requesting(BuildSite)
@click.argument("leagues", nargs=-1, shell_complete=complete_league)
@click.option("--to", "out", type=FOLDER_PATH, required=True, help="New folder for the pages, or one made before.")
@click.option(
    "--matches",
    type=click.Choice(("chosen", "all", "none")),
    help="Matches that can be played: the latest, closest, biggest upsets and all with faults; or all; or none.",
)
@click.option("--private", multiple=True, metavar="PLAYER", help="Show notes and stderr of this player, too.")
def build(request: BuildSite) -> None:
    """Write web pages that a browser opens without a server.

    They show LEAGUES, by default all, and need no network and no script.

    Example: arena site build first --to site
    """
    with show_events() as on:
        written = build_site(request, on)
    click.echo(f"{counted(written, 'file')} in {request.out}; open {request.out / 'index.html'} in a browser", err=True)


@site.command("serve")
@requesting(ServeSite)
@click.argument("leagues", nargs=-1, shell_complete=complete_league)
@click.option("--host", help="Address to listen on; the default is this machine only.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one.")
@click.option("--private", multiple=True, metavar="PLAYER", help="Show notes and stderr of this player, too.")
def serve(request: ServeSite) -> None:
    """Serve web pages that follow a league while it runs.

    They show LEAGUES, by default all. Another process runs the league. Every finished match can be played. Nothing can
    be changed through the pages.

    Example: arena site serve first --port 8000
    """
    serve_site(request, _print_address)


def _print_address(event: Event) -> None:
    if isinstance(event, Serving):
        click.echo(f"serving {event.url}", err=True)
