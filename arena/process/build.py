"""The build of a bot: the commands of its manifest, run once in its folder.

Rule: a build that fails is the author's to read: the command, how it ended, and what it said.
"""

import contextlib
import os
import signal
import subprocess
from pathlib import Path
from typing import Final

from arena.errors import SpecError
from arena.process.launch import clean_environment
from arena.process.manifest import Manifest

TIMEOUT_S: Final = 300.0
_SHOWN_OUTPUT: Final = 2000


def build(manifest: Manifest, folder: Path) -> None:
    """Run the build commands of `manifest` in `folder`, one after the other. SpecError if one fails."""
    for command in manifest.build:
        _run(command, folder)


def _run(command: tuple[str, ...], folder: Path) -> None:
    what = f"build `{' '.join(command)}`"
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise SpecError(f"{what}: {error.strerror}: {error.filename}") from None
    try:
        output, _ = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise SpecError(f"{what} did not end within {TIMEOUT_S:.0f} s") from None
    if process.returncode:
        said = output.decode("utf-8", "backslashreplace")[-_SHOWN_OUTPUT:]
        raise SpecError(f"{what} ended with exit code {process.returncode} and said:\n{said}")
