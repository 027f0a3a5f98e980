"""Regression sets: positions of stored matches with the answers that a bot is expected to give there.

Rule: a set is a folder that needs no results: a file for each position, written by hand or by `save_position`, and the
record of each match once. A position passes if the bot gives one of the expected answers.
"""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import yaml
from msgspec import Meta

from arena.errors import ArenaError, BotFault, SpecError
from arena.games import load_game
from arena.games.api import Json, Seat
from arena.league.tournament import Player, require_game
from arena.match.asking import BotAnswer, ask, plain_action
from arena.match.record import ActionStep, MatchRecord, decode_record, encode_record
from arena.match.replay import state_before
from arena.match.requests import answer_steps
from arena.operations.ask_bot import bot_player_for, players_of
from arena.operations.playing import BotRequest, naming_option, prepare_isolation
from arena.operations.read_match import ReadSeat, read_seat
from arena.operations.request import Request
from arena.process.manifest import BotSpec, CommandWord, Name
from arena.text import printable
from arena.yaml_file import read_yaml

_FOLDER: Final = Path("positions")
_MATCHES: Final = "matches"
_FILE_LIMIT: Final = 1 << 16


class SavePosition(Request, frozen=True, kw_only=True):
    """The position before `step` of a stored match, when `player` was asked, as a new file of the set `folder`.

    `expect` are right answers there: actions in JSON, or indices in `legal`; empty for the recorded one. `name` is by
    default match and step.
    """

    match: str
    player: str
    step: int
    expect: tuple[Any, ...] = ()
    folder: Path = _FOLDER
    name: str | None = None


class RunPositions(BotRequest, frozen=True, kw_only=True):
    """A run of `bot` at the positions of the set `folder`."""

    bot: str
    folder: Path = _FOLDER


