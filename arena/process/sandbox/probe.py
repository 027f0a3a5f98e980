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
import zlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from arena.errors import HarnessFault
from arena.process import launch, rlimits
from arena.process.limits import Isolation, Limits
from arena.process.sandbox import box, cgroup, closed_calls, kernel_files, runtimes, syscalls

_PATIENCE_S: Final = 20.0
_NAMESPACES: Final = ("user", "mnt", "pid", "net", "ipc", "uts")
_FOLDERS: Final = ("/home", "/root", "/var", "/sys", "/boot", "/run")
_LIMITS: Final = Limits(memory_mib=256, tasks=16, processes=False, scratch_mib=0)

Tried = dict[str, dict[str, str]]
"""Group -> way out that was tried -> what was found open, in words, empty if the canary was kept."""


@cache
def insist_on(isolation: Isolation) -> None:
    """HarnessFault if bots cannot be kept in a sandbox here; once in each process, some tens of milliseconds."""
    if isolation == "none":
        return
    breaches = told(try_to_break_out())
    if breaches:
        raise HarnessFault(f"the sandbox does not hold: {'; '.join(breaches)}")


def told(tried: Tried) -> list[str]:
    """The ways that were found open, in words."""
    ways = [(group, way, breach) for group, found in tried.items() for way, breach in found.items() if breach]
    return [f"{group} ({way}): the bot {breach}" for group, way, breach in ways]


def try_to_break_out(start: box.Start = box.start) -> Tried:
    """All ways that the canary tried, each with what it managed. HarnessFault if there is no box.

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
        return {
            str(group): {str(way): str(breach) for way, breach in ways.items()}
            for group, ways in json.loads(said).items()
        }
    except (ValueError, AttributeError):
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
            **_of_this_machine(),
        }


def _of_this_machine() -> dict[str, Any]:
    """What the canary has to know of the kernel here, and of what bots are meant to see."""
    stand_ins = kernel_files.stand_ins(_LIMITS.memory_mib)
    return {
        "limits": rlimits.of_box(_LIMITS),
        "folders": [*_FOLDERS, *(home for home in (str(Path.home()),) if home not in _FOLDERS and _is_apart(home))],
        "runtimes": [str(folder) for folder in runtimes.folders()],
        "covered": [path.name for path in kernel_files.changing()],
        "constant": sorted(kernel_files.CONSTANT | kernel_files.OWN),
        "stand_ins": {path: zlib.crc32(text) for path, text in stand_ins.items()},
        "calls": closed_calls.numbers(),
        "clone": syscalls.number_of("clone"),
        "counts_shared_memory": cgroup.delegated() is not None,
    }


def _is_apart(folder: str) -> bool:
    """Whether no part of what bots see lies there by intent."""
    return folder != "/" and not runtimes.is_visible(Path(folder))


@contextlib.contextmanager
def _setting(name: str, value: str) -> Iterator[None]:
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]
