"""Work of a worker process: a process life goes in, its blocks come out in batches.

Rule: a batch is cut by time, a life never. A worker writes nothing but log records. It plays a void block again; a
process that does nothing else also kills what its bots left behind, and ends with everything it started when its parent
ends.
"""

import logging
import time
from collections.abc import Generator, Iterator
from typing import Final

from msgspec import UNSET

from arena.errors import HarnessFault
from arena.games import load_game, require_package
from arena.games.api import is_simultaneous, value_of
from arena.league.schedule import Fixture, Life
from arena.league.tournament import Player
from arena.match.bot_player import GRACE_S, BotPlayer
from arena.match.columns import PlayedBlock
from arena.match.luck import LuckMeter, MatchLuck
from arena.match.record import MatchRecord, pack
from arena.match.referee import hello_for, play_match
from arena.match.results import MatchResult, PlayedMatch, result_of, rotate
from arena.match.settings import MatchSettings, clock_for, confine, open_channel, spec_of
from arena.process import reaper
from arena.process.cores import OwnCore
from arena.process.limits import Isolation

ATTEMPTS: Final = 3
BATCH_S: Final = 2.5
"""Wall time after which a worker hands over what it has of a life: that is lost if the program is killed."""
log: Final = logging.getLogger("arena.worker")

_OWN_CORE: Final = OwnCore()
"""Of this process, from one life to the next."""
Tables = list[list[BotPlayer]]
"""By rotation: the bot_players of that match of each block, in the order of the pairing."""


def bot_player(
    player: Player, setting: MatchSettings, isolation: Isolation, *, seats: int = 2, keep_transcript: bool = False
) -> BotPlayer:
    """The player's bot as a bot_player on the terms of `setting`, at tables with that many seats.

    Its process starts with its first match.

    SpecError if the bot asks for more than it is allowed.
    """
    clock = clock_for(player.bot, setting.clock)
    confinement = confine(player.bot, setting.limits, setting.clock, isolation)
    found = BotPlayer(
        player=player.name,
        bot=player.bot.digest,
        open_channel=lambda: open_channel(player.bot, confinement, player.arguments, may_ponder=clock.ponder),
        hello=hello_for(
            load_game(setting.game), setting.options, clock.startup_ms, confinement.limits.line_bytes, seats
        ),
        clock=clock,
        keep_transcript=keep_transcript,
    )
    found.kept_stderr = confinement.limits.stderr_bytes if setting.stderr == "keep" else 0
    return found


def play_life(life: Life, batch_s: float = BATCH_S) -> Generator[list[PlayedBlock], None, None]:
    """The blocks of the life in batches, each of which is complete `batch_s` after it began or at the end of a block.

    A block that is void each time it is played says so and has no matches; the others are played all the same.

    Other lives may be played in the same process, in other threads: nothing but the life's own bots is ended. The
    caller has made sure that the isolation holds on this machine.
    """
    require_package(life.settings.game, life.package or None)
    tables = seat_players(life)
    try:
        batch, end_s = [], time.monotonic() + batch_s
        for fixture in life.fixtures:
            batch.append(_played(life, fixture, tables))
            if time.monotonic() >= end_s:
                yield batch
                batch, end_s = [], time.monotonic() + batch_s
        if batch:
            yield batch
    finally:
        clear(tables)


def play_life_alone(life: Life, batch_s: float = BATCH_S) -> Iterator[list[PlayedBlock]]:
    """`play_life` in a process that plays nothing else: whatever runs below it afterwards was left by a bot."""
    try:
        yield from play_life(life, batch_s)
    finally:
        left = reaper.kill_descendants()
        if left:
            log.warning("%s: killed %d processes that bots had left behind", life.pairing.key, left)


def play_life_on_a_core(life: Life, batch_s: float = BATCH_S) -> Iterator[list[PlayedBlock]]:
    """`play_life_alone`, with this process and all bots on one core where that is enough and one is free."""
    if does_on_one_core(life):
        _OWN_CORE.claim()
    else:
        _OWN_CORE.release()
    for batch in play_life_alone(life, batch_s):
        yield batch
        _OWN_CORE.look()


def does_on_one_core(life: Life) -> bool:
    """Whether only one of the referee and the bots runs at a time, and CPU time decides for all players."""
    manifests = [player.bot.manifest for player in life.pairing.players]
    clock, game = life.settings.clock, load_game(life.settings.game)
    is_by_cpu = clock.decides == "cpu" and not any(manifest.processes for manifest in manifests)
    uses_more = any(manifest.cores is not UNSET and manifest.cores > 1 for manifest in manifests)
    return is_by_cpu and not clock.ponder and not uses_more and not is_simultaneous(game)


def seat_players(life: Life, *, keep_transcript: bool = False) -> Tables:
    """A table for each rotation, with all players at each: no process meets the luck of a block twice.

    The matches of a block share their luck. A bot that stayed for the next one would know what comes.
    """
    players, setting, isolation = life.pairing.players, life.settings, life.isolation
    return [
        [bot_player(each, setting, isolation, seats=len(players), keep_transcript=keep_transcript) for each in players]
        for _ in players
    ]


def seat_anew(tables: Tables, life: Life) -> None:
    """Give the seats to new players, who have met nothing; they keep transcripts if the former ones did."""
    tables[:] = seat_players(life, keep_transcript=tables[0][0].transcript.maxlen is None)


def play_block(life: Life, fixture: Fixture, tables: Tables) -> Iterator[tuple[MatchRecord, MatchResult]]:
    """The matches of a block, each at the table of its rotation, in the order that was drawn.

    One that is void is played again by new players, and so are those after it; HarnessFault the third time.
    """
    left, attempt = list(fixture.draw.order), 1
    while left:
        try:
            spec = spec_of(life.settings, fixture.match_id(left[0]), fixture.draw, left[0], life.isolation)
            meter = _meter(life)
            record = play_match(spec, rotate(tables[left[0]], left[0]), meter=meter)
            result = result_of(record, None if meter is None else _luck(record, meter))
        except HarnessFault as fault:
            log.warning("block %s-%d is void, attempt %d: %s", fixture.pairing, fixture.block, attempt, fault)
            clear(tables, grace_s=0.0)
            # Their failed starts go with them: the next attempt must not depend on which one was void.
            seat_anew(tables, life)
            if attempt == ATTEMPTS:
                raise
            attempt += 1
        else:
            del left[0]
            yield record, result


def clear(tables: Tables, grace_s: float = GRACE_S) -> None:
    """End all bots at these tables."""
    for table in tables:
        for each in table:
            each.close(grace_s=grace_s)


def _played(life: Life, fixture: Fixture, tables: Tables) -> PlayedBlock:
    """A block with its matches by rotation, or none if it stays void."""
    try:
        played = sorted(play_block(life, fixture, tables), key=lambda one: one[1].key)
    except HarnessFault as fault:
        return PlayedBlock(fixture.pairing, fixture.block, void=f"void {ATTEMPTS} times, the last time because {fault}")
    return PlayedBlock.of([PlayedMatch(result, pack(record)) for record, result in played])


def _meter(life: Life) -> LuckMeter | None:
    """A meter for a match, where its luck is wanted and known."""
    game = load_game(life.settings.game)
    return LuckMeter(game, len(life.pairing.players)) if life.luck and value_of(game) is not None else None


def _luck(record: MatchRecord, meter: LuckMeter) -> MatchLuck:
    """The luck of the match that is over; HarnessFault if our own value of the game fails."""
    try:
        return meter.luck()
    except Exception as error:
        raise HarnessFault(f"match {record.match}: its luck cannot be measured: {error!r}") from error
