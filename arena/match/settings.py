"""The terms of a match that are not the game's: clocks, start-up, grace, strictness."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from arena.match.secret_luck import BlockDraw
from arena.process.limits import Isolation, Limits
from arena.protocol.messages import ClockTerms

Milliseconds = Annotated[float, Meta(gt=0, le=86_400_000)]
MillisecondsOrZero = Annotated[float, Meta(ge=0, le=86_400_000)]
IDLE_MS: Final = 10_000.0


class ClockSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The clock as a tournament file gives it, in milliseconds.

    `wall_ms` is the wall-clock backstop of one move: by default twice what the bot may use at most, plus a second.
    `startup_ms` limits the time to `hello` and `ready` together in one match. `idle_ms` is the idle bank of a match, by
    default IDLE_MS: time for which nothing of the bot runs or is ready to run. `strict`: a stray line on stdout is a
    forfeit, and so is every fault in a game that would pardon it.
    `ponder`: bots may think while others are on move; otherwise they are stopped then.
    """

    decides: Literal["cpu", "wall"] = "cpu"
    move_ms: Milliseconds = 100.0
    bank_ms: MillisecondsOrZero = 1000.0
    wall_ms: Milliseconds | None = None
    startup_ms: Milliseconds = 10_000.0
    idle_ms: MillisecondsOrZero | UnsetType = UNSET
    strict: bool = False
    ponder: bool = False

    def terms(self) -> ClockTerms:
        """The clock of one match, in floating point as JSON has it after a record was read again."""
        most_ms = self.move_ms + self.bank_ms
        if self.decides == "wall":
            wall_ms = self.wall_ms if self.wall_ms is not None else most_ms
        else:
            wall_ms = self.wall_ms if self.wall_ms is not None else 2 * most_ms + 1000
        idle_ms = UNSET if self.decides == "wall" else IDLE_MS if self.idle_ms is UNSET else self.idle_ms
        return ClockTerms(
            decides=self.decides,
            move_ms=float(self.move_ms),
            bank_ms=float(self.bank_ms),
            wall_ms=float(wall_ms),
            idle_ms=UNSET if idle_ms is UNSET else float(idle_ms),
        )


class MatchSettings(msgspec.Struct, frozen=True):
    """What all matches of a tournament have in common. `limits`: the most that a bot may use."""

    game: str
    options: dict[str, Any]
    clock: ClockSettings
    limits: Limits = Limits()


class MatchSpec(msgspec.Struct, frozen=True):
    """One match to be played: all that it depends on besides the bots. `isolation`: what stands around those.

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


def spec_of(setting: MatchSettings, match: str, drawn: BlockDraw, rotation: int, isolation: Isolation) -> MatchSpec:
    """The match of a block with that rotation of the seats; `match` is the id under which it is stored."""
    return MatchSpec(
        match=match,
        game=setting.game,
        options=setting.options,
        seed=drawn.luck,
        clock=setting.clock,
        wire_id=drawn.wire_ids[rotation],
        bot_seeds=drawn.bot_seeds,
        commitment=drawn.commitment,
        isolation=isolation,
    )
