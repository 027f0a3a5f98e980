"""Real matches for the benchmarks: bot_players as a league seats them, and the lines of one match as it was played.

Rule: the lines come from the referee itself, so that the floor moves the very same bytes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from arena.games import load_game
from arena.league.tournament import Player
from arena.league.worker import bot_player
from arena.match import settings as match_settings
from arena.match.bot_player import BotPlayer
from arena.match.record import MatchRecord
from arena.match.referee import hello_for, play_match
from arena.match.settings import ClockSettings, MatchSpec
from arena.process import launch
from arena.process.channel import ProcessChannel
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec
from arena.protocol.codec import LINE_FROM_BOT_LIMIT

CLOCK: Final = ClockSettings(move_ms=1000.0, bank_ms=10_000.0)
"""Generous: a benchmark shall not end by the clock because others use the machine."""
SEED: Final = "0123456789abcdef0123456789abcdef"
_REQUEST: Final = b'{"type":"request"'


class Setting(msgspec.Struct, frozen=True):
    """A game with its options, under the name that tables show."""

    label: str
    game: str
    options: dict[str, Any]


SHANGHAIEN: Final = Setting(label="shanghaien", game="shanghaien", options={})
ALL_EXPANSIONS: Final = Setting(
    label="shanghaien, all expansions",
    game="shanghaien",
    options={"expansions": ["crazy_captain", "no_shanghai", "sharks", "doubles"]},
)
NIM: Final = Setting(label="nim", game="nim", options={"heaps": [8, 8, 8, 8]})


class Recording(msgspec.Struct, frozen=True):
    """One match: its record, the request lines as (seat, bytes) in order of time, and the replies to them."""

    record: MatchRecord
    requests: tuple[tuple[int, bytes], ...]
    replies: tuple[bytes, ...]


def match_of(setting: Setting, clock: ClockSettings = CLOCK, name: str = "bench-0-0") -> MatchSpec:
    """The match that all measurements of a setting play again and again."""
    return MatchSpec(
        match=name,
        game=setting.game,
        options=setting.options,
        seed=SEED,
        clock=clock,
        wire_id=name,
        bot_seeds=(1, 2, 3, 4),
    )


@contextmanager
def seated(
    setting: Setting,
    bots: tuple[BotSpec, ...],
    clock: ClockSettings = CLOCK,
    arguments: tuple[str, ...] = (),
    isolation: Isolation = "sandbox",
) -> Iterator[list[BotPlayer]]:
    """Contestants by seat, made as a worker makes them; their processes end with the context.

    `arguments` go to all bots.
    """
    players = [Player(name=f"p{seat}", bot=bot, arguments=arguments) for seat, bot in enumerate(bots)]
    terms = match_settings.MatchSettings(setting.game, setting.options, clock)
    made = [bot_player(each, terms, isolation) for each in players]
    try:
        yield made
    finally:
        for each in made:
            each.close()


def record(setting: Setting, bot: BotSpec) -> Recording:
    """Play one match of the bot against itself and keep every line."""
    hello = hello_for(load_game(setting.game), setting.options, CLOCK.startup_ms)
    bot_players = [
        BotPlayer(
            player=f"p{seat}",
            bot=bot.digest,
            open_channel=lambda: ProcessChannel(launch.start(bot), limit=LINE_FROM_BOT_LIMIT),
            hello=hello,
            clock=CLOCK,
            keep_transcript=True,
        )
        for seat in (0, 1)
    ]
    try:
        played = play_match(match_of(setting), bot_players)
    finally:
        for each in bot_players:
            each.close()
    lines = sorted((when, seat, way, line) for seat in (0, 1) for when, way, line in bot_players[seat].transcript)
    return Recording(
        record=played,
        requests=tuple((seat, line) for _, seat, way, line in lines if way == ">" and line.startswith(_REQUEST)),
        replies=tuple(line for _, _, way, line in lines if way == "<" and b'"action"' in line),
    )