class Position(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a set: a step of a match for which `player` was asked, and the right actions there, as JSON.

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
    """The bot's answer at a position; without one, `problem` has the reason."""

    name: str
    position: Position
    answer: BotAnswer | None = None
    problem: str = ""

    @property
    def is_passed(self) -> bool:
        """True if the answer is one of the expected ones."""
        return self.answer is not None and not self.answer.fault and self.answer.action in self.position.expect

    @property
    def reply(self) -> str:
        """The answer as text, or the reason why there is none."""
        if self.answer is None:
            return printable(self.problem)
        return printable(self.answer.fault) if self.answer.fault else self.answer.answered


class PositionResults(msgspec.Struct, frozen=True):
    """The results of the bot of that label, by the names of the positions."""

    bot: str
    results: tuple[PositionResult, ...]


def save_position(request: SavePosition) -> tuple[Path, Position]:
    """Write a position and its match; return file and position. SpecError if it is invalid, or there already."""
    seat_request = ReadSeat(match=request.match, player=request.player, step=request.step, results=request.results)
    record, seat = read_seat(seat_request)
    arguments = players_of(request.results, record)[seat].arguments
    with naming_option("--expect"):
        expect = _expected_actions(record, seat, request.step, request.expect)
    with naming_option("--name"):
        name = _require_file_name(request.name or f"{record.match}-{request.step}")
    position = Position(record.match, record.seats[seat].player, request.step, expect, arguments)
    path, match = request.folder / f"{name}.yaml", request.folder / _MATCHES / f"{position.match}.json"
    if path.exists():
        raise SpecError(f"{path} is there already; choose another --name")
    match.parent.mkdir(parents=True, exist_ok=True)
    match.write_bytes(encode_record(record))
    values = msgspec.to_builtins(position)
    if not position.arguments:
        del values["arguments"]
    path.write_text(yaml.safe_dump(values, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path, position


def run_positions(request: RunPositions) -> PositionResults:
    """Ask a bot at each position; positions in one seat of a match share a process. Results are in the order of names.

    The bot is installed in the results. SpecError for an unknown bot or a bad file; a bot that fails is a result.
    """
    bots = request.bot_store()
    bot, positions = bots.find(request.bot), _read_all(request.folder)
    for game in dict.fromkeys(named.record.game for named in positions):
        require_game(bot, game)
        prepare_isolation(request.isolation, game)
    bot = bots.install(bot)
    results: list[PositionResult] = []
    for _, same in groupby(positions, key=_process_key):
        results += _run_group([*same], bot, request)
    return PositionResults(bot.label, tuple(sorted(results, key=lambda result: result.name)))


def _run_group(group: Sequence[NamedPosition], bot: BotSpec, request: RunPositions) -> list[PositionResult]:
    """Ask the bot, in one process, at positions of one seat; if that fails, the error is the problem of each result."""
    record, position = group[0].record, group[0].position
    player = Player(name=position.player, bot=bot, arguments=position.arguments)
    steps = {named.position.step for named in group}
    answers, problem = dict[int, BotAnswer](), "the bot ended before"
    try:
        seated = bot_player_for(record, player, request.isolation)
        answers = {answer.step: answer for answer in ask(record, seated, group[0].seat, steps)}
    except ArenaError as error:
        problem = str(error)
    rows = [(named, answers.get(named.position.step)) for named in group]
    return [PositionResult(named.name, named.position, answer, "" if answer else problem) for named, answer in rows]


def _process_key(named: NamedPosition) -> tuple[str, int, tuple[str, ...]]:
    """Return match, seat and arguments of a position: positions with equal ones are asked in one process."""
    return named.position.match, named.seat, named.position.arguments


def _read_all(folder: Path) -> list[NamedPosition]:
    """Read all positions of a set, in the order of processes. SpecError names an invalid file."""
    files = sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])
    if not files:
        raise SpecError(f"{folder}: no positions; `arena positions save MATCH PLAYER --step N` writes one")
    return sorted(map(_read_position, files), key=lambda named: (*_process_key(named), named.name))


def _read_position(path: Path) -> NamedPosition:
    """Read a position and its match. SpecError names the file and the key that is wrong."""
    position = read_yaml(path, Position, limit=_FILE_LIMIT)
    match = path.parent / _MATCHES / f"{position.match}.json"
    try:
        record = decode_record(match.read_bytes())
    except (OSError, msgspec.MsgspecError) as error:
        raise SpecError(f"{path}: match: {match} cannot be read: {error}") from None
    if position.player not in record.players:
        raise SpecError(f"{path}: player: found {position.player}, the players are {', '.join(record.players)}")
    seat = record.players.index(position.player)
    if position.step not in answer_steps(record, seat):
        raise SpecError(f"{path}: step: {position.player} was not asked for step {position.step}")
    try:
        expect = _expected_actions(record, seat, position.step, position.expect)
    except ArenaError as error:
        raise SpecError(f"{path}: expect: {error}") from None
    return NamedPosition(path.stem, msgspec.structs.replace(position, expect=expect), record, seat)


def _expected_actions(record: MatchRecord, seat: int, step: int, given: Sequence[Json]) -> tuple[Json, ...]:
    """Return the right actions at a step in JSON: those given, also by index, or the recorded one without any.

    SpecError for an action that the rules do not allow there, and where none is recorded, because a fault came instead.
    """
    if not given:
        recorded = record.steps[step - 1] if step <= len(record.steps) else None
        if not isinstance(recorded, ActionStep):
            raise SpecError("the match ended there with a fault and no answer; give those that are right")
        return (plain_action(recorded.action),)
    game, state = load_game(record.game), state_before(record, step)
    legal = game.legal(state, Seat(seat))
    actions: list[Json] = []
    for entry in given:
        if type(entry) is int and legal is not None:
            if not 0 <= entry < len(legal):
                raise SpecError(f"{entry} is no index: there are actions 0 to {len(legal) - 1}")
            actions.append(plain_action(legal[entry]))
            continue
        try:
            actions.append(plain_action(game.parse(state, Seat(seat), entry)))
        except BotFault as fault:
            raise SpecError(f"{msgspec.json.encode(entry).decode()}: {fault.message}") from None
    return tuple(actions)


def _require_file_name(name: str) -> str:
    """Return the name. SpecError if it cannot be the name of a file."""
    try:
        return msgspec.convert(name, Name)
    except msgspec.ValidationError:
        raise SpecError(f"found {name!r}, expected letters, digits, `.`, `_` and `-`") from None
