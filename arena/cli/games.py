"""`arena games`, `new-game`, `check-game` and `new-bot`: games, and the first steps to one's own."""

from pathlib import Path
from shlex import quote

import click

from arena.cli.edge import print_warning
from arena.cli.options import page_width, requesting
from arena.errors import CheckFailed
from arena.games import DEFAULT_GAME
from arena.operations.check_game import CheckGame, check_one_game
from arena.operations.list_games import list_games
from arena.operations.new_bot import KITS, NewBot, new_bot
from arena.operations.new_game import SMALL_GAMES, NewGame, new_game
from arena.report.formats import format_listing
from arena.text import describe_range, printable


@click.command("games")
def games() -> None:
    """List the games on offer: those of arena, and those of other installed packages.

    A game that cannot be played is named on stderr, with the reason.

    Example: arena games
    """
    rows = [[*map(printable, (game.name, game.rules, game.seats, game.place))] for game in list_games(print_warning)]
    click.echo(format_listing(["game", "rules", "players", "from"], rows, page_width()))


@click.command("new-game")
@requesting(NewGame, without={"results"})
@click.argument("name")
@click.option("--like", type=click.Choice([*SMALL_GAMES]), help="The small game that it begins as.")
def start_game(request: NewGame) -> None:
    """Start a game of your own called NAME, in a new folder.

    The folder is a package with rules, tests, a bot and a tournament. It plays at once, by the rules of a small game
    that you then change: connect_four hides nothing, kuhn_poker has cards that only one seat sees, and in goofspiel
    all seats bid at once, hidden from each other.

    Example: arena new-game my_game --like kuhn_poker
    """
    target, name = new_game(request), request.name
    click.echo(f"made {target}/; the rules are in {target / name / 'rules.py'}\nnext: pip install -e ./{name}")
    click.echo(f"      arena check-game {name}")
    click.echo(f"      arena match ./{name}/bots/{name}_bot random --game {name}")


@click.command("check-game")
@requesting(CheckGame, without={"results"})
@click.argument("name", metavar="NAME|MODULE:CLASS")
def check(request: CheckGame) -> None:
    """Check by random plays that a game keeps the contract. Exit 1 if it does not.

    All numbers of seats are tried. Each promise is a line, and what breaks it a sentence below it.

    Example: arena check-game nim
    """
    game = check_one_game(request)
    click.echo(f"{game.name}, rules {game.rules}, {describe_range(game.seat_counts)} players, {game.place}")
    for part in game.parts:
        click.echo(f"{'FAILED' if part.findings else 'read  ' if part.to_read else 'passed'}  {part.title}")
        for sentence in (*part.findings, *part.to_read):
            click.echo(f"        {sentence}")
    failed, tested = sum(bool(part.findings) for part in game.parts), sum(not part.to_read for part in game.parts)
    if failed:
        raise CheckFailed(f"{game.name} breaks {failed} of {tested} promises; docs/games.md explains them")
    click.echo(f"{game.name} keeps all {tested} promises of the contract")
    if tested < len(game.parts):
        click.echo("read when hidden draws are seen, or declare it with `may_know`; docs/games.md explains it")


@click.command("new-bot")
@requesting(NewBot, without={"results"})
@click.argument("name")
@click.option("--lang", help=f"Language: {', '.join(list(KITS)[:-1])} or {list(KITS)[-1]}.")
@click.option(
    "--policy",
    type=click.Path(path_type=Path),
    help="A trained network (.npz) by which a bot in Python plays; docs/training.md.",
)
@click.option(
    "--engine",
    multiple=True,
    help="An engine that plays, with its arguments as one word; again for each file or folder of its data.",
)
@click.option("--like", type=click.Choice(["uci", "gtp"]), help="The protocol of the engine.")
@click.option("--to", "folder", type=click.Path(path_type=Path), help="Folder to make; default: NAME, here.")
def start_bot(request: NewBot) -> None:
    """Start a bot of your own called NAME.

    It is made from a kit and plays at once: you write one function, `choose`. Without --to there is a league, too:
    tournaments/NAME.yaml, against bundled bots. A file there is not replaced.

    With --policy the bot plays by a network that you trained, for the game with these --options. With --engine and
    --like it is an engine for chess (UCI), or for go and other games of OpenSpiel (GTP), unchanged; docs/engines.md.

    Example: arena new-bot mybot --lang python
    """
    bot, name = new_bot(request), request.name
    for_game = "" if bot.game == DEFAULT_GAME else f" --game {quote(bot.game)}"
    click.echo(f"made {bot.folder}/ with {', '.join(bot.files)}\nnext: arena check {bot.path}{for_game}")
    if bot.tournament is not None:
        click.echo(f"      arena league run {name}    # against bundled bots, as {bot.tournament} says")
        click.echo(f"      arena stats {name}         # with the matches it lost, and how to look into them")
    if bot.missing:
        needed = " ".join(bot.packages)
        click.echo(f"bots here have no {' and no '.join(bot.missing)}: on Debian, apt-get install {needed}", err=True)
