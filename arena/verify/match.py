"""A stored match against its record, its seed, its rules and its simulator; here or in a worker process.

Rule: tasks are self-contained; workers need no database.
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
from arena.games.api import BOOK, OPENING, value_of
from arena.league.openings import Openings, draw_with_opening
from arena.league.schedule import Pairing
from arena.league.tournament import Player, Tournament, luck_origin
from arena.match.luck import luck_of
from arena.match.record import MatchRecord, unpack
from arena.match.replay import other_package, other_rules, problems
from arena.match.results import LUCK_UNIT, MatchResult, result_of, rotate
from arena.match.secret_luck import BlockDraw, Secret
from arena.plugins import Package
from arena.process.workers import Workers
from arena.protocol.messages import ClockTerms
from arena.verify.resimulation import ResimulationResult, resimulate

LUCK_TOLERANCE: Final = 2
"""Millionths by which luck may differ: it is measured with floats, and machines round the last digit differently."""
_COMPARED: Final = "the luck of {} compared with the secret or the public seed"
_NOT_COMPARED: Final = (
    "the luck of {} not compared with the secret, or the public seed, of commitment %s, which is not here; only the"
    " dice and cards, with the luck in each record"
)
_BATCHES_IN_FLIGHT: Final = 4
"""Batches in flight for each process: enough that none waits, few enough to bound memory in a large league."""


class PrescribedSettings(msgspec.Struct, frozen=True):
    """The settings of a match that its tournament prescribes, under the field names of a record.

    `seats` are players and the hashes of their bots.
    """

    game: str
    rules: str
    options: dict[str, Any]
    clock: ClockTerms
    seats: tuple[tuple[str, str], ...]
    package: Package | UnsetType = UNSET


class CheckTask(msgspec.Struct, frozen=True):
    """A stored match and what its league prescribes; the last two fields are None for a match of no current league.

    `draws`: the draw of its block under each known secret. `commitments`: of all secrets of its league.
    """

    match: MatchResult
    draws: tuple[BlockDraw, ...] = ()
    expected: PrescribedSettings | None = None
    commitments: tuple[str, ...] | None = None


class CheckedMatch(msgspec.Struct, frozen=True):
    """The result of checking a match: its problems, in sentences, and its simulations (None if none were made).

    `remarks`: sentences common to several matches, with `{}` for their number. `is_replayed` is False if this arena
    has other rules. `without_stderr`: hashes of bots whose text on stderr was removed.
    """

    match: str
    problems: tuple[str, ...]
    resimulated: ResimulationResult | None = None
    remarks: tuple[str, ...] = ()
    is_replayed: bool = True
    without_stderr: tuple[str, ...] = ()


Batch = Sequence[CheckTask]
Checker = Callable[[Iterable[CheckTask]], Iterator[CheckedMatch]]
"""A function that checks matches and yields the results in their order."""


def check_here(tasks: Iterable[CheckTask]) -> Iterator[CheckedMatch]:
    """Check matches one after the other, in this process."""
    return map(check_match, tasks)


@contextlib.contextmanager
def parallel_checker(workers: int) -> Iterator[Checker]:
    """Provide a checker with a pool of `workers` processes, which start with the first task.

    HarnessFault if one of them dies.
    """
    try:
        with Workers(workers, preload=check_match.__module__) as pool:
            yield lambda tasks: check_batches(
                lambda batch: pool.submit(check_one_batch, batch).result, tasks, lambda: workers * _BATCHES_IN_FLIGHT
            )
    except BrokenExecutor as error:
        raise HarnessFault(f"a process that checked matches died: {error}; try --workers 1") from error


def check_batches(
    send: Callable[[Batch], Callable[[], list[CheckedMatch]]],
    tasks: Iterable[CheckTask],
    most: Callable[[], int],
    size: Callable[[], int] = lambda: 1,
) -> Iterator[CheckedMatch]:
    """Check up to `most` batches of `size` tasks at once; `send` starts one and returns a function to wait for it.

    Results are in the order of the tasks. If reading tasks raises DamagedStore, it is raised after the results of all
    tasks before.
    """
    waiting: deque[Callable[[], list[CheckedMatch]]] = deque()
    damage: list[DamagedStore] = []
    remaining = _until_damage(tasks, damage)
    while batch := list(islice(remaining, size())):
        waiting.append(send(batch))
        while len(waiting) >= most():
            yield from waiting.popleft()()
    while waiting:
        yield from waiting.popleft()()
    if damage:
        raise damage[0]


def _until_damage(tasks: Iterable[CheckTask], damage: list[DamagedStore]) -> Iterator[CheckTask]:
    """Yield the tasks; an error of the store ends them and is appended to `damage`."""
    try:
        yield from tasks
    except DamagedStore as error:
        damage.append(error)


def check_one_batch(tasks: Batch) -> list[CheckedMatch]:
    """Check some matches, one after the other."""
    return list(map(check_match, tasks))


def check_match(task: CheckTask) -> CheckedMatch:
    """Check a match in every respect; any exception becomes a problem, so that the audit goes on."""
    try:
        return _check_record(task)
    except Exception as error:  # noqa: BLE001 - the edge: rules are not made for forged states
        return CheckedMatch(str(task.match.key), (f"it cannot be checked: {error!r:.300}",))


def _check_record(task: CheckTask) -> CheckedMatch:
    """Compare a match with its record, settings, luck and replay; simulate it again if it can be replayed."""
    result, match_id = task.match, str(task.match.key)
    try:
        record = unpack(task.match.record)
    except ValueError as error:
        return CheckedMatch(match_id, (str(error),))
    mistakes = [] if record.match == match_id else [f"its record is that of {record.match}"]
    mistakes += _settings_differences(task.expected, record) if task.expected else ()
    if result_of(record) != msgspec.structs.replace(result, luck=(), luck_version="", record=b""):
        mistakes.append("its result is not that of its record")
    wrong, remark = _compare_luck(task, record)
    mistakes += wrong
    remarks = [remark] if remark else []
    if task.expected and BOOK in task.expected.options and not any(drawn.opening for drawn in task.draws):
        remarks.append("the opening of {} not compared: its book, or the secret of its luck, is not here")
    resimulated = None
    if other := other_rules(record):
        remarks.append(f"not comparable: {{}} {other}")
    elif replayed := problems(record):
        mistakes += [*filter(None, [other_package(record)]), *(text.removeprefix(f"{match_id}: ") for text in replayed)]
    else:
        remarks += [f"{{}} {package}"] if (package := other_package(record)) else []
        resimulated, differences = resimulate(record)
        mistakes += differences
        if resimulated is not None and resimulated.why_not:
            remarks.append(f"{{}} not simulated again: {resimulated.why_not}")
            resimulated = None
        elif resimulated is not None and (farthest := resimulated.farthest):
            farthest = msgspec.structs.replace(farthest, text=f"match {match_id}, {farthest.text}")
            resimulated = msgspec.structs.replace(resimulated, farthest=farthest)
        wrong, remark = _compare_measured_luck(result, record)
        mistakes += wrong
        remarks += [remark] if remark else []
    silenced = tuple(seat.bot for seat in record.seats if seat.stderr_digest is not UNSET)
    return CheckedMatch(match_id, tuple(mistakes), resimulated, tuple(remarks), not other, silenced)


def task_of(tournament: Tournament, pairing: Pairing, match: MatchResult, secrets: Collection[Secret]) -> CheckTask:
    """Return the task of a match of this pairing, under the known secrets."""
    key = match.key
    seats: tuple[Player, ...] = rotate(pairing.players, key.rotation)
    return CheckTask(
        match,
        draws=draws_of(match, secrets, tournament.book),
        expected=PrescribedSettings(
            game=tournament.game,
            rules=tournament.rules or load_game(tournament.game).rules_version,
            options=tournament.options,
            package=tournament.package,
            clock=tournament.clock.terms(),
            seats=tuple((player.name, player.bot.digest) for player in seats),
        ),
        commitments=luck_origin(tournament).commitments,
    )


def draws_of(
    match: MatchResult, secrets: Iterable[Secret], book: Openings | UnsetType = UNSET
) -> tuple[BlockDraw, ...]:
    """Return the draw of a match's block under each of the secrets."""
    key, seats = match.key, len(match.ranks)
    return tuple(draw_with_opening(secret, f"{key.pairing}-{key.block}", seats, book) for secret in secrets)


