"""`python benchmarks/engine_clocks.py`: forfeits on time of two UCI engines while other programs keep the cores busy.

An engine whose time is up may finish its answer here; then it loses as always. So the cause of a forfeit shows: the
engine's own report (`time` of its last `info`) beside wall time, and for each thread of the bot, and for the referee,
CPU time and the time it waited for a core.
"""

import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import mean
from typing import Any, Final

import click
from msgspec.structs import replace

from arena.bundled import bundled_folder
from arena.errors import OutOfTime
from arena.league.exhibition import exhibition
from arena.league.schedule import Job, jobs
from arena.league.tournament import Player
from arena.league.worker import SeatedBots, play_rotations
from arena.match.bot_player import BotPlayer
from arena.match.record import Termination
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings
from arena.process.clock import MoveClock
from arena.process.manifest import read_bot
from arena.process.reaper import read_proc
from arena.process.workers import Window, Workers

_PATIENCE_S: Final = 3.0
_REPORT: Final = re.compile(rb'"note":.*?\btime (\d+)')


def spent_by_thread(pids: set[int]) -> dict[str, tuple[float, float]]:
    """Return the ms on a core and waiting for one, for all threads of these processes and for this one's first."""
    stolen = int(read_proc("/proc/stat").split()[8]) * 1000 / os.sysconf("SC_CLK_TCK")
    times = {"referee": _spent(f"/proc/{os.getpid()}/task/{os.getpid()}"), "all cores of the host": (0.0, stolen)}
    for pid in pids:
        name = read_proc(f"/proc/{pid}/comm").decode().strip()
        for thread in Path(f"/proc/{pid}/task").glob("*"):
            times[f"{name} {thread.name}"] = _spent(str(thread))
    return times


def _spent(thread: str) -> tuple[float, float]:
    cpu, delay, *_ = [*map(int, read_proc(f"{thread}/schedstat").split()), 0, 0]
    return cpu / 1e6, delay / 1e6


class PatientClock(MoveClock):
    """A clock that lets a late answer come, at most for 3 s, and then raises as always, with the causes in the hint."""

    def __init__(self, player: BotPlayer, late: list[str], **clocks: Any) -> None:
        self._player, self._late, self._is_waiting = player, late, False
        super().__init__(**clocks)

    def start(self, *times: Any) -> None:
        """Start the clock of another move; the times of threads count from here."""
        self._before = spent_by_thread(self._player.pids())
        super().start(*times)

    def wait_s(self) -> float:
        """Return the time until the next look; no error until patience is over, too."""
        self._is_waiting = True
        try:
            return super().wait_s()
        finally:
            self._is_waiting = False

    def _require_time_left(self) -> None:
        if self._is_waiting and self.elapsed_s < self.budget_s + _PATIENCE_S:
            return
        try:
            super()._require_time_left()
        except OutOfTime as late:
            self._late.append(self._explain(late))
            raise

    def _explain(self, late: OutOfTime) -> str:
        said = self._player.transcript[-1]
        report = _REPORT.search(said[2]) if said[1] == "<" else None
        threads = []
        for name, (cpu_ms, delay_ms) in spent_by_thread(self._player.pids()).items():
            cpu_before_ms, delay_before_ms = self._before.get(name, (0.0, 0.0))
            threads.append(f"{name} {cpu_ms - cpu_before_ms:.0f}+{delay_ms - delay_before_ms:.0f}")
        own = f"{report[1].decode()} ms" if report else "nothing"
        return f"{self._player.player}: {late.message}; it reports {own}; CPU + waiting ms: {', '.join(threads)}"


def engine(command: str) -> Player:
    """Return the bundled bot `engine` with this engine behind it; its name is that of the program."""
    program = shlex.split(command)[0]
    digest = sha256(Path(program).read_bytes()).hexdigest()
    bot = read_bot(bundled_folder("bots") / "engine")
    return Player(name=Path(program).name, bot=bot, arguments=("uci", command, f"--sha256={digest}"))


def play(job: Job) -> tuple[list[Termination], list[str]]:
    """Play a job in this process; return how its matches ended, and the causes of forfeits on time."""
    late: list[str] = []

    def be_patient(bots: SeatedBots) -> None:
        for bot in bots:
            bot.account.clock_type = partial(PatientClock, bot, late)  # type: ignore[assignment]

    return [record.termination for record, _ in play_rotations(job, watch=be_patient)], late


@click.command()
@click.argument("engines", nargs=2)
@click.option("--games", default=100)
@click.option("--move-ms", default=10.0)
@click.option("--bank-ms", default=1000.0)
@click.option("--busy", default=2, help="Programs that keep a core busy each.")
@click.option("--workers", default=1)
def main(**given: Any) -> None:
    """Play and print."""
    clock = ClockSettings(move_ms=given["move_ms"], bank_ms=given["bank_ms"])
    secret, options, players = Secret.public("clocks"), {"openings": "chess.pgn"}, map(engine, given["engines"])
    meeting = exhibition(
        tuple(players), game="openspiel:chess", options=options, clock=clock, secret=secret, blocks=given["games"] // 2
    )
    ends, load = Counter[Termination](), list[float]()
    with ExitStack() as ending, suppress(KeyboardInterrupt):
        for _ in range(given["busy"]):
            program = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            ending.callback(program.wait)
            ending.callback(program.kill)
        pool = ending.enter_context(Workers(given["workers"], preload="arena.league.worker"))
        window = Window[Job, Any](lambda job: pool.submit(play, job), lambda: given["workers"])
        left = jobs(replace(meeting, chunk_blocks=1), {}, secret=secret)
        while window.fill(left):
            for _, done in window.collect():
                terminations, late = done.result()
                ends.update(terminations)
                load.append(os.getloadavg()[0])
                print("".join(f"load {load[-1]:.0f}; {cause}\n" for cause in late), end="", flush=True)
    counts = ", ".join(f"{count} {name}" for name, count in ends.items())
    print(f"{counts}; load {min(load):.0f} to {max(load):.0f}, mean {mean(load):.1f}")


if __name__ == "__main__":
    main()
