"""Bots and matches as several operations need them: bots by name, isolation, room for workers, a cluster."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType, structs

from arena.errors import HarnessFault, MachineFault, SpecError
from arena.games import known_names, load_game
from arena.games.api import require_simulator
from arena.league.tournament import ClusterSettings, Tournament, largest_limits, require_game
from arena.operations.events import OnEvent, Warned, ignore
from arena.operations.request import Request
from arena.process.cores import usable_cores
from arena.process.limits import DEFAULT_ISOLATION, Isolation, Limits
from arena.process.manifest import BotSpec
from arena.process.room import lack_of_room, matches_that_fit, require_least, room_for
from arena.process.sandbox import cgroup, leftovers, scope, self_test
from arena.process.scratch import scratch_folder
from arena.store.bots import BotStore
from arena.text import counted

if TYPE_CHECKING:
    from arena.league.driver import Backend


WorkerCount = Annotated[int, msgspec.Meta(ge=1, le=1024)]
"""The number of matches played at once on this machine."""


class BotRequest(Request, frozen=True, kw_only=True):
    """The folder where bots are found by name, and how bots are isolated."""

    bots_folder: Path = Path("bots")
    isolation: Isolation = DEFAULT_ISOLATION

    def bot_store(self) -> BotStore:
        """Return the store in which the bots of the request are found."""
        return BotStore(self.results, self.bots_folder, self.isolation)


class ClusterChoice(msgspec.Struct, frozen=True):
    """The cluster of a request. `is_trusted` allows one without TLS."""

    given: ClusterSettings = ClusterSettings()
    is_trusted: bool = False

    def for_workers(self) -> ClusterSettings:
        """Return the cluster that this machine gives workers to. SpecError if it cannot be used."""
        from arena.cluster.address import checked_address, workers_here  # noqa: PLC0415 - only for a cluster

        settings, address = checked_address(self.given, is_trusted=self.is_trusted), self.given.address
        if workers_here(settings) is not None:
            raise SpecError(f"{address}: expected tls://HOST:PORT; `--cluster {address}` needs no `arena worker`")
        return settings

    def select(self, of_file: ClusterSettings | UnsetType, workers: int | None) -> ClusterSettings | None:
        """Return the cluster to use, by this choice and the tournament's file `of_file`; None for this machine alone.

        SpecError if it cannot be used, or if `workers` of this machine are asked for as well.
        """
        named = {name: value for name, value in structs.asdict(self.given).items() if value}
        is_placed = "address" in named or "scheduler_file" in named
        no_place = {"address": "", "scheduler_file": ""} if is_placed else {}
        settings = structs.replace(of_file or ClusterSettings(), **(no_place | named))
        if not settings.address and not settings.scheduler_file:
            if named or of_file is not UNSET:
                raise SpecError("cluster: found no address; expected `address:` or `scheduler_file:`")
            if self.is_trusted:
                raise SpecError("--trust-network: goes with --cluster")
            return None
        if workers is not None:
            raise SpecError("--workers is for this machine; a cluster plays with all its workers")
        from arena.cluster.address import checked_address  # noqa: PLC0415 - only for a cluster

        with naming_option("--cluster" if is_placed else "cluster"):
            return checked_address(settings, is_trusted=self.is_trusted)


@contextlib.contextmanager
def naming_option(option: str) -> Iterator[None]:
    """Put the option, as it is typed, in front of a SpecError that is raised inside."""
    try:
        yield
    except SpecError as error:
        raise SpecError(f"{option}: {error}") from None


@contextlib.contextmanager
def installing(results: Path, bots: BotStore, isolation: Isolation) -> Iterator[BotStore]:
    """Yield the store that installs bots for matches outside a league; it creates no results folder."""
    if results.is_dir():
        yield bots
        return
    with scratch_folder("arena-bots-") as scratch:
        yield BotStore(scratch, scratch, isolation)


def require_options(game: str, options: dict[str, Any], seats: int) -> None:
    """Raise SpecError if the game has no such options, or is not for that number of seats."""
    with naming_option("--options" if options else "--game"):
        load_game(game).setup(options, seats)


def require_games(bots: Iterable[BotSpec], game: str) -> None:
    """Raise SpecError, naming the option that helps, if a bot does not play the game."""
    for bot in bots:
        try:
            require_game(bot, game)
        except SpecError as error:
            playable = [other for other in bot.manifest.games if other in known_names()]
            raise SpecError(f"{error}{f'; play it with --game {playable[0]}' if playable else ''}") from None


def prepare_isolation(isolation: Isolation, game: str) -> None:
    """Prepare to start bots: kill sandboxes that a killed arena left, get a control group, and try the sandbox.

    Without the sandbox only the game is looked at. MachineFault if bots cannot be isolated here, or if the game cannot
    be simulated here.
    """
    try:
        require_simulator(load_game(game))
    except SpecError as error:
        raise MachineFault(str(error)) from None
    if isolation == "sandbox":
        leftovers.end_leftovers()
        obstacle = scope.enter()
        if obstacle and cgroup.setting() == "required":
            raise MachineFault(f"bots have no control group, which {cgroup.SETTING}=required asks for: {obstacle}")
    try:
        self_test.require_isolation(isolation)
    except HarnessFault as fault:
        raise MachineFault(
            f"{fault}\nBots are not run without the sandbox. `arena doctor` tells more; for bots you trust there is"
            " `--isolation none`."
        ) from None


def local_workers(wanted: int | None, limits: Sequence[Limits], on: OnEvent = ignore) -> int:
    """Return the number of matches to play at once here: `wanted`, else one on each core as far as there is room.

    `limits` are those of the bots of a match. A lack of room is an event. MachineFault if there is room for none and
    `wanted` is None, or if arena itself lacks processes or memory.
    """
    require_least()
    cores, fitting = len(usable_cores()), matches_that_fit(limits)
    if wanted is not None:
        if fitting < wanted:
            on(
                Warned(
                    f"WARNING: {counted(wanted, 'match', 'matches')} at once may use more memory or processes than are"
                    f" free; there is room for {fitting}. A match for which the machine runs short is void and played"
                    " again alone."
                )
            )
        return wanted
    need = room_for(limits, workers=1)
    if fitting == 0:
        raise MachineFault(f"{lack_of_room(need)}; `--workers 1` plays all the same")
    if fitting < cores:
        on(
            Warned(
                f"{counted(fitting, 'match', 'matches')} at once, not {cores}: each may use {need.memory_mib} MiB of"
                f" memory and {need.tasks} processes and threads, and no more are free"
            )
        )
    return min(fitting, cores)


def backend_of(
    cluster: ClusterSettings | None,
    tournament: Tournament,
    bots: BotStore,
    isolation: Isolation,
    local: "Backend",
    on: OnEvent = ignore,
) -> "Backend":
    """Return the backend of the cluster, or `local` without one. A lack of room on this machine is an event."""
    if cluster is None:
        return local
    from arena.cluster.address import workers_here  # noqa: PLC0415 - only for a cluster
    from arena.cluster.backend import cluster_backend  # noqa: PLC0415

    if (wanted := workers_here(cluster)) is not None:
        local_workers(wanted, largest_limits(tournament), on)

    return cluster_backend(cluster, tournament, isolation, bots.pack, lambda sentence: on(Warned(sentence)))
