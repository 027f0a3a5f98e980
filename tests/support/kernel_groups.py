"""A command in a control group of its own with little memory or few processes, on a kernel with groups of version 1."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

_LIMITS: Final = {"memory": "memory.limit_in_bytes", "pids": "pids.max"}


def group_of_version_1(controller: str) -> pytest.MarkDecorator:
    """A mark for tests that make such a group, which takes root."""
    place = Path("/sys/fs/cgroup", controller, "cgroup.procs")
    can = os.geteuid() == 0 and os.access(place, os.W_OK)
    return pytest.mark.skipif(not can, reason=f"no groups of version 1 for {controller} that this user may make")


@contextmanager
def limited(controller: str, most: int) -> Iterator[Path]:
    """The folder of a new group with that limit; removed at the end."""
    folder = Path("/sys/fs/cgroup", controller, f"arena-test-{os.getpid()}-{time.monotonic_ns()}")
    folder.mkdir()
    try:
        (folder / _LIMITS[controller]).write_text(str(most))
        yield folder
    finally:
        deadline_s = time.monotonic() + 20
        while folder.exists() and time.monotonic() < deadline_s:
            try:
                folder.rmdir()
            except OSError:  # the last process is on its way out
                time.sleep(0.05)


def run_in(folder: Path, *command: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command in that group."""
    words = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(folder / "cgroup.procs"), *command]
    return subprocess.run(words, capture_output=True, text=True, cwd=cwd, check=False)
