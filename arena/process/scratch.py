"""Folders for a while, removed at the end; those of killed programs at the next look.

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
"""Of all such folders, so that a folder which somebody named is never taken for one."""


@contextlib.contextmanager
def scratch_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """A new folder for this user only, below `parent` or where temporary files are; `sweep` leaves it alone.

    Leftovers there are removed. A fork of its maker does not remove it.
    """
    place, maker = parent or Path(tempfile.gettempdir()), os.getpid()
    sweep(place)
    while True:
        folder = Path(tempfile.mkdtemp(ENDING, prefix, place))
        try:
            with _locked(folder) as is_held:
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
    """A scratch folder of this process, for as long as it lives. At its end leftovers of its helpers go too."""
    ending = contextlib.ExitStack()
    folder = ending.enter_context(scratch_folder("arena-process-"))
    ending.callback(sweep, folder.parent)
    Finalize(None, ending.close, exitpriority=-100)  # after the end of its daemons; those of a worker, too
    return folder


def sweep(place: Path) -> None:
    """Remove the scratch folders that this user made there and whose makers were killed."""
    for leftover in sorted(place.glob(f"*{ENDING}")):
        with _locked(leftover) as is_held:
            if is_held and leftover.lstat().st_uid == os.geteuid():
                remove(leftover)
                log.info("%s: removed; a program that was killed had left it", leftover)


def remove(folder: Path) -> None:
    """Remove a folder with all in it, folders that lie a thousand deep too, where Python's own way ends."""
    run_on(folder, "chmod", "-R", "u+rwX")
    run_on(folder, "rm", "-rf")


def run_on(folder: Path, *command: str) -> None:
    """A command with the folder as its last argument; it says nothing, and may fail."""
    subprocess.run([*command, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[bool | None]:
    """Whether the folder could be locked; it is held inside. None where the file system has no locks."""
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
