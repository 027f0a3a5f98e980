"""Requests for matches outside a league: game, luck, clock, isolation, folders."""

from collections.abc import Sequence
from typing import Any

import msgspec

from arena.games import DEFAULT_GAME
from arena.league.exhibition import exhibition
from arena.league.tournament import Player, Tournament
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings
from arena.operations.playing import BotRequest, require_options


class MatchRequest(BotRequest, frozen=True, kw_only=True):
    """Matches of `game` with its `options`. `secret` gives the luck; None draws a new one."""

    game: str = DEFAULT_GAME
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    clock: ClockSettings = ClockSettings()
    secret: Secret | None = None

    def exhibition(self, players: Sequence[Player], secret: Secret | None, blocks: int) -> Tournament:
        """Return the tournament of these players at one table. SpecError for options or seats that the game lacks."""
        require_options(self.game, self.options, len(players))
        return exhibition(players, game=self.game, options=self.options, clock=self.clock, secret=secret, blocks=blocks)
