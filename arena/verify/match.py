"""One stored match against its record, its seed, its rules and its simulator; here or in a worker process.

Rule: a task holds all that its match is checked by, so that whoever checks it needs no database.
"""

import contextlib
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from typing import Any, Final

import msgspec
from msgspec import UNSET

from arena.errors import DamagedStore, HarnessFault
from arena.games import load_game
from arena.games.api import value_of
from arena.games.luck import derive
from arena.league.schedule import Pairing
from arena.league.tournament import OLD_FORMAT, Player, Tournament, luck_origin
from arena.match.luck import luck_of
from arena.match.record import MatchRecord, unpack
from arena.match.replay import other_rules, problems
from arena.match.results import LUCK_UNIT, MatchResult, PlayedMatch, result_of, rotate
from arena.match.secret_luck import BlockDraw, Secret, draw_block
from arena.process.workers import Workers
from arena.protocol.messages import ClockTerms
from arena.verify.resimulation import Resimulated, resimulate

LUCK_TOLERANCE: Final = 2
"""In millionths: luck is measured with floats, and another machine may round the last digit otherwise."""
CHECKED: Final = "checked"
_AHEAD: Final = 4
"""Tasks in flight for each process: enough that none waits, few enough that a large league needs no memory."""


class Expected(msgspec.Struct, frozen=True):
    """The setting of a match by its tournament, by the names of its record. `seats` are players and their bots."""

    game: str
    rules: str
    options: dict[str, Any]
    clock: ClockTerms
    seats: tuple[tuple[str, str], ...]


class DueLuck(msgspec.Struct, frozen=True):
    """The luck that a match may have.

    `draws`: what each secret at hand gives its block; `commitments`: those of all secrets of its league, None for a
    match of no current league. `seed`: its luck by the recipe of arena 0.1.0, for a league of that time.
    """

    draws: tuple[BlockDraw, ...] = ()
    commitments: tuple[str, ...] | None = None
    seed: str | None = None


class Task(msgspec.Struct, frozen=True):
    """A stored match; `expected` is None for one of no current league."""

    match: PlayedMatch
    expected: Expected | None
    luck: DueLuck = DueLuck()


class Checked(msgspec.Struct, frozen=True):
    """The problems of a match, in sentences, and the results of its simulations; None for a game without a simulator.

    `other_rules`: the sentence that it cannot be replayed because this arena has other rules; empty if it was replayed.
    `luck` is `checked` if the luck was compared with what its secret or seed gives, else the commitment of the secret
    that was not at hand; empty if the record tells of none.
    """

    match: str
    problems: tuple[str, ...]
    resimulated: Resimulated | None
    other_rules: str = ""
    luck: str = ""


Checker = Callable[[Iterable[Task]], Iterator[Checked]]
"""Checks matches and gives what it finds in their order."""


def check_here(tasks: Iterable[Task]) -> Iterator[Checked]:
    """One after the other, in this process."""
    return map(check_match, tasks)


@contextlib.contextmanager
def parallel_checker(workers: int) -> Iterator[Checker]:
    """A checker with so many processes, which start with its first task; a match with simulations takes seconds."""
    pool = Workers(workers, preload=check_match.__module__)
    is_interrupted = True
    try:
        yield lambda tasks: _in_order(pool, tasks, workers * _AHEAD)
        is_interrupted = False
    except BrokenExecutor as error:
        raise HarnessFault(f"a process that checked matches died: {error}; try --workers 1") from error
    finally:
        pool.close(is_interrupted=is_interrupted)


def _in_order(pool: Workers, tasks: Iterable[Task], most: int) -> Iterator[Checked]:
    """Check `most` tasks at once. If the store cannot give another, those before are still told."""
    waiting: deque[Future[Checked]] = deque()
    damage: DamagedStore | None = None
    left = iter(tasks)
    while True:
        try:
            task = next(left, None)
        except DamagedStore as error:
            damage, task = error, None
        if task is None:
            break
        waiting.append(pool.submit(check_match, task))
        if len(waiting) == most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
    if damage is not None:
        raise damage


def check_match(task: Task) -> Checked:
    """Look at one match in every respect. The audit goes on after any record."""
    try:
        return _checked(task)
    except Exception as error:  # noqa: BLE001 - the edge: rules are not made for states that somebody forged
        return Checked(str(task.match.result.key), (f"it cannot be checked: {error!r:.300}",), None)


