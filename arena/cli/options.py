"""Options that several commands share.

Rule: an option has one name, one default and one help text in the whole program.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from arena.store.bots import BotStore

F = TypeVar("F", bound=Callable[..., Any])


def results_option(command: F) -> F:
    """`--results DIR`: where the database, the installed bots and the logs are."""
    return click.option(
        "--results",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("results"),
        show_default=True,
        envvar="ARENA_RESULTS",
        help="Folder of the database, the installed bots and the logs.",
    )(command)


def shelf_option(command: F) -> F:
    """`--bots DIR`: where bots are looked up by name besides the submitted ones."""
    return click.option(
        "--bots",
        "shelf",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("bots"),
        show_default=True,
        envvar="ARENA_BOTS",
        help="Folder where bots are found by name, besides the submitted ones.",
    )(command)


def game_option(command: F) -> F:
    """`--game NAME`."""
    return click.option("--game", default="shanghaien", show_default=True, help="The game to play.")(command)


def bot_store(results: Path, shelf: Path) -> BotStore:
    """The bots that these two folders offer."""
    return BotStore(results, shelf)
