"""`arena league`: run a tournament file, tell how far a league is, list its matches."""

import contextlib
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor
from importlib import import_module
from itertools import chain
from pathlib import Path

import click
import msgspec

from arena.cli import SuggestingGroup
from arena.cli.edge import stoppable
from arena.cli.options import (
    bots_option,
    chosen_luck,
    insist_on,
    isolation_option,
    results_option,
    secret_file_option,
    terminal_width,
)
from arena.cli.progress import LeagueProgress, Progress, called, how_far
from arena.cli.update import BegunLeagues, Replays, confirm_update, preview, report_kept_versions
from arena.doctor.machine import doubt_of_wall_time
from arena.errors import DamagedStore, Interrupted, SpecError
from arena.league.driver import Backend, BlocksLost, ExecutorBackend, LocalBackend
from arena.league.driver import run as run_batches
from arena.league.schedule import Batch, PlayedBlock, batches
from arena.league.state import LeagueState, Replay, state_of
from arena.league.tournament import Tournament, decided_by_wall, luck_origin, read_tournament
from arena.match.record import unpack
from arena.match.secret_luck import Secret
from arena.process.limits import Isolation
from arena.report import matches as matches_page
from arena.report.formats import FORMATS
from arena.report.luck_origin import luck_description, secret_descriptions
from arena.store import database
from arena.store.bots import BotStore
from arena.store.matches import MatchStore
from arena.store.secrets import SecretKeeper
from arena.text import counted

LOGGED_FORFEITS = 20
"""Of each player in a run: the first show what is wrong, and a bot that always forfeits must not fill the log."""
MOST_BLOCKS_NAMED = 5
log = logging.getLogger("arena.league")


@click.group(cls=SuggestingGroup)
def league() -> None:
    """Run a tournament file, see how far it is.

    Example: arena league run tournaments/first.yaml
    """


@league.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--workers", type=click.IntRange(1, 1024), help="Matches played at once; default: the file, or all cores."
)
@click.option("--executor", metavar="MODULE:FACTORY", help="Play on the concurrent.futures executor this call returns.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Of the leaderboard."
)
@click.option("--pin", is_flag=True, help="Keep each worker, with its bots, on one core of its own.")
@click.option("--update", is_flag=True, help="Take new versions of bots and changes that drop matches; asks before.")
@click.option("--yes", is_flag=True, help="With --update: do not ask.")
@click.option("--dry-run", is_flag=True, help="With --update: only say what it would drop.")
@secret_file_option
@isolation_option
@results_option
@bots_option
def run(
    file: Path,
    workers: int | None,
    executor: str | None,
    form: str,
    pin: bool,
    update: bool,
    yes: bool,
    dry_run: bool,
    secret_file: Path | None,
    isolation: Isolation,
    results: Path,
    shelf: Path,
) -> None:
    """Play what is left of the tournament in FILE, then print the leaderboard.

    Without `seed:` in the file all luck follows from a secret, which is drawn at the first run and kept in the results;
    its commitment is shown. Ctrl-C, SIGTERM or a crash loses nothing that is stored: the same command continues where
    it stopped, and ends with the same standings.

    A league that has begun goes on with the bots it began with, also if they were submitted again or edited since.

    Example: arena league run tournaments/first.yaml --workers 4
    """
    if (yes or dry_run) and not update:
        raise SpecError("--yes and --dry-run go with --update")
    bots, given = BotStore(results, shelf, isolation), chosen_luck(None, secret_file)
    beginning = BegunLeagues(bots, results)
    tournament = read_tournament(file, bots.find) if update else read_tournament(file, bots.find, beginning.keep)
    if dry_run:
        with stored(results) as store:
            preview(store, tournament)
        return
    backend = _backend(executor, workers or tournament.workers, pin=pin)
    insist_on(isolation, tournament.game)
    with (
        stoppable(),
        database.writer_lock(results),
        contextlib.closing(database.open_for_writing(results)) as connection,
    ):
        store = MatchStore(connection, results)
        installed = tuple(msgspec.structs.replace(each, bot=bots.install(each.bot)) for each in tournament.players)
        tournament = msgspec.structs.replace(tournament, players=installed)
        replays = Replays(store)
        confirm_update(store, replays, tournament, update=update, yes=yes)
        report_kept_versions(tournament.name, beginning.newer)
        tournament, drawing = SecretKeeper(store, results).settle(
            tournament, given, lambda known: not replays.of(known).state.is_complete
        )
        store.save_league(tournament)
        if tournament.seed is None:
            click.echo(f"league {tournament.name}: {luck_description(luck_origin(tournament))}", err=True)
        if executor is None and (doubt := doubt_of_wall_time(decided_by_wall(tournament), backend.slots())):
            click.echo(doubt, err=True)
        with _logging_to(results / "logs" / f"{tournament.name}.log"):
            replay = replays.of(tournament)
            lost = _play(store, replay, drawing, backend, isolation)
        from arena.report.leaderboard import leaderboard_page  # noqa: PLC0415 - numpy is for this page only
        from arena.report.table import publish  # noqa: PLC0415 - see above

        state, head = replay.state, store.head()
        standings, timing = publish(store, state)
    click.echo(leaderboard_page(standings, timing, format=form, width=terminal_width(), news=state.news))
    click.echo(f"\nhistory: {head}" if form == "table" else f"history: {head}", err=form != "table")
    _insist_on_whole_blocks(state)
    if lost is not None:
        raise lost


