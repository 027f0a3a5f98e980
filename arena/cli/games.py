"""`arena games`, `new-game` and `check-game`: games, and how to add one."""

import click

from arena.cli.options import width_option
from arena.games import offered_games
from arena.report.formats import listing
from arena.text import printable, spanned


@click.command()
@width_option
def games(width: int | None) -> None:
    """List the games on offer: those of arena, and those of other packages that are installed.

    A game that cannot be played is told on stderr, with the reason.

    Example: arena games
    """
    rows: list[list[str]] = []
    for offered in offered_games():
        if offered.game is None:
            click.echo(f"left out: {offered.problem}", err=True)
        else:
            game = offered.game
            rows.append([offered.name, printable(game.rules_version), spanned(game.seat_counts), offered.place])
    click.echo(listing(["game", "rules", "players", "from"], rows, width))
