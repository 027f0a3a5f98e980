"""A comparison: is one bot better than another? As few matches as a sequential test takes to tell."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import groupby

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from arena.errors import Interrupted, SpecError
from arena.games import load_game
from arena.games.api import value_of
from arena.league.driver import Backend, LocalBackend, play_jobs
from arena.league.progress import RunProgress
from arena.league.schedule import Job, jobs
from arena.league.sprt import ComparisonSummary, SequentialComparison
from arena.league.state import state_of
from arena.league.tournament import DEFAULT_SEATS, Player, Tournament, largest_limits, luck_origin
from arena.match.columns import PlayedBlock
from arena.match.secret_luck import LuckOrigin
from arena.operations.events import Counted, Event, OnEvent, ignore
from arena.operations.exhibitions import MatchRequest
from arena.operations.leagues import begin_league, with_installed_bots
from arena.operations.playing import (
    ClusterChoice,
    WorkerCount,
    backend_of,
    local_workers,
    prepare_isolation,
    require_options,
)
from arena.process.manifest import BotSpec
from arena.report.comparison import state_line
from arena.statistics.sequential import Model, SequentialSettings, State
from arena.store.folder import open_store_for_writing
from arena.store.matches import MatchStore
from arena.text import distinguish_names

_JOBS_BETWEEN_LOOKS = 2
"""Smaller jobs leave fewer blocks in flight that come too late to count; larger ones start fewer processes."""


class CompareBots(MatchRequest, frozen=True, kw_only=True):
    """A test whether bot `new` is better than `old`: by `elo1` or more, or by no more than `elo0`.

    `alpha` and `beta` are the chances of either error. The test looks after every `batch` blocks; it ends undecided
    after `blocks`, by default a computed number.
    """

    new: str
    old: str
    elo0: float = 0.0
    elo1: float = 20.0
    model: Model = "normalised"
    alpha: float = 0.05
    beta: float = 0.05
    batch: int = 8
    blocks: int | None = None
    workers: WorkerCount | None = None
    cluster: ClusterChoice = ClusterChoice()


class ComparisonLuck(Event, frozen=True):
    """The luck under which the matches are drawn."""

    luck: LuckOrigin


class TestProgressed(Counted, frozen=True):
    """The counts of a comparison, and the state of its test."""

    state: State


class Comparison(msgspec.Struct, frozen=True):
    """The numbers of a comparison of the players `new` and `old`."""

    new: str
    old: str
    result: ComparisonSummary
    luck: LuckOrigin


def compare_bots(request: CompareBots, on: OnEvent = ignore) -> Comparison:
    """Play until the test has decided, or must end undecided. Interrupted by a KeyboardInterrupt.

    Blocks are stored as they end, in the league `compare-NEW-OLD`, so that the same request continues. SpecError for
    unknown bots, and for settings that do not fit the game.
    """
    names = ("elo0", "elo1", "model", "alpha", "beta", "batch", "blocks")
    test = SequentialSettings(matches=DEFAULT_SEATS, **{name: getattr(request, name) for name in names})
    bots = request.bot_store()
    players = _distinct_players(bots.find(request.new), bots.find(request.old))
    require_options(request.game, request.options, DEFAULT_SEATS)
    value = value_of(load_game(request.game))
    if test.model == "luck-adjusted" and value is None:
        raise SpecError(f"--model luck-adjusted: {request.game} has no value function that could tell its luck")
    tester = partial(SequentialComparison, test, luck_version=value.version if value else "")
    cluster = request.cluster.select(UNSET, request.workers)
    prepare_isolation(request.isolation, request.game)
    with open_store_for_writing(request.results) as store:

        def is_open(known: Tournament) -> bool:
            return not _resume_test(store, known, tester, players[0].name)[0].is_decided

        new_tournament = with_installed_bots(_tournament_of_test(players, request, test), bots)
        tournament, secret = begin_league(store, request.results, new_tournament, request.secret, is_open)
        comparison, finished = _resume_test(store, tournament, tester, players[0].name)
        on(ComparisonLuck(luck_origin(tournament)))
        needed = comparison.needed(jobs(tournament, finished, request.isolation, secret=secret))
        local = LocalBackend(1 if cluster else local_workers(request.workers, largest_limits(tournament), on))
        backend = backend_of(cluster, tournament, bots, request.isolation, local, on)
        _play_until_decided(store, needed, comparison, backend, on)
    return Comparison(players[0].name, players[1].name, comparison.summary, luck_origin(tournament))


def _distinct_players(new: BotSpec, old: BotSpec) -> tuple[Player, Player]:
    """Return both players under distinct names: with the version if the names are equal, else with the hash."""
    bots = (new, old)
    versions, hashes = [bot.manifest.version for bot in bots], [bot.digest[:8] for bot in bots]
    names = distinguish_names([bot.name for bot in bots], versions, hashes, ["new", "old"])
    return Player(name=names[0], bot=new), Player(name=names[1], bot=old)


def _tournament_of_test(players: tuple[Player, Player], request: CompareBots, test: SequentialSettings) -> Tournament:
    """Return the tournament of a test: `compare-NEW-OLD`, in jobs of half a batch."""
    tournament = request.exhibition(players, request.secret, test.last)
    name = f"compare-{players[0].name}-{players[1].name}"
    size = max(1, test.batch // _JOBS_BETWEEN_LOOKS)
    return replace(tournament, name=name, chunk_blocks=size, luck=test.model == "luck-adjusted")


def _resume_test(
    store: MatchStore, tournament: Tournament, tester: Callable[[int], SequentialComparison], new: str
) -> tuple[SequentialComparison, Mapping[str, Collection[int]]]:
    """Return the test after the stored blocks, and the numbers of these blocks by the key of their pairing.

    `tester` makes the test from the place of the player `new` in its pairing, from 0.
    """
    state = state_of(tournament, store.ranks)
    comparison = tester(state.spans[0].pairing.names.index(new))
    matches = groupby(store.matches(state.blocks), key=lambda match: match.key.block)
    comparison.add({block: list(played) for block, played in matches})
    return comparison, state.finished


def _expected_matches(comparison: SequentialComparison) -> int:
    """Return the expected number of matches until the verdict."""
    return (comparison.state.blocks + comparison.state.blocks_to_go) * DEFAULT_SEATS


def _play_until_decided(
    store: MatchStore, needed: Iterator[Job], comparison: SequentialComparison, backend: Backend, on: OnEvent
) -> None:
    """Play and store blocks until the test has decided, and report progress. Interrupted by a KeyboardInterrupt."""
    progress = RunProgress(total=_expected_matches(comparison), done=comparison.state.blocks * DEFAULT_SEATS)

    def commit(blocks: list[PlayedBlock]) -> None:
        store.save(blocks)
        comparison.add({block.block: block.results for block in blocks})
        progress.reach(comparison.state.blocks * DEFAULT_SEATS, _expected_matches(comparison))

    def report(finished: int) -> None:
        progress.finished = finished
        on(TestProgressed.of(progress.counts, comparison.state))

    try:
        play_jobs([needed], backend, commit=commit, tick=report)
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted, {state_line(comparison.state)}; what is played is stored, and the same command continues"
        ) from None
    finally:
        report(progress.finished)
