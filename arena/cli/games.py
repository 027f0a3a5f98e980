"""`arena games`, `new-game` and `check-game`: games, and a game of one's own on its way onto the list."""

import keyword
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import click

from arena.bundled import PACKAGE
from arena.cli.new_bot import TEMPLATES, write_bot, write_filled
from arena.cli.options import option_named, options_option, width_option
from arena.conformance.game import CheckedPart, check_game, difference_elsewhere
from arena.errors import CheckFailed, SpecError
from arena.games import GAMES, load_game, offered_games, openspiel, plugin_place
from arena.games.api import require_simulator, simulator_of
from arena.process.manifest import MANIFEST
from arena.report.formats import listing
from arena.text import printable, spanned

_SMALL: Final = {"connect_four": "ConnectFour", "kuhn_poker": "KuhnPoker", "nim": "Nim"}
"""Bundled games that a new one may begin as, with the name of their class."""
_GAME_NAME: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", re.ASCII)


@click.command("games")
@width_option
def list_games(width: int | None) -> None:
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
    if openspiel.is_installed():
        rows.append([f"{openspiel.PREFIX}:NAME", openspiel.rules_version(), "2 to 10", openspiel.place_of_openspiel()])
    click.echo(listing(["game", "rules", "players", "from"], rows, width))


@click.command("new-game")
@click.argument("name")
@click.option("--like", type=click.Choice([*_SMALL]), default="connect_four", help="The small game that it begins as.")
def new_game(name: str, like: str) -> None:
    """Start a game of your own called NAME: a package with rules, tests, a bot and a tournament, in a new folder.

    It plays at once, by the rules of a small game that you then change: connect_four hides nothing, kuhn_poker has
    cards that only one seat sees.

    Example: arena new-game my_game --like kuhn_poker
    """
    if not _GAME_NAME.fullmatch(name) or len(name) > 40:
        raise SpecError(f"{name}: the name of a game has small letters, digits and single _, a letter first: my_game")
    if name in GAMES:
        raise SpecError(f"{name} is a game of arena; give yours another name")
    target = Path(name)
    if target.exists():
        raise SpecError(f"{target} exists already; choose another name")
    if name in sys.stdlib_module_names or keyword.iskeyword(name) or find_spec(name) is not None:
        raise SpecError(f"{name} means something else in Python here, so no package can have that name; choose another")
    words = {"name": name, "class": name.title().replace("_", ""), "like": like}
    _write_package(target, words)
    click.echo(f"made {target}/; the rules are in {target / name / 'rules.py'}\nnext: pip install -e ./{name}")
    click.echo(f"      arena check-game {name}")
    click.echo(f"      arena match ./{name}/bots/{name}_bot random --game {name}")


def _write_package(target: Path, words: dict[str, str]) -> None:
    """The package of a new game: the rules of a small game under another name, with all that belongs to it."""
    name, like = words["name"], words["like"]
    shutil.copytree(TEMPLATES / "game", target, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "project.toml").rename(target / "pyproject.toml")
    for file in [path for path in target.rglob("*") if path.is_file()]:
        write_filled(file, file, **words)
    rules = (PACKAGE / "games" / f"{like}.py").read_text(encoding="utf-8")
    rules = rules.replace(f'"{like}"', f'"{name}"').replace(_SMALL[like], words["class"])
    (target / name).mkdir()
    (target / name / "__init__.py").write_text(f'"""The game {name} for arena."""\n', encoding="utf-8")
    (target / name / "rules.py").write_text(rules, encoding="utf-8")
    bot = target / "bots" / f"{name}_bot"
    write_bot(bot, ("python",), f"{name}_bot")
    manifest = (bot / MANIFEST).read_text(encoding="utf-8")
    (bot / MANIFEST).write_text(re.sub("(?m)^# games:.*$", f"games: [{name}]", manifest), encoding="utf-8")


@click.command("check-game")
@click.argument("name", metavar="NAME|MODULE:CLASS")
@options_option
def check_one_game(name: str, options: dict[str, Any]) -> None:
    """Check by random plays that the game NAME keeps the contract, for every number of seats. Exit 1 if it does not.

    Each promise is a line, and what breaks it a sentence below it.

    Example: arena check-game nim
    """
    game = load_game(name)
    if options:
        with option_named("--options"):
            game.setup(options, game.seat_counts[0])
    require_simulator(game)
    place = plugin_place(name) or "arena"
    click.echo(f"{name}, rules {game.rules_version}, {spanned(game.seat_counts)} players, {place}")
    parts = [part._replace(title=f"{part.seats} seats: {part.title}") for part in check_game(game, options=options)]
    if simulator_of(game) is None and not any(part.findings for part in parts):
        differs = difference_elsewhere(name, options)
        parts.append(CheckedPart("a play is the same in every process", 0, (differs,) if differs else ()))
    for part in parts:
        click.echo(f"{'FAILED' if part.findings else 'read  ' if part.to_read else 'passed'}  {part.title}")
        for sentence in (*part.findings, *part.to_read):
            click.echo(f"        {sentence}")
    failed, tested = sum(bool(part.findings) for part in parts), [part for part in parts if not part.to_read]
    if failed:
        raise CheckFailed(f"{name} breaks {failed} of {len(tested)} promises; docs/games.md explains them")
    click.echo(f"{name} keeps all {len(tested)} promises of the contract")
    if len(tested) < len(parts):
        click.echo("read when hidden draws are seen, or declare it with `may_know`; docs/games.md explains it")
