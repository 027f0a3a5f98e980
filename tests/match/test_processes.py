"""Decisions at once, questions and late answers with real processes: who runs, and who stands still."""

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.bot_source import bot_script, scripted_player
from support.scripted_bot import CLOCK, acted, toy_match
from support.toy_game import NAME, ToyGame, ToySimulator

from arena.games.api import ENDLESS, Json
from arena.match.bot_player import BotPlayer
from arena.match.record import MatchRecord
from arena.match.settings import MatchSettings

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("toy_game")]
HELLO = '{"type": "hello", "protocols": [1], "capabilities": ["simulate"]}'
ASK = """
        print(json.dumps({"type": "simulate", "id": m["id"], "query": 1, "what": {"mm": 1}}), flush=True)
        sys.stdin.readline()
"""
SPIN = "import threading; threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()"


class Crew:
    """The bots of a folder at one toy game; `stopped` holds the processes that were stopped after the match."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.game = ToyGame()
        self.clock = msgspec.structs.replace(CLOCK, **more)
        self.members: list[BotPlayer] = []
        self._folder = folder

    def member(self, thought: str) -> BotPlayer:
        script = bot_script('0 if m["legal"] else {"mm": 20}', asked=thought, hello=HELLO)
        path = self._folder / f"bot{len(self.members)}.py"
        self.members.append(scripted_player(path, script, MatchSettings(NAME, {}, self.clock)))
        return self.members[-1]

    def is_stopped(self, seat: int) -> bool:
        """A signal takes effect when the process would run next, which on a busy machine is in a while."""
        (pid,) = self.members[seat].pids()
        deadline_s = time.monotonic() + 5
        while Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "T":
            if time.monotonic() > deadline_s:
                return False
            time.sleep(0.001)
        return True

    def play(self, **options: int) -> MatchRecord:
        try:
            record = toy_match(*self.members, game=self.game, clock=self.clock, options=options)
            self.stopped = [self.is_stopped(seat) for seat in range(len(self.members))]
        finally:
            for member in self.members:
                member.close(grace_s=0.0)
        return record


class Watching(ToySimulator):
    """A simulator that notes whether the bot that asks it is stopped."""

    def __init__(self, crew: Crew) -> None:
        super().__init__()
        self.seen: list[bool] = []
        self._crew = crew

    def what_if(self, state: Any, seat: Any, what: Any, left: int = ENDLESS) -> dict[str, Json]:
        self.seen.append(self._crew.is_stopped(seat))
        return super().what_if(state, seat, what, left)


def test_a_bot_that_asks_for_a_simulation_stands_still_with_all_its_threads(tmp_path: Path) -> None:
    """A bot that spins beside its question uses no CPU time while it is answered."""
    crew = Crew(tmp_path)
    crew.game.simulator = simulator = Watching(crew)
    crew.member(f"{SPIN}{ASK}")
    crew.member("pass")
    record = crew.play(rounds=1)

    assert record.termination.value == "normal"
    assert simulator.seen == [True, True]
    assert record.seats[0].faults == {}


def test_who_is_too_late_stands_still_and_goes_on_later(tmp_path: Path) -> None:
    """Its first answer comes in the time of the second request, with an old id."""
    crew = Crew(tmp_path, decides="wall", move_ms=200.0, bank_ms=400.0)
    crew.member('time.sleep(0.7 if m["id"] == 1 else 0)')
    crew.member("pass")
    record = crew.play()

    assert acted(record, 0)[0].fallback_for == "timeout"
    assert record.seats[0].ignored in ({"stale": 1}, {"early": 1})
    assert record.termination.value == "normal"
    assert crew.stopped == [True, True]
