"""The matches of a league in the format of their game, such as PGN, for programs that read it.

Rule: the game writes; here is gathered what the record knows of each action.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import UNSET

from arena.errors import SpecError
from arena.games import load_game
from arena.games.game_text import PlayedGame, PlayedMove, game_text_of
from arena.match.record import ActionStep, MatchRecord
from arena.match.requests import banks_us, requests_of
from arena.match.results import MatchKey, MatchResult, record_of

GAME_FORMATS: Final = ("pgn", "sgf")


def game_texts(results: Iterable[MatchResult], league: str, form: str) -> Iterator[str]:
    """Yield each match, which has its record, as text in `form`. SpecError if its game has not that format."""
    for result in results:
        record = record_of(result)
        writer = game_text_of(load_game(record.game))
        if writer is None or writer.form != form:
            raise SpecError(
                f"--format {form}: matches of {record.game} have {writer.form if writer else 'no such text'}"
            )
        yield writer.write(_played_game(record, result.key, league))


def _played_game(record: MatchRecord, key: MatchKey, league: str) -> PlayedGame:
    """Return the match as its game writes it."""
    times = dict[int, tuple[float, float]]()
    for seat, entry in enumerate(record.seats):
        banks = banks_us(entry, record.clock)
        used_us = () if entry.requests is UNSET else entry.requests.deciding_us(entry.decides)
        for index, numbers in requests_of(record, seat).items():
            took_us = sum(used_us[number - 1] for number in numbers)
            times[index] = took_us / 1e6, banks[numbers[-1]] / 1e6
    moves = [
        PlayedMove(step.action, step.note, *times.get(index, ()))
        for index, step in enumerate(record.steps)
        if isinstance(step, ActionStep)
    ]
    number = f"{key.pairing}.{key.block}.{key.rotation}"
    ends = (record.ranks, str(record.termination))
    return PlayedGame(league, number, record.options, record.players, *ends, tuple(moves))
