"""Regression sets: positions of stored matches with the answers that a bot is expected to give there.

Rule: a set is a folder that needs no results: a file for each position, written by hand or by `arena positions save`,
and the record of each match once. A position passes if the bot gives one of the expected answers.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final
from xml.etree import ElementTree as ET

import msgspec
import yaml
from msgspec import Meta

from arena.errors import ArenaError, BotFault, SpecError
from arena.games import load_game
from arena.games.api import Json, Seat
from arena.match.asking import BotAnswer, ask
from arena.match.bot_player import BotPlayer
from arena.match.record import ActionStep, MatchRecord, decoded, encoded
from arena.match.replay import state_before
from arena.match.requests import answer_steps
from arena.process.manifest import CommandWord, Name
from arena.text import counted, printable
from arena.yaml_file import read_yaml

_MATCHES: Final = "matches"
_FILE_LIMIT: Final = 1 << 16


class Position(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a set: a step of a match for which `player` was asked, and the actions that are right there, as JSON.

    `arguments` are those with which the bot is started.
    """

    match: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\Z")]
    player: str
    step: Annotated[int, Meta(ge=1)]
    expect: Annotated[tuple[Any, ...], Meta(min_length=1)]
    arguments: tuple[CommandWord, ...] = ()


class NamedPosition(msgspec.Struct, frozen=True):
    """A position by the name of its file, with its match and its seat there."""

    name: str
    position: Position
    record: MatchRecord
    seat: int


class PositionResult(msgspec.Struct, frozen=True):
    """The bot's answer at a position; without one, `problem` says why."""

    name: str
    position: Position
    answer: BotAnswer | None = None
    problem: str = ""

    @property
    def is_passed(self) -> bool:
        """Whether it is one of the expected answers."""
        return self.answer is not None and not self.answer.fault and self.answer.action in self.position.expect

    @property
    def found(self) -> str:
        """The answer as text, or the reason why there is none."""
        if self.answer is None:
            return printable(self.problem)
        return printable(self.answer.fault) if self.answer.fault else self.answer.answered


def expected_actions(record: MatchRecord, seat: int, step: int, given: Sequence[Json]) -> tuple[Json, ...]:
    """The actions in JSON that are right at a step: those given, also by index, or the recorded one without any.

    SpecError for an action that the rules do not allow there, and where none is recorded, because a fault came instead.
    """
    if not given:
        recorded = record.steps[step - 1] if step <= len(record.steps) else None
        if not isinstance(recorded, ActionStep):
            raise SpecError("the match ended there with a fault and no answer; give those that are right")
        return (_plain(recorded.action),)
    game, state = load_game(record.game), state_before(record, step)
    legal = game.legal(state, Seat(seat))
    found: list[Json] = []
    for each in given:
        if type(each) is int and legal is not None:
            if not 0 <= each < len(legal):
                raise SpecError(f"{each} is no index: there are actions 0 to {len(legal) - 1}")
            found.append(_plain(legal[each]))
            continue
        try:
            found.append(_plain(game.parse(state, Seat(seat), each)))
        except BotFault as fault:
            raise SpecError(f"{msgspec.json.encode(each).decode()}: {fault.message}") from None
    return tuple(found)


def save_position(folder: Path, name: str, position: Position, record: MatchRecord) -> Path:
    """Write a position and its match; the file. SpecError if there is one of that name."""
    path, match = folder / f"{name}.yaml", folder / _MATCHES / f"{position.match}.json"
    if path.exists():
        raise SpecError(f"{path} is there already; choose another --name")
    match.parent.mkdir(parents=True, exist_ok=True)
    match.write_bytes(encoded(record))
    values = msgspec.to_builtins(position)
    if not position.arguments:
        del values["arguments"]
    path.write_text(yaml.safe_dump(values, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def read_positions(folder: Path) -> tuple[NamedPosition, ...]:
    """All positions of a set, by match. SpecError names a file that is none."""
    files = sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])
    if not files:
        raise SpecError(f"{folder}: no positions; `arena positions save MATCH PLAYER --step N` writes one")
    found = [_read(path) for path in files]
    return tuple(sorted(found, key=lambda each: (each.position.match, each.seat, each.position.arguments, each.name)))


def run_positions(
    positions: Sequence[NamedPosition], seat: Callable[[NamedPosition], BotPlayer]
) -> tuple[PositionResult, ...]:
    """Ask a bot at each position; `seat` makes its player. Positions of one seat of a match share a process."""
    results: list[PositionResult] = []
    for _, same in groupby(positions, key=lambda each: (each.position.match, each.seat, each.position.arguments)):
        group = list(same)
        steps = {each.position.step for each in group}
        answers, problem = dict[int, BotAnswer](), "the bot ended before"
        try:
            answers = {one.step: one for one in ask(group[0].record, seat(group[0]), group[0].seat, steps)}
        except ArenaError as error:
            problem = str(error)
        for each in group:
            answer = answers.get(each.position.step)
            results.append(PositionResult(each.name, each.position, answer, "" if answer else problem))
    return tuple(sorted(results, key=lambda each: each.name))


def junit(label: str, results: Sequence[PositionResult]) -> str:
    """The results as JUnit XML, which the CI of a forge shows."""
    failures = sum(not each.is_passed for each in results)
    suite = ET.Element("testsuite", name=label, tests=str(len(results)), failures=str(failures), errors="0")
    for each in results:
        time_s = 0.0 if each.answer is None else each.answer.cpu_ms / 1000
        case = ET.SubElement(suite, "testcase", classname=each.position.match, name=each.name, time=f"{time_s:.6f}")
        if not each.is_passed:
            message = f"step {each.position.step}: {each.found}; expected {expected_text(each.position)}"
            ET.SubElement(case, "failure", message=message)
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def expected_text(position: Position) -> str:
    """The expected actions on a line."""
    return " or ".join(msgspec.json.encode(each).decode() for each in position.expect)


def summary(results: Sequence[PositionResult]) -> str:
    """`3 of 4 positions pass`."""
    verb = "passes" if len(results) == 1 else "pass"
    return f"{sum(each.is_passed for each in results)} of {counted(len(results), 'position')} {verb}"


def _read(path: Path) -> NamedPosition:
    position = read_yaml(path, Position, limit=_FILE_LIMIT)
    match = path.parent / _MATCHES / f"{position.match}.json"
    try:
        record = decoded(match.read_bytes())
    except (OSError, msgspec.MsgspecError) as error:
        raise SpecError(f"{path}: match: {match} cannot be read: {error}") from None
    if position.player not in record.players:
        raise SpecError(f"{path}: player: found {position.player}, the players are {', '.join(record.players)}")
    seat = record.players.index(position.player)
    if position.step not in answer_steps(record, seat):
        raise SpecError(f"{path}: step: {position.player} was not asked for step {position.step}")
    try:
        expect = expected_actions(record, seat, position.step, position.expect)
    except ArenaError as error:
        raise SpecError(f"{path}: expect: {error}") from None
    return NamedPosition(path.stem, msgspec.structs.replace(position, expect=expect), record, seat)


def _plain(action: Any) -> Json:
    found: Json = msgspec.json.decode(msgspec.json.encode(action))
    return found


def position_name(name: str) -> str:
    """The name, if it can be that of a file. SpecError otherwise."""
    try:
        return msgspec.convert(name, Name)
    except msgspec.ValidationError:
        raise SpecError(f"found {name!r}, expected letters, digits, `.`, `_` and `-`") from None
