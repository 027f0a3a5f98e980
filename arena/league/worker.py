"""Work of a worker process: a batch goes in, played blocks come out.

Rule: a worker writes nothing but log records. It plays a void block again; a process that does nothing else also kills
what its bots left behind, and ends with everything it started when its parent ends.
"""

import logging
import time
from collections.abc import Iterator
from typing import Final

from arena.errors import HarnessFault
from arena.games import load_game
from arena.games.api import value_of
from arena.league.schedule import Batch, Fixture, Pairing, PlayedBlock, match_spec
from arena.league.tournament import Player, Tournament
from arena.match.bot_player import GRACE_S, BotPlayer
from arena.match.luck import MatchLuck, luck_of
from arena.match.record import MatchRecord, pack
from arena.match.referee import hello_for, play_match
from arena.match.results import PlayedMatch, result_of, rotate
from arena.match.settings import MatchSettings, clock_for, confine, open_channel
from arena.process import reaper
from arena.process.limits import Isolation
from arena.process.sandbox import self_test

ATTEMPTS: Final = 3
BATCH_S: Final = 10.0
"""Wall time after which a worker begins no other block of its batch: what it holds is lost if the program is killed."""
log: Final = logging.getLogger("arena.worker")

Tables = list[list[BotPlayer]]
"""By rotation: the bot_players of that match of each block, in the order of the pairing."""
Matches = Iterator[tuple[int, MatchRecord]]
"""The matches of a block in the order in which they are played: the rotation and the record of each."""


def bot_player(
    player: Player, setting: MatchSettings, isolation: Isolation, *, seats: int = 2, keep_transcript: bool = False
) -> BotPlayer:
    """The player's bot as a bot_player on the terms of `setting`, at tables with that many seats.

    Its process starts with its first match.

    SpecError if the bot asks for more than it is allowed.
    """
    clock = clock_for(player.bot, setting.clock)
    confinement = confine(player.bot, setting.limits, setting.clock, isolation)
    return BotPlayer(
        player=player.name,
        bot=player.bot.digest,
        open_channel=lambda: open_channel(player.bot, confinement, player.arguments, may_ponder=clock.ponder),
        hello=hello_for(
            load_game(setting.game), setting.options, clock.startup_ms, confinement.limits.line_bytes, seats
        ),
        clock=clock,
        keep_transcript=keep_transcript,
    )


def play_batch(batch: Batch, budget_s: float = BATCH_S) -> list[PlayedBlock]:
    """The blocks of the batch that were begun within the time, at least the first.

    One that is void each time it is played says so and has no matches; the others are played all the same.

    Other batches may be played in the same process, in other threads: nothing but the batch's own bots is ended.
    """
    self_test.require_isolation(batch.isolation)
    tables = seat_players(batch.pairing, batch.setting, batch.isolation)
    end_s = time.monotonic() + budget_s
    played: list[PlayedBlock] = []
    try:
        for fixture in batch.fixtures:
            played.append(_play_block(batch, fixture, tables))
            if time.monotonic() >= end_s:
                break
        return played
    finally:
        clear(tables)


def play_batch_alone(batch: Batch) -> list[PlayedBlock]:
    """The same in a process that plays nothing else: whatever runs below it afterwards was left by a bot."""
    try:
        return play_batch(batch)
    finally:
        left = reaper.kill_descendants()
        if left:
            log.warning("%s: killed %d processes that bots had left behind", batch.pairing.key, left)


def seat_players(
    pairing: Pairing, setting: MatchSettings, isolation: Isolation, *, keep_transcript: bool = False
) -> Tables:
    """A table for each rotation, with all players at each: no process meets the luck of a block twice.

    The matches of a block share their luck. A bot that stayed for the next one would know what comes.
    """
    return [
        [
            bot_player(player, setting, isolation, seats=len(pairing.players), keep_transcript=keep_transcript)
            for player in pairing.players
        ]
        for _ in pairing.players
    ]


def play_rotations(
    setting: Batch | Tournament, fixture: Fixture, tables: Tables, isolation: Isolation, *, after: int = 0
) -> Matches:
    """Play the matches of a block but the first `after`, each at its own table, in the order that was drawn."""
    for rotation in fixture.draw.order[after:]:
        spec = match_spec(setting, fixture, rotation, isolation)
        yield rotation, play_match(spec, rotate(tables[rotation], rotation))


def clear(tables: Tables, grace_s: float = GRACE_S) -> None:
    """End all bots at these tables."""
    for table in tables:
        for each in table:
            each.close(grace_s=grace_s)


def _play_block(batch: Batch, fixture: Fixture, tables: Tables) -> PlayedBlock:
    reason = ""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return PlayedBlock(fixture=fixture, matches=tuple(_play_matches(batch, fixture, tables)))
        except HarnessFault as fault:
            reason = str(fault)
            log.warning("block %s-%d is void, attempt %d: %s", fixture.pairing, fixture.block, attempt, fault)
            clear(tables, grace_s=0.0)
            # Their bots' failed starts go with the attempt: the next one must not depend on which one was void.
            tables[:] = seat_players(batch.pairing, batch.setting, batch.isolation)
    return PlayedBlock(fixture=fixture, matches=(), void=f"void {ATTEMPTS} times, the last time because {reason}")


def _play_matches(batch: Batch, fixture: Fixture, tables: Tables) -> list[PlayedMatch]:
    """The matches of a block by rotation, whatever the order in which they were played."""
    matches = {}
    for rotation, record in play_rotations(batch, fixture, tables, batch.isolation):
        matches[rotation] = PlayedMatch(result_of(record, _luck(batch, record)), pack(record))
    return [matches[rotation] for rotation in sorted(matches)]


def _luck(batch: Batch, record: MatchRecord) -> MatchLuck | None:
    """The luck of a match, where it is wanted and known; HarnessFault if our own value of the game fails."""
    if not batch.luck or value_of(load_game(batch.game)) is None:
        return None
    try:
        return luck_of(record)
    except Exception as error:
        raise HarnessFault(f"match {record.match}: its luck cannot be measured: {error!r}") from error
