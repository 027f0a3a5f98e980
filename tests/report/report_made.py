"""A stored league of nim with installed bots, played in this process, for audits and transcripts."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from arena.api import league_table
from arena.games import load_game
from arena.league.schedule import Pairing, PlayedBlock, fixture, match_spec, pairings
from arena.league.state import state_of
from arena.league.tournament import Player, Tournament
from arena.match.bot_player import BotPlayer
from arena.match.record import MatchRecord, pack
from arena.match.referee import hello_for, play_match
from arena.match.results import PlayedMatch, result_of, rotate
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings, MatchSpec
from arena.process.scripted import Reply, ScriptedChannel
from arena.standings.ratings import RatingSettings
from arena.standings.table import standings_json
from arena.store import database
from arena.store.bots import BotStore
from arena.store.matches import MatchStore


class Kept:
    """A results folder with one finished and published league of three: `ann`, `bob`, and `cheat`, who cheats."""

    def __init__(self, folder: Path) -> None:
        self.results = folder / "results"
        self.bots = BotStore(self.results, folder / "bots")
        self.league = _tournament(self.bots, folder)
        self.blocks = [_block(self.league, pair, block) for pair in pairings(self.league) for block in range(2)]
        connection = database.open_for_writing(self.results)
        store = MatchStore(connection, self.results)
        store.save_league(self.league)
        store.save(self.blocks)
        store.save_standings(
            self.league.name, standings_json(league_table(store, state_of(self.league, store.ranks))[0])
        )
        connection.close()

    @property
    def normal(self) -> PlayedMatch:
        """A match without a forfeit, stored."""
        return next(each.matches[0] for each in self.blocks if each.matches[0].result.at_fault is None)

    @property
    def key(self) -> str:
        """The key of the first pairing."""
        return pairings(self.league)[0].key

    def tamper(self, statement: str, *parameters: Any) -> None:
        """Change the database behind our back."""
        connection = sqlite3.connect(self.results / database.FILE_NAME)
        changed = connection.execute(statement, parameters).rowcount
        connection.commit()
        connection.close()
        assert changed, "nothing was tampered with"

    @contextmanager
    def reading(self) -> Iterator[MatchStore]:
        """The league for reading."""
        connection = database.open_for_reading(self.results)
        assert connection is not None
        with closing(connection):
            yield MatchStore(connection, self.results)


def record(*, cheats: bool = False) -> MatchRecord:
    """One match outside any store."""
    seats = [_bot_player(name, f"{name}-hash", {}, ClockSettings()) for name in ("cheat" if cheats else "ann", "bob")]
    return play_match(
        MatchSpec(
            match="m-0-0",
            game="nim",
            options={},
            seed="s",
            clock=ClockSettings(),
            wire_id="m-0-0",
            bot_seeds=(1, 2, 3, 4),
        ),
        seats,
    )


def _tournament(bots: BotStore, folder: Path) -> Tournament:
    players = []
    for name in ("ann", "bob", "cheat"):
        script = folder / f"{name}.py"
        script.write_text(f"print('{name}')")
        players.append(Player(name=name, bot=bots.install(bots.find(str(script)))))
    return Tournament(
        name="test",
        game="nim",
        options={},
        players=tuple(players),
        seed="1",
        cycles=2,
        chunk_blocks=1,
        clock=ClockSettings(),
        rating=RatingSettings(),
    )


def _block(league: Tournament, pair: Pairing, block: int) -> PlayedBlock:
    planned = fixture(Secret.public("1"), pair, block)
    seated = [_bot_player(each.name, each.bot.digest, league.options, league.clock) for each in pair.players]
    matches = []
    for rotation in range(2):
        played = play_match(match_spec(league, planned, rotation, "none"), rotate(seated, rotation))
        matches.append(PlayedMatch(result_of(played), pack(played)))
    return PlayedBlock(fixture=planned, matches=tuple(matches))


def _bot_player(name: str, digest: str, options: dict[str, Any], clock: ClockSettings) -> BotPlayer:
    return BotPlayer(
        player=name,
        bot=digest,
        open_channel=lambda: ScriptedChannel(lambda line: _respond(line, cheats=name == "cheat")),
        hello=hello_for(load_game("nim"), options, clock.startup_ms),
        clock=clock,
    )


def _respond(line: bytes, *, cheats: bool) -> Iterable[Reply]:
    message = json.loads(line)
    match message["type"]:
        case "hello":
            return [b'{"type":"hello","protocols":[1],"name":"function"}']
        case "match_start":
            return [json.dumps({"type": "ready", "match": message["match"]}).encode()]
        case "request":
            action = 999 if cheats else len(message["legal"]) // 2
            answer = {"type": "action", "id": message["id"], "action": action, "note": "half"}
            return [b"chatter", json.dumps(answer).encode()]
    return []
