"""A stored league of nim with installed bots, played in this process, for audits and transcripts."""

import shutil
from contextlib import AbstractContextManager
from copy import copy
from pathlib import Path
from typing import Any, Self

from arena.league.schedule import pairings
from arena.league.state import state_of
from arena.league.tournament import Player, Tournament
from arena.match.record import MatchRecord, split_packed
from arena.match.results import MatchResult
from arena.operations.leagues import league_table
from arena.process.scripted import Reply
from arena.standings.table import standings_json
from arena.store.bots import BotStore
from arena.store.matches import MatchStore
from support.made_matches import tournament
from support.scripted_bot import Message, answer, match_of
from support.store_made import block_of, reading, seated_bot, writing
from support.tampering import opened


class Kept:
    """A results folder with one finished and published league of three: `ann`, `bob`, and `cheat`, who cheats."""

    def __init__(self, folder: Path) -> None:
        self.results = folder / "results"
        self.bots = BotStore(self.results, folder / "bots")
        self.league = _tournament(self.bots, folder)
        self.blocks = [block_of(self.league, pair, block, half) for pair in pairings(self.league) for block in range(2)]
        with writing(self.results) as store:
            store.save_league(self.league)
            store.save(self.blocks)
            table, _ = league_table(store, state_of(self.league, store.ranks))
            store.save_standings(self.league.name, standings_json(table))

    def copied(self, folder: Path) -> Self:
        """The same results in another folder."""
        other = copy(self)
        other.results = folder / "results"
        shutil.copytree(self.results, other.results, symlinks=True)
        other.bots = BotStore(other.results, folder / "bots")
        return other

    @property
    def normal(self) -> MatchResult:
        """A match without a forfeit, stored."""
        return next(each.results[0] for each in self.blocks if each.results[0].at_fault is None)

    @property
    def body(self) -> bytes:
        """The stored bytes of its record."""
        return split_packed(self.normal.record)[2]

    @property
    def key(self) -> str:
        """The key of the first pairing."""
        return pairings(self.league)[0].key

    def tamper(self, statement: str, *parameters: Any) -> None:
        """Change the database behind our back."""
        with opened(self.results) as connection:
            assert connection.execute(statement, parameters).rowcount, "nothing was tampered with"

    def reading(self) -> AbstractContextManager[MatchStore]:
        """The league for reading."""
        return reading(self.results)


def record(*, cheats: bool = False) -> MatchRecord:
    """One match outside any store."""
    league = tournament()
    seats = [seated_bot(name, f"{name}-hash", league, half) for name in ("cheat" if cheats else "ann", "bob")]
    return match_of(*seats, match="m-0-0", seed="s", clock=league.clock)


def half(message: Message, _number: int) -> list[Reply]:
    """An action in the middle of the list, after a line that nobody asked for."""
    return [b"chatter", answer(message, len(message["legal"]) // 2, note="half")]


def _tournament(bots: BotStore, folder: Path) -> Tournament:
    players = []
    for name in ("ann", "bob", "cheat"):
        script = folder / f"{name}.py"
        script.write_text(f"print('{name}')")
        players.append(Player(name=name, bot=bots.install(bots.find(str(script)))))
    return tournament(players=tuple(players), cycles=2, chunk_blocks=1)
