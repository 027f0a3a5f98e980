"""Results of one player of a league, and of all players against each other, computed from stored matches."""

from collections.abc import Iterator, Mapping
from functools import partial

from msgspec.structs import replace

from arena.errors import SpecError
from arena.league.profiles import ProfilePage, ignored_fields, luck_obstacle, player_profile
from arena.league.progress import steps_of
from arena.league.standings import matrix_of, standings_after
from arena.league.tournament import luck_origin
from arena.match.luck import luck_of
from arena.match.record import unpack
from arena.match.results import MatchResult, result_of
from arena.match.secret_luck import LuckOrigin
from arena.operations.events import OnEvent, Progress, ignore
from arena.operations.leagues import load_league
from arena.operations.request import Request
from arena.standings.matrix import HeadToHead
from arena.store.folder import open_store
from arena.store.matches import MatchStore
from arena.text import unknown


class ReadMatrix(Request, frozen=True, kw_only=True):
    """The results of `players` of `league` against each other: the best so many, those named, or (None) all."""

    league: str | None = None
    players: int | tuple[str, ...] | None = 30


class ReadStats(Request, frozen=True, kw_only=True):
    """The results of `player` in `league`. `luck`: replay matches whose luck was not stored."""

    player: str
    league: str | None = None
    luck: bool = False


def read_matrix(request: ReadMatrix) -> tuple[HeadToHead, LuckOrigin]:
    """Compare players by all their matches; return the matrix and the origin of luck. SpecError for unknown names."""
    with open_store(request.results) as store:
        state = load_league(store, request.league)
    tournament = state.tournament
    names = [player.name for player in tournament.players]
    top, only = (None, request.players) if isinstance(request.players, tuple) else (request.players, ())
    for name in only:
        if name not in names:
            raise SpecError(f"--players: league {tournament.name}: {unknown('player', name, names)}")
    return matrix_of(state, top=top, only=only), luck_origin(tournament)


def read_stats(request: ReadStats, on: OnEvent = ignore) -> tuple[ProfilePage, LuckOrigin]:
    """Compute the results of a player; return them and the origin of luck. SpecError for unknown names.

    With `luck`: SpecError if the league has no luck to measure, CheckFailed if a match cannot be replayed.
    """
    with open_store(request.results) as store:
        state = load_league(store, request.league)
        names = [player.name for player in state.tournament.players]
        if request.player not in names:
            raise SpecError(f"league {state.tournament.name}: {unknown('player', request.player, names)}")
        if request.luck and (reason := luck_obstacle(state.tournament)):
            raise SpecError(f"--luck: {reason}")
        sums = store.sums(state.blocks)
        measure = partial(_measure_luck, on, store) if request.luck else None
        page = player_profile(state, request.player, standings_after(state, sums), sums, measure)
        page = replace(page, ignored=ignored_fields(state, request.player, store.matches))
    return page, luck_origin(state.tournament)


def _measure_luck(on: OnEvent, store: MatchStore, blocks: Mapping[str, int], total: int) -> Iterator[MatchResult]:
    """Replay matches and yield their results with luck. CheckFailed if one cannot be replayed."""
    for match in steps_of(store.matches(blocks), "replaying", total, lambda *step: on(Progress(*step)), every=10):
        record = unpack(match.record)
        yield result_of(record, luck_of(record))
