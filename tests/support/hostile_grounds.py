"""The folders of hostile and honest bots, with decoys; and what must hold of each match of one of them.

Decoys lie outside for a bot to reach for: files, servers, a process, a setting; and tell whether they were touched.
"""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from arena.league.tournament import Player
from arena.match.reconstruction import lines_of
from arena.match.record import ActionStep, MatchRecord
from arena.match.replay import problems
from arena.match.settings import ClockSettings
from arena.process import reaper
from arena.process.limits import Limits
from arena.process.manifest import BotSpec
from arena.process.workers import multiprocessing_pids
from arena.report.transcript import transcript
from support.hostile_bots import HostileBot, bot_of, stage
from support.hostile_league import PATIENT, honest_bots, honest_players, league_of, played
from support.hostile_play import all_pids
from support.waiting import state_of

SECRET: Final = "the secret of the league"
PLACES: Final = ("/", "/tmp", "/var/tmp", "/dev/shm", "/dev", "/usr", "/etc", "/run", "/proc", "/bot")
"""Where files could be left, besides the folders of the decoys."""
MOST_STDERR: Final = 4000
"""Letters that the record of a fault may have of it."""


class Decoys:
    """All of it. `mark` is in the command line of every bot that knows of it, and in the names of files they leave."""

    def __init__(self, folder: Path, opponent: Path, servers: tuple[socket.socket, ...], mark: str) -> None:
        self.mark = mark
        self.folder = folder
        self._opponent = opponent
        self._servers = servers
        self._secret = folder / "home" / "secret.txt"
        self._secret.write_text(SECRET, encoding="utf-8")
        self._secret.chmod(0o644)
        self.token = secrets.token_hex(8)
        self.victim = subprocess.Popen(
            [sys.executable, "-S", "-c", "import time; time.sleep(600)"], env={**os.environ, "ARENA_TOKEN": self.token}
        )

    def facts(self, *, tasks: int, everywhere: bool) -> dict[str, Any]:
        """What a bot is told; with `everywhere` it shall try to write to the whole machine."""
        outside = str(self.folder / "outside")
        own = [outside, str(self.folder / "home"), str(self._opponent.parent)]
        return {
            "mark": self.mark,
            "token": self.token,
            "secret": str(self._secret),
            "home": str(self.folder / "home"),
            "opponent": str(self._opponent),
            "places": [*PLACES, *own] if everywhere else [outside],
            "port": self._servers[0].getsockname()[1],
            "socket": str(self.folder / "outside" / "socket"),
            "victim": self.victim.pid,
            "pids": [self.victim.pid, os.getpid()],
            "tasks": tasks,
        }

    def touched(self) -> list[str]:
        """What is no longer as it was, in words."""
        found = [f"somebody connected to {server.getsockname()!r}" for server in self._servers if _was_called(server)]
        if self._secret.read_text(encoding="utf-8") != SECRET:
            found.append("the secret was changed")
        if self.victim.poll() is not None or state_of(self.victim.pid)[0] not in {"S", "R", "D"}:
            found.append("the victim was killed or stopped")
        return found + [f"{file} was left" for file in self.left_files()]

    def left_files(self) -> list[Path]:
        """Files with the mark, wherever bots may have tried."""
        folders = [*map(Path, PLACES), *self.folder.iterdir(), self._opponent.parent, Path.cwd()]
        return sorted({folder / self.mark for folder in folders if (folder / self.mark).exists()})

    def left_processes(self) -> list[int]:
        """Processes whose command line has the mark."""
        return [pid for pid in all_pids() if self.mark.encode() in reaper.read_proc(f"/proc/{pid}/cmdline")]

    def running(self) -> set[int]:
        """What runs below this process besides the victim and multiprocessing's own; the dead are not counted."""
        below = reaper.descendants(os.getpid()) - multiprocessing_pids() - {self.victim.pid}
        return {pid for pid in below if state_of(pid)[0] not in {"Z", "X"}}


