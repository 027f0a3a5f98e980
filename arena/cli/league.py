"""`arena league`: run a tournament file, tell how far a league is, list its matches."""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click
import msgspec

from arena.api import LeagueRun, begin_league, installed, publish, require_whole_blocks
from arena.bundled import bundled_folder, find_tournament, tournaments_on_offer
from arena.cli import SuggestingGroup
from arena.cli.completion import complete_league, complete_tournament
from arena.cli.edge import TerminalLine, print_warning, stoppable, task_line
from arena.cli.options import (
    FILE_PATH,
    WORKERS,
    ClusterOptions,
    bots_option,
    chosen_secret,
    cluster_options,
    format_option,
    isolation_option,
    requesting,
    require_columns,
    results_option,
    secret_file_option,
    table_options,
    width_option,
)
from arena.cli.plan import print_plan
from arena.cli.update import begun_versions, confirm_update, preview, replays_of, report_kept_versions
from arena.doctor.machine import doubt_of_wall_time
from arena.errors import DamagedStore, Interrupted, SpecError
from arena.league.driver import Backend, BlocksLost, LocalBackend
from arena.league.progress import ignore_step, progress_of, steps_of
from arena.league.state import LeagueState
from arena.league.tournament import (
    TOURNAMENT_FILE_LIMIT,
    Tournament,
    TournamentFile,
    decided_by_wall,
    largest_limits,
    luck_origin,
    read_tournament,
)
from arena.match.record import MatchRecord
from arena.match.results import MatchResult
from arena.match.secret_luck import Secret
from arena.operations.leagues import league_table, one_league
from arena.operations.playing import backend_of, local_workers, prepare_isolation
from arena.operations.read_status import MachineShare, ReadStatus, read_status
from arena.plugins import TRUST
from arena.process.limits import Isolation
from arena.report.formats import Style, escaped, listing
from arena.report.luck_origin import luck_description, secret_descriptions
from arena.report.matches import MATCH_FORMATS, match_list
from arena.report.page import Page
from arena.store import database, files
from arena.store.bots import BotStore
from arena.store.folder import record_of, stored, writable
from arena.store.secrets import SecretKeeper
from arena.text import counted, printable
from arena.yaml_file import read_yaml

if TYPE_CHECKING:
    from arena.standings.table import Standings, Timing


@click.group(cls=SuggestingGroup)
def league() -> None:
    """Run a tournament file, see how far it is.

    Example: arena league run first
    """


@click.command()
@width_option
def tournaments(width: int | None) -> None:
    """List the tournaments that `arena league run NAME` finds: those in tournaments/ here, and the bundled ones.

    Example: arena tournaments
    """
    rows: list[list[str]] = []
    for path, place in tournaments_on_offer():
        try:
            file = read_yaml(path, TournamentFile, limit=TOURNAMENT_FILE_LIMIT)
        except SpecError as error:
            click.echo(f"left out: {error}", err=True)
            continue
        description = printable(" ".join(file.description.split()))
        rows.append([path.stem, printable(file.game), str(len(file.players)), place, description])
    headers = ["tournament", "game", "players", "from", "description"]
    click.echo(listing(headers, rows, width))
    click.echo(f"\nbundled: in {bundled_folder('tournaments')}")


@league.command("run")
@click.argument("file", metavar="FILE|NAME", shell_complete=complete_tournament)
@click.option("--workers", type=WORKERS, help="Matches played at once; default: the file, or all cores.")
@cluster_options
@format_option(text="Format of the leaderboard.")
@table_options
@click.option("--pin/--no-pin", default=True, help="Keep each worker with its bots on one core, where that is enough.")
@click.option("--update", is_flag=True, help="Take new versions of bots and changes that drop matches; asks before.")
@click.option("--yes", is_flag=True, help="With --update: do not ask.")
@click.option("--dry-run", is_flag=True, help="With --update: only say what it would drop.")
@click.option("--trust-code", is_flag=True, help="Let `game: module:Class` name a module in the tournament's folder.")
@click.option("--plan", is_flag=True, help="Only tell matches, time and precision, from a sample of a minute at most.")
@secret_file_option
@isolation_option
@results_option
@bots_option
def run_league(**given: Any) -> None:
    """Play what is left of the tournament in FILE, or of the one called NAME, then print the leaderboard.

    NAME is a file NAME.yaml in tournaments/, or a bundled tournament; `arena tournaments` lists both.

    Without `seed:` in the file all luck follows from a secret, which is drawn at the first run and kept in the results;
    its commitment is shown. Ctrl-C, SIGTERM or a crash loses nothing that is stored: the same command continues where
    it stopped, and ends with the same standings.

    A league that has begun goes on with the bots it began with, also if they were submitted again or edited since.

    With --plan nothing is stored, and no luck of the league is drawn: a sample on other luck tells how many hours the
    league will take on this machine, and the difference between two players that so many blocks can show. With
    --cluster it is played here, too; the time is that of all workers, by their speeds.

    Example: arena league run first --workers 4
    """
    asked, newer = _RunOptions(**given), list[str]()
    if (asked.yes or asked.dry_run) and not asked.update:
        raise SpecError("--yes and --dry-run go with --update")
    bots, secret = asked.bots(), chosen_secret(None, asked.secret_file)
    tournament = asked.tournament(bots, newer)
    if asked.dry_run:
        preview(asked.results, tournament)
    elif asked.plan:
        used = asked.cluster.chosen(tournament.cluster, asked.workers)
        print_plan(tournament, asked.results, asked.isolation, asked.slots(tournament), asked.style.width, used)
        report_kept_versions(tournament.name, newer)
    else:
        require_columns(asked.style, asked.form, tournament)
        _run(asked, tournament, bots=bots, given=secret, newer=newer)


