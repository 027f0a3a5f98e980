"""Decisions at once, questions and late answers with real processes: who runs, and who stands still."""

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.scripted_bot import CLOCK, acted, toy_match
from support.toy_game import ToyGame, ToySimulator

from arena.games.api import ENDLESS, Json
from arena.match.bot_player import BotPlayer
from arena.match.referee import hello_for
from arena.process import launch
from arena.process.channel import ProcessChannel
from arena.process.limits import Limits
from arena.process.manifest import read_bot
from arena.protocol import codec

pytestmark = pytest.mark.process
BARE = launch.Confinement(isolation="none", limits=Limits())

BOT = """
import json, sys, threading, time

def say(**message):
    print(json.dumps(message), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say(type="hello", protocols=[1], capabilities=["simulate"])
    elif message["type"] == "match_start":
        say(type="ready", match=message["match"])
    elif message["type"] == "request":
        {thought}
        say(type="action", id=message["id"], action=0 if message["legal"] else {{"mm": 20}})
"""
ASK = 'say(type="simulate", id=message["id"], query=1, what={"mm": 1}); sys.stdin.readline()'
SPIN = "threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()"


class Crew:
    """Bots of a folder at one toy game; their processes can be looked at."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.game = ToyGame()
        self.clock = msgspec.structs.replace(CLOCK, **more)
        self.channels: list[ProcessChannel] = []
        self._folder = folder

    def member(self, thought: str) -> BotPlayer:
        path = self._folder / f"bot{len(list(self._folder.iterdir()))}.py"
        path.write_text(BOT.format(thought=thought), encoding="utf-8")
        bot = read_bot(path)

        def start() -> ProcessChannel:
            self.channels.append(ProcessChannel(launch.start(bot, (), BARE), limit=codec.LINE_FROM_BOT_LIMIT))
            return self.channels[-1]

        hello = hello_for(self.game, {}, self.clock.startup_ms)
        return BotPlayer(player=path.stem, bot=bot.digest, open_channel=start, hello=hello, clock=self.clock)

    def states(self) -> list[str]:
        """Of each process, as the kernel calls it: T is stopped."""
        statuses = [Path(f"/proc/{channel._process.pid}/stat").read_text("ascii") for channel in self.channels]
        return [status.rpartition(")")[2].split()[0] for status in statuses]

    def is_stopped(self, seat: int) -> bool:
        """A signal takes effect when the process would run next, which on a busy machine is in a while."""
        deadline_s = time.monotonic() + 5
        while self.states()[seat] != "T":
            if time.monotonic() > deadline_s:
                return False
            time.sleep(0.001)
        return True


def test_four_bots_that_sleep_sleep_at_the_same_time(tmp_path: Path) -> None:
    """Each writes down when it begins and when it ends to think: they all begin before the first has ended."""
    crew = Crew(tmp_path)
    now = "print(time.monotonic(), file=sys.stderr, flush=True)"
    members = [crew.member(f"{now}; time.sleep(1.0); {now}") for _ in range(4)]
    try:
        record = toy_match(*members, game=crew.game, clock=crew.clock, options={"rounds": 1})
    finally:
        for member in members:
            member.close(grace_s=0.0)

    assert record.termination.value == "normal"
    times = [list(map(float, member.stderr().split())) for member in members]
    assert max(begin for begin, *_ in times) < min(end for _, end, *_ in times)


class Watching(ToySimulator):
    """Notes whether the one who asks is stopped."""

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
    asks, waits = crew.member(f"{SPIN}; {ASK}"), crew.member("pass")
    try:
        record = toy_match(asks, waits, game=crew.game, clock=crew.clock, options={"rounds": 1})
    finally:
        asks.close(grace_s=0.0)
        waits.close(grace_s=0.0)

    assert record.termination.value == "normal"
    assert simulator.seen == [True, True]
    assert record.seats[0].faults == {}


def test_who_is_too_late_stands_still_and_goes_on_later(tmp_path: Path) -> None:
    """Its first answer comes in the time of the second request, with an old id."""
    crew = Crew(tmp_path, decides="wall", move_ms=200.0, bank_ms=400.0)
    late, other = crew.member('time.sleep(0.7 if message["id"] == 1 else 0)'), crew.member("pass")
    try:
        record = toy_match(late, other, game=crew.game, clock=crew.clock)
        is_stopped = [crew.is_stopped(seat) for seat in (0, 1)]
    finally:
        late.close(grace_s=0.0)
        other.close(grace_s=0.0)

    assert acted(record, 0)[0].fallback_for == "timeout"
    assert record.seats[0].ignored in ({"stale": 1}, {"early": 1})
    assert record.termination.value == "normal"
    assert is_stopped == [True, True]
