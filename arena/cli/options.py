"""Options that several commands share.

Rule: an option has one name, one default and one help text in the whole program.
"""

import functools
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec
from click.core import ParameterSource
from msgspec import UNSET, structs

from arena import validation
from arena.cli.completion import complete_columns
from arena.errors import SpecError
from arena.games import DEFAULT_GAME, load_game
from arena.league.tournament import ClusterSettings, Tournament
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings
from arena.operations.playing import (
    BotRequest,
    ClusterChoice,
    option_named,
)
from arena.operations.request import Request
from arena.report.formats import FORMATS, Style
from arena.store.secrets import read_secret

F = TypeVar("F", bound=Callable[..., Any])
FILE_PATH: Final = click.Path(dir_okay=False, path_type=Path)
FOLDER_PATH: Final = click.Path(file_okay=False, path_type=Path)
WORKERS: Final = click.IntRange(1, 1024)


def requesting(
    request: type[Request], combine: Callable[[dict[str, Any]], dict[str, Any]] = lambda given: given
) -> Callable[[F], F]:
    """Pass a command its options as `request`, of that type, and those that are no fields of it by name.

    It stands above all options, which get their defaults from the request's fields. `combine` makes one value of
    options that are one choice.
    """
    fields = {field.name: field for field in structs.fields(request)}
    none = (msgspec.NODEFAULT, None, ())  # an option that takes a list has no default text
    defaults = {  # options whose values are combined have their own
        name: field.default
        for name, field in fields.items()
        if field.default not in none and not isinstance(field.default, msgspec.Struct)
    }

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def with_request(**given: Any) -> object:
            given = combine(given)
            chosen = {name: given.pop(name) for name in fields if name in given}
            return command(request=request(**chosen), **given)

        for parameter in getattr(with_request, "__click_params__", ()):
            if parameter.name in defaults:
                parameter.default = defaults[parameter.name]
        decorated: Any = with_request
        return decorated  # type: ignore[no-any-return]

    return decorate


def _known_game(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    with option_named("--game"):
        load_game(name)
    return name


game_option = click.option("--game", default=DEFAULT_GAME, callback=_known_game, help="The game to play.")


def _report_if_made(context: click.Context, parameter: click.Parameter, folder: Path) -> Path:
    """A default folder that the command makes is named at its end."""
    is_default = context.get_parameter_source(str(parameter.name)) is ParameterSource.DEFAULT
    if is_default and not folder.exists():
        made = f"results are kept in {folder.absolute()}/, which is new; --results chooses another folder"
        context.call_on_close(lambda: click.echo(made, err=True) if folder.is_dir() else None)
    return folder


results_option = click.option(
    "--results",
    type=FOLDER_PATH,
    default=Request().results,
    envvar="ARENA_RESULTS",
    callback=_report_if_made,
    help="Folder of the database, the installed bots and the logs.",
)


def _existing_folder(context: click.Context, parameter: click.Parameter, folder: Path) -> Path:
    """The default need not be there: the bundled bots are."""
    is_chosen = context.get_parameter_source(str(parameter.name)) is not ParameterSource.DEFAULT
    if is_chosen and not folder.is_dir():
        raise click.BadParameter(f"{folder}: no such folder", param=parameter)
    return folder


bots_option = click.option(
    "--bots",
    "bots_folder",
    type=FOLDER_PATH,
    default=BotRequest().bots_folder,
    envvar="ARENA_BOTS",
    callback=_existing_folder,
    help="Folder where bots are found by name, before the bundled ones.",
)
isolation_option = click.option(
    "--isolation",
    type=click.Choice(["sandbox", "none"]),
    default=BotRequest().isolation,
    help="Isolation of bots; `none` only for bots you trust, and every result says so.",
)
"""On the command line only: no file and no variable shall switch the sandbox off."""
secret_file_option = click.option(
    "--secret-file",
    type=FILE_PATH,
    help="File of the secret from which all luck follows, to repeat it; default: a new secret.",
)
_seed_option = click.option(
    "--seed", metavar="TEXT", help="Public seed of all luck, for demonstrations: bots can predict the luck."
)
_clock_options = (
    click.option("--move-ms", type=float, default=ClockSettings().move_ms, help="CPU time free for each move."),
    click.option("--bank-ms", type=float, default=ClockSettings().bank_ms, help="CPU time for the match on top."),
)


def format_option(formats: Sequence[str] = FORMATS, text: str = "Format of the output.") -> Callable[[F], F]:
    """`--format`: one of `formats`, by default the first."""
    return click.option("--format", "form", type=click.Choice(formats), default=formats[0], help=text)


def _json_object(_context: click.Context, parameter: click.Parameter, text: str | None) -> dict[str, Any]:
    try:
        value = {} if text is None else json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}", param=parameter) from None
    if not isinstance(value, dict):
        raise click.BadParameter(f"expected a JSON object, found {text}", param=parameter)
    return value


options_option = click.option(
    "--options",
    metavar="JSON",
    callback=_json_object,
    help='Options of the game, such as \'{"tricks": {"adjust": 8, "both": 0, "reroll": 0}}\'.',
)


def person_options(command: F) -> F:
    """Add the options of a match in which a person sits at the table: no clock."""
    options = (game_option, options_option, _seed_option, secret_file_option, isolation_option, results_option)
    return functools.reduce(lambda made, option: option(made), reversed((*options, bots_option)), command)


def play_options(command: F) -> F:
    """Add all options of a command that plays matches."""
    return person_options(functools.reduce(lambda made, option: option(made), reversed(_clock_options), command))