class _RunOptions(msgspec.Struct, frozen=True):
    """The options of `arena league run`."""

    file: str
    workers: int | None
    cluster: ClusterOptions
    form: str
    pin: bool
    update: bool
    yes: bool
    dry_run: bool
    plan: bool
    trust_code: bool
    secret_file: Path | None
    isolation: Isolation
    results: Path
    bots_folder: Path
    style: Style

    def bots(self) -> BotStore:
        """The bots that its players name."""
        return BotStore(self.results, self.bots_folder, self.isolation)

    def slots(self, tournament: Tournament) -> int:
        """The matches that are played at once on this machine."""
        return local_workers(self.workers or tournament.workers, largest_limits(tournament), print_warning)

    def tournament(self, bots: BotStore, newer: list[str]) -> Tournament:
        """The tournament of the file, with the bots with which it began; `newer` gets those that changed since."""
        kept = () if self.update else (begun_versions(bots, self.results, newer),)
        path = find_tournament(self.file)
        if self.trust_code:
            os.environ[TRUST] = str(path.parent.absolute())
        return read_tournament(path, bots.find, *kept)


def _run(asked: _RunOptions, tournament: Tournament, *, bots: BotStore, given: Secret | None, newer: list[str]) -> None:
    """Play what is left, and print the leaderboard."""
    used = asked.cluster.chosen(tournament.cluster, asked.workers)
    count = 1 if used else asked.slots(tournament)
    backend = backend_of(used, tournament, bots, asked.isolation, LocalBackend(count, may_pin=asked.pin), print_warning)
    prepare_isolation(asked.isolation, tournament.game)
    with stoppable(), writable(asked.results) as store:
        tournament, replay_of = installed(tournament, bots), replays_of(store)
        confirm_update(store, replay_of, tournament, update=asked.update, yes=asked.yes)
        report_kept_versions(tournament.name, newer)
        tournament, secret = begin_league(
            store, asked.results, tournament, given, lambda known: not replay_of(known).state.is_complete
        )
        _report_luck_and_clock(tournament, None if used else count)
        league_run = LeagueRun(store, replay_of(tournament), secret, asked.isolation)
        try:
            lost = _play(league_run, backend, asked.results)
        except Interrupted:
            _written(league_table(store, league_run.state), league_run.state, asked.results)
            raise
        page = _written(publish(store, league_run.state), league_run.state, asked.results)
        table = page.render(asked.form, asked.style)
        history = f"history: {store.head()}"
    click.echo(table)
    click.echo(f"\n{history}" if asked.form == "table" else history, err=asked.form != "table")
    require_whole_blocks(league_run.state)
    if lost is not None:
        raise lost


def _play(league_run: LeagueRun, backend: Backend, results: Path) -> BlocksLost | None:
    """Play with a log, and a line of progress."""
    progress = league_run.progress
    with _logging_to(results, league_run.name), TerminalLine(progress.words, progress.counts).shown() as draw:
        return league_run.play(backend, draw)


def _written(table: "tuple[Standings, tuple[Timing, ...]]", state: LeagueState, results: Path) -> Page:
    """Return the leaderboard, which is written as Markdown and as CSV."""
    from arena.report.leaderboard import leaderboard_page  # noqa: PLC0415 - numpy is for this page only

    page = leaderboard_page(*table, state.news)
    name = state.tournament.name
    _write_tables(results, name, {".md": f"# {escaped(name)}\n\n{page.render('markdown')}", ".csv": page.render("csv")})
    return page


def _write_tables(results: Path, league: str, texts: Mapping[str, str]) -> None:
    """Write `tables/LEAGUE.SUFFIX` for each suffix: text that anybody opens; arena never reads it again."""
    try:
        files.make_folder(results, "tables")
        for suffix, text in texts.items():
            files.replace_plain(results, f"tables/{league}{suffix}", f"{text.rstrip()}\n")
    except OSError as error:
        raise database.unwritable(results / "tables", error) from None


def _report_luck_and_clock(tournament: Tournament, here: int | None) -> None:
    """Tell the commitment of the luck, and doubts of wall time if `here` matches are played at once on this machine."""
    if tournament.seed is None:
        click.echo(f"league {tournament.name}: {luck_description(luck_origin(tournament))}", err=True)
    if here is not None and (doubt := doubt_of_wall_time(decided_by_wall(tournament), here)):
        click.echo(doubt, err=True)


