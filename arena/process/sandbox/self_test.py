"""The self-test: a program tries to break out of a sandbox under the very arguments bots get, before any bot runs.

Rule: everything the sandbox promises is tried, here and now, on this machine. One breach and nothing is played.
"""

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
import zlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from arena.errors import HarnessFault
from arena.process import launch
from arena.process.limits import Isolation, Limits, sandbox_rlimits
from arena.process.sandbox import calls, cgroup, kernel_files, runtimes, sandbox, syscalls

_PATIENCE_S: Final = 20.0
_ABANDONED_S: Final = 120.0
"""No self-test takes so long: its folder is one of a program that was killed."""
_NAMESPACES: Final = ("user", "mnt", "pid", "net", "ipc", "uts")
_FOLDERS: Final = ("/home", "/root", "/var", "/sys", "/boot", "/run")
_LIMITS: Final = Limits(memory_mib=256, tasks=16, processes=False, scratch_mib=0)
_PREFIX: Final = "arena-self-test-"

Attempts = dict[str, dict[str, str]]
"""Group -> escape attempt -> the breach in words, empty if the attempt failed."""


@cache
def require_isolation(isolation: Isolation) -> None:
    """HarnessFault if bots cannot be kept in a sandbox here; once in each process, some tens of milliseconds."""
    if isolation == "none":
        return
    found = breaches(attempt_escapes())
    if found:
        raise HarnessFault(f"the sandbox does not hold: {'; '.join(found)}")


def breaches(attempts: Attempts) -> list[str]:
    """The attempts that succeeded, in words."""
    ways = [(group, way, breach) for group, found in attempts.items() for way, breach in found.items() if breach]
    return [f"{group} ({way}): the bot {breach}" for group, way, breach in ways]


def attempt_escapes(start: sandbox.Start = sandbox.start_play) -> Attempts:
    """All escape attempts with their results. HarnessFault if there is no sandbox.

    `start` is how bots are started; tests take away one protection at a time.
    """
    with _decoys() as facts:
        source = files("arena.process.sandbox").joinpath("escape_attempts.py").read_text(encoding="utf-8")
        command = [runtimes.require_python(), "-I", "-S", "-c", source, json.dumps(facts)]
        environment = launch.clean_environment(runtimes.search_path(), "/")
        process, group = start(command, Path(facts["file"]).with_name("home"), environment, _LIMITS)
        try:
            said, complaint = process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise HarnessFault(f"the sandbox's self-test did not end within {_PATIENCE_S:.0f} s") from None
        finally:
            group.kill()
            process.wait()
            group.release()
    try:
        return {
            str(group): {str(way): str(breach) for way, breach in ways.items()}
            for group, ways in json.loads(said).items()
        }
    except (ValueError, AttributeError):
        text = complaint.decode("utf-8", "backslashreplace").strip()
        raise HarnessFault(f"the sandbox's self-test cannot run: {text or f'exit code {process.returncode}'}") from None


@contextlib.contextmanager
def _decoys() -> Iterator[dict[str, Any]]:
    """Targets outside the sandbox: a file beside the home folder, listeners, this process, a secret setting."""
    _remove_abandoned()
    token = secrets.token_hex(8)
    with (
        tempfile.TemporaryDirectory(prefix=_PREFIX) as folder,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
        _setting("ARENA_DECOY", token),
    ):
        file, home = Path(folder, "decoy"), Path(folder, "home")
        file.write_text(token, encoding="ascii")
        home.mkdir()
        for path, mode in ((Path(folder), 0o755), (home, 0o755), (file, 0o644)):
            path.chmod(mode)
        local.bind(f"\0arena-{token}")
        local.listen()
        yield {
            "file": str(file),
            "port": server.getsockname()[1],
            "name": f"arena-{token}",
            "pid": os.getpid(),
            "namespaces": {name: str(Path("/proc/self/ns", name).readlink()) for name in _NAMESPACES},
            "token": token,
            "tasks": _LIMITS.tasks,
            **_of_this_machine(),
        }


def _remove_abandoned() -> None:
    """Remove the folders of self-tests that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # another one removes it, or its owner is another user
            if time.time() - folder.stat().st_mtime > _ABANDONED_S:
                shutil.rmtree(folder)


def _of_this_machine() -> dict[str, Any]:
    """Facts about the kernel here, and about what bots are meant to see."""
    synthetic = kernel_files.synthetic(_LIMITS.memory_mib)
    return {
        "limits": sandbox_rlimits(_LIMITS),
        "folders": [*_FOLDERS, *(home for home in (str(Path.home()),) if home not in _FOLDERS and _is_apart(home))],
        "runtimes": [str(folder) for folder in runtimes.folders()],
        "covered": [path.name for path in kernel_files.changing()],
        "constant": sorted(kernel_files.CONSTANT | kernel_files.OWN),
        "synthetic": {path: zlib.crc32(text) for path, text in synthetic.items()},
        "calls": closed_calls(),
        "clone": syscalls.number_of("clone"),
        "counts_shared_memory": cgroup.delegated() is not None,
    }


def closed_calls() -> dict[str, dict[str, int]]:
    """Group -> name -> number of the calls that no bot may have, as far as this processor has them."""
    found = {group: {name: syscalls.number_of(name) for name in names.split()} for group, names in calls.CLOSED.items()}
    return {group: {name: number for name, number in each.items() if number >= 0} for group, each in found.items()}


def _is_apart(folder: str) -> bool:
    """Whether bots are meant to see nothing in it."""
    return folder != "/" and not runtimes.is_visible(Path(folder))


@contextlib.contextmanager
def _setting(name: str, value: str) -> Iterator[None]:
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]
