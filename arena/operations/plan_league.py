"""The forecast of a league: matches, time and the difference that it can show, from a sample of a minute.

Rule: nothing is written to the results folder, and no luck of the league is drawn: bots that are built for the sample
lie in a temporary folder.
"""

from functools import partial
from pathlib import Path
from typing import Final

from arena.errors import Interrupted, MachineFault, SpecError
from arena.league.forecast import Capacity, LeagueForecast, SampleTimes, shown_difference, take_sample
from arena.league.state import state_of
from arena.league.tournament import ClusterSettings, Tournament
from arena.operations.events import OnEvent, Progress, ignore
from arena.operations.leagues import is_known, with_stored_commitments
from arena.operations.playing import prepare_isolation
from arena.operations.run_league import RunLeague, VersionsKept, local_slots, tournament_of
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec
from arena.process.scratch import scratch_folder
from arena.store.bots import BotStore
from arena.store.folder import open_store
from arena.text import counted

TIMES: Final = SampleTimes()


def plan_league(request: RunLeague, on: OnEvent = ignore) -> LeagueForecast:
    """Forecast a league from a sample of matches that is played here, for local workers or for a cluster.

    It takes about a minute; nothing is stored. MachineFault if bots cannot play here, or if no worker of the cluster
    can. Interrupted by a KeyboardInterrupt.
    """
    tournament, kept = tournament_of(request)
    cluster = request.cluster.select(tournament.cluster, request.workers)
    workers = local_slots(request, tournament, on)
    played = _count_stored_matches(request.results, tournament)
    prepare_isolation(request.isolation, tournament.game)
    capacity = Capacity(workers, workers)
    if cluster is not None:
        capacity = _capacity_of(cluster, tournament.game, request.isolation)
    with scratch_folder("arena-plan-") as scratch:
        prepare = partial(
            install_copy, BotStore(request.results, request.results, request.isolation), scratch, request.isolation
        )
        try:
            sample = take_sample(
                tournament,
                prepare,
                request.isolation,
                workers,
                TIMES,
                lambda matches: on(Progress("matches sampled", matches, 0)),
            )
        except KeyboardInterrupt:
            raise Interrupted("interrupted; nothing was stored") from None
    if kept:
        on(VersionsKept(tournament.name, kept))
    return LeagueForecast(tournament, played, sample, shown_difference(tournament, sample.results), capacity)


def _capacity_of(cluster: ClusterSettings, game: str, isolation: Isolation) -> Capacity:
    """Count the workers of a cluster that can play the game, and their speed in cores of this machine.

    MachineFault if there is none.
    """
    from arena.cluster.survey import fit_for, report, survey  # noqa: PLC0415 - only for a cluster

    workers, here = survey(cluster), report()
    fit = fit_for(game, isolation, workers, here)
    if not fit:
        known = counted(len(workers), "worker")
        raise MachineFault(f"the cluster has {known}, and none can play {game}; `arena doctor --cluster` tells why")
    cores = sum(worker.speed for worker in fit) / here.speed
    return Capacity(len(fit), cores, len({worker.host for worker in fit}), len(workers) - len(fit))


def _count_stored_matches(results: Path, tournament: Tournament) -> int:
    """Count the stored matches of the tournament; 0 if it is not known."""
    if not is_known(results, tournament.name):
        return 0
    with open_store(results) as store:
        return state_of(with_stored_commitments(store, tournament), store.ranks).stored


def install_copy(store: BotStore, scratch: Path, isolation: Isolation, bot: BotSpec) -> BotSpec:
    """Return the installed copy of a bot, from the results or else made in the temporary folder."""
    try:
        return store.read_installed(bot.digest)
    except SpecError:
        return BotStore(scratch, scratch, isolation).install(bot)
