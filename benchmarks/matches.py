"""Real matches for the benchmarks: games with their options, one match, and bot players as a league seats them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from arena.league.tournament import Player
from arena.league.worker import make_bot_player
from arena.match import settings as match_settings
from arena.match.bot_player import BotPlayer
from arena.match.settings import ClockSettings, MatchSpec
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec

CLOCK: Final = ClockSettings(move_ms=1000.0, bank_ms=10_000.0)
"""A generous clock: no benchmark shall end by it because others use the machine."""
SEED: Final = "0123456789abcdef0123456789abcdef"


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


def match_of(setting: Setting, clock: ClockSettings = CLOCK, name: str = "bench-0-0") -> MatchSpec:
    """Return the match that all measurements of a setting play again and again."""
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
    """Seat the bots as a worker does; yield the players by seat, whose processes end with the context.

    `arguments` are passed to all bots.
    """
    players = [Player(name=f"p{seat}", bot=bot, arguments=arguments) for seat, bot in enumerate(bots)]
    terms = match_settings.MatchSettings(setting.game, setting.options, clock)
    bot_players = [make_bot_player(player, terms, isolation) for player in players]
    try:
        yield bot_players
    finally:
        for player in bot_players:
            player.close()