def combine_play(given: dict[str, Any]) -> dict[str, Any]:
    """Make the options of luck one `secret`, and those of the clock one `clock`."""
    take = given.pop
    given["secret"] = chosen_secret(take("seed"), take("secret_file"))
    if "move_ms" in given:
        given["clock"] = validation.read_options({name: take(name) for name in ("move_ms", "bank_ms")}, ClockSettings)
    return given


def chosen_secret(seed: str | None, secret_file: Path | None) -> Secret | None:
    """The secret of these two options, None without both. SpecError if both are given, or the file holds no secret."""
    if seed is not None and secret_file is not None:
        raise SpecError("give either --seed or --secret-file: luck cannot follow from both")
    if secret_file is not None:
        with option_named("--secret-file"):
            return read_secret(secret_file)
    return None if seed is None else Secret.public(seed)


def _page_width(_context: click.Context, _parameter: click.Parameter, width: int | None) -> int | None:
    """The width of all that a command prints: as asked for, else that of the terminal, else COLUMNS.

    None, as wide as need be, in a pipe or a file without COLUMNS. Python has no stdout at all where the shell closed it
    (`>&-`).
    """
    if width is not None:
        return width
    if sys.stdout is not None and sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) > 0 else None


width_option = click.option(
    "--width",
    type=click.IntRange(20),
    metavar="N",
    callback=_page_width,
    help="Characters of a line; default: the terminal's, in a pipe those of COLUMNS, if it is set.",
)


def column_names(_context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """The names in a list with commas."""
    names = tuple(filter(None, (part.strip() for part in (value or "").split(","))))
    if value is not None and not names:
        raise click.BadParameter("expected names with commas between them", param=parameter)
    return names


_table_options = (
    click.option("--wide", is_flag=True, help="Show all columns, not only the first ones."),
    click.option(
        "--columns",
        metavar="A,B,...",
        callback=column_names,
        shell_complete=complete_columns,
        help="Show these columns, in this order.",
    ),
    click.option("--explain", is_flag=True, help="Say below a table what each of its columns means."),
    width_option,
)


def table_options(command: F) -> F:
    """All options of a command that prints a table with many columns, which gets them as `style`."""

    @functools.wraps(command)
    def with_style(*, wide: bool, columns: tuple[str, ...], explain: bool, width: int | None, **given: Any) -> object:
        if wide and columns:
            raise SpecError("give either --wide or --columns: the one is all columns, the other some")
        if explain and given.get("form") in {"csv", "json"}:
            raise SpecError("--explain goes with tables; docs/numbers.md says what the columns of csv and json mean")
        return command(style=Style(width=width, columns=columns, is_wide=wide, is_explained=explain), **given)

    decorated: Any = functools.reduce(lambda made, option: option(made), reversed(_table_options), with_style)
    return decorated  # type: ignore[no-any-return]


def require_columns(style: Style, form: str, tournament: Tournament) -> None:
    """SpecError if the leaderboard will have no such columns: told before the first match, not after the last."""
    if style.columns:
        from arena.league.standings import standings_of  # noqa: PLC0415 - numpy is for tables only
        from arena.report.leaderboard import leaderboard_page  # noqa: PLC0415 - see above

        begun = structs.replace(tournament, seed=tournament.seed or "columns")  # luck is drawn when it begins
        leaderboard_page(*standings_of(begun, ())).render(form, style)


_cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    default="",
    show_default=False,
    help="Use a dask cluster: tls://HOST:PORT or local:N.",
)
_scheduler_options = (
    click.option(
        "--scheduler-file",
        default="",
        show_default=False,
        metavar="FILE",
        help="Use the cluster whose scheduler wrote FILE.",
    ),
    click.option(
        "--tls-ca",
        default="",
        show_default=False,
        metavar="FILE",
        help="Of the cluster: certificates of the authority.",
    ),
    click.option(
        "--tls-cert",
        default="",
        show_default=False,
        metavar="FILE",
        help="Of the cluster: certificate of this program.",
    ),
    click.option(
        "--tls-key", default="", show_default=False, metavar="FILE", help="Of the cluster: key of the certificate."
    ),
    click.option("--trust-network", is_flag=True, help="Use a cluster without TLS: all on its network can run code."),
)


def cluster_choices(command: F) -> F:
    """Add all options of a command that can use a cluster."""
    return _cluster_option(scheduler_options(command))


def scheduler_options(command: F) -> F:
    """Add the options of a cluster but --cluster, for a command whose argument is the address."""
    return functools.reduce(lambda made, option: option(made), reversed(_scheduler_options), command)


def combine_cluster(given: dict[str, Any]) -> dict[str, Any]:
    """Make the options of a cluster one `cluster`, None for this machine alone."""
    given["cluster"] = _taken_cluster(given).chosen(UNSET, given.get("workers"))
    return given


def combine_address(given: dict[str, Any]) -> dict[str, Any]:
    """Make the address and the options of a cluster one `cluster`."""
    given["cluster"] = _taken_cluster(given).placed(given.pop("address"))
    return given


def combine_choice(given: dict[str, Any]) -> dict[str, Any]:
    """Make the options of a cluster one choice, which a tournament may complete."""
    given["cluster"] = _taken_cluster(given)
    return given


def _taken_cluster(given: dict[str, Any]) -> ClusterChoice:
    files = {name: given.pop(name) for name in ("scheduler_file", "tls_ca", "tls_cert", "tls_key")}
    return ClusterChoice(ClusterSettings(given.pop("cluster", ""), **files), given.pop("trust_network"))
