"""`arena site`: web pages of leagues, as files or live."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.api import stored
from arena.cli import SuggestingGroup
from arena.cli.completion import complete_league
from arena.cli.options import FOLDER_PATH, results_option
from arena.errors import SpecError
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
    with stored(results) as store:
        written = write_site(store, leagues, out, which, private)
    click.echo(f"{counted(written, 'file')} in {out}; open {out / 'index.html'} in a browser", err=True)
