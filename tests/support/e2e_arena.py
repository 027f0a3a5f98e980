"""Real `arena` processes in a folder of their own: starting them, finding what they started, reading what is stored."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from support.bot_source import bot_script
from support.cli_arena import ROOT
from support.waiting import is_alive

DEADLINE_S = 60.0
BEHAVIOURS = {
    "sleeper": "time.sleep(0.15)",
    "hangs": "time.sleep(3600)",
    "crashes": "raise RuntimeError('no idea what to do')",
    "cheats": "",
    "slow": "time.sleep(0.01)",
    "dozes": "time.sleep(1.0)",
}


class Program(subprocess.Popen[str]):
    """A program that ends with the test that started it, also with one that fails."""

    def __del__(self) -> None:
        if self.poll() is None:
            self.kill()
            self.wait()
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        super().__del__()


class Place:
    """A folder with a tournament, bots, and `results`."""

    def __init__(self, folder: Path, results: str = "results") -> None:
        self.folder = folder
        self.results = folder / results
        self.tournament = folder / "league.yaml"

    def write(self, *bots: str, **changes: Any) -> "Place":
        """A tournament of nim: `random` players called p0, p1..., and bots of BEHAVIOURS by their names."""
        players: list[dict[str, str]] = []
        for number, name in enumerate(bots):
            if name == "random":
                players.append({"bot": str(ROOT / "bots" / "random"), "name": f"p{number}"})
            else:
                script = self.folder / f"{name}.py"
                script.write_text(bot_script("4711" if name == "cheats" else "0", asked=BEHAVIOURS[name]))
                players.append({"bot": str(script)})
        content = {"name": "test", "game": "nim", "seed": 1, "cycles": 4, "players": players, **changes}
        self.tournament.write_text(yaml.safe_dump(content))
        return self

    def beside(self, results: str) -> "Place":
        """The same folder with other results."""
        return Place(self.folder, results)

    def start(
        self, *arguments: str, program: Sequence[str] = ("-m", "arena"), before: Sequence[str] = (), **options: Any
    ) -> "subprocess.Popen[str]":
        """An `arena` process with a session of its own, as a terminal would give it; `before` is a command for it."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "ARENA_RESULTS": str(self.results),
            "ARENA_BOTS": str(ROOT / "bots"),
        }
        settings: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        return Program(
            [*before, sys.executable, *program, *arguments],
            cwd=self.folder,
            env=environment,
            start_new_session=True,
            **settings,
        )

    def run(self, *arguments: str, exit_code: int = 0) -> tuple[str, str]:
        """Its stdout and stderr when it has ended, with that exit code."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == exit_code, (process.returncode, out, err)
        return out, err

    def league(self, *arguments: str, **expected: int) -> tuple[str, str]:
        return self.run("league", "run", str(self.tournament), *arguments, **expected)

    def start_league(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        return self.start("league", "run", str(self.tournament), *arguments, **options)

    def standings(self) -> str:
        return self.run("leaderboard", "test", "--format", "json", "--no-timing")[0]

    def rows(self) -> list[dict[str, Any]]:
        return json.loads(self.standings())["standings"]["rows"]  # type: ignore[no-any-return]

    def matches(self) -> dict[tuple[Any, ...], tuple[Any, ...]]:
        """What is stored now, by pairing, block and rotation; without the help of arena."""
        path = self.results / "arena.db"
        if not path.exists():
            return {}
        connection = sqlite3.connect(path)  # with the right to undo what was half written at a kill
        try:
            query = (
                "SELECT key, r.block, r.rotation, ranks || ends, digest, body"
                " FROM record r JOIN pairing ON id = r.pairing"
                " LEFT JOIN block b ON (b.pairing, b.number) = (r.pairing, r.block)"
            )
            return {row[:3]: row[3:] for row in connection.execute(query)}
        except sqlite3.OperationalError as error:
            assert "no such table" in str(error)  # noqa: PT017 - killed before its first transaction
            return {}
        finally:
            connection.close()

    def alive(self) -> dict[int, str]:
        """Processes that belong to this place: arena's by their environment, bots by the folder they see."""
        found = {}
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and int(entry.name) != os.getpid() and self._is_ours(entry):
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
        return found

    def bots_alive(self) -> list[int]:
        """Without the first process of each sandbox."""
        return [pid for pid, command in self.alive().items() if "bwrap" not in command and "arena" not in command]

    def _is_ours(self, entry: Path) -> bool:
        marker = f"ARENA_RESULTS={self.results}\0".encode()
        if not is_alive(int(entry.name)):
            return False
        return marker in (entry / "environ").read_bytes() or str(self.results) in (entry / "mountinfo").read_text()
