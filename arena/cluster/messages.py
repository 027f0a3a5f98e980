"""The messages between the driver and the workers of a cluster: plain values, msgpack on the wire.

Rule: each message is decoded strictly into one of these types. None holds a path, code, or a secret of a league's luck.
"""

from typing import Any, Final, Literal, TypeVar

import msgspec

from arena.cluster.checks import CheckJob
from arena.games import GameFingerprint
from arena.league.schedule import Job
from arena.match.columns import Machine, PlayedBlock
from arena.process.limits import Isolation
from arena.verify.match import CheckedMatch

_MOST_NAME: Final = 64
_MOST_SPEED: Final = 1e6
T = TypeVar("T")
AnyJob = Job | CheckJob
encode_message: Final = msgspec.msgpack.encode


def decode_message(message: bytes, kind: type[T]) -> T:
    """Decode a message of type `kind`; raises msgspec.ValidationError."""
    return msgspec.msgpack.decode(message, type=kind)


class Identity(msgspec.Struct, frozen=True):
    """The versions in which a worker must equal the driver: of arena, of the game's rules, and of its simulator."""

    arena: str
    game: GameFingerprint
    simulator: dict[str, str] = {}


class Opening(msgspec.Struct, frozen=True):
    """The message that opens a session. `league`: shown to other drivers; `lease_s`: see `arena.cluster`."""

    session: str
    league: str
    game: str
    isolation: Isolation
    lease_s: float


class Welcome(msgspec.Struct, frozen=True):
    """The answer to `Opening`. `refusal`: why the session is not open, a sentence, or empty.

    `is_busy`: the worker plays for another driver. `speed`: see `arena.doctor.machine.speed`.
    """

    identity: Identity | None = None
    host: str = ""
    speed: float = 0.0
    refusal: str = ""
    is_busy: bool = False

    @property
    def machine(self) -> Machine:
        """The machine as results contain it; its speed is 0 if the worker sent an impossible one."""
        is_possible = 0.0 <= self.speed < _MOST_SPEED
        return Machine(self.host[:_MOST_NAME], round(self.speed, 1) if is_possible else 0.0)


class Dispatch(msgspec.Struct, frozen=True):
    """The request of an exchange, sent by the driver.

    `awaited`: the attempts that the driver waits for; the worker forgets the others. `jobs`: new jobs by the id of
    their attempt; their bots have a hash and no folder. `archives`: bots by hash. The worker answers after `wait_s`, or
    when at most `enough` is left: the number of matches to play plus that of jobs that are not over.
    """

    session: str
    awaited: frozenset[str]
    jobs: dict[str, AnyJob] = {}
    archives: dict[str, bytes] = {}
    enough: int = 0
    wait_s: float = 0.0


Ending = Literal["", "played", "failed", "died", "undelivered", "lacking"]


class AttemptProgress(msgspec.Struct, frozen=True):
    """The progress of an attempt: the number of finished matches, and its ending, empty while it runs.

    "played" comes with all blocks or, for a check, its findings; the other endings with an `error`. "died": its process
    died; "undelivered": it had not begun when its process died; "lacking": the machine lacks something, such as memory
    for the bots of one match.
    """

    finished: int = 0
    ending: Ending = ""
    blocks: tuple[PlayedBlock, ...] = ()
    checked: tuple[CheckedMatch, ...] = ()
    error: str = ""


class LogLine(msgspec.Struct, frozen=True):
    """A log record of a worker; `created` in seconds since 1970, by its own clock."""

    logger: str
    level: int
    created: float
    text: str


class Report(msgspec.Struct, frozen=True):
    """The answer of an exchange, sent by the worker. `is_known`: False if the session does not exist (any more).

    `attempts`: those that have begun or ended. `missing`: hashes of bots that the worker needs. `refusal`: why it plays
    no more, a sentence, or empty. `match_s`: recent seconds per match, 0 if unknown.
    """

    is_known: bool = True
    attempts: dict[str, AttemptProgress] = {}
    missing: tuple[str, ...] = ()
    refusal: str = ""
    match_s: float = 0.0
    log: tuple[LogLine, ...] = ()


def describe_differences(found: Identity | None, expected: Identity) -> str:
    """Return a sentence about the versions that differ, such as `arena 0.2 (here 0.3)`; empty if all are equal."""
    if found is None:
        return "it does not say what it is"
    pairs = [("arena", found.arena, expected.arena), ("rules", str(found.game), str(expected.game))]
    pairs += [
        (f"its simulator's {key}", found.simulator.get(key, "none"), expected.simulator.get(key, "none"))
        for key in sorted(found.simulator.keys() | expected.simulator.keys())
    ]
    texts = [f"{what} {there} (here {here})" for what, there, here in pairs if there != here]
    return f"it has {', '.join(texts)}; install the same on all machines" if texts else ""


def progress_of_success(job: AnyJob, results: tuple[Any, ...]) -> AttemptProgress:
    """Return the progress of an attempt that has ended with all results of its job."""
    is_check = isinstance(job, CheckJob)
    blocks, checked = ((), results) if is_check else (results, ())
    return AttemptProgress(job.matches, "played", blocks, checked)


def describe_mismatch(job: AnyJob, progress: AttemptProgress) -> str:
    """Return a sentence if the results of an attempt are not those of the matches of its job; otherwise empty."""
    if isinstance(job, CheckJob):
        is_asked = job.ids == tuple(checked.match for checked in progress.checked)
        return "" if is_asked else "it tells of other matches than it was asked"
    asked = [(fixture.pairing, fixture.block) for fixture in job.fixtures]
    is_asked = sorted((block.pairing, block.block) for block in progress.blocks) == asked
    return "" if is_asked else f"it sent other blocks of {job.pairing.key} than it was asked for"
