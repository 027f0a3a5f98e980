"""One stored match against its record, its seed, its rules and its simulator; here or in a worker process.

Rule: a task holds all that its match is checked by, so that whoever checks it needs no database.
"""

import contextlib
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from arena.errors import DamagedStore, HarnessFault
from arena.games import load_game
from arena.games.api import value_of
from arena.league.schedule import Pairing
from arena.league.tournament import Player, Tournament, luck_origin
from arena.match.luck import luck_of
from arena.match.record import MatchRecord, unpack
from arena.match.replay import other_package, other_rules, problems
from arena.match.results import LUCK_UNIT, MatchResult, result_of, rotate
from arena.match.secret_luck import BlockDraw, Secret, draw_block
from arena.plugins import Package
from arena.process.workers import Workers
from arena.protocol.messages import ClockTerms
from arena.verify.resimulation import Resimulated, resimulate

LUCK_TOLERANCE: Final = 2
"""In millionths: luck is measured with floats, and another machine may round the last digit otherwise."""
_COMPARED: Final = "the luck of {} compared with the secret or the public seed"
_NOT_COMPARED: Final = (
    "the luck of {} not compared with the secret, or the public seed, of commitment %s, which is not here; only the"
    " dice and cards, with the luck in each record"
)
_AHEAD: Final = 4
"""Batches in flight for each process: enough that none waits, few enough that a large league needs no memory."""


class Expected(msgspec.Struct, frozen=True):
    """The setting of a match by its tournament, by the names of its record.

    `seats` are players and the hashes of their bots.
    """

    game: str
    rules: str
    options: dict[str, Any]
    clock: ClockTerms
    seats: tuple[tuple[str, str], ...]
    package: Package | UnsetType = UNSET


class Task(msgspec.Struct, frozen=True):
    """A stored match, and all that its league gives; the last two are None for one of no current league.

    `draws`: what each secret at hand gives its block. `commitments`: those of all secrets of its league.
    """

    match: MatchResult
    draws: tuple[BlockDraw, ...] = ()
    expected: Expected | None = None
    commitments: tuple[str, ...] | None = None


class Checked(msgspec.Struct, frozen=True):
    """The problems of a match, in sentences, and the results of its simulations; None if none were made.

    `remarks` are sentences that other matches share, with `{}` in the place of their number. `is_replayed` is false if
    this arena has other rules.
    """

    match: str
    problems: tuple[str, ...]
    resimulated: Resimulated | None = None
    remarks: tuple[str, ...] = ()
    is_replayed: bool = True


Batch = Sequence[Task]
Checker = Callable[[Iterable[Task]], Iterator[Checked]]
"""Checks matches and gives what it finds in their order."""


def check_here(tasks: Iterable[Task]) -> Iterator[Checked]:
    """One after the other, in this process."""
    return map(check_match, tasks)


@contextlib.contextmanager
def parallel_checker(workers: int) -> Iterator[Checker]:
    """A checker with so many processes, which start with its first task; a match with simulations takes seconds."""
    try:
        with Workers(workers, preload=check_match.__module__) as pool:
            yield lambda tasks: in_order(
                lambda batch: pool.submit(check_batch, batch).result, tasks, lambda: workers * _AHEAD
            )
    except BrokenExecutor as error:
        raise HarnessFault(f"a process that checked matches died: {error}; try --workers 1") from error


def in_order(
    send: Callable[[Batch], Callable[[], list[Checked]]],
    tasks: Iterable[Task],
    most: Callable[[], int],
    size: Callable[[], int] = lambda: 1,
) -> Iterator[Checked]:
    """Check `most` batches of this size at once; `send` gives a function that waits for what it finds.

    If the store cannot give another task, those before are still told.
    """
    waiting: deque[Callable[[], list[Checked]]] = deque()
    damage: list[DamagedStore] = []
    left = _until_damage(tasks, damage)
    while batch := list(islice(left, size())):
        waiting.append(send(batch))
        while len(waiting) >= most():
            yield from waiting.popleft()()
    while waiting:
        yield from waiting.popleft()()
    if damage:
        raise damage[0]


def _until_damage(tasks: Iterable[Task], damage: list[DamagedStore]) -> Iterator[Task]:
    """The tasks; an error of the store ends them, and goes to `damage`."""
    try:
        yield from tasks
    except DamagedStore as error:
        damage.append(error)


def check_batch(tasks: Batch) -> list[Checked]:
    """Look at some matches, one after the other."""
    return list(map(check_match, tasks))


def check_match(task: Task) -> Checked:
    """Look at one match in every respect. The audit goes on after any record."""
    try:
        return _checked(task)
    except Exception as error:  # noqa: BLE001 - the edge: rules are not made for states that somebody forged
        return Checked(str(task.match.key), (f"it cannot be checked: {error!r:.300}",))


