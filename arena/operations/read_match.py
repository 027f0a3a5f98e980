"""A match by its id: stored in results, or one of the last of `arena match`."""

import contextlib

import msgspec
from msgspec import UNSET

from arena.errors import DamagedStore, SpecError
from arena.league.tournament import luck_origin
from arena.match.record import MatchRecord
from arena.match.requests import require_answer, seat_of
from arena.match.results import MatchResult, partners, record_of
from arena.operations.request import Request
from arena.store.folder import open_store
from arena.store.matches import LeagueSecret, MatchStore
from arena.store.recent import MATCH_ID, recent_match


class ReadMatch(Request, frozen=True, kw_only=True):
    """A request for the match of that id; with `has_block`, also for the other matches of its block."""

    match: str
    has_block: bool = False


class MatchDetails(msgspec.Struct, frozen=True):
    """A match and the secret of its luck; None if that is not known here.

    `result` is None for a match that is not stored in results. `block` has the other matches with the same luck.
    `league` are the players of its league, which give the colours; empty without one.
    """

    record: MatchRecord
    secret: LeagueSecret | None
    result: MatchResult | None = None
    block: tuple[MatchRecord, ...] = ()
    league: tuple[str, ...] = ()


class ReadSeat(Request, frozen=True, kw_only=True):
    """The seat of `player`, a name or a number, in a match; with `step`, that step of it."""

    match: str
    player: str
    step: int | None = None


def read_match(request: ReadMatch) -> MatchDetails:
    """Read a match. SpecError if there is none of that id."""
    record, secret = recent_match(request.match)
    if record is not None:
        kept = (recent_match(other)[0] for other in _other_ids_of_block(request, record))
        return MatchDetails(record, secret, block=tuple(filter(None, kept)))
    with open_store(request.results) as store:
        match = store.match(request.match)
        record = record_of(match)
        block = tuple(record_of(store.match(other)) for other in _other_ids_of_block(request, record))
        secret = None if record.commitment is UNSET else store.secret(record.commitment)
        return MatchDetails(record, secret, match, block, _players_of_league(store, record))


def read_seat(request: ReadSeat) -> tuple[MatchRecord, int]:
    """Read a match and find a seat of it. SpecError if either is unknown, or if the seat was not asked for the step."""
    try:
        record = read_match(ReadMatch(match=request.match, results=request.results)).record
    except SpecError as error:
        order = "; give the match first, then the player" if MATCH_ID.fullmatch(request.player) else ""
        raise SpecError(f"{error}{order}") from None
    seat = seat_of(record, request.player)
    if request.step is not None:
        require_answer(record, seat, request.step)
    return record, seat


def _players_of_league(store: MatchStore, record: MatchRecord) -> tuple[str, ...]:
    """Return the players of the first league with the luck and the players of the match; empty if none is found.

    Also empty if a league before it is damaged: the match can still be read.
    """
    with contextlib.suppress(DamagedStore):
        for tournament in map(store.league, store.leagues()):
            names = tuple(player.name for player in tournament.players)
            if record.commitment in luck_origin(tournament).commitments and {*record.players} <= {*names}:
                return names
    return ()


def _other_ids_of_block(request: ReadMatch, record: MatchRecord) -> tuple[str, ...]:
    """Return the ids of the other matches of the block, if the request asks for them."""
    return partners(record.match, len(record.seats)) if request.has_block else ()
