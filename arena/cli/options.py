"""Options that several commands share.

Rule: an option has one name, one default and one help text in the whole program.
"""

import functools
import json
import os
import shutil
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec
from click.core import ParameterSource
from msgspec import structs

from arena import validation
from arena.cli.completion import complete_columns
from arena.errors import SpecError
from arena.games import load_game
from arena.league.tournament import TOURNAMENT_FILE_LIMIT, ClusterSettings, Tournament
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings
from arena.operations.playing import ClusterChoice, naming_option
from arena.operations.request import Request
from arena.report.formats import FORMATS, Style
from arena.store.secrets import read_secret
from arena.yaml_file import read_yaml

F = TypeVar("F", bound=Callable[..., Any])
FILE_PATH: Final = click.Path(dir_okay=False, path_type=Path)
FOLDER_PATH: Final = click.Path(file_okay=False, path_type=Path)
WORKERS: Final = click.IntRange(1, 1024)


def requesting(request: type[Request], *, without: Collection[str] = ()) -> Callable[[F], F]:
    """Decorate a command to get its options as `request`, of that type; options that are no fields of it by name.

    Apply it above the command's options: they get their defaults from the request's fields. It adds the shared options
    that the request has fields for, except fields in `without`.
    """
    fields = {field.name: field.default for field in structs.fields(request) if field.name not in without}
    none = (msgspec.NODEFAULT, None, ())  # an option that takes a list has no default text
    shared = [make() for needed, make in _SHARED if needed <= fields.keys()]

    def decorate(command: F) -> F:
        """Give the command the shared options and the defaults of the request's fields."""

        @functools.wraps(command)
        def with_request(**options: Any) -> object:
            _combine(options)
            fields_given = {name: options.pop(name) for name in fields if name in options}
            return command(request=request(**fields_given), **options)

        decorated: Any = with_request
        parameters: list[click.Parameter] = vars(decorated).setdefault("__click_params__", [])  # the last one first
        names = {parameter.name for parameter in parameters}
        parameters[:0] = [option for option in reversed(shared) if option.name not in names]
        for parameter in parameters:
            default = fields.get(str(parameter.name))
            if default not in none and not isinstance(default, msgspec.Struct):  # a Struct combines several options
                parameter.default = default
        return decorated  # type: ignore[no-any-return]

    return decorate


def _combine(options: dict[str, Any]) -> None:
    """Replace the parts of a secret, a clock and a cluster by one value each, in place, where a command has them.

    SpecError for invalid or contradicting parts.
    """
    take = options.pop
    if "secret_file" in options:
        options["secret"] = _secret_of(take("seed", None), take("secret_file"))
    if "move_ms" in options:
        times = zip(("bank_ms", "increment_ms"), take("bank_ms").split("+", 1), strict=False)
        clock = {"move_ms": take("move_ms")} | {name: _number(text) for name, text in times}
        options["clock"] = validation.read_options(clock, ClockSettings)
    if "trust_network" in options:
        options["cluster"] = ClusterChoice(_cluster_settings(take("cluster")), take("trust_network"))


def _number(text: str) -> float:
    """Return a number of `--bank-ms`; SpecError for any other text."""
    try:
        return float(text)
    except ValueError:
        raise SpecError(f"--bank-ms: expected a number, or two with + between them, found {text!r}") from None


def _secret_of(seed: str | None, secret_file: Path | None) -> Secret | None:
    """Return the secret of these two options, None without both; SpecError for both, or for a file without a secret."""
    if seed is not None and secret_file is not None:
        raise SpecError("give either --seed or --secret-file: luck cannot follow from both")
    if secret_file is not None:
        with naming_option("--secret-file"):
            return read_secret(secret_file)
    return None if seed is None else Secret.public(seed)


def _game_name(_context: click.Context, _parameter: click.Parameter, name: str | None) -> str | None:
    """Return the name of a game; SpecError if there is none of that name."""
    if name is not None:
        with naming_option("--game"):
            load_game(name)
    return name


def _json_object(_context: click.Context, parameter: click.Parameter, text: str | None) -> dict[str, Any]:
    """Return the object that a JSON text describes, empty without a text; refuse all else."""
    try:
        value = {} if text is None else json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}", param=parameter) from None
    if not isinstance(value, dict):
        raise click.BadParameter(f"expected a JSON object, found {text}", param=parameter)
    return value


def _report_if_made(context: click.Context, parameter: click.Parameter, folder: Path) -> Path:
    """Return the folder. If it is the default one and does not exist, print it at the end if the command made it."""
    is_default = context.get_parameter_source(str(parameter.name)) is ParameterSource.DEFAULT
    if is_default and not folder.exists():
        notice = f"results are kept in {folder.absolute()}/, which is new; --results chooses another folder"
        context.call_on_close(lambda: click.echo(notice, err=True) if folder.is_dir() else None)
    return folder


def _existing_folder(context: click.Context, parameter: click.Parameter, folder: Path) -> Path:
    """Return the folder; refuse a chosen one that does not exist. The default need not: there are bundled bots."""
    is_chosen = context.get_parameter_source(str(parameter.name)) is not ParameterSource.DEFAULT
    if is_chosen and not folder.is_dir():
        raise click.BadParameter(f"{folder}: no such folder", param=parameter)
    return folder


