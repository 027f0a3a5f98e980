"""Temporary folders, removed at the end; those of killed programs at the next `sweep`.

Rule: a folder is locked (flock) while its maker lives, so that any other one is a leftover; and nobody removes what
belongs to another user.
"""

import contextlib
import fcntl
import logging
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Final

log: Final = logging.getLogger("arena.process")
ENDING: Final = ".arena-scratch"
"""Suffix of all scratch folders, so that no other folder is taken for one."""


@contextlib.contextmanager
def scratch_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Make a private folder in `parent`, or in the system's folder for temporary files; remove it at the end.

    Removes leftovers there first. A fork of this process does not remove the folder.
    """
    place, maker = parent or Path(tempfile.gettempdir()), os.getpid()
    sweep(place)
    while True:
        folder = Path(tempfile.mkdtemp(ENDING, prefix, place))
        try:
            with _try_lock(folder) as is_held:
                if is_held is not False and folder.is_dir():  # a sweep may have come between the two
                    yield folder
                    return
        finally:
            if os.getpid() == maker:
                shutil.rmtree(folder, ignore_errors=True)
                if folder.exists():
                    remove(folder)


@cache
def own_folder() -> Path:
    """Return the scratch folder of this process, removed at its end together with leftovers of its child processes."""
    ending = contextlib.ExitStack()
    folder = ending.enter_context(scratch_folder("arena-process-"))
    ending.callback(sweep, folder.parent)
    Finalize(None, ending.close, exitpriority=-100)  # after the end of its daemons; in workers, too
    return folder


def sweep(place: Path) -> None:
    """Remove scratch folders of this user in `place` whose makers were killed."""
    for leftover in sorted(place.glob(f"*{ENDING}")):
        with _try_lock(leftover) as is_held, contextlib.suppress(FileNotFoundError):  # another sweep was quicker
            if is_held and leftover.lstat().st_uid == os.geteuid():
                remove(leftover)
                log.info("%s: removed; a program that was killed had left it", leftover)


def remove(folder: Path) -> None:
    """Remove a folder and its contents, also if nested deeper than shutil.rmtree can go; failure is ignored."""
    run_on(folder, "chmod", "-R", "u+rwX")
    run_on(folder, "rm", "-rf")


def run_on(folder: Path, *command: str) -> None:
    """Run a command with the folder as its last argument; stderr is discarded, failure ignored."""
    subprocess.run([*command, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)


@contextlib.contextmanager
def _try_lock(folder: Path) -> Iterator[bool | None]:
    """Lock a folder inside the `with`; yield True if that succeeded, None if its file system has no locks.

    Yields False if another process holds the lock, or the folder cannot be opened.
    """
    try:
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # gone meanwhile, or another user's
        yield False
        return
    is_held: bool | None = True
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        is_held = False
    except OSError:  # a file system of another machine
        is_held = None
    try:
        yield is_held
    finally:
        os.close(number)
