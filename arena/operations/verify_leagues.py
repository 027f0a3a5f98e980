"""The verification of stored matches and standings, which are computed again."""

import contextlib
from collections.abc import Iterable, Iterator

from msgspec import UNSET

from arena.errors import ArenaError
from arena.games import load_game
from arena.games.api import simulator_of
from arena.league.driver import Backend, LocalBackend
from arena.league.progress import RunProgress
from arena.league.tournament import ClusterSettings, Tournament, largest_limits
from arena.match.secret_luck import Secret
from arena.operations.events import Counted, Event, OnEvent, Warned, ignore
from arena.operations.playing import ClusterChoice, backend_of, local_workers, prepare_isolation
from arena.operations.request import Request
from arena.process.cores import usable_cores
from arena.process.limits import DEFAULT_ISOLATION, Isolation
from arena.store.bots import BotStore
from arena.store.folder import open_store
from arena.store.history import Head
from arena.store.matches import MatchStore
from arena.store.secrets import SecretKeeper
from arena.verify.audit import AuditOptions, audit
from arena.verify.match import Checker, check_here, parallel_checker


class VerifyLeagues(Request, frozen=True, kw_only=True):
    """The leagues to verify, by default all, and the roots of histories that were printed before.

    `workers` matches are checked at once: by default on all cores if anything has to be simulated again, else one.
    `replays` random jobs of each league are played again, with bots in that `isolation`. `secret` is one that is not
    stored here.
    """

    leagues: tuple[str, ...] = ()
    workers: int | None = None
    cluster: ClusterChoice = ClusterChoice()
    roots: tuple[Head, ...] = ()
    replays: int = 0
    secret: Secret | None = None
    isolation: Isolation = DEFAULT_ISOLATION


class Found(Event, frozen=True):
    """A finding in a sentence; `is_problem` if something is wrong."""

    is_problem: bool
    sentence: str


def verify_leagues(request: VerifyLeagues, on: OnEvent = ignore) -> tuple[str, ...]:
    """Verify leagues, and report each finding; return the problems, which raise nothing.

    MachineFault if jobs are to be replayed and bots cannot be isolated here.
    """
    cluster = request.cluster.select(UNSET, request.workers)
    with open_store(request.results) as store:
        leagues = request.leagues or tuple(store.leagues())
        games = tuple(_installed_games(store, leagues))
        for game in games if request.replays else ():
            prepare_isolation(request.isolation, game)
        is_slow = any(simulator_of(load_game(game)) is not None for game in games)
        workers = request.workers or (len(usable_cores()) if is_slow else 1)
        bots, keeper = BotStore(request.results, request.results), SecretKeeper(store, request.results)

        def open_backend(tournament: Tournament) -> Backend:
            most = 1 if cluster else local_workers(request.workers, largest_limits(tournament), on)
            local = LocalBackend(min(workers, most))
            return backend_of(cluster, tournament, bots, request.isolation, local, on)

        def secrets(commitments: Iterable[str]) -> list[Secret]:
            listed = tuple(commitments)
            given = [request.secret] if request.secret is not None and request.secret.commitment in listed else []
            return [*given, *keeper.find_all(listed)]

        runs = dict[str, RunProgress]()

        def watch(league: str, done: int, total: int) -> None:
            run = runs.setdefault(league, RunProgress(total=total))
            run.reach(done, total)
            on(Counted.of(run.counts, task=league))

        problems = []
        with _open_checker(cluster, workers, on) as checker:
            settings = AuditOptions(
                checker, watch, secrets, request.roots, request.replays, request.isolation, open_backend
            )
            for is_problem, sentence in audit(store, bots, leagues, settings):
                on(Found(is_problem, sentence))
                problems += [sentence] if is_problem else []
        return tuple(problems)


def _open_checker(
    cluster: ClusterSettings | None, workers: int, on: OnEvent
) -> contextlib.AbstractContextManager[Checker]:
    """Return the checker of all matches: the cluster's workers, or so many processes here."""
    if cluster is None:
        return contextlib.nullcontext(check_here) if workers == 1 else parallel_checker(workers)
    from arena.cluster.checker import cluster_checker  # noqa: PLC0415 - only for a cluster

    return cluster_checker(cluster, lambda sentence: on(Warned(sentence)))


def _installed_games(store: MatchStore, leagues: Iterable[str]) -> Iterator[str]:
    """Yield the games of these leagues that are installed. A league that cannot be read is left to the audit."""
    for name in leagues:
        with contextlib.suppress(ArenaError):
            game = store.league(name).game
            load_game(game)
            yield game
