"""The probe: one canary in one box, under the very arguments bots get, before any bot runs.

Rule: everything the sandbox promises is tried, here and now, on this machine. One breach and nothing is played.
"""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from arena.errors import HarnessFault
from arena.process import launch
from arena.process.limits import Isolation, Limits
from arena.process.sandbox import box, runtimes

_PATIENCE_S: Final = 20.0
_NAMESPACES: Final = ("user", "mnt", "pid", "net", "ipc", "uts")
_LIMITS: Final = Limits(memory_mib=256, tasks=16, processes=False, scratch_mib=0)


@cache
def insist_on(isolation: Isolation) -> None:
    """HarnessFault if bots cannot be kept in a sandbox here; once in each process, some tens of milliseconds."""
    if isolation == "none":
        return
    breaches = [f"{what}: the bot {breach}" for what, breach in try_to_break_out().items() if breach]
    if breaches:
        raise HarnessFault(f"the sandbox does not hold: {'; '.join(breaches)}")


def try_to_break_out(start: box.Start = box.start) -> dict[str, str]:
    """What the canary managed, by subject, in words, empty where it was kept. HarnessFault if there is no box.

    `start` is how bots are started; tests take away one protection at a time.
    """
    with tempfile.TemporaryDirectory(prefix="arena-probe-") as folder, _bait(Path(folder)) as facts:
        Path(folder).chmod(0o755)
        source = files("arena.process.sandbox").joinpath("canary.py").read_text(encoding="utf-8")
        command = [runtimes.insist_on_python(), "-I", "-S", "-c", source, json.dumps(facts)]
        environment = launch.clean_environment(runtimes.search_path(), "/")
        process, body = start(command, Path(folder), environment, _LIMITS)
        try:
            said, complaint = process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise HarnessFault(f"the sandbox's probe did not end within {_PATIENCE_S:.0f} s") from None
        finally:
            body.kill()
            process.wait()
            body.release()
    try:
        return {str(what): str(breach) for what, breach in json.loads(said).items()}
    except ValueError:
        text = complaint.decode("utf-8", "backslashreplace").strip()
        raise HarnessFault(f"the sandbox's probe cannot run: {text or f'exit code {process.returncode}'}") from None


@contextlib.contextmanager
def _bait(home: Path) -> Iterator[dict[str, Any]]:
    """What lies outside the box for the canary to reach for: a file, listeners, this process, a secret setting."""
    token = secrets.token_hex(8)
    with (
        tempfile.NamedTemporaryFile(dir=home.parent, prefix="arena-bait-") as file,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
        _setting("ARENA_CANARY", token),
    ):
        file.write(token.encode())
        file.flush()
        Path(file.name).chmod(0o644)
        local.bind(f"\0arena-{token}")
        local.listen()
        yield {
            "file": file.name,
            "port": server.getsockname()[1],
            "name": f"arena-{token}",
            "pid": os.getpid(),
            "namespaces": {name: str(Path("/proc/self/ns", name).readlink()) for name in _NAMESPACES},
            "token": token,
            "tasks": _LIMITS.tasks,
            "data": 2 * _LIMITS.memory_mib << 20,
        }


@contextlib.contextmanager
def _setting(name: str, value: str) -> Iterator[None]:
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]
