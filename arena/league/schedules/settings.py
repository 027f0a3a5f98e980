"""`schedule:` of a tournament file -> one of four settings, with every default filled in.

Rule: the file is read strictly; a key that would mean nothing is an error, not ignored.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from arena.errors import SpecError
from arena.text import unknown

MOST_BLOCKS: Final = 10_000_000
Count = Annotated[int, Meta(ge=1, le=MOST_BLOCKS)]
Likelihood = Annotated[float, Meta(gt=0.5, lt=1)]

DEFAULT_LIKELIHOOD: Final = 0.95
CYCLES_IN_CAP: Final = 10
BLOCKS_PER_TIE: Final = 4
TIES_IN_CAP: Final = 3


class _Cycles(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True, tag_field="kind"
):
    """A schedule that has cycles. With `until: decided`, neighbours in the ranking play on after them."""

    until: Literal["decided"] | None = None
    likelihood: Likelihood | None = None
    step_blocks: Count | None = None
    cap_blocks: Count | None = None


class RoundRobin(_Cycles, frozen=True, kw_only=True, tag="round_robin"):
    """Everybody meets everybody, `cycles` times over. For two players: a fixed number of matches.

    With `until: decided`, neighbours in the ranking then play on, `step_blocks` at a time, until their own blocks
    decide who is better, or they have played `cap_blocks` in all. Of two equals one is called better with a chance of
    1 - `likelihood` at most.
    """


class Gauntlet(_Cycles, frozen=True, tag="gauntlet"):
    """A schedule in which each of `challengers` meets all the others, `cycles` times; neither side plays itself."""

    challengers: tuple[str, ...]


class Swiss(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind", tag="swiss"):
    """`rounds` rounds of one block between players of about the same score who have not met."""

    rounds: Count


class Knockout(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind", tag="knockout"):
    """The loser of a tie is out. Seeds are the order of the file.

    A tie is `blocks_per_tie` blocks; while it is level, another block, up to `cap_blocks` in all; then the better seed
    goes on.
    """

    blocks_per_tie: Count = BLOCKS_PER_TIE
    cap_blocks: Count | None = None


Schedule = Annotated[
    RoundRobin | Gauntlet | Swiss | Knockout,
    Meta(description="`kind:` and round_robin, gauntlet, swiss or knockout on a line below it, indented"),
]


class StoppingRule(msgspec.Struct, frozen=True):
    """The settings of `until: decided`, all filled in."""

    likelihood: float
    step_blocks: int
    cap_blocks: int


def with_defaults(schedule: Schedule, *, players: Sequence[str], seats: int, cycles: int | None) -> Schedule:
    """Fill in the defaults of a schedule. SpecError if `players` at tables of `seats` cannot play it.

    `cycles` is what the file says, None if it says nothing.
    """
    if isinstance(schedule, RoundRobin | Gauntlet):
        return _fill_in_until(schedule, players, seats, cycles)
    kind = type(schedule).__name__.lower()
    if cycles is not None:
        length = "ends with its final" if isinstance(schedule, Knockout) else "has rounds"
        raise SpecError(f"cycles: a {kind} {length}; cycles and blocks_per_pairing are for round_robin and gauntlet")
    if seats != 2:
        raise SpecError(f"schedule: a {kind} is for 2 seats, not {seats}; round_robin and gauntlet take more")
    if isinstance(schedule, Swiss):
        most = len(players) - 1 + len(players) % 2
        if schedule.rounds > most:
            raise SpecError(
                f"schedule.rounds: found {schedule.rounds}, but {len(players)} players have met after {most};"
                " round_robin with cycles plays more"
            )
        return schedule
    cap = schedule.blocks_per_tie * TIES_IN_CAP if schedule.cap_blocks is None else schedule.cap_blocks
    if cap < schedule.blocks_per_tie:
        least = schedule.blocks_per_tie
        raise SpecError(f"schedule.cap_blocks: found {cap}, expected at least the {least} of blocks_per_tie")
    return replace(schedule, cap_blocks=cap)


def stopping_rule(schedule: RoundRobin | Gauntlet) -> StoppingRule | None:
    """Return the stopping rule of undecided neighbours; None if nobody plays on."""
    likelihood, step, cap = schedule.likelihood, schedule.step_blocks, schedule.cap_blocks
    if schedule.until is None or likelihood is None or step is None or cap is None:
        return None
    return StoppingRule(likelihood, step, cap)


def _fill_in_until(
    schedule: RoundRobin | Gauntlet, players: Sequence[str], seats: int, cycles: int | None
) -> RoundRobin | Gauntlet:
    """Fill in the defaults of `until: decided`; a schedule without `until` is only checked, and returned as it is.

    SpecError if the schedule cannot be played, or without `cycles`, those of the tournament.
    """
    if cycles is None:
        raise SpecError("give either cycles or blocks_per_pairing, and only one of them")
    if isinstance(schedule, Gauntlet):
        _check_challengers(schedule.challengers, players, seats)
    if schedule.until is None:
        for name in ("likelihood", "step_blocks", "cap_blocks"):
            if getattr(schedule, name) is not None:
                raise SpecError(f"schedule.{name}: means something only with `until: decided`")
        return schedule
    if seats != 2:
        raise SpecError(f"schedule.until: `decided` is for 2 seats, not {seats}: two cannot play on alone there")
    step = schedule.step_blocks or cycles
    cap = schedule.cap_blocks or CYCLES_IN_CAP * cycles
    if cap < cycles:
        raise SpecError(f"schedule.cap_blocks: found {cap}, but the cycles alone are {cycles} blocks of each pairing")
    return replace(schedule, likelihood=schedule.likelihood or DEFAULT_LIKELIHOOD, step_blocks=step, cap_blocks=cap)


def _check_challengers(challengers: Sequence[str], players: Sequence[str], seats: int) -> None:
    """Raise SpecError for challengers who are unknown, twice there, too few or too many."""
    for place, name in enumerate(challengers):
        if name not in players:
            raise SpecError(f"schedule.challengers[{place}]: {unknown('player', name, players)}")
        if name in challengers[:place]:
            raise SpecError(f'schedule.challengers[{place}]: "{name}" is there already')
    others = len(players) - len(challengers)
    if not challengers or others < seats - 1:
        raise SpecError(
            f"schedule.challengers: found {len(challengers)} of {len(players)} players;"
            f" expected at least 1, and {seats - 1} others for a table"
        )
