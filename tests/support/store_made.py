"""Leagues of nim for these tests, played in this process by bots that are functions, and a store that holds them."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from arena.league.schedule import Pairing, fixture, pairings
from arena.league.state import state_of
from arena.league.tournament import Player, Tournament
from arena.match.bot_player import BotPlayer
from arena.match.columns import PlayedBlock
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings
from arena.process.scripted import Reply
from arena.store import database
from arena.store.matches import MatchStore
from support import made_matches
from support.made_matches import bot
from support.scripted_bot import Message, Odd, ScriptedBot, answer, played_block, seated
from support.tampering import opened

CLOCK = ClockSettings()


def tournament(*names: str, **changes: Any) -> Tournament:
    """A league of nim between these players; `changes` replace any field."""
    players = tuple(Player(name=name, bot=bot(name, name * 8)) for name in names or ("ann", "bob", "cid"))
    return made_matches.tournament(**{"players": players, **changes})


def last_action(message: Message, _number: int) -> list[Reply]:
    return [answer(message, len(message["legal"]) - 1)]


def counted(league: Tournament) -> dict[str, int]:
    """How many blocks of each pairing are of a league of cycles."""
    return state_of(league, lambda _: {}).blocks


def blocks_of(league: Tournament) -> list[PlayedBlock]:
    """All blocks of the league, played."""
    return [block_of(league, pair, block) for pair in pairings(league) for block in range(league.cycles)]


def block_of(league: Tournament, pair: Pairing, block: int, odd: Odd = last_action) -> PlayedBlock:
    """One block: both matches, with their records."""
    planned = fixture(Secret.public(league.seed or ""), pair, block)
    seats = [seated_bot(each.name, each.bot.digest, league, odd) for each in pair.players]
    return played_block(league, planned, seats)


def seated_bot(name: str, digest: str, league: Tournament, odd: Odd = last_action) -> BotPlayer:
    """A bot of a league of nim that answers requests by `odd`; one called `cheat` takes an action that is not there."""
    bot = ScriptedBot(lambda message, _: [answer(message, 999)]) if name == "cheat" else ScriptedBot(odd)
    return seated(bot, league.clock, options=league.options, player=name, digest=digest)


@contextmanager
def writing(results: Path) -> Iterator[MatchStore]:
    """A store to write into, closed at the end."""
    with closing(database.open_for_writing(results)) as connection:
        yield MatchStore(connection, results)


@contextmanager
def reading(results: Path) -> Iterator[MatchStore]:
    """The same for reading."""
    connection = database.open_for_reading(results)
    assert connection is not None, "nothing is stored"
    with closing(connection):
        yield MatchStore(connection, results)


def fill(results: Path, league: Tournament) -> list[PlayedBlock]:
    """Store the whole league; its blocks."""
    blocks = blocks_of(league)
    with writing(results) as store:
        store.save_league(league)
        store.save(blocks)
    return blocks


def dump(results: Path) -> list[Any]:
    """Every row of blocks and records, in order."""
    with opened(results) as connection:
        queries = (f"SELECT * FROM {table} ORDER BY 1, 2, 3" for table in ("block", "record"))
        return [connection.execute(query).fetchall() for query in queries]
