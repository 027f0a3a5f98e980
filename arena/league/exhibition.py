"""A few matches at one table outside any league: the same blocks, luck and standings, but nothing is stored.

Rule: an exhibition is a tournament with as many seats as players, whose results stay in memory.
"""

from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import UNSET

from arena.errors import SpecError
from arena.games import load_game, plugin_package
from arena.league.openings import take_openings
from arena.league.schedule import jobs
from arena.league.tournament import Player, Tournament, require_game
from arena.league.worker import PlayedMatch, play_rotations
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings
from arena.process import reaper
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec
from arena.process.workers import multiprocessing_pids
from arena.text import describe_range, distinguish_names


def exhibition(
    players: Sequence[Player],
    *,
    game: str,
    options: dict[str, Any],
    clock: ClockSettings,
    secret: Secret | None,
    blocks: int,
) -> Tournament:
    """Return the tournament of these players at one table; `secret` gives its luck, None if that comes later.

    SpecError if the game is not for so many or has other options, or if a bot plays other games.
    """
    require_seats(game, len(players))
    for player in players:
        require_game(player.bot, game)
    options, book = take_openings(game, options, Path())
    load_game(game).setup(options, len(players))
    return Tournament(
        name="friendly",
        game=game,
        options=options,
        players=tuple(players),
        seed=None if secret is None else secret.seed,
        cycles=blocks,
        clock=clock,
        luck=False,
        seats=len(players),
        commitments=() if secret is None or secret.seed is not None else (secret.commitment,),
        rules=load_game(game).rules_version,
        package=plugin_package(game) or UNSET,
        book=book,
    )


def require_seats(game: str, players: int) -> None:
    """Raise SpecError if the game is not for that number of players."""
    counts = load_game(game).seat_counts
    if players not in counts:
        raise SpecError(f"{game} is for {describe_range(counts)} players, found {players}")


def name_players(bots: Sequence[BotSpec]) -> list[Player]:
    """Return the bots as players; bots of one name, such as a bot that meets itself, are numbered."""
    names = distinguish_names([bot.name for bot in bots])
    return [Player(name=name, bot=bot) for name, bot in zip(names, bots, strict=True)]


def play_here(tournament: Tournament, secret: Secret, isolation: Isolation) -> Generator[PlayedMatch, None, None]:
    """Play match after match in this process; closing the generator ends the bots.

    After each rotation all processes below this one are killed, except those of multiprocessing.
    """
    reaper.become_subreaper()
    sweep = partial(reaper.kill_descendants, spare=frozenset(multiprocessing_pids()))
    for job in jobs(tournament, {}, isolation, secret=secret):
        yield from play_rotations(job, sweep=sweep)