def _insist_on_whole_blocks(state: LeagueState) -> None:
    """DamagedStore if a match of a stored block is missing: no run plays such a block again."""
    if state.is_complete or not state.torn:
        return
    named = [
        f"{pairing.key} block {block} ({' v '.join(pairing.names)})"
        for pairing, block in state.torn[:MOST_BLOCKS_NAMED]
    ]
    more = len(state.torn) - len(named)
    listed = "; ".join([*named, f"and {more} more"] if more else named)
    raise DamagedStore(
        f"league {state.tournament.name}: matches are missing of {counted(len(state.torn), 'stored block')}: {listed}."
        " A block is stored as a whole and never played twice, so the league cannot be completed from these results:"
        " run `arena verify`, and go on with a sound copy of them"
    )


@league.command()
@click.argument("name", required=False)
@results_option
def status(name: str | None, results: Path) -> None:
    """How many matches of league NAME (or of all leagues) are stored, and which round is on.

    Example: arena league status
    """
    damage: list[str] = []
    with stored(results) as store:
        for each in [name] if name else store.leagues():
            try:
                state = state_of(store.league(each), store.ranks)
            except DamagedStore as error:  # the others are told all the same
                damage.append(str(error))
                continue
            tournament = state.tournament
            where = f"{len(tournament.players)} players, game {tournament.game}"
            click.echo(f"{each}: {how_far(state)}, {where}")
            for sentence in (*_luck_of(store, tournament), *state.news):
                click.echo(f"  {sentence}")
        click.echo(f"history: {store.head()}")
    if damage:
        raise DamagedStore("\n".join(damage))


def _luck_of(store: MatchStore, tournament: Tournament) -> list[str]:
    if tournament.seed is not None:
        return [luck_description(luck_origin(tournament))]
    return secret_descriptions(store.secrets(tournament.name))


@league.command()
@click.argument("name")
@click.option(
    "--to", "file", type=click.Path(dir_okay=False, path_type=Path), help="New file for the secret, for --secret-file."
)
@results_option
def reveal(name: str, file: Path | None, results: Path) -> None:
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
    with (
        database.writer_lock(results),
        contextlib.closing(database.open_for_writing(results)) as connection,
    ):
        known, secret = SecretKeeper(MatchStore(connection, results), results).reveal(name)
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
@click.argument("name", required=False)
@click.option("--faults", is_flag=True, help="Only matches with a fault, whether it ended them or not.")
@click.option(
    "--format",
    "form",
    type=click.Choice(matches_page.FORMATS),
    default="table",
    show_default=True,
    help="Of the output; csv and json have all that is known of each match.",
)
@results_option
def matches(name: str | None, faults: bool, form: str, results: Path) -> None:
    """List the stored matches of league NAME: id, players by seat, scores, termination, faults.

    NAME may be left out if there is only one league. With --format csv or json also ranks, luck, moves and times, one
    match a line; docs/results.md explains the columns.

    Example: arena league matches first --format csv
    """
    with stored(results) as store:
        state = one_league(store, name)
        found = (one for one in store.results(state.blocks) if not faults or one.at_fault is not None or one.pardoned)
        for piece in matches_page.rendered(found, seats=state.tournament.seats, form=form):
            click.echo(piece, nl=False)


@contextlib.contextmanager
def stored(results: Path) -> Iterator[MatchStore]:
    """The stored matches of a results folder, for reading. SpecError if there are none."""
    connection = database.open_for_reading(results)
    if connection is None:
        raise SpecError(f"nothing is stored in {results} yet; `arena league run FILE` plays a league")
    store = MatchStore(connection, results)
    with contextlib.closing(connection), store.snapshot():
        yield store


