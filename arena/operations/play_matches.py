"""A few matches at one table, outside any league. Nothing is stored in results; the last ones are kept for the user."""

import contextlib
from collections import deque
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from arena.league.driver import LocalBackend, play_jobs
from arena.league.exhibition import name_players, play_here, require_seats
from arena.league.progress import RunProgress
from arena.league.schedule import jobs, match_count
from arena.league.tournament import Tournament, largest_limits
from arena.match.columns import PlayedBlock
from arena.match.record import MatchRecord, unpack
from arena.match.results import MatchKey, MatchResult
from arena.match.secret_luck import Secret
from arena.operations.events import Counted, Event, OnEvent, ignore
from arena.operations.exhibitions import MatchRequest
from arena.operations.leagues import with_installed_bots
from arena.operations.playing import installing, prepare_isolation, require_games
from arena.process.cores import usable_cores
from arena.process.limits import Isolation
from arena.process.room import matches_that_fit, require_least
from arena.store.recent import MOST_RECENT, keep_recent

MOST_BLOCKS_ONE_BY_ONE: Final = 10
"""Blocks up to this number are played here, each match an event; more are played on all cores."""


class PlayMatches(MatchRequest, frozen=True, kw_only=True):
    """Matches of `bots`, by name or path, at one table: `blocks` of as many matches as there are bots.

    With `one_by_one` all are played in this process, each an event.
    """

    bots: tuple[str, ...]
    blocks: int = 1
    one_by_one: bool = False


class MatchEnded(Event, frozen=True):
    """A match that was played in this process has ended."""

    record: MatchRecord


class PlayedMatches(msgspec.Struct, frozen=True):
    """The `results` of matches of a `tournament`, in its order, and the last records.

    `is_alike`: the matches of each block were the same. `is_kept`: the last records are kept for the user. After an
    interruption there are fewer results than the tournament has matches.
    """

    tournament: Tournament
    results: tuple[MatchResult, ...]
    recent: tuple[MatchRecord, ...]
    is_alike: bool
    is_kept: bool
    is_interrupted: bool


def exhibition_of(request: PlayMatches, secret: Secret | None = None) -> Tournament:
    """Return the tournament of a request, on the luck of `secret`; without one it is not drawn yet.

    The secret of the request is not looked at. SpecError if the tournament cannot be played.
    """
    require_seats(request.game, len(request.bots))
    bots = request.bot_store()
    players = name_players([bots.find(name) for name in request.bots])
    require_games([player.bot for player in players], request.game)
    return request.exhibition(players, secret, request.blocks)


def play_matches(request: PlayMatches, on: OnEvent = ignore) -> PlayedMatches:
    """Play matches, and keep the last records for the user, also after an error.

    A KeyboardInterrupt ends the matches; the results so far are returned, with `is_interrupted`.
    """
    secret = request.secret or Secret.random()
    tournament = exhibition_of(request, secret)
    prepare_isolation(request.isolation, request.game)
    results: list[MatchResult] = []
    recent: deque[MatchRecord] = deque(maxlen=MOST_RECENT)
    is_interrupted = False
    with installing(request.results, request.bot_store(), request.isolation) as bots:
        try:
            tournament = with_installed_bots(tournament, bots)
            if request.one_by_one or request.blocks <= MOST_BLOCKS_ONE_BY_ONE:
                _play_here(tournament, secret, results, recent, request.isolation, on)
            else:
                _play_in_parallel(tournament, secret, results, recent, request.isolation, on)
        except KeyboardInterrupt:
            is_interrupted = True
        finally:  # whoever reads the events may have printed the id of a match before an error, as of a closed pipe
            origin = None if request.secret is None else "file" if request.secret.seed is None else "public"
            is_kept = keep_recent(recent, origin or "drawn")
    is_alike = _are_alike(results, recent)
    return PlayedMatches(tournament, tuple(results), tuple(recent), is_alike, is_kept, is_interrupted)


def _are_alike(results: Sequence[MatchResult], recent: Sequence[MatchRecord]) -> bool:
    """Return True if there are several matches, alike within each block, move by move where records are at hand."""
    ends: dict[tuple[str, int], set[object]] = {}
    for result in results:
        ends.setdefault(result.key[:2], set()).add((result.ranks, result.scores, result.moves))
    for record in recent:
        key = MatchKey.read(record.match)
        ends.setdefault((f"moves of {key.pairing}", key.block), set()).add(repr(record.steps))
    return len(results) > 1 and all(len(kinds) == 1 for kinds in ends.values())


def _play_here(
    tournament: Tournament,
    secret: Secret,
    results: list[MatchResult],
    recent: deque[MatchRecord],
    isolation: Isolation,
    on: OnEvent,
) -> None:
    """Play match after match in this process; add to `results`, and the last records to `recent`, as they end."""
    # What a bot says while it is ended is heard.
    with contextlib.closing(play_here(replace(tournament, stderr="keep"), secret, isolation)) as playing:
        for record, result in playing:
            results.append(result)
            recent.append(record)
            on(MatchEnded(record))


def _play_in_parallel(
    tournament: Tournament,
    secret: Secret,
    results: list[MatchResult],
    recent: deque[MatchRecord],
    isolation: Isolation,
    on: OnEvent,
) -> None:
    """Play on all cores; add to `results` as blocks end, and at the end the last records to `recent`.

    The results are in schedule order, also after an interruption.
    """
    progress = RunProgress(total=match_count(tournament))
    last: deque[bytes] = deque(maxlen=MOST_RECENT)

    def commit(blocks: list[PlayedBlock]) -> None:
        for block in blocks:
            last.extend(block.records)
            results.extend(replace(block, records=()).results)
        progress.add_blocks(blocks)

    def report(finished: int) -> None:
        progress.finished = finished
        on(Counted.of(progress.counts))

    require_least()
    backend = LocalBackend(max(1, min(len(usable_cores()), matches_that_fit(largest_limits(tournament)))))
    try:
        play_jobs([jobs(tournament, {}, isolation, secret=secret)], backend, commit=commit, tick=report)
    finally:
        report(progress.finished)
        results.sort(key=lambda result: result.key)
        recent.extend(map(unpack, last))
