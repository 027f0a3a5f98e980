"""One stored match against its record, its seed, its rules and its nature; here or in a worker process.

Rule: a task holds all that its match is checked by, so that whoever checks it needs no database.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from arena.games import load_game
from arena.games.doors import value_of
from arena.league.results import MatchSummary, rotate, summarise
from arena.league.schedule import Pairing, fixture
from arena.league.tournament import Player, Tournament
from arena.match.luck_sum import luck_of
from arena.match.record import MatchRecord, unpack
from arena.match.replay import other_rules, problems
from arena.match.resimulation import Resimulated, resimulate
from arena.protocol.messages import ClockTerms
from arena.store.matches import StoredMatch

LUCK_TOLERANCE: Final = 2e-6


class Expected(msgspec.Struct, frozen=True):
    """What the tournament of a match gives it: by name what a record must say. `seats` are players and their bots."""

    game: str
    rules: str
    options: dict[str, Any]
    seed: str
    clock: ClockTerms
    seats: tuple[tuple[str, str], ...]


class Task(msgspec.Struct, frozen=True):
    """A stored match; `expected` is None for one of no current league."""

    match: StoredMatch
    expected: Expected | None


class Checked(msgspec.Struct, frozen=True):
    """What is wrong with a match, in sentences, and what came of its simulations; None for a game without a nature.

    `other_rules`: the sentence that it cannot be replayed because this arena has other rules; empty if it was replayed.
    """

    match: str
    problems: tuple[str, ...]
    resimulated: Resimulated | None
    other_rules: str = ""


Checker = Callable[[Iterable[Task]], Iterator[Checked]]
"""Checks matches and gives what it finds in their order."""


def checked_here(tasks: Iterable[Task]) -> Iterator[Checked]:
    """One after the other, in this process."""
    return map(check, tasks)


def check(task: Task) -> Checked:
    """Look at one match in every respect. Whatever is in a record, the audit goes on after it."""
    try:
        return _checked(task)
    except Exception as error:  # noqa: BLE001 - the edge: rules are not made for states that somebody forged
        return Checked(task.match.match_id, (f"it cannot be checked: {error!r:.300}",), None)


def _checked(task: Task) -> Checked:
    """What is wrong with a match. A record that cannot be replayed is not simulated again."""
    match, found = task.match, list[str]()
    try:
        record = unpack(match.record)
    except (ValueError, msgspec.MsgspecError) as error:
        return Checked(match.match_id, (str(error),), None)
    if record.match != match.match_id:
        found.append(f"its record is that of {record.match}")
    if task.expected is not None:
        found += _misfits(task.expected, record)
    if summarise(record) != msgspec.structs.replace(match.summary, luck=(), luck_version=""):
        found.append("its summary is not that of its record")
    if other := other_rules(record):
        return Checked(match.match_id, tuple(found), None, other)
    resimulated = None
    if replayed := problems(record):
        found += replayed
    else:
        resimulated, differences = resimulate(record)
        found += differences
        if match.summary.luck_version == luck_version(record.game) != "":
            found += _luck_problems(match.summary, summarise(record, luck_of(record)))
    return Checked(match.match_id, tuple(found), resimulated)


def expected(tournament: Tournament, pairing: Pairing, match: StoredMatch) -> Expected:
    """What the record of a match of this pairing must say of its setting."""
    seats: list[Player] = rotate(pairing.players, match.rotation)
    return Expected(
        game=tournament.game,
        rules=load_game(tournament.game).rules_version,
        options=tournament.options,
        seed=fixture(tournament, pairing, match.block).seed,
        clock=tournament.clock.terms(),
        seats=tuple((player.name, player.bot.digest) for player in seats),
    )


def luck_version(game: str) -> str:
    """The version of the value under which luck can be measured now; empty without one."""
    value = value_of(load_game(game))
    return "" if value is None else value.version


def _misfits(due: Expected, record: MatchRecord) -> Iterator[str]:
    """What the record says of its setting, against the tournament."""
    seats = tuple((seat.player, seat.bot) for seat in record.seats)
    found = Expected(
        game=record.game,
        rules=record.rules,
        options=record.options,
        seed=record.seed,
        clock=record.clock,
        seats=seats,
    )
    for name in Expected.__struct_fields__:
        if getattr(found, name) != getattr(due, name):
            yield f"its {name} is {getattr(found, name)}, the tournament gives {getattr(due, name)}"


def _luck_problems(stored: MatchSummary, measured: MatchSummary) -> Iterator[str]:
    """Luck is measured with floats, so that another machine may round the last digit otherwise."""
    apart = max(abs(one - other) for one, other in zip(stored.luck, measured.luck, strict=True))
    if apart > LUCK_TOLERANCE:
        yield f"its luck is {_numbers(stored.luck)}, measured again {_numbers(measured.luck)}"


def _numbers(values: Iterable[float]) -> str:
    return " and ".join(f"{value:+.6f}" for value in values)