def _checked(task: Task) -> Checked:
    """The problems of a match. A record that cannot be replayed is not simulated again."""
    match, found = task.match, list[str]()
    match_id = str(match.result.key)
    try:
        record = unpack(match.record)
    except (ValueError, msgspec.MsgspecError) as error:
        return Checked(match_id, (str(error),), None)
    if record.match != match_id:
        found.append(f"its record is that of {record.match}")
    if task.expected is not None:
        found += _misfits(task.expected, record)
    if result_of(record) != msgspec.structs.replace(match.result, luck=(), luck_version=""):
        found.append("its result is not that of its record")
    wrong, luck = _luck_misfits(task.luck, match, record)
    found += wrong
    if other := other_rules(record):
        return Checked(match_id, tuple(found), None, other_rules=other, luck=luck)
    resimulated = None
    if replayed := problems(record):
        found += replayed
    else:
        resimulated, differences = resimulate(record)
        found += differences
        if match.result.luck_version == value_version(record.game) != "":
            found += _luck_problems(match.result, result_of(record, luck_of(record)))
    return Checked(match_id, tuple(found), resimulated, luck=luck)


def expected(tournament: Tournament, pairing: Pairing, match: PlayedMatch) -> Expected:
    """The setting that the record of a match of this pairing must have."""
    seats: tuple[Player, ...] = rotate(pairing.players, match.result.key.rotation)
    return Expected(
        game=tournament.game,
        rules=tournament.rules or load_game(tournament.game).rules_version,
        options=tournament.options,
        clock=tournament.clock.terms(),
        seats=tuple((player.name, player.bot.digest) for player in seats),
    )


def due_luck(tournament: Tournament, match: PlayedMatch, secrets: Collection[Secret]) -> DueLuck:
    """The luck that a match of the tournament may have, as far as the secrets at hand tell."""
    if tournament.format == OLD_FORMAT:
        assert tournament.seed is not None, "arena 0.1.0 had no secrets"
        return DueLuck((), (), derive("block", tournament.seed, match.result.key.pairing, match.result.key.block))
    draws = draws_of(match, secrets, tournament.seats)
    return DueLuck(draws, luck_origin(tournament).commitments)


def draws_of(match: PlayedMatch, secrets: Iterable[Secret], seats: int) -> tuple[BlockDraw, ...]:
    """The draws of each of the secrets for the block of a match."""
    return tuple(
        draw_block(secret, f"{match.result.key.pairing}-{match.result.key.block}", seats) for secret in secrets
    )


def value_version(game: str) -> str:
    """The version of the value under which luck can be measured now; empty without one."""
    value = value_of(load_game(game))
    return "" if value is None else value.version


def _misfits(due: Expected, record: MatchRecord) -> Iterator[str]:
    """Differences between the setting in the record and that of the tournament."""
    seats = tuple((seat.player, seat.bot) for seat in record.seats)
    had_no_idle_bank = record.clock.idle_ms is UNSET  # it was played by arena 0.1.0
    clock = msgspec.structs.replace(record.clock, idle_ms=due.clock.idle_ms) if had_no_idle_bank else record.clock
    found = Expected(
        game=record.game,
        rules=record.rules,
        options=record.options,
        clock=clock,
        seats=seats,
    )
    for name in Expected.__struct_fields__:
        if getattr(found, name) != getattr(due, name):
            yield f"its {name} is {getattr(found, name)}, the tournament gives {getattr(due, name)}"


def _luck_misfits(due: DueLuck, match: PlayedMatch, record: MatchRecord) -> tuple[list[str], str]:
    """Differences between the luck in the record and that of its secret; and `Checked.luck`."""
    if due.seed is not None or record.commitment is UNSET:
        return _old_misfits(due, record), CHECKED if due.seed is not None else ""
    drawn = next((each for each in due.draws if each.commitment == record.commitment), None)
    if drawn is not None:
        return list(_differences(drawn, match.result.key.rotation, record)), CHECKED
    if due.commitments is not None and record.commitment not in due.commitments:
        return [f"its luck was drawn under the commitment {record.commitment}, which is none of its league"], ""
    return [], record.commitment


def _old_misfits(due: DueLuck, record: MatchRecord) -> list[str]:
    """The same for a league of arena 0.1.0, or a record without a commitment, which only such a league has."""
    if due.commitments is None or (record.commitment is UNSET and record.seed == due.seed):
        return []
    return [f"its seed is {record.seed}, without a commitment; the tournament gives {due.seed or 'a commitment'}"]


def _differences(drawn: BlockDraw, rotation: int, record: MatchRecord) -> Iterator[str]:
    is_due = {"seed": drawn.luck, "bot_seeds": drawn.bot_seeds, "wire_id": drawn.wire_ids[rotation]}
    for name, value in is_due.items():
        if getattr(record, name) != value:
            yield f"its {name} is {getattr(record, name)}, its secret gives {value}"


def _luck_problems(stored: MatchResult, measured: MatchResult) -> Iterator[str]:
    apart = max(abs(one - other) for one, other in zip(stored.luck, measured.luck, strict=True))
    if apart > LUCK_TOLERANCE:
        yield f"its luck is {_numbers(stored.luck)}, measured again {_numbers(measured.luck)}"


def _numbers(values: Iterable[int]) -> str:
    return " and ".join(f"{value / LUCK_UNIT:+.6f}" for value in values)
