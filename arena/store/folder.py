"""The results folder as a place to read and write leagues."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from arena.errors import MachineFault, SpecError
from arena.process.scratch import ENDING, scratch_folder
from arena.store import database, files
from arena.store.homes import sync_all
from arena.store.matches import MatchStore
from arena.store.secrets import FOLDER

_FOLDERS: Final = ("bots", "coach", "logs", "openings", "tables")


@contextlib.contextmanager
def open_store(results: Path) -> Iterator[MatchStore]:
    """Open the stored matches of a results folder for reading, as one snapshot. SpecError if there are none."""
    with database.reading(results) as connection:
        if connection is None:
            raise SpecError(f"nothing is stored in {results} yet; `arena league run FILE` plays a league")
        store = MatchStore(connection, results)
        with store.snapshot():
            yield store


@contextlib.contextmanager
def open_store_for_writing(results: Path) -> Iterator[MatchStore]:
    """Open the stored matches of a results folder, made if need be, for its only writer.

    SpecError if another program plays into it. DamagedStore if its database is not sound.
    """
    with (
        database.writer_lock(results),
        contextlib.closing(database.open_for_writing(results)) as connection,
    ):
        yield MatchStore(connection, results)


def copy_folder(results: Path, out: Path, *, with_secrets: bool) -> None:
    """Copy a results folder as it is at one moment to the new folder `out`, which is there whole or not at all.

    SpecError if `out` exists, or nothing is stored. DamagedStore for a link in the place of a folder, MachineFault if a
    file cannot be copied.
    """
    if out.exists():
        raise SpecError(f"{out} exists; choose a new folder")
    try:
        with scratch_folder("arena-copy-", out.absolute().parent) as scratch:
            copy = scratch / "results"
            copy.mkdir(mode=0o700)
            with open_store(results) as store:
                store.copy(copy)
            for name in (*_FOLDERS, *([FOLDER] if with_secrets else [])):
                # What the copied matches need was there before they were stored. A link could lead to anything.
                with contextlib.suppress(FileNotFoundError), files.open_folder(results, name):
                    ignored = shutil.ignore_patterns(f"*{ENDING}", "*.new")
                    shutil.copytree(results / name, copy / name, symlinks=True, ignore=ignored)
            sync_all(copy)
            copy.rename(out)
    except OSError as error:
        raise MachineFault(f"{out}: {results} cannot be copied: {error.strerror or error}") from None