def one_league(store: MatchStore, name: str | None) -> LeagueState:
    """The state of the league of that name, or of the only one. SpecError lists the known ones."""
    names = [name] if name else store.leagues()
    if len(names) != 1:
        raise SpecError(f"which league? known: {', '.join(names) or 'none'}")
    return state_of(store.league(names[0]), store.ranks)


def _backend(executor: str | None, workers: int | None, *, pin: bool) -> Backend:
    count = workers or len(os.sched_getaffinity(0))
    if executor is None:
        return LocalBackend(count, is_pinned=pin)
    if pin:
        raise SpecError("--pin is for workers on this machine; the workers of --executor are its own affair")
    module, _, factory = executor.partition(":")
    try:
        made = getattr(import_module(module), factory)()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise SpecError(f"--executor {executor}: {error}; expected module:function") from None
    if not isinstance(made, Executor):
        raise SpecError(f"--executor {executor}: found a {type(made).__name__}, expected a concurrent.futures executor")
    return ExecutorBackend(made, count)


def _play(
    store: MatchStore, replay: Replay, secret: Secret | None, backend: Backend, isolation: Isolation
) -> BlocksLost | None:
    """Play what is left; the blocks that could not be played, if there are any, when all others are stored."""
    tournament, before = replay.tournament, replay.state
    progress = LeagueProgress(before, _forfeits(store, before))
    forfeits = Counter[str]()

    def commit(blocks: list[PlayedBlock]) -> None:
        store.save(blocks)
        replay.add(blocks)
        before = forfeits.total()
        for block in blocks:
            _log_forfeits(block, forfeits)
        progress.add(sum(len(block.matches) for block in blocks), forfeits.total() - before)

    def next_round() -> Iterator[Batch] | None:
        """What is left of the open round; None if all that is known is stored."""
        state = replay.state
        current = state.rounds[-1]
        progress.begin(state)
        left = batches(tournament, state.finished, isolation, of=current, secret=secret)
        first = next(left, None)
        if first is None:
            return None
        log.info("%s: %s", tournament.name, called(current))
        return chain((first,), left)

    lost: BlocksLost | None = None
    log.info("%s: %d of %s matches are there", tournament.name, progress.done, progress.whole)
    try:
        run_batches(iter(()), backend, commit=commit, tick=progress.draw, then=next_round)
    except KeyboardInterrupt:
        progress.end()
        _log_end(tournament.name, "interrupted", progress, forfeits)
        raise Interrupted(
            f"interrupted with {progress.done} of {progress.whole} matches stored; the same command continues"
        ) from None
    except BlocksLost as error:
        lost = BlocksLost(f"{error}; everything else is stored, and the same command tries them again")
    progress.end()
    _log_end(tournament.name, "done" if lost is None else "incomplete", progress, forfeits)
    return lost


def _forfeits(store: MatchStore, state: LeagueState) -> int:
    """Stored matches of the league that ended with a forfeit."""
    return sum(int(column.sum()) for column in store.sums(state.blocks, state.ranks).faults.values())


def _log_forfeits(block: PlayedBlock, forfeits: "Counter[str]") -> None:
    """Count the forfeits in this block by player, and log the first of each."""
    for match in block.matches:
        one = match.result
        if one.at_fault is None:
            continue
        guilty = one.players[one.at_fault]
        forfeits[guilty] += 1
        fault = unpack(match.record).fault if forfeits[guilty] <= LOGGED_FORFEITS else None
        if fault is not None:
            log.info("%s: %s forfeits (%s): %s", one.key, guilty, one.termination, fault.message)


def _log_end(name: str, how: str, progress: Progress, forfeits: "Counter[str]") -> None:
    for player, count in sorted(forfeits.items()):
        shown = f", the first {LOGGED_FORFEITS} are above" if count > LOGGED_FORFEITS else ""
        log.info("%s: %s by %s in this run%s", name, counted(count, "forfeit"), player, shown)
    log.info("%s: %s, %s", name, how, progress.words())


class _LogFile(logging.FileHandler):
    """A log that cannot be written (a full disk) is said once: the matches matter more."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        click.echo(f"{self.baseFilename}: cannot be written: {sys.exc_info()[1]}; going on without a log", err=True)
        self.setLevel(logging.CRITICAL + 1)


@contextlib.contextmanager
def _logging_to(path: Path) -> Iterator[None]:
    """Everything logged here and in the workers goes to one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = _LogFile(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(processName)s %(name)s %(levelname)s %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()
