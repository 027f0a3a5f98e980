"""Work of a worker process: a job goes in, all its blocks come out when they are played.

Rule: `play_rotations` alone seats bots, one rotation of all blocks of a job at a time. The processes of a rotation
have ended when the next one begins: so no process lives beside another one that meets the same luck. A worker writes
nothing but log records. A process that does nothing else also kills what its bots left behind, and ends with everything
it started when its parent ends.
"""

import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Final, NoReturn

from msgspec import UNSET
from msgspec.structs import replace

from arena.errors import HarnessFault, MachineFault, Shortage
from arena.games import load_game, require_package
from arena.games.api import is_simultaneous, value_of
from arena.league.schedule import Fixture, Job
from arena.league.tournament import Player
from arena.match.bot_player import GRACE_S, BotPlayer
from arena.match.columns import PlayedBlock, pack_blocks
from arena.match.luck import LuckMeter, MatchLuck
from arena.match.record import MatchRecord, pack
from arena.match.referee import hello_for, play_match
from arena.match.results import MatchResult, result_of, rotate
from arena.match.settings import MatchSettings, clock_for, confine, open_channel, spec_of
from arena.process import reaper, room
from arena.process.cores import OwnCore
from arena.process.limits import Isolation, Limits

ATTEMPTS: Final = 3
_REPORT_EVERY_S: Final = 0.5
log: Final = logging.getLogger("arena.worker")

_OWN_CORE: Final = OwnCore()
"""The core of this process, which it keeps from one job to the next."""
OnFinished = Callable[[int], None]
"""Gets the number of matches of a job that are finished, in any thread."""
SeatedBots = Sequence[BotPlayer]
"""The players of a rotation, in the order of the pairing."""
PlayedMatch = tuple[MatchRecord, MatchResult]
"""The record of a match and its result, which does not contain it."""


def _raise_fault(_: Fixture, fault: HarnessFault) -> NoReturn:
    """Raise the fault by which a block is lost."""
    raise fault


def make_bot_player(
    player: Player,
    settings: MatchSettings,
    isolation: Isolation,
    *,
    seats: int = 2,
    is_last: bool = False,
) -> BotPlayer:
    """Return a new `BotPlayer` for the player under the settings of the matches, at tables with that many seats.

    Its process starts with its first match. With `is_last` its end is its own fault, see `arena.process.death`.

    SpecError if the bot asks for more than it is allowed.
    """
    clock = clock_for(player.bot, settings.clock)
    confinement = confine(player.bot, settings.limits, settings.clock, isolation)
    bot_player = BotPlayer(
        player=player.name,
        bot=player.bot.digest,
        open_channel=lambda: open_channel(
            player.bot, confinement, player.arguments, may_ponder=clock.ponder, is_last=is_last
        ),
        hello=hello_for(
            load_game(settings.game), settings.options, clock.startup_ms, confinement.limits.line_bytes, seats
        ),
        clock=clock,
    )
    bot_player.kept_stderr = confinement.limits.stderr_bytes if settings.stderr == "keep" else 0
    return bot_player


def play_rotations(
    job: Job,
    *,
    watch: Callable[[SeatedBots], object] = lambda _: None,
    on_lost: Callable[[Fixture, HarnessFault], object] = _raise_fault,
    sweep: Callable[[], object] = lambda: None,
) -> Generator[PlayedMatch, None, None]:
    """Play the matches of a job: one rotation of all its blocks, then, with new processes, the next one.

    The order of the rotations is that which was drawn for its first block. `watch` gets the players of each table
    before its first match; `sweep` ends what they left running, where nothing else runs below this process.

    A match that is void is played again by new players, and so are those after it in its rotation. `on_lost` gets a
    block of which matches were void ATTEMPTS times; it is played in the other rotations all the same, so that each
    process meets the same matches as without a void one. Closing the generator ends the bots.

    A match for which the machine ran short is played again alone on this machine, and for the last time so that the end
    of a bot is its own fault. MachineFault if the limits of its bots do not fit then, or if the machine lacks anything.
    """
    voids: Counter[int] = Counter()
    for rotation in job.fixtures[0].draw.order:
        fixtures, shortages = list(job.fixtures), 0
        while fixtures:
            with room.claim_machine(limits_of(job)) if shortages else room.share_machine():
                table = _make_bots(job, is_last=shortages == ATTEMPTS - 1)
                watch(table)
                grace_s = 0.0
                try:
                    for fixture in fixtures[: 1 if shortages else None]:
                        yield _play_at_table(job, fixture, rotation, table)
                        del fixtures[0]
                    grace_s, shortages = GRACE_S, 0
                except Shortage as shortage:
                    shortages += 1
                    _log_shortage(fixtures[0], shortages, shortage)
                except MachineFault:
                    raise
                except HarnessFault as fault:
                    if _count_void(fixtures[0], voids, fault):
                        on_lost(fixtures.pop(0), fault)
                        shortages = 0
                finally:
                    for bot in table:
                        bot.close(grace_s=grace_s)
                    sweep()


