"""Leagues in a storm: every kind of process is killed or stopped at random moments, and the bytes come out equal.

ARENA_STORM is the number of blows, ARENA_SEED their seed: `ARENA_STORM=40 python3 start.py test -m slow
tests/cluster/test_storm.py -rP` prints a line for each.
"""

import contextlib
import csv
import logging
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
import yaml
from support.cluster_lab import BIN
from support.cluster_league import CLUSTER_FILE, make_certificates
from support.e2e_arena import Place
from support.waiting import until

from arena.process import reaper

pytestmark = [pytest.mark.slow, pytest.mark.process]
BLOWS = int(os.environ.get("ARENA_STORM", "8"))
SEED = int(os.environ.get("ARENA_SEED", "1"))
A_ROUND = 4
"""Blows to one league; the next league begins in a new folder."""
LONGEST_STOP_S = 12.0
PATIENCE_S = 400.0
"""For what takes half a minute on an idle machine."""
log = logging.getLogger("storm")
TIMES = re.compile(r"time|slowest|startup|idle|load")


class Storm:
    """A league of `place` on a cluster, and what belongs to it."""

    def __init__(self, place: Place, workers: int, *, is_remote: bool) -> None:
        self.place, self.workers, self.is_remote = place, workers, is_remote
        self.semaphores: set[str] = set()
        self.servers: dict[str, subprocess.Popen[str]] = {}
        self.options = ["--cluster", f"local:{workers}"]
        if is_remote:
            make_certificates(place.folder)
            files = {"ca": "ca.pem", "cert": "cert.pem", "key": "key.pem"}
            self.dask_tls = [f"--tls-{name}{'-file' * (name == 'ca')}={file}" for name, file in files.items()]
            self.start_server("scheduler")
            address = re.search(r"tls://[\d.:]+", (place.folder / "scheduler.json").read_text())
            assert address is not None
            self.address = address.group()
            keys = {"address": self.address, **{f"tls_{name}": file for name, file in files.items()}}
            (place.folder / CLUSTER_FILE).write_text(yaml.safe_dump(keys))
            self.options = ["--cluster", CLUSTER_FILE]
            self.start_server("nanny")
        self.main = self.start_main()

    def start_server(self, kind: str) -> None:
        """Start the scheduler, always on the same port, or `arena worker`."""
        words: list[str | Path]
        if kind == "nanny":
            words = [BIN / "arena", "worker", CLUSTER_FILE, "--workers", str(self.workers)]
        else:
            file = self.place.folder / "scheduler.json"
            host = self.address if file.exists() else "tls://127.0.0.1:0"
            file.unlink(missing_ok=True)
            words = [BIN / "dask", "scheduler", "--host", host, "--no-dashboard", "--scheduler-file", file]
            words += self.dask_tls
        environment = {**os.environ, "ARENA_RESULTS": str(self.place.results)}
        if kind == "scheduler":  # dask's own program, which leaves an empty folder
            environment["TMPDIR"] = str(self.place.folder)
        with (self.place.folder / f"{kind}.log").open("a") as log:
            self.servers[kind] = subprocess.Popen(
                words, stdout=log, stderr=log, env=environment, cwd=self.place.folder, text=True
            )
        if kind == "scheduler":
            until(file.exists, within_s=PATIENCE_S, what="the start of the scheduler")

    def start_main(self) -> "subprocess.Popen[str]":
        with (self.place.folder / "main.log").open("a") as log:
            return self.place.start_league(*self.options, stdout=log, stderr=log)

    def targets(self) -> dict[str, list[int]]:
        """Return the processes of this league that are not bots, by kind."""
        commands = self.place.alive()
        parents = {child: pid for pid in commands for child in reaper.children(pid)}
        found: dict[str, list[int]] = {}
        for pid, command in commands.items():
            if pid == self.main.pid:
                kind = "main"
            elif "forkserver import main" in command:
                kind = "player" if "forkserver import main" in commands.get(parents.get(pid, 0), "") else "fork server"
            elif "resource_tracker import main" in command:
                kind = "tracker"
            elif "spawn_main" in command:
                kind = "dask worker"
            else:
                kind = next((name for name, one in self.servers.items() if one.pid == pid), "")
            found.setdefault(kind, []).append(pid)
            self.semaphores |= set(re.findall(r"/dev/shm/sem\.\S+", text_of(Path(f"/proc/{pid}/maps"))))
        found.pop("", None)
        return found

    def strike(self, chance: random.Random) -> str:
        """Kill or stop a process of any kind; restart it if nothing in arena does that."""
        targets = self.targets()
        kind = chance.choice(sorted(targets))
        pid = chance.choice(targets[kind])
        if chance.random() < 0.25:
            seconds = chance.uniform(0.5, LONGEST_STOP_S)
            hit(pid, signal.SIGSTOP)
            time.sleep(seconds)
            hit(pid, signal.SIGCONT)
            return f"{kind} stopped for {seconds:.0f} s"
        hit(pid, signal.SIGKILL)
        if kind == "main":
            self.main.wait(PATIENCE_S)
            self.main = self.start_main()
        elif kind in self.servers:
            self.servers[kind].wait(PATIENCE_S)
            self.start_server(kind)
        return f"{kind} killed"

    def end(self) -> None:
        """Wait for the league; then all that serves it ends as it does everywhere.

        A driver that begins while there is no scheduler ends with a sentence: the same command goes on.
        """
        while code := self.main.wait(PATIENCE_S):
            last = (self.place.folder / "main.log").read_text().splitlines()[-1]
            assert code == 5, (code, self.said())
            assert self.is_remote, self.said()
            assert "error: no scheduler answers at" in last, self.said()
            self.main = self.start_main()
        for one in reversed(self.servers.values()):
            one.terminate()
            assert one.wait(PATIENCE_S) == 0, self.said()
        until(lambda: not self.place.alive() and not self.bots(), within_s=PATIENCE_S, what="the end of all processes")

    def bots(self) -> list[int]:
        """Return the bots of this league, which run from the folder of the workers."""
        mounts = [(int(entry.name), entry / "mountinfo") for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid, file in mounts if str(self.place.folder / "cache") in text_of(file)]

    def said(self) -> str:
        logs = [*self.place.folder.glob("*.log"), *self.place.results.glob("logs/*.log")]
        return "\n".join(f"== {path}\n{path.read_text()[-4000:]}" for path in logs)


