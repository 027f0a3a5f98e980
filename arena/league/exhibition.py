"""A few matches at one table outside any league: the same blocks, luck and standings, but nothing is stored.

Rule: a exhibition is a tournament with as many seats as players, whose results stay in memory.
"""

import logging
from collections import Counter
from collections.abc import Generator, Sequence
from itertools import count
from typing import Any, Final

from arena.errors import HarnessFault, SpecError
from arena.games import load_game
from arena.league.schedule import Fixture, fixture, pairings
from arena.league.tournament import Player, Tournament, require_game
from arena.league.worker import ATTEMPTS, Matches, Tables, clear, play_rotations, seat_players
from arena.match.record import MatchRecord
from arena.match.results import MatchResult, result_of
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings
from arena.process import reaper
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec
from arena.process.workers import multiprocessing_pids
from arena.standings.ratings import RatingSettings
from arena.text import spanned

log: Final = logging.getLogger("arena.league")
Played = Generator[tuple[MatchRecord, MatchResult], None, None]
"""Matches as they end; closing it ends the bots."""


def exhibition(
    players: Sequence[Player],
    *,
    game: str,
    options: dict[str, Any],
    clock: ClockSettings,
    secret: Secret | None,
    blocks: int,
) -> Tournament:
    """The tournament of these players at one table; `secret` gives its luck, None if that is settled later.

    SpecError if the game is not for so many or has other options, or if a bot plays other games.
    """
    require_seats(game, len(players))
    for player in players:
        require_game(player.bot, game)
    load_game(game).setup(options, len(players))
    return Tournament(
        name="friendly",
        game=game,
        options=options,
        players=tuple(players),
        seed=None if secret is None else secret.seed,
        cycles=blocks,
        chunk_blocks=20,
        clock=clock,
        rating=RatingSettings(),
        luck=False,
        seats=len(players),
        commitments=() if secret is None or secret.seed is not None else (secret.commitment,),
        rules=load_game(game).rules_version,
    )


def require_seats(game: str, players: int) -> None:
    """SpecError if the game is for other numbers of players."""
    counts = load_game(game).seat_counts
    if players not in counts:
        raise SpecError(f"{game} is for {spanned(counts)} players, found {players}")


def named_apart(bots: Sequence[BotSpec]) -> list[Player]:
    """The bots as players: those of one name, such as a bot that meets itself, are numbered."""
    names = Counter(bot.name for bot in bots)
    taken = {name for name, times in names.items() if times == 1}
    players = []
    for bot in bots:
        numbered = (f"{bot.name}-{number}" for number in count(1))
        name = bot.name if names[bot.name] == 1 else next(each for each in numbered if each not in taken)
        taken.add(name)
        players.append(Player(name=name, bot=bot))
    return players


def seat_all(tournament: Tournament, isolation: Isolation, *, keep_transcript: bool = False) -> Tables:
    """The players as bot_players at a table for each rotation; nothing is started yet."""
    (pairing,) = pairings(tournament)
    return seat_players(pairing, tournament.setting, isolation, keep_transcript=keep_transcript)


def play_here(tournament: Tournament, tables: Tables, isolation: Isolation, secret: Secret) -> Played:
    """Play match after match in this process at what `seat_all` made: the record and the result of each."""
    (pairing,) = pairings(tournament)
    reaper.become_subreaper()
    try:
        for block in range(tournament.cycles):
            for _, record in _block(tournament, fixture(secret, pairing, block), tables, isolation):
                yield record, result_of(record)
    finally:
        clear(tables, grace_s=0.0)
        reaper.kill_descendants(spare=frozenset(multiprocessing_pids()))


def _block(tournament: Tournament, planned: Fixture, tables: Tables, isolation: Isolation) -> Matches:
    """The matches of a block. One that is void is played again by new processes; HarnessFault the third time."""
    played = 0
    for attempt in range(1, ATTEMPTS + 1):
        try:
            for one in play_rotations(tournament, planned, tables, isolation, after=played):
                played += 1
                yield one
        except HarnessFault as fault:
            log.warning("a match of block %d is void, attempt %d: %s", planned.block, attempt, fault)
            clear(tables, grace_s=0.0)
            if attempt == ATTEMPTS:
                raise
        else:
            return
