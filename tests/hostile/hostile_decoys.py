"""What lies outside for a bot to reach for, and whether it was touched: files, servers, a process, a setting."""

import contextlib
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hostile_play import all_pids, state_of

from arena.process import reaper
from arena.process.workers import multiprocessing_pids

SECRET: Final = "the secret of the league"
PLACES: Final = ("/", "/tmp", "/var/tmp", "/dev/shm", "/dev", "/usr", "/etc", "/run", "/proc", "/bot")
"""Where files could be left, besides the folders of the decoys."""


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