@contextlib.contextmanager
def decoys(folder: Path, opponent: Path) -> Iterator[Decoys]:
    """Lay it out; `opponent` is the source of another bot."""
    for name in ("home", "outside"):
        (folder / name).mkdir()
        (folder / name).chmod(0o777)
    mark = f"arena-hostile-{secrets.token_hex(6)}"
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        local, abstract = (stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        local.bind(str(folder / "outside" / "socket"))
        (folder / "outside" / "socket").chmod(0o777)
        abstract.bind(f"\0{mark}")
        for server in (tcp, local, abstract):
            server.listen()
            server.setblocking(False)
        laid = Decoys(folder, opponent, (tcp, local, abstract), mark)
        try:
            yield laid
        finally:
            laid.victim.kill()
            laid.victim.wait()


def _was_called(server: socket.socket) -> bool:
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return False
    return True


EVIL: Final = "evil"


class Grounds:
    """All of it in one folder."""

    def __init__(self, folder: Path, laid: Decoys, honest: tuple[BotSpec, BotSpec]) -> None:
        self.decoys = laid
        self.staged = stage(folder / "hostile")
        self.honest = honest
        self._folder = folder
        self.alone = cache(self._alone)

    def _alone(self, think_ms: int, clock: ClockSettings = PATIENT) -> list[MatchRecord]:
        """The honest ones among themselves, with time enough on any machine."""
        league = league_of(honest_players(self.honest, think_ms), clock)
        return played(league, self._folder / f"alone-{think_ms}-{clock.move_ms:g}")

    def player(self, rogue: HostileBot, *, everywhere: bool, name: str = EVIL) -> Player:
        """The hostile bot, told of the decoys as in Decoys.facts."""
        facts = self.decoys.facts(tasks=rogue.wishes.tasks or Limits().tasks, everywhere=everywhere)
        return Player(name=name, bot=bot_of(rogue, self.staged), arguments=(rogue.behaviour, json.dumps(facts)))

    def files(self) -> dict[str, int]:
        """What lies in the folders of all bots, and when it was changed."""
        folders = (self.staged, Path(self.honest[0].folder))
        return {str(file): file.stat().st_mtime_ns for folder in folders for file in folder.rglob("*")}


@contextlib.contextmanager
def grounds_in(folder: Path) -> Iterator[Grounds]:
    """Lay everything out in an empty folder."""
    folder.chmod(0o755)
    for name in ("honest", "decoys"):
        (folder / name).mkdir()
        (folder / name).chmod(0o755)
    bots = honest_bots(folder / "honest")
    with decoys(folder / "decoys", Path(bots[0].source)) as laid:
        yield Grounds(folder, laid, bots)


def seat_of(player: str, record: MatchRecord) -> int:
    """Where that player sat."""
    return [seat.player for seat in record.seats].index(player)


def said_in(record: MatchRecord, seat: int) -> str:
    """What the bot said besides its actions: notes, and what is kept of its fault."""
    notes = [step.note for step in record.steps if isinstance(step, ActionStep) and step.seat == seat]
    if record.fault is not None and record.fault.seat == seat:
        notes += [record.fault.message, record.fault.stderr]
    return "\n".join(filter(None, notes))


def shortfalls(rogue: HostileBot, record: MatchRecord, player: str = EVIL) -> list[str]:
    """What of a match with the rogue is not as it must be."""
    seat = seat_of(player, record)
    said = said_in(record, seat)
    found = problems(record)
    told = lines_of(record)
    found += [f"lines of {each.player} are told otherwise" for each in told if not each.is_exact and not each.left_out]
    shown = "\n".join(transcript(record, every_state=False)).split("\n")
    found += [f"not to be shown on a terminal: {line!r}" for line in shown if not line.isprintable()]
    if "BROKE" in said:
        found.append(f"broke out: {said}")
    if record.termination.value not in rogue.ends.split(" or "):
        found.append(f"ended as {record.termination.value}, expected {rogue.ends}: {said}")
    if rogue.word not in said and (record.fault is not None or rogue.ends == "normal"):
        found.append(f"no {rogue.word!r} in {said!r}")
    if record.fault is not None and len(record.fault.stderr) > MOST_STDERR:
        found.append(f"{len(record.fault.stderr)} letters of its stderr were kept")
    if record.fault is not None and (record.fault.seat, record.ranks) != (seat, (int(seat == 0), int(seat == 1))):
        found.append(f"the fault is that of seat {record.fault.seat}, ranks {record.ranks}, expected seat {seat}")
    return found
