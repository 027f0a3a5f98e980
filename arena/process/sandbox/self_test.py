"""The self-test: a program tries to break out of a sandbox under the very arguments bots get, before any bot runs.

Rule: everything the sandbox promises is tried, here and now, on this machine. One breach and nothing is played.
"""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import zlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.errors import HarnessFault
from arena.process import launch
from arena.process.limits import Isolation, Limits, sandbox_rlimits
from arena.process.sandbox import bubblewrap, calls, cgroup, kernel_files, runtimes, sandbox, syscalls
from arena.process.scratch import scratch_folder

_PATIENCE_S: Final = 20.0
_NAMESPACES: Final = ("user", "mnt", "pid", "net", "ipc", "uts")
_FOLDERS: Final = ("/home", "/root", "/var", "/sys", "/boot", "/run")
_LIMITS: Final = Limits(memory_mib=256, tasks=16, processes=False, scratch_mib=0)
_PREFIX: Final = "arena-self-test-"

Attempts = dict[str, dict[str, str]]
"""Group -> escape attempt -> the breach in words, empty if the attempt failed."""


@cache
def require_isolation(isolation: Isolation) -> None:
    """Raise HarnessFault if the sandbox does not hold here, or cannot be tried; nothing is tried for `none`.

    Takes some tens of ms, once in each process; after a failure the next call tries again.
    """
    if isolation == "none":
        return
    if successes := breaches(attempt_escapes()):
        raise HarnessFault(f"the sandbox does not hold: {'; '.join(successes)}")


def breaches(attempts: Attempts) -> list[str]:
    """Return the escape attempts that succeeded, in words."""
    rows = ((group, *attempt) for group, ways in attempts.items() for attempt in ways.items())
    return [f"{group} ({way}): the bot {breach}" for group, way, breach in rows if breach]


def attempt_escapes(start: sandbox.Start = sandbox.start_sandboxed) -> Attempts:
    """Make all escape attempts in a sandbox and return their results; raises HarnessFault if they cannot run.

    `start`: the function that starts the program; tests give one that lacks a protection.
    """
    with _decoys() as facts:
        source = files("arena.process.sandbox").joinpath("escape_attempts.py").read_text(encoding="utf-8")
        command = [runtimes.require_python(), "-I", "-S", "-c", source, json.dumps(facts)]
        environment = launch.clean_environment(runtimes.search_path(), "/")
        process, group = start(command, Path(facts["file"]).with_name("home"), environment, _LIMITS)
        try:
            stdout, stderr = process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise HarnessFault(f"the sandbox's self-test did not end within {_PATIENCE_S:.0f} s") from None
        finally:
            group.kill()
            process.wait()
            group.release()
    try:
        return msgspec.json.decode(stdout, type=Attempts)
    except ValueError:
        text = stderr.decode("utf-8", "backslashreplace").strip() or f"exit code {process.returncode}"
        advice = bubblewrap.advice_on(text)
        raise HarnessFault(f"the sandbox's self-test cannot run: {text}{advice}") from None


@contextlib.contextmanager
def _decoys() -> Iterator[dict[str, Any]]:
    """Set up targets outside the sandbox: a file beside the home folder, listeners, an environment variable.

    Yields the facts for the escape attempts, where to find the targets included.
    """
    token = secrets.token_hex(8)
    with (
        scratch_folder(_PREFIX) as folder,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
        contextlib.ExitStack() as stack,
    ):
        os.environ["ARENA_DECOY"] = token
        stack.callback(os.environ.pop, "ARENA_DECOY")
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
            "token": token,
            **_facts(),
        }


def _facts() -> dict[str, Any]:
    """Return the facts for the escape attempts: about this kernel, and about what bots may see and use."""
    synthetic = kernel_files.synthetic_contents(_LIMITS.memory_mib)
    home = Path.home()
    is_apart = home != Path("/") and str(home) not in _FOLDERS and not runtimes.is_visible(home)
    return {
        "namespaces": {name: str(Path("/proc/self/ns", name).readlink()) for name in _NAMESPACES},
        "tasks": _LIMITS.tasks,
        "limits": sandbox_rlimits(_LIMITS),
        "folders": [*_FOLDERS, *([str(home)] if is_apart else [])],
        "runtimes": [str(folder) for folder in runtimes.folders()],
        "covered": [path.name for path in kernel_files.changing_entries()],
        "constant": sorted(kernel_files.CONSTANT | kernel_files.OWN),
        "synthetic": {path: zlib.crc32(text) for path, text in synthetic.items()},
        "calls": closed_calls(),
        "clone": syscalls.number_of("clone"),
        "tgkill": syscalls.number_of("tgkill"),
        "counts_shared_memory": cgroup.delegated_group() is not None,
    }


def closed_calls() -> dict[str, int]:
    """Return the numbers by name of the calls that no bot may make, as far as this processor has them."""
    return {name: number for name in sorted(calls.FORBIDDEN_CALLS) if (number := syscalls.number_of(name)) >= 0}