def _settings_differences(expected: PrescribedSettings, record: MatchRecord) -> Iterator[str]:
    """Yield differences between the settings in the record and those of the tournament."""
    prescribed = msgspec.structs.asdict(expected)
    recorded = {name: getattr(record, name) for name in prescribed}
    if BOOK in expected.options:  # each match has its own opening, which is compared with its luck
        recorded["options"] = {name: value for name, value in record.options.items() if name != OPENING}
    recorded["seats"] = tuple((seat.player, seat.bot) for seat in record.seats)
    return _differences(recorded, prescribed, "the tournament")


def _differences(recorded: Mapping[str, Any], expected: Mapping[str, Any], origin: str) -> Iterator[str]:
    """Yield a sentence for each expected value that is another in the record; `origin` names what gives it."""
    for name, value in expected.items():
        if recorded[name] != value:
            yield f"its {name} is {recorded[name]}, {origin} gives {value}"


def _compare_luck(task: CheckTask, record: MatchRecord) -> tuple[Iterable[str], str]:
    """Compare the luck in the record with that of its secret or seed; return differences and a remark."""
    commitment = record.commitment
    if commitment is UNSET:
        wrong = f"its luck {record.seed} has no commitment, and its league has"
        return [] if task.commitments is None else [wrong], ""
    for drawn in task.draws:
        if drawn.commitment == commitment:
            wire_id = drawn.wire_ids[task.match.key.rotation]
            expected: dict[str, Any] = {"seed": drawn.luck, "bot_seeds": drawn.bot_seeds, "wire_id": wire_id}
            recorded = {name: getattr(record, name) for name in expected}
            if drawn.opening:
                expected[OPENING], recorded[OPENING] = drawn.opening, record.options.get(OPENING)
            return _differences(recorded, expected, "its secret"), _COMPARED
    if task.commitments is not None and commitment not in task.commitments:
        return [f"its luck was drawn under the commitment {commitment}, which is none of its league"], ""
    return [], _NOT_COMPARED % commitment if commitment else ""


def _compare_measured_luck(stored: MatchResult, record: MatchRecord) -> tuple[list[str], str]:
    """Measure the luck again; return what is wrong, and a remark with `{}` for the number of matches.

    Both are empty without stored luck; luck under another version of the value is not compared.
    """
    if not stored.luck_version:
        return [], ""
    value = value_of(load_game(record.game))
    if value is None or value.version != stored.luck_version:
        return [], "the luck of {} is of another version of the value, and not checked"
    measured = result_of(record, luck_of(record)).luck
    apart = max(abs(old - new) for old, new in zip(stored.luck, measured, strict=True))
    then, now = (" and ".join(f"{luck / LUCK_UNIT:+.6f}" for luck in by_seat) for by_seat in (stored.luck, measured))
    wrong = [f"its luck is {then}, measured again {now}"] if apart > LUCK_TOLERANCE else []
    return wrong, "the luck of {} measured again"
