"""Options that several commands share.

Rule: an option has one name, one default and one help text in the whole program.
"""

import contextlib
import functools
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import click
import msgspec
from click.core import ParameterSource
from msgspec import UNSET, UnsetType, structs

from arena import validation
from arena.cli.completion import complete_columns
from arena.errors import SpecError
from arena.games import DEFAULT_GAME, load_game
from arena.league.tournament import ClusterSettings, Player, Tournament
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings, MatchSettings
from arena.operations.playing import (
    BotRequest,
    installing,
    option_named,
    prepare_isolation,
    require_options,
)
from arena.operations.request import Request
from arena.process.limits import Isolation
from arena.report.formats import FORMATS, Style
from arena.store.bots import BotStore
from arena.store.secrets import read_secret

if TYPE_CHECKING:
    pass

_MOVE_MS: Final = 100.0
_BANK_MS: Final = 1000.0
_PATIENCE: Final = 10
"""A person's rivals have so many times the clock of bots among themselves."""
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
    none = (msgspec.NODEFAULT, None)
    defaults = {name: field.default for name, field in fields.items() if field.default not in none}

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
    click.option("--move-ms", type=float, default=_MOVE_MS, help="CPU time free for each move."),
    click.option("--bank-ms", type=float, default=_BANK_MS, help="CPU time for the match on top."),
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


class MatchSetup(msgspec.Struct, frozen=True):
    """The options of a command that plays matches outside a league: game, luck, clock, isolation, folders.

    `given` is the secret of luck that the command line names, None if a new one is to be drawn.
    """

    game: str
    options: dict[str, Any]
    clock: ClockSettings
    given: Secret | None
    isolation: Isolation
    results: Path
    bots: BotStore

    def settings(self, seats: int) -> MatchSettings:
        """Those of a match. SpecError if the game has no such options, or is not for so many seats."""
        self.require_options(seats)
        return MatchSettings(self.game, self.options, self.clock)

    def prepare_isolation(self) -> None:
        """MachineFault if bots cannot be isolated as asked for here, or if the game needs more."""
        prepare_isolation(self.isolation, self.game)

    def installing(self) -> contextlib.AbstractContextManager[BotStore]:
        """Return the store that installs bots for these matches."""
        return installing(self.results, self.bots, self.isolation)

    def require_options(self, seats: int) -> None:
        """SpecError if the game has no such options, or is not for so many seats."""
        require_options(self.game, self.options, seats)

    def exhibition(self, players: Sequence[Player], secret: Secret | None, blocks: int) -> Tournament:
        """The tournament of these players at one table."""
        from arena.league.exhibition import exhibition  # noqa: PLC0415 - pages start no bots

        self.require_options(len(players))
        return exhibition(players, game=self.game, options=self.options, clock=self.clock, secret=secret, blocks=blocks)


def match_options(command: F) -> F:
    """Add all options of a command that plays matches, which gets them as `setup`."""
    return play_options(_with_setup(command))


def person_options(command: F) -> F:
    """Add the options of a match in which a person sits at the table: no clock. The command gets them as `setup`."""
    return _table_setup_options(_with_setup(command))


def play_options(command: F) -> F:
    """Add all options of a command that plays matches."""
    return _table_setup_options(functools.reduce(lambda made, option: option(made), reversed(_clock_options), command))


def _table_setup_options(command: F) -> F:
    options = (game_option, options_option, _seed_option, secret_file_option, isolation_option, results_option)
    return functools.reduce(lambda made, option: option(made), reversed((*options, bots_option)), command)


def combine_play(given: dict[str, Any]) -> dict[str, Any]:
    """Make the options of luck one `secret`, and those of the clock one `clock`."""
    take = given.pop
    given["secret"] = chosen_secret(take("seed"), take("secret_file"))
    times = {"move_ms": take("move_ms", _PATIENCE * _MOVE_MS), "bank_ms": take("bank_ms", _PATIENCE * _BANK_MS)}
    given["clock"] = validation.read_options(times, ClockSettings)
    return given


def _with_setup(command: F) -> F:
    @functools.wraps(command)
    def with_setup(**given: Any) -> object:
        take = combine_play(given).pop
        clock, secret, isolation, results = take("clock"), take("secret"), take("isolation"), take("results")
        bots = BotStore(results, take("bots_folder"), isolation)
        setup = MatchSetup(take("game"), take("options"), clock, secret, isolation, results, bots)
        return command(setup=setup, **given)

    decorated: Any = with_setup
    return decorated  # type: ignore[no-any-return]


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

        leaderboard_page(*standings_of(tournament, ())).render(form, style)


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


class ClusterOptions(NamedTuple):
    """The cluster of a command; `is_trusted`: also one without TLS."""

    given: ClusterSettings
    is_trusted: bool

    def placed(self, address: str) -> ClusterSettings:
        """The cluster at `address`, or of --scheduler-file. SpecError if it cannot be used."""
        from arena.cluster.address import checked_address, workers_here  # noqa: PLC0415 - only for a cluster

        settings = checked_address(structs.replace(self.given, address=address), is_trusted=self.is_trusted)
        if workers_here(settings) is not None:
            raise SpecError(f"{address}: expected tls://HOST:PORT; `--cluster {address}` needs no `arena worker`")
        return settings

    def chosen(self, of_file: ClusterSettings | UnsetType, workers: int | None) -> ClusterSettings | None:
        """The cluster to use, by the options and the file of a tournament; None for this machine alone.

        SpecError if it cannot be used, or if --workers is given as well.
        """
        named = {name: value for name, value in structs.asdict(self.given).items() if value}
        is_placed = "address" in named or "scheduler_file" in named
        of_place = {"address": "", "scheduler_file": ""} if is_placed else {}
        settings = structs.replace(of_file or ClusterSettings(), **(of_place | named))
        if not settings.address and not settings.scheduler_file:
            if named or self.is_trusted:
                alone = [f"--{name.replace('_', '-')}" for name in named] or ["--trust-network"]
                raise SpecError(f"{', '.join(alone)}: goes with --cluster ADDRESS or --scheduler-file FILE")
            if of_file is not UNSET:
                raise SpecError("cluster: found no address; expected `address:` or `scheduler_file:`")
            return None
        if workers is not None:
            raise SpecError("--workers is for this machine; a cluster plays with all its workers")
        from arena.cluster.address import checked_address  # noqa: PLC0415 - only for a cluster

        with option_named("--cluster" if "address" in named else "--scheduler-file" if is_placed else "cluster"):
            return checked_address(settings, is_trusted=self.is_trusted)


def cluster_options(command: F) -> F:
    """Add all options of a command that can use a cluster, which gets them as `cluster`."""

    @functools.wraps(command)
    def with_cluster(**given: Any) -> object:
        return command(cluster=_taken_cluster(given), **given)

    decorated: Any = with_cluster
    return cluster_choices(decorated)  # type: ignore[no-any-return]


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


def _taken_cluster(given: dict[str, Any]) -> ClusterOptions:
    files = {name: given.pop(name) for name in ("scheduler_file", "tls_ca", "tls_cert", "tls_key")}
    return ClusterOptions(ClusterSettings(given.pop("cluster", ""), **files), given.pop("trust_network"))
