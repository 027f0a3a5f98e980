"""`arena site`: web pages of leagues, as files or live."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli import SuggestingGroup
from arena.cli.completion import complete_league
from arena.cli.edge import task_line
from arena.cli.options import FOLDER_PATH, results_option
from arena.errors import SpecError
from arena.store.folder import stored
from arena.text import counted

if TYPE_CHECKING:
    from arena.site.build import Which

INSTALL = 'arena site needs more packages: pip install "bot-arena[site]"'


@click.group(cls=SuggestingGroup)
def site() -> None:
    """Make web pages of leagues.

    Example: arena site build --out site
    """


@site.command("build")
@click.argument("leagues", nargs=-1, shell_complete=complete_league)
@click.option("--out", type=FOLDER_PATH, required=True, help="New folder for the pages, or one made before.")
@click.option(
    "--matches",
    "which",
    type=click.Choice(("chosen", "all", "none")),
    default="chosen",
    help="Matches that can be played: the latest, closest, biggest upsets and all with faults; or all; or none.",
)
@click.option("--private", multiple=True, metavar="PLAYER", help="Show notes and stderr of this player, too.")
@results_option
def build_site(leagues: tuple[str, ...], out: Path, which: "Which", private: tuple[str, ...], results: Path) -> None:
    """Write pages of LEAGUES, or of all, that a browser opens without server, network or script.

    Example: arena site build first --out site
    """
    try:
        from arena.site.build import write_site  # noqa: PLC0415 - packages of an extra
    except ModuleNotFoundError as error:
        raise SpecError(f"{INSTALL} ({error})") from None
    with stored(results) as store, task_line() as on_step:
        written = write_site(store, leagues, out, which, private, on_step)
    click.echo(f"{counted(written, 'file')} in {out}; open {out / 'index.html'} in a browser", err=True)


@site.command("serve")
@click.argument("leagues", nargs=-1, shell_complete=complete_league)
@click.option("--host", default="127.0.0.1", help="Address to listen on; the default is this machine only.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, help="Port to listen on; 0 takes a free one.")
@click.option("--private", multiple=True, metavar="PLAYER", help="Show notes and stderr of this player, too.")
@results_option
def serve_site(leagues: tuple[str, ...], host: str, port: int, private: tuple[str, ...], results: Path) -> None:
    """Serve pages of LEAGUES, or of all, that follow a league while it runs in another process.

    Every finished match can be played. Nothing can be changed through the pages.

    Example: arena site serve first --port 8000
    """
    try:
        from arena.site.serve import LiveSite, serve  # noqa: PLC0415 - packages of an extra
    except ModuleNotFoundError as error:
        raise SpecError(f"{INSTALL} ({error})") from None
    serve(LiveSite(results, leagues, private), host, port, lambda url: click.echo(f"serving {url}", err=True))
