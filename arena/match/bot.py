"""A bot on the terms of a match: its clock, its confinement, and a channel to a fresh process of it.

Rule: what a bot may use is agreed on here, from its manifest and from what is allowed, for leagues and for the check
alike.
"""

from typing import Literal

import msgspec

from arena.match.settings import ClockSettings
from arena.process import launch
from arena.process.channel import ProcessChannel
from arena.process.launch import Confinement
from arena.process.limits import Isolation, Limits, negotiate
from arena.process.manifest import BotSpec


def clock_for(bot: BotSpec, clock: ClockSettings) -> ClockSettings:
    """The clock with what the bot asks for: less start-up time, or wall time.

    CPU time cannot be trusted in a bot that starts processes of its own, so wall time decides for it.
    """
    manifest = bot.manifest
    decides: Literal["cpu", "wall"] = "wall" if manifest.processes else clock.decides
    return msgspec.structs.replace(clock, decides=decides, startup_ms=manifest.limits.startup_ms or clock.startup_ms)


def confine(bot: BotSpec, allowed: Limits, clock: ClockSettings, isolation: Isolation) -> Confinement:
    """What stands around the bot. SpecError if it asks for more than it is allowed."""
    manifest = bot.manifest
    limits = negotiate(manifest.limits, allowed, processes=manifest.processes, startup_ms=clock.startup_ms)
    return Confinement(isolation=isolation, limits=limits)


def open_channel(
    bot: BotSpec, confinement: Confinement, arguments: tuple[str, ...] = (), *, may_ponder: bool = False
) -> ProcessChannel:
    """A channel to a fresh process of the bot."""
    return ProcessChannel(
        launch.start(bot, arguments, confinement),
        limit=confinement.limits.line_bytes,
        kept_stderr=confinement.limits.stderr_bytes,
        may_ponder=may_ponder,
    )