def _checked(task: Task) -> Checked:
    """The problems of a match. A record that cannot be replayed is not simulated again."""
    result, match_id = task.match, str(task.match.key)
    try:
        record = unpack(task.match.record)
    except ValueError as error:
        return Checked(match_id, (str(error),))
    found = [] if record.match == match_id else [f"its record is that of {record.match}"]
    found += _misfits(task.expected, record) if task.expected else ()
    if result_of(record) != msgspec.structs.replace(result, luck=(), luck_version="", record=b""):
        found.append("its result is not that of its record")
    wrong, remark = _compared_luck(task, record)
    found += wrong
    remarks = [remark] if remark else []
    resimulated = None
    if other := other_rules(record):
        remarks.append(f"not comparable: {{}} {other}")
    elif replayed := problems(record):
        found += [*filter(None, [other_package(record)]), *(each.removeprefix(f"{match_id}: ") for each in replayed)]
    else:
        remarks += [f"{{}} {package}"] if (package := other_package(record)) else []
        resimulated, differences = resimulate(record)
        found += differences
        if resimulated is not None and resimulated.why_not:
            remarks.append(f"{{}} not simulated again: {resimulated.why_not}")
            resimulated = None
        elif resimulated is not None and (farthest := resimulated.farthest):
            farthest = msgspec.structs.replace(farthest, text=f"match {match_id}, {farthest.text}")
            resimulated = msgspec.structs.replace(resimulated, farthest=farthest)
        wrong, remark = _measured_luck(result, record)
        found += wrong
        remarks += [remark] if remark else []
    return Checked(match_id, tuple(found), resimulated, tuple(remarks), is_replayed=not other)


def task_of(tournament: Tournament, pairing: Pairing, match: MatchResult, secrets: Collection[Secret]) -> Task:
    """A match of this pairing with all that the tournament, and the secrets at hand, give."""
    key = match.key
    seats: tuple[Player, ...] = rotate(pairing.players, key.rotation)
    return Task(
        match,
        draws=draws_of(match, secrets),
        expected=Expected(
            game=tournament.game,
            rules=tournament.rules or load_game(tournament.game).rules_version,
            options=tournament.options,
            package=tournament.package,
            clock=tournament.clock.terms(),
            seats=tuple((player.name, player.bot.digest) for player in seats),
        ),
        commitments=luck_origin(tournament).commitments,
    )


def draws_of(match: MatchResult, secrets: Iterable[Secret]) -> tuple[BlockDraw, ...]:
    """The draws of each of the secrets for the block of a match."""
    key, seats = match.key, len(match.ranks)
    return tuple(draw_block(secret, f"{key.pairing}-{key.block}", seats) for secret in secrets)


def _misfits(expected: Expected, record: MatchRecord) -> Iterator[str]:
    """Differences between the setting in the record and that of the tournament."""
    due = msgspec.structs.asdict(expected)
    found = {name: getattr(record, name) for name in due}
    found["seats"] = tuple((seat.player, seat.bot) for seat in record.seats)
    return _differences(found, due, "the tournament")


def _differences(found: Mapping[str, Any], due: Mapping[str, Any], origin: str) -> Iterator[str]:
    for name, value in due.items():
        if found[name] != value:
            yield f"its {name} is {found[name]}, {origin} gives {value}"


def _compared_luck(task: Task, record: MatchRecord) -> tuple[Iterable[str], str]:
    """Differences between the luck in the record and that of its secret or seed, and the remark about them."""
    commitment = record.commitment
    if commitment is UNSET:
        wrong = f"its luck {record.seed} has no commitment, and its league has"
        return [] if task.commitments is None else [wrong], ""
    for drawn in task.draws:
        if drawn.commitment == commitment:
            wire_id = drawn.wire_ids[task.match.key.rotation]
            due = {"seed": drawn.luck, "bot_seeds": drawn.bot_seeds, "wire_id": wire_id}
            return _differences({name: getattr(record, name) for name in due}, due, "its secret"), _COMPARED
    if task.commitments is not None and commitment not in task.commitments:
        return [f"its luck was drawn under the commitment {commitment}, which is none of its league"], ""
    return [], _NOT_COMPARED % commitment if commitment else ""


def _measured_luck(stored: MatchResult, record: MatchRecord) -> tuple[list[str], str]:
    """The difference between the stored luck and that measured now, and the remark about it."""
    if not stored.luck_version:
        return [], ""
    value = value_of(load_game(record.game))
    if value is None or value.version != stored.luck_version:
        return [], "the luck of {} is of another version of the value, and not checked"
    measured = result_of(record, luck_of(record)).luck
    apart = max(abs(one - other) for one, other in zip(stored.luck, measured, strict=True))
    then, now = (" and ".join(f"{each / LUCK_UNIT:+.6f}" for each in own) for own in (stored.luck, measured))
    wrong = [f"its luck is {then}, measured again {now}"] if apart > LUCK_TOLERANCE else []
    return wrong, "the luck of {} measured again"
