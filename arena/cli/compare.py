"""`arena compare`: is NEW better than OLD? As few matches as it takes to tell, and an honest answer."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Any, get_args

import click
from msgspec import UNSET
from msgspec.structs import replace

from arena.api import begin_league, installed
from arena.cli.completion import complete_bot
from arena.cli.edge import TerminalLine, print_warning, stoppable
from arena.cli.options import WORKERS, ClusterOptions, MatchSetup, cluster_options, format_option, match_options
from arena.errors import Interrupted, SpecError
from arena.games import load_game
from arena.games.api import value_of
from arena.league.driver import Backend, LocalBackend, play_jobs
from arena.league.progress import Progress
from arena.league.schedule import Job, jobs
from arena.league.sprt import SequentialComparison
from arena.league.state import state_of
from arena.league.tournament import DEFAULT_SEATS, Player, Tournament, largest_limits, luck_origin
from arena.match.columns import PlayedBlock
from arena.operations.playing import backend_of, local_workers
from arena.process.manifest import BotSpec
from arena.report.comparison import as_json, as_text, state_line
from arena.report.luck_origin import luck_description
from arena.statistics.sequential import Model, SequentialSettings
from arena.store.folder import writable
from arena.store.matches import MatchStore
from arena.text import names_apart

_JOBS_BETWEEN_LOOKS = 2
"""Smaller jobs leave fewer blocks in flight that come too late to count; larger ones start fewer processes."""
_FORMATS = {"text": as_text, "json": as_json}


@click.command("compare")
@click.argument("new", shell_complete=complete_bot)
@click.argument("old", shell_complete=complete_bot)
@click.option("--elo0", default=0.0, help="H0: NEW is better by no more than this.")
@click.option("--elo1", default=20.0, help="H1: NEW is better by at least this.")
@click.option(
    "--model",
    type=click.Choice(get_args(Model)),
    default="normalised",
    help="Kind of Elo that --elo0 and --elo1 are; `luck-adjusted` is `logistic` with luck taken off the scores,"
    " `student` compares margins instead of wins.",
)
@click.option("--alpha", default=0.05, help="Chance that H1 is accepted if H0 is true, about.")
@click.option("--beta", default=0.05, help="Chance that H0 is accepted if H1 is true, about.")
@click.option("--batch", type=click.IntRange(1, 10_000), default=8, help="Blocks between two looks.")
@click.option("--cap", type=click.IntRange(1, 10_000_000), help="Blocks after which it is given up; default: computed.")
@click.option("--workers", type=WORKERS, help="Matches played at once; default: all cores.")
@cluster_options
@format_option(tuple(_FORMATS))
@match_options
def compare_bots(
    new: str, old: str, workers: int | None, cluster: ClusterOptions, form: str, setup: MatchSetup, **settings: Any
) -> None:
    """Play NEW against OLD in blocks until a sequential test has decided whether NEW is better.

    Matches are stored, and the secret under which their luck is drawn. Interrupted, the same command continues, and
    comes to the same verdict as without the stop, at any number of workers.

    Example: arena compare ./mybot mybot --elo1 30
    """
    try:
        test = SequentialSettings(matches=DEFAULT_SEATS, **settings)
    except SpecError as error:
        raise SpecError(re.sub(r"\b(?=(elo[01]|alpha|beta|cap)\b)", "--", str(error))) from None
    players = _players(setup.bots.find(new), setup.bots.find(old))
    names = (players[0].name, players[1].name)
    setup.require_options(DEFAULT_SEATS)
    value = value_of(load_game(setup.game))
    if test.model == "luck-adjusted" and value is None:
        raise SpecError(f"--model luck-adjusted: {setup.game} has no value function that could tell its luck")
    tester = partial(SequentialComparison, test, luck_version=value.version if value else "")
    used = cluster.chosen(UNSET, workers)
    setup.prepare_isolation()
    with stoppable(), writable(setup.results) as store:

        def is_open(known: Tournament) -> bool:
            return not _compared(store, known, tester, names[0])[0].is_decided

        meeting = installed(_tournament(players, setup, test), setup.bots)
        tournament, secret = begin_league(store, setup.results, meeting, setup.given, is_open)
        comparison, finished = _compared(store, tournament, tester, names[0])
        if tournament.seed is None:
            click.echo(luck_description(luck_origin(tournament)), err=True)
        needed = comparison.needed(jobs(tournament, finished, setup.isolation, secret=secret))

        local = LocalBackend(1 if used else local_workers(workers, largest_limits(tournament), print_warning))
        _play(
            store, needed, comparison, backend_of(used, tournament, setup.bots, setup.isolation, local, print_warning)
        )
    click.echo(_FORMATS[form](comparison.compared, names, luck_origin(tournament)))


def _players(new: BotSpec, old: BotSpec) -> tuple[Player, Player]:
    """Both under names that tell them apart: by name, else by version, else by hash; a bot and itself as well."""
    bots = (new, old)
    versions, hashes = [bot.manifest.version for bot in bots], [bot.digest[:8] for bot in bots]
    names = names_apart([bot.name for bot in bots], versions, hashes, ["new", "old"])
    return Player(name=names[0], bot=new), Player(name=names[1], bot=old)


def _tournament(players: tuple[Player, Player], setup: MatchSetup, test: SequentialSettings) -> Tournament:
    meeting = setup.exhibition(players, setup.given, test.last)
    name = f"compare-{players[0].name}-{players[1].name}"
    size = max(1, test.batch // _JOBS_BETWEEN_LOOKS)
    return replace(meeting, name=name, chunk_blocks=size, luck=test.model == "luck-adjusted")


def _compared(
    store: MatchStore, tournament: Tournament, tester: Callable[[int], SequentialComparison], new: str
) -> tuple[SequentialComparison, Mapping[str, Collection[int]]]:
    """The test after the blocks that are stored; and these, by the key of the pairing."""
    state = state_of(tournament, store.ranks)
    comparison = tester(state.spans[0].pairing.names.index(new))
    matches = groupby(store.matches(state.blocks), key=lambda match: match.result.key.block)
    comparison.add({block: list(own) for block, own in matches})
    return comparison, state.finished


def _expected_matches(comparison: SequentialComparison) -> int:
    """Matches until the verdict, as the test expects by now."""
    return (comparison.state.blocks + comparison.state.blocks_to_go) * DEFAULT_SEATS


def _play(store: MatchStore, needed: Iterator[Job], comparison: SequentialComparison, backend: Backend) -> None:
    """Play until it is decided."""
    progress = Progress(total=_expected_matches(comparison), done=comparison.state.blocks * DEFAULT_SEATS)

    def commit(blocks: list[PlayedBlock]) -> None:
        store.save(blocks)
        comparison.add({block.block: block.matches for block in blocks})
        progress.total = _expected_matches(comparison)
        progress.add(comparison.state.blocks * DEFAULT_SEATS - progress.done, 0)

    def tick(finished: int) -> None:
        progress.finished = finished
        draw()

    def words() -> str:
        return state_line(comparison.state) + progress.left()

    try:
        with TerminalLine(words, progress.counts).shown() as draw:
            play_jobs([needed], backend, commit=commit, tick=tick)
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted, {state_line(comparison.state)}; what is played is stored, and the same command continues"
        ) from None
