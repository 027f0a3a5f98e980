"""The state of one or all leagues of a results folder: matches stored and asked for, luck, machines."""

from collections import Counter, defaultdict
from collections.abc import Iterator

import msgspec

from arena.errors import DamagedStore
from arena.league.state import LeagueState, state_of
from arena.operations.request import Request
from arena.store.folder import stored
from arena.store.history import Head
from arena.store.matches import LeagueSecret, MatchStore


class ReadStatus(Request, frozen=True):
    """The state of `league`; None for all. With `machines` also the blocks that each machine played."""

    league: str | None = None
    machines: bool = False


class MachineShare(msgspec.Struct, frozen=True):
    """The blocks that a machine of a cluster played, and its different speeds. Without a name: without a cluster."""

    name: str
    speeds: tuple[float, ...]
    blocks: int


class LeagueStatus(msgspec.Struct, frozen=True):
    """A league as it is stored, and its secrets of luck."""

    state: LeagueState
    secrets: tuple[LeagueSecret, ...]
    machines: tuple[MachineShare, ...]


class Status(msgspec.Struct, frozen=True):
    """The leagues, the damage of those that cannot be read, and the root of the history."""

    leagues: tuple[LeagueStatus, ...]
    damage: tuple[str, ...]
    history: Head


def read_status(request: ReadStatus) -> Status:
    """Read the state of the leagues; a damaged one does not hide the others. SpecError if there is no such league."""
    leagues: list[LeagueStatus] = []
    damage: list[str] = []
    with stored(request.results) as store:
        for name in [request.league] if request.league else store.leagues():
            try:
                state = state_of(store.league(name), store.ranks)
            except DamagedStore as error:
                damage.append(str(error))
                continue
            machines = tuple(_machine_shares(store, state)) if request.machines else ()
            leagues.append(LeagueStatus(state, store.secrets(name), machines))
        return Status(tuple(leagues), tuple(damage), store.head())


def _machine_shares(store: MatchStore, state: LeagueState) -> Iterator[MachineShare]:
    """Yield the share of each machine, the largest first, and last that of blocks played without a cluster."""
    shares, speeds = Counter[str](), defaultdict[str, list[float]](list)
    for machine, blocks in store.machines(state.blocks).items():
        shares[machine.name] += blocks
        speeds[machine.name].append(machine.speed)
    for name, blocks in shares.most_common():
        yield MachineShare(name, tuple(dict.fromkeys((min(speeds[name]), max(speeds[name])))), blocks)
    if without_cluster := sum(map(len, state.finished.values())) - shares.total():
        yield MachineShare("", (), without_cluster)
