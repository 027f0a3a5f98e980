"""The messages between the driver and the workers of a cluster: plain values, msgpack on the wire.

Rule: whatever arrives is decoded into one of these types, strictly. No message holds a path, code, or a secret of luck.
"""

from typing import Any, Final, Literal, TypeVar

import msgspec

from arena.cluster.checks import CheckJob
from arena.games import GameFingerprint
from arena.league.schedule import Job
from arena.match.columns import Machine, PlayedBlock
from arena.process.limits import Isolation
from arena.verify.match import Checked

_MOST_NAME: Final = 64
_MOST_SPEED: Final = 1e6
T = TypeVar("T")
AnyJob = Job | CheckJob
packed: Final = msgspec.msgpack.encode


def unpacked(message: bytes, kind: type[T]) -> T:
    """The message of that kind. msgspec.ValidationError if it is none."""
    return msgspec.msgpack.decode(message, type=kind)


class Identity(msgspec.Struct, frozen=True):
    """All in which a worker has to equal the driver: the version of arena, the game's rules, and its simulator."""

    arena: str
    game: GameFingerprint
    simulator: dict[str, str] = {}


class Opening(msgspec.Struct, frozen=True):
    """The driver opens a session. `league` tells others for whom the worker plays; `lease_s` see `arena.cluster`."""

    session: str
    league: str
    game: str
    isolation: Isolation
    lease_s: float


class Welcome(msgspec.Struct, frozen=True):
    """The answer: `refusal` is a sentence, empty if the session is open; `is_busy` if it plays for another driver.

    `speed` is that of `arena.doctor.machine.speed`.
    """

    identity: Identity | None = None
    host: str = ""
    speed: float = 0.0
    refusal: str = ""
    is_busy: bool = False

    @property
    def machine(self) -> Machine:
        """The machine as results tell it; its speed is 0 if it told one that no machine has."""
        is_possible = 0.0 <= self.speed < _MOST_SPEED
        return Machine(self.host[:_MOST_NAME], round(self.speed, 1) if is_possible else 0.0)


class Dispatch(msgspec.Struct, frozen=True):
    """The driver's part of an exchange.

    `awaited`: the attempts that the driver waits for; the others are forgotten. `jobs`: new ones by the id of their
    attempt, whose bots are named by their hashes and have no folders. `archives`: bots by hash. The answer
    comes after `wait_s`, or when at most `enough` is left: each match to be played counts, and each job that is not
    over.
    """

    session: str
    awaited: frozenset[str]
    jobs: dict[str, AnyJob] = {}
    archives: dict[str, bytes] = {}
    enough: int = 0
    wait_s: float = 0.0


Ending = Literal["", "played", "failed", "died", "undelivered", "lacking"]


class Progressed(msgspec.Struct, frozen=True):
    """An attempt: the number of its matches that are finished, and its ending, empty as long as it goes on.

    "played" comes with all its blocks or, of a check, its findings; the others with an `error`. "died": its process
    did; "undelivered": it had not begun when its process was lost. "lacking": the machine lacks something, such as
    memory for the bots of one match.
    """

    finished: int = 0
    ending: Ending = ""
    blocks: tuple[PlayedBlock, ...] = ()
    checked: tuple[Checked, ...] = ()
    error: str = ""


class LogLine(msgspec.Struct, frozen=True):
    """A log record of a worker; `created` in seconds since 1970, by its own clock."""

    logger: str
    level: int
    created: float
    text: str


class Report(msgspec.Struct, frozen=True):
    """The worker's part of an exchange: `attempts` are those with news. Not `is_known`: it has no such session (more).

    `missing`: hashes of bots that it needs. `refusal`: why it plays no more, a sentence. `match_s`: seconds a match of
    late, 0 if it does not know.
    """

    is_known: bool = True
    attempts: dict[str, Progressed] = {}
    missing: tuple[str, ...] = ()
    refusal: str = ""
    match_s: float = 0.0
    log: tuple[LogLine, ...] = ()


def identity_differences(found: Identity | None, expected: Identity) -> str:
    """`arena 0.2 (here 0.3)`, of all in which a worker is not like the driver; empty if it is."""
    if found is None:
        return "it does not say what it is"
    pairs = [("arena", found.arena, expected.arena), ("rules", str(found.game), str(expected.game))]
    pairs += [
        (f"its simulator's {key}", found.simulator.get(key, "none"), expected.simulator.get(key, "none"))
        for key in sorted(found.simulator.keys() | expected.simulator.keys())
    ]
    told = [f"{what} {there} (here {here})" for what, there, here in pairs if there != here]
    return f"it has {', '.join(told)}; install the same on all machines" if told else ""


def played(job: AnyJob, results: tuple[Any, ...]) -> Progressed:
    """Return the end of an attempt with all results of its job."""
    is_check = isinstance(job, CheckJob)
    blocks, checked = ((), results) if is_check else (results, ())
    return Progressed(job.matches, "played", blocks, checked)


def difference_from(job: AnyJob, progressed: Progressed) -> str:
    """Return a sentence if an attempt did not end with all that its job asks for; otherwise empty."""
    if isinstance(job, CheckJob):
        is_asked = job.ids == tuple(each.match for each in progressed.checked)
        return "" if is_asked else "it tells of other matches than it was asked"
    asked = [(each.pairing, each.block) for each in job.fixtures]
    is_asked = sorted((each.pairing, each.block) for each in progressed.blocks) == asked
    return "" if is_asked else f"it sent other blocks of {job.pairing.key} than it was asked for"