def text_of(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""


def hit(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def outcome(place: Place) -> tuple[str, list[list[str]]]:
    """Return the standings, and all columns of all matches except times."""
    rows = list(csv.reader(StringIO(place.run("league", "matches", "test", "--format", "csv")[0])))
    kept = [number for number, name in enumerate(rows[0]) if not TIMES.search(name)]
    return place.standings(), sorted([row[number] for number in kept] for row in rows)


def a_place(folder: Path) -> Place:
    folder.mkdir(mode=0o755, parents=True)
    return Place(folder).write("random", "random", "slow", cycles=40, chunk_blocks=4, options={"heaps": [2, 3, 4]})


def test_a_storm_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leagues with 2 to 4 workers, here or behind a scheduler: the same bytes, sound, and nothing is left of them."""
    chance, struck = random.Random(SEED), Counter[str]()
    undisturbed = a_place(tmp_path / "undisturbed")
    assert undisturbed.start_league("--workers", "2").wait(PATIENCE_S) == 0
    expected = outcome(undisturbed)
    number = 0
    while struck.total() < BLOWS:
        number += 1
        place = a_place(tmp_path / str(number))
        scratch = place.folder / "scratch"
        scratch.mkdir()
        with monkeypatch.context() as patch:
            patch.setenv("TMPDIR", str(scratch))
            patch.setenv("ARENA_WORKER_CACHE", str(place.folder / "cache"))
            storm = Storm(place, chance.randint(2, 4), is_remote=number % 2 == 0)
            start_s, blows = time.monotonic(), list[str]()
            while len(blows) < min(A_ROUND, BLOWS - struck.total() + len(blows)) and storm.main.poll() is None:
                time.sleep(chance.uniform(0.3, 6.0))  # the moment is the point: any is right
                if storm.main.poll() is None:
                    blows.append(storm.strike(chance))
                    struck[blows[-1].split(" stopped")[0]] += 1
            storm.end()
            seconds = time.monotonic() - start_s
            told = f"{storm.options[1]}, {storm.workers} workers, {seconds:.0f} s: {', '.join(blows)}"
            log.warning("league %d, %s", number, told)

            assert outcome(place) == expected, storm.said()
            assert "PROBLEM" not in place.run("verify")[0]
            assert "Traceback" not in (place.folder / "main.log").read_text(), storm.said()
            # Folders only: a Python killed while `tempfile` tries where it may write leaves a file of four bytes.
            assert [path for path in scratch.iterdir() if path.is_dir()] == [], storm.said()
            assert [name for name in storm.semaphores if Path(name).exists()] == []
        shutil.rmtree(place.folder / "cache")
    log.warning("%d blows, seed %d: %s", struck.total(), SEED, dict(struck))
