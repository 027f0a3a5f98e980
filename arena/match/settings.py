"""The settings of a match that are not the game's, and a bot under them: its clock, its confinement, its channel.

Rule: the resources of a bot follow from its manifest and the limits of the match here, for leagues and checks alike.
"""

import copyreg
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from arena.errors import SpecError
from arena.games.api import OPENING
from arena.match.secret_luck import BlockDraw
from arena.process import launch
from arena.process.channel import ProcessChannel
from arena.process.launch import Confinement
from arena.process.limits import Isolation, Limits, negotiate
from arena.process.manifest import BotSpec
from arena.protocol.messages import ClockTerms

Milliseconds = Annotated[float, Meta(gt=0, le=86_400_000)]
MillisecondsOrZero = Annotated[float, Meta(ge=0, le=86_400_000)]
IDLE_MS: Final = 10_000.0
KeptStderr = Literal["faults", "keep"]
"""The stderr of bots that records keep: only its end, after a fault that ended the match, or that of every match."""


def _unset() -> UnsetType:
    """Return UNSET; pickle finds this function by its name."""
    return UNSET


copyreg.pickle(UnsetType, lambda _: (_unset, ()))
"""Without it pickle searches all modules for UNSET, which costs 0.4 ms for each job of a league."""


class ClockSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The clock as a tournament file gives it, in milliseconds.

    `wall_ms` is the wall-clock backstop of one move: by default twice what the bot may use at most, plus a second.
    `startup_ms` limits the time to `hello` and `ready` together in one match. `idle_ms` is the idle bank of a match, by
    default IDLE_MS: time for which nothing of the bot runs or is ready to run. `strict`: a stray line on stdout is a
    forfeit, and so is every fault in a game that would pardon it.
    `increment_ms` is added to the bank after each answer; it goes with a `move_ms` of 0.
    `ponder`: bots may think while others are on move; otherwise they are stopped then.
    """

    decides: Literal["cpu", "wall"] = "cpu"
    move_ms: MillisecondsOrZero = 100.0
    bank_ms: MillisecondsOrZero = 1000.0
    wall_ms: Milliseconds | None = None
    startup_ms: Milliseconds = 10_000.0
    idle_ms: MillisecondsOrZero | UnsetType = UNSET
    strict: bool = False
    ponder: bool = False
    increment_ms: Milliseconds | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Refuse a clock without any time, and one with both increments and time for each move."""
        if self.move_ms + self.bank_ms == 0:
            raise ValueError("move_ms and bank_ms are both 0, so no answer would be in time")
        if self.increment_ms and self.move_ms:
            raise ValueError("increments go with a move_ms of 0 (--move-ms 0)")

    def terms(self) -> ClockTerms:
        """Return the clock of one match, in floating point as JSON has it after a record was read again."""
        is_wall, most_ms = self.decides == "wall", self.move_ms + self.bank_ms
        idle_ms = IDLE_MS if self.idle_ms is UNSET else float(self.idle_ms)
        return ClockTerms(
            decides=self.decides,
            move_ms=float(self.move_ms),
            bank_ms=float(self.bank_ms),
            wall_ms=float(self.wall_ms or (most_ms if is_wall else 2 * most_ms + 1000)),
            idle_ms=UNSET if is_wall else idle_ms,
            increment_ms=self.increment_ms and float(self.increment_ms),
        )


class MatchSettings(msgspec.Struct, frozen=True):
    """The settings of all matches of a tournament. `limits`: the most that a bot may use. `stderr`: what is kept."""

    game: str
    options: dict[str, Any]
    clock: ClockSettings
    limits: Limits = Limits()
    stderr: KeptStderr = "faults"


class MatchSpec(msgspec.Struct, frozen=True):
    """A match to be played: everything it depends on besides the bots. `isolation`: that of the bots.

    `match` is the id under which it is stored, `wire_id` the one that bots get. All luck of the match follows from
    `seed`, the luck of its block; `bot_seeds` are by seat. `commitment` is that of the secret that gave them.
    """

    match: str
    game: str
    options: dict[str, Any]
    seed: str
    clock: ClockSettings
    wire_id: str
    bot_seeds: tuple[int, ...]
    commitment: str = ""
    isolation: Isolation = "none"


def spec_of(settings: MatchSettings, match: str, draw: BlockDraw, rotation: int, isolation: Isolation) -> MatchSpec:
    """Return the match of a block with that rotation of the seats; `match` is the id under which it is stored."""
    return MatchSpec(
        match=match,
        game=settings.game,
        options=settings.options if draw.opening is UNSET else {**settings.options, OPENING: draw.opening},
        seed=draw.luck,
        clock=settings.clock,
        wire_id=draw.wire_ids[rotation],
        bot_seeds=draw.bot_seeds,
        commitment=draw.commitment,
        isolation=isolation,
    )


def clock_for(bot: BotSpec, clock: ClockSettings) -> ClockSettings:
    """Return the clock as the bot's manifest changes it: less start-up time, or wall time.

    CPU time cannot be trusted in a bot that starts processes of its own, so wall time decides for it.
    """
    manifest = bot.manifest
    decides = "wall" if manifest.processes else clock.decides
    return msgspec.structs.replace(clock, decides=decides, startup_ms=manifest.limits.startup_ms or clock.startup_ms)


def confine(bot: BotSpec, allowed: Limits, clock: ClockSettings, isolation: Isolation) -> Confinement:
    """Return isolation and limits of the bot. SpecError if it asks for more than it is allowed."""
    manifest = bot.manifest
    limits = negotiate(manifest.limits, allowed, processes=manifest.processes, startup_ms=clock.startup_ms)
    if manifest.cores is not UNSET and manifest.cores > limits.tasks:
        raise SpecError(
            f"it wants to use {manifest.cores} cores at once (`cores: {manifest.cores}`), with {limits.tasks} threads"
            " and processes at most (`limits: tasks`)"
        )
    return Confinement(isolation=isolation, limits=limits)


def open_channel(
    bot: BotSpec,
    confinement: Confinement,
    arguments: tuple[str, ...] = (),
    *,
    may_ponder: bool = False,
    is_last: bool = False,
) -> ProcessChannel:
    """Start a fresh process of the bot; return its channel. With `is_last` its end is its own fault.

    Raises Crashed if the bot cannot be started, HarnessFault if its folder is gone or no sandbox can be set up.
    """
    return ProcessChannel(
        launch.start(bot, arguments, confinement),
        limit=confinement.limits.line_bytes,
        kept_stderr=confinement.limits.stderr_bytes,
        may_ponder=may_ponder,
        is_last=is_last,
    )