def _log_shortage(fixture: Fixture, count: int, shortage: Shortage) -> None:
    """Log a match that is void for want of resources. MachineFault at the last of ATTEMPTS shortages in a row."""
    log.warning("block %s-%d is void: %s", fixture.pairing, fixture.block, shortage)
    if count == ATTEMPTS:
        raise MachineFault(f"{shortage}; with nothing else playing, too") from shortage


def _count_void(fixture: Fixture, voids: Counter[int], fault: HarnessFault) -> bool:
    """Count and log a void match; return True if its block is not played again in this rotation.

    The next attempt has new players, which forget failed starts: so it does not depend on which match was void.
    """
    voids[fixture.block] += 1
    log.warning("block %s-%d is void, attempt %d: %s", fixture.pairing, fixture.block, voids[fixture.block], fault)
    return voids[fixture.block] >= ATTEMPTS


def limits_of(job: Job) -> list[Limits]:
    """Return the limits of each bot of a job."""
    settings, players = job.settings, job.pairing.players
    return [confine(player.bot, settings.limits, settings.clock, job.isolation).limits for player in players]


def play_job(
    job: Job, on_finished: OnFinished = lambda _: None, sweep: Callable[[], object] = lambda: None
) -> list[PlayedBlock]:
    """Play all blocks of a job; report the number of its finished matches about twice a second.

    A block that is void each time it is played says so and has no matches; the others are played all the same.

    Other jobs may be played in the same process, in other threads: nothing but the job's own bots is ended. The
    caller has made sure that the isolation holds on this machine.
    """
    require_package(job.settings.game, job.package or None)
    matches: dict[int, list[MatchResult]] = {fixture.block: [] for fixture in job.fixtures}
    reasons: dict[int, str] = {}

    def note_lost(fixture: Fixture, fault: HarnessFault) -> None:
        reasons[fixture.block] = f"void {ATTEMPTS} times, the last time because {fault}"

    reported_s = time.monotonic()
    with contextlib.closing(play_rotations(job, on_lost=note_lost, sweep=sweep)) as played_matches:
        for count, (record, result) in enumerate(played_matches, start=1):
            matches[result.key.block].append(replace(result, record=pack(record)))
            if time.monotonic() - reported_s >= _REPORT_EVERY_S:
                on_finished(count)
                reported_s = time.monotonic()
    return [
        PlayedBlock(job.pairing.key, block, void=reasons[block]) if block in reasons else next(pack_blocks(results))
        for block, results in matches.items()
    ]


def play_job_alone(job: Job, on_finished: OnFinished, *, may_pin: bool) -> list[PlayedBlock]:
    """Play a job in a process that plays nothing else: whatever runs below it between rotations was left by a bot.

    With `may_pin` this process and all bots are on one core, where that is enough and one is free.
    """
    if may_pin and fits_one_core(job):
        _OWN_CORE.claim()
    else:
        _OWN_CORE.release()

    def sweep() -> None:
        """Kill the processes that bots have left behind, and log their number."""
        if left := reaper.kill_descendants():
            log.warning("%s: killed %d processes that bots had left behind", job.pairing.key, left)

    return play_job(job, on_finished, sweep)


def fits_one_core(job: Job) -> bool:
    """Return True if only one of referee and bots runs at a time, and CPU time decides for all players."""
    manifests = [player.bot.manifest for player in job.pairing.players]
    clock, game = job.settings.clock, load_game(job.settings.game)
    is_by_cpu = clock.decides == "cpu" and not any(manifest.processes for manifest in manifests)
    uses_more = any(manifest.cores is not UNSET and manifest.cores > 1 for manifest in manifests)
    return is_by_cpu and not clock.ponder and not uses_more and not is_simultaneous(game)


def _make_bots(job: Job, *, is_last: bool = False) -> SeatedBots:
    """Return new bots for all players of the job. Their processes start with their first match.

    `is_last`: see `make_bot_player`.
    """
    players = job.pairing.players
    make = partial(make_bot_player, settings=job.settings, isolation=job.isolation, seats=len(players))
    return [make(player, is_last=is_last) for player in players]


def _play_at_table(job: Job, fixture: Fixture, rotation: int, table: SeatedBots) -> PlayedMatch:
    """Play a match of the block at this table; return its record and its result."""
    spec = spec_of(job.settings, fixture.match_id(rotation), fixture.draw, rotation, job.isolation)
    meter = _make_meter(job)
    record = play_match(spec, rotate(table, rotation), meter=meter)
    return record, result_of(record, None if meter is None else _measure_luck(record, meter))


def _make_meter(job: Job) -> LuckMeter | None:
    """Return a meter for a match; None where its luck is not wanted, or the game has no value."""
    game = load_game(job.settings.game)
    return LuckMeter(game, len(job.pairing.players)) if job.luck and value_of(game) is not None else None


def _measure_luck(record: MatchRecord, meter: LuckMeter) -> MatchLuck:
    """Return the luck of the match that is over. HarnessFault if the value of the game fails."""
    try:
        return meter.luck()
    except Exception as error:
        raise HarnessFault(f"match {record.match}: its luck cannot be measured: {error!r}") from error