def _cluster_settings(text: str) -> ClusterSettings:
    """Return the settings of a cluster: its address, or all in a YAML file with the keys of `cluster:`.

    A text without `:` names a file; an empty one gives settings without an address. Raises SpecError.
    """
    if not text or ":" in text:
        return ClusterSettings(text)
    return read_yaml(Path(text), ClusterSettings, limit=TOURNAMENT_FILE_LIMIT)


def _option(needed: str, *names: str, **settings: Any) -> tuple[set[str], Callable[[], click.Option]]:
    """Return the fields that a request needs to have an option, and the maker of the option."""
    return set(needed.split()), functools.partial(click.Option, names, **settings)


_SHARED: Final = (
    _option(
        "cluster",
        "--cluster",
        metavar="ADDRESS|FILE",
        default="",
        show_default=False,
        help="Use a dask cluster: local:N for N workers here, or a file with the keys of `cluster:`; docs/cluster.md.",
    ),
    _option(
        "cluster",
        "--trust-network",
        is_flag=True,
        help="Use a cluster without TLS: all on its network can run code.",
    ),
    _option("game", "--game", callback=_game_name, help="The game to play."),
    _option(
        "options",
        "--options",
        metavar="JSON",
        callback=_json_object,
        help="Options of the game, as its page in docs/ lists them.",
    ),
    _option(
        "secret game",
        "--seed",
        metavar="TEXT",
        help="Public text from which all luck follows, for demonstrations: bots can predict the luck.",
    ),
    _option(
        "secret",
        "--secret-file",
        type=FILE_PATH,
        help="File of the secret from which all luck follows, as `arena league reveal` writes it.",
    ),
    # On the command line only: no file and no variable shall switch the sandbox off.
    _option(
        "isolation",
        "--isolation",
        type=click.Choice(["sandbox", "none"]),
        help="`none` runs bots without the sandbox: only those you trust; every result says so.",
    ),
    _option(
        "results",
        "--results",
        type=FOLDER_PATH,
        envvar="ARENA_RESULTS",
        callback=_report_if_made,
        show_envvar=True,
        help="Folder of the database, the installed bots and the logs.",
    ),
    _option(
        "bots_folder",
        "--bots",
        "bots_folder",
        type=FOLDER_PATH,
        envvar="ARENA_BOTS",
        callback=_existing_folder,
        show_envvar=True,
        help="Folder where bots are found by name, before the bundled ones.",
    ),
    _option(
        "clock", "--move-ms", type=float, default=ClockSettings().move_ms, help="CPU time free for each move, in ms."
    ),
    _option(
        "clock",
        "--bank-ms",
        metavar="MS[+MS]",
        default=f"{ClockSettings().bank_ms:g}",
        help="CPU time for a match on top, in ms; 10000+100 adds 100 after each answer, with --move-ms 0.",
    ),
)


def format_option(formats: Sequence[str] = FORMATS, text: str = "Format of the output.") -> Callable[[F], F]:
    """Return the decorator for the option `--format`, the parameter `form`: one of `formats`, by default the first."""
    return click.option("--format", "form", type=click.Choice(formats), default=formats[0], help=text)


def wants_colours(environment: Mapping[str, str]) -> bool:
    """Return True if the environment allows colours, by the conventions of NO_COLOR and TERM."""
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def page_width() -> int | None:
    """Return the characters of a line: of COLUMNS, else of the terminal; None (no limit) in a pipe without COLUMNS.

    `sys.stdout` is None where the shell closed it (`>&-`).
    """
    if sys.stdout is not None and sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) > 0 else None


def names_with_commas(_context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Return the names in a list with commas, empty without a list; refuse a list without names."""
    names = tuple(filter(None, (part.strip() for part in (value or "").split(","))))
    if value is not None and not names:
        raise click.BadParameter("expected names with commas between them", param=parameter)
    return names


def _style(context: click.Context, parameter: click.Parameter, value: str | None) -> Style:
    """Return the style of the page with the chosen columns; `all` chooses all, with their meanings."""
    if value == "all":
        return Style(width=page_width(), is_wide=True)
    return Style(width=page_width(), columns=names_with_commas(context, parameter, value))


columns_option = click.option(
    "--columns",
    "style",
    metavar="all|A,B,...",
    callback=_style,
    shell_complete=complete_columns,
    help="Show all columns, with the meaning of each below the table; or these, in this order.",
)
"""The option of a command that prints a table with many columns; it gets its value as a `Style`."""


def require_columns(style: Style, form: str, tournament: Tournament) -> None:
    """Raise SpecError before the first match if the leaderboard will not have the chosen columns."""
    if style.columns:
        from arena.league.standings import standings_of  # noqa: PLC0415 - numpy is for tables only
        from arena.report.leaderboard import leaderboard_page  # noqa: PLC0415 - see above

        begun = structs.replace(tournament, seed=tournament.seed or "columns")  # luck is drawn when it begins
        leaderboard_page(*standings_of(begun, ())).render(form, style)
