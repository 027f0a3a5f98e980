"""`arena league`: run a tournament file, tell how far a league is, list its matches."""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from importlib import import_module
from pathlib import Path

import click
import msgspec

from arena.cli import SuggestingGroup
from arena.cli.options import bot_store, results_option, shelf_option
from arena.cli.progress import Progress
from arena.cli.stopping import stoppable
from arena.errors import Interrupted, SpecError
from arena.league.pool import Backend, ExecutorBackend, LocalBackend
from arena.league.results import PlayedBlock
from arena.league.run import run as run_chunks
from arena.league.schedule import chunks, match_count, pairings
from arena.league.standings import standings_json
from arena.league.tournament import Tournament, read_tournament
from arena.report.leaderboard import FORMATS, render
from arena.report.table import table
from arena.store import database
from arena.store.matches import MatchStore

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
@results_option
@shelf_option
def run(file: Path, workers: int | None, executor: str | None, form: str, results: Path, shelf: Path) -> None:
    """Play what is left of the tournament in FILE, then print the leaderboard.

    Ctrl-C, SIGTERM or a crash loses nothing that is stored: the same command continues where it stopped, and ends with
    the same standings.

    Example: arena league run tournaments/first.yaml --workers 4
    """
    bots = bot_store(results, shelf)
    tournament = read_tournament(file, bots.find)
    backend = _backend(executor, workers or tournament.workers)
    with (
        stoppable(),
        database.writer_lock(results),
        contextlib.closing(database.open_for_writing(results)) as connection,
    ):
        store = MatchStore(connection, results)
        installed = tuple(msgspec.structs.replace(each, bot=bots.install(each.bot)) for each in tournament.players)
        tournament = msgspec.structs.replace(tournament, players=installed)
        store.save_league(tournament)
        with _logging_to(results / "logs" / f"{tournament.name}.log"):
            _play(store, tournament, backend)
        standings, timing = table(store, tournament)
        store.save_standings(tournament.name, standings_json(standings))
    click.echo(render(standings, timing, format=form))


@league.command()
@click.argument("name", required=False)
@results_option
def status(name: str | None, results: Path) -> None:
    """How many matches of league NAME (or of all leagues) are stored.

    Example: arena league status
    """
    with stored(results) as store:
        for each in [name] if name else store.leagues():
            tournament = store.league(each)
            done = sum(len(blocks) for blocks in store.finished(tournament).values()) * 2
            total = match_count(tournament)
            click.echo(f"{each}: {done} of {total} matches, {len(tournament.players)} players, game {tournament.game}")


@league.command()
@click.argument("name")
@click.option("--faults", is_flag=True, help="Only matches that ended with a forfeit.")
@results_option
def matches(name: str, faults: bool, results: Path) -> None:
    """List the stored matches of league NAME: id, players by seat, scores, termination.

    Example: arena league matches first --faults
    """
    with stored(results) as store:
        tournament = store.league(name)
        names = {pairing.key: [player.name for player in pairing.players] for pairing in pairings(tournament)}
        for match in store.matches(tournament):
            summary = match.summary
            if faults and summary.at_fault < 0:
                continue
            first, second = (names[match.pairing][(seat + match.rotation) % 2] for seat in (0, 1))
            scores = "-" if summary.scores is None else ":".join(map(str, summary.scores))
            guilty = "" if summary.at_fault < 0 else f" by {(first, second)[summary.at_fault]}"
            click.echo(f"{match.match_id}  {first} v {second}  {scores}  {summary.termination}{guilty}")


@contextlib.contextmanager
def stored(results: Path) -> Iterator[MatchStore]:
    """The stored matches of a results folder, for reading. SpecError if there are none."""
    connection = database.open_for_reading(results)
    if connection is None:
        raise SpecError(f"nothing is stored in {results} yet; `arena league run FILE` plays a league")
    with contextlib.closing(connection):
        yield MatchStore(connection, results)


def _backend(executor: str | None, workers: int | None) -> Backend:
    count = workers or len(os.sched_getaffinity(0))
    if executor is None:
        return LocalBackend(count)
    module, _, factory = executor.partition(":")
    try:
        made = getattr(import_module(module), factory)()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise SpecError(f"--executor {executor}: {error}; expected module:function") from None
    if not isinstance(made, Executor):
        raise SpecError(f"--executor {executor}: found a {type(made).__name__}, expected a concurrent.futures executor")
    return ExecutorBackend(made, count)


def _play(store: MatchStore, tournament: Tournament, backend: Backend) -> None:
    finished = store.finished(tournament)
    progress = Progress(total=match_count(tournament), done=sum(map(len, finished.values())) * 2)

    def commit(blocks: list[PlayedBlock]) -> None:
        store.save(blocks)
        played = [match.summary for block in blocks for match in block.matches]
        progress.add(len(played), sum(summary.at_fault >= 0 for summary in played))

    log.info("%s: %d matches to play", tournament.name, progress.left)
    try:
        run_chunks(chunks(tournament, finished), backend, commit=commit, tick=progress.draw)
    except KeyboardInterrupt:
        progress.end()
        log.info("%s: interrupted, %s", tournament.name, progress.line())
        raise Interrupted(
            f"interrupted with {progress.done} of {progress.total} matches stored; the same command continues"
        ) from None
    progress.end()
    log.info("%s: done, %s", tournament.name, progress.line())


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
