"""Options that several commands share.

Rule: an option has one name, one default and one help text in the whole program.
"""

import json
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from arena import validation
from arena.errors import HarnessFault, MachineFault, SpecError
from arena.games import GAMES, load_game
from arena.games.api import require_simulator
from arena.league.tournament import require_game
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings
from arena.process.limits import DEFAULT_ISOLATION, Isolation
from arena.process.manifest import BotSpec
from arena.process.sandbox import cgroup, leftovers, scope, self_test
from arena.store.secrets import read_secret

DEFAULT_GAME: Final = "shanghaien"
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


def bots_option(command: F) -> F:
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


def isolation_option(command: F) -> F:
    """`--isolation sandbox|none`. On the command line only: no file and no variable shall switch the sandbox off."""
    return click.option(
        "--isolation",
        type=click.Choice(["sandbox", "none"]),
        default=DEFAULT_ISOLATION,
        show_default=True,
        help="What stands around bots; `none` only for bots you trust, and every result says so.",
    )(command)


def insist_on(isolation: Isolation, game: str) -> None:
    """Before anything is played: MachineFault if bots cannot be isolated so here, or if the game needs more."""
    try:
        require_simulator(load_game(game))
    except SpecError as error:
        raise MachineFault(str(error)) from None
    if isolation == "sandbox":
        leftovers.end_leftovers()
        _enter_scope()
    try:
        self_test.require_isolation(isolation)
    except HarnessFault as fault:
        raise MachineFault(
            f"{fault}\nBots are not run without the sandbox. `arena doctor` tells more; for bots you trust there is"
            " `--isolation none`."
        ) from None


def _enter_scope() -> None:
    """Control groups for bots, if they can be had. MachineFault if they cannot and are required."""
    why_not = scope.enter()
    if why_not and cgroup.setting() == "required":
        raise MachineFault(f"bots have no control group, which {cgroup.SETTING}=required asks for: {why_not}")


def require_games(bots: Iterable[BotSpec], game: str) -> None:
    """SpecError, with the option that helps, if a bot says that it plays other games."""
    for bot in bots:
        try:
            require_game(bot, game)
        except SpecError as error:
            known = [each for each in bot.manifest.games if each in GAMES]
            raise SpecError(f"{error}{f'; play it with --game {known[0]}' if known else ''}") from None


def game_option(command: F) -> F:
    """`--game NAME`."""
    return click.option("--game", default=DEFAULT_GAME, show_default=True, help="The game to play.")(command)


def options_option(command: F) -> F:
    """`--options JSON`: options of the game."""
    return click.option(
        "--options",
        default="{}",
        metavar="JSON",
        callback=_json_object,
        help='Options of the game, such as \'{"tricks": {"adjust": 8, "both": 0, "reroll": 0}}\'.',
    )(command)


def luck_options(command: F) -> F:
    """`--seed` and `--secret-file`: luck that was there before."""
    public = click.option(
        "--seed", metavar="TEXT", help="Public seed of all luck, for demonstrations: bots can foretell the luck."
    )
    return public(secret_file_option(command))


def secret_file_option(command: F) -> F:
    """`--secret-file FILE`: the secret of luck that was there before."""
    return click.option(
        "--secret-file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="File of the secret from which all luck follows, to repeat it; default: a new secret.",
    )(command)


def chosen_luck(seed: str | None, secret_file: Path | None) -> Secret | None:
    """The secret of these two options, None without both. SpecError if both are given, or the file holds no secret."""
    if seed is not None and secret_file is not None:
        raise SpecError("give either --seed or --secret-file: luck cannot follow from both")
    if secret_file is not None:
        return read_secret(secret_file)
    return None if seed is None else Secret.public(seed)


def clock_options(command: F) -> F:
    """`--move-ms` and `--bank-ms`."""
    move = click.option("--move-ms", type=float, default=100.0, show_default=True, help="CPU time free for each move.")
    bank = click.option(
        "--bank-ms", type=float, default=1000.0, show_default=True, help="CPU time for the match on top."
    )
    return move(bank(command))


def match_options(command: F) -> F:
    """All options of a command that plays matches: game, luck, clock, isolation and folders."""
    for option in (bots_option, results_option, isolation_option, clock_options, luck_options, options_option):
        command = option(command)
    return game_option(command)


def clock_settings(move_ms: float, bank_ms: float) -> ClockSettings:
    """The clock these two options describe. SpecError for impossible times."""
    return validation.read_options({"move_ms": move_ms, "bank_ms": bank_ms}, ClockSettings)


def _json_object(_context: click.Context, parameter: click.Parameter, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}", param=parameter) from None
    if not isinstance(value, dict):
        raise click.BadParameter(f"expected a JSON object, found {text}", param=parameter)
    return value


def terminal_width() -> int | None:
    """Columns of the terminal that stdout is; None if it is a pipe or a file, which are as wide as need be.

    Python has no stdout at all where the shell closed it (`>&-`).
    """
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size().columns if is_terminal else None
