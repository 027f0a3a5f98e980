"""The state of one or all leagues of a results folder: matches stored and asked for, luck, machines."""

from collections import Counter, defaultdict
from collections.abc import Iterator

import msgspec

from arena.errors import DamagedStore
from arena.league.state import LeagueState, state_of
from arena.operations.request import Request
from arena.store.folder import open_store
from arena.store.history import Head
from arena.store.matches import LeagueSecret, MatchStore


class ReadStatus(Request, frozen=True):
    """The state of `league`; None for all."""

    league: str | None = None


class MachineShare(msgspec.Struct, frozen=True):
    """The blocks that a machine of a cluster played, and its different speeds. Without a name: without a cluster."""

    name: str
    speeds: tuple[float, ...]
    blocks: int


class LeagueStatus(msgspec.Struct, frozen=True):
    """A league as it is stored, its secrets of luck, and the machines of a cluster that played it."""

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
    with open_store(request.results) as store:
        for name in [request.league] if request.league else store.leagues():
            try:
                state = state_of(store.league(name), store.ranks)
            except DamagedStore as error:
                damage.append(str(error))
                continue
            leagues.append(LeagueStatus(state, store.secrets(name), tuple(_machine_shares(store, state))))
        return Status(tuple(leagues), tuple(damage), store.head())


def _machine_shares(store: MatchStore, state: LeagueState) -> Iterator[MachineShare]:
    """Yield the share of each machine, the largest first, and last that without a cluster; none without any."""
    shares, speeds = Counter[str](), defaultdict[str, list[float]](list)
    for machine, blocks in store.machines(state.blocks).items():
        shares[machine.name] += blocks
        speeds[machine.name].append(machine.speed)
    for name, blocks in shares.most_common():
        yield MachineShare(name, tuple(dict.fromkeys((min(speeds[name]), max(speeds[name])))), blocks)
    without_cluster = sum(map(len, state.finished.values())) - shares.total()
    if shares and without_cluster:
        yield MachineShare("", (), without_cluster)