@league.command()
@requesting(ReadStatus)
@click.argument("league", required=False, metavar="[NAME]", shell_complete=complete_league)
@click.option("--machines", is_flag=True, help="Also tell on which machines of a cluster how many blocks were played.")
@results_option
def status(request: ReadStatus) -> None:
    """Print how many matches of league NAME (or of all leagues) are stored, and which round is on.

    Example: arena league status
    """
    found = read_status(request)
    for known in found.leagues:
        state, tournament = known.state, known.state.tournament
        click.echo(
            f"{tournament.name}: {progress_of(state)}, {len(tournament.players)} players, game {tournament.game}"
        )
        is_secret = tournament.seed is None
        luck = secret_descriptions(known.secrets) if is_secret else [luck_description(luck_origin(tournament))]
        for sentence in (*luck, *state.news, *map(_share, known.machines)):
            click.echo(f"  {sentence}")
    click.echo(f"history: {found.history}")
    if found.damage:
        raise DamagedStore("\n".join(found.damage))


def _share(machine: MachineShare) -> str:
    """Return `node7, speed 20.1 to 20.4: 120 blocks`, or the blocks of this machine."""
    speeds = f"{printable(machine.name)}, speed {' to '.join(map(str, machine.speeds))}"
    return f"{speeds if machine.name else 'without a cluster'}: {counted(machine.blocks, 'block')}"


@league.command("reveal")
@click.argument("name", shell_complete=complete_league)
@click.option("--to", "file", type=FILE_PATH, help="New file for the secret, for --secret-file.")
@results_option
def reveal_secret(name: str, file: Path | None, results: Path) -> None:
    """Print the secret from which the luck of league NAME follows. It gives no new block from then on.

    With the secret and its commitment anybody computes every die again: `arena verify --secret-file FILE` checks a copy
    of the results, `arena league run --secret-file FILE` repeats the league. Blocks that are not played yet are drawn
    under a new secret, with a commitment of its own, at the next run.

    Example: arena league reveal first --to first.secret
    """
    if file is not None and file.exists():
        raise SpecError(f"--to {file}: the file exists; choose a new one")
    with stored(results) as store:
        store.league(name)  # known, before anything is opened for writing
    with writable(results) as store:
        known, secret = SecretKeeper(store, results).reveal(name)
    if file is None:
        click.echo(secret.reveal())
    else:
        remark = f"# secret of league {name}, commitment {secret.commitment}, revealed {known.revealed_at}"
        file.write_text(f"{remark}\n{secret.reveal()}\n", encoding="utf-8")
    click.echo(
        f"league {name}: the secret of commitment {secret.commitment} is revealed ({known.revealed_at}) and gives no"
        " new block; what is not played yet is drawn under a new secret, with a commitment of its own",
        err=True,
    )


@league.command()
@click.argument("name", required=False, shell_complete=complete_league)
@click.option("--faults", is_flag=True, help="Only matches with a fault, and why: found, expected, stderr.")
@format_option(MATCH_FORMATS, "Format of the output; csv and json have all that is known of each match.")
@table_options
@results_option
def matches(name: str | None, faults: bool, form: str, results: Path, style: Style) -> None:
    """List the stored matches of league NAME: id, players by seat, scores, termination, faults.

    NAME may be left out if there is only one league. With --format csv or json also ranks, luck, moves and times, one
    match a line; docs/results.md explains the columns.

    Example: arena league matches first --format csv
    """
    with stored(results) as store:
        state = one_league(store, name)

        def record(one: MatchResult) -> MatchRecord:
            return record_of(store.match(str(one.key)))

        told = record if faults else None
        with contextlib.nullcontext(ignore_step) if sys.stdout.isatty() else task_line() as on_step:
            every = steps_of(store.results(state.blocks), "matches", state.stored, on_step)
            found = (one for one in every if not faults or one.at_fault is not None or one.pardoned)
            for piece in match_list(found, seats=state.tournament.seats, form=form, record_of=told, style=style):
                click.echo(piece, nl=False)


class _LogFile(logging.StreamHandler[TextIO]):
    """A log that cannot be written (a full disk) is said once: the matches and the leaderboard matter more."""

    def __init__(self, stream: TextIO, path: Path) -> None:
        super().__init__(stream)
        self._path = path

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        self._give_up()

    def close(self) -> None:
        """Write out what is left, which fails where a record did."""
        super().close()
        try:
            self.stream.close()
        except OSError:
            self._give_up()

    def _give_up(self) -> None:
        if self.level <= logging.CRITICAL:
            click.echo(f"{self._path}: cannot be written: {sys.exc_info()[1]}; going on without a log", err=True)
        self.setLevel(logging.CRITICAL + 1)


@contextlib.contextmanager
def _logging_to(results: Path, league: str) -> Iterator[None]:
    """Everything logged here and in the workers goes to one file."""
    files.make_folder(results, "logs")
    name = f"logs/{league}.log"
    number = files.open_file(results, name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    handler = _LogFile(os.fdopen(number, "a", encoding="utf-8"), (results / name).absolute())
    handler.setFormatter(logging.Formatter("%(asctime)s %(processName)s %(name)s %(levelname)s %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()
