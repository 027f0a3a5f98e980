"""The log of a league in its results folder: everything logged in this program and in its workers."""

import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from arena.store import files


class _LogFile(logging.StreamHandler[TextIO]):
    """A handler for the log file of a league, which reports the first failure (a full disk) and then stays silent.

    The matches and the leaderboard matter more than the log.
    """

    def __init__(self, stream: TextIO, path: Path, report: Callable[[str], object]) -> None:
        super().__init__(stream)
        self._path = path
        self._report = report

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - as logging has it
        """Report that the log cannot be written, and give it up."""
        self._give_up()

    def close(self) -> None:
        """Flush and close the file; a failure is reported as that of a record."""
        super().close()
        try:
            self.stream.close()
        except OSError:
            self._give_up()

    def _give_up(self) -> None:
        """Report the present error, if it is the first, and write no further record."""
        if self.level <= logging.CRITICAL:
            self._report(f"{self._path}: cannot be written: {sys.exc_info()[1]}; going on without a log")
        self.setLevel(logging.CRITICAL + 1)


@contextlib.contextmanager
def logging_to(results: Path, league: str, report: Callable[[str], object]) -> Iterator[None]:
    """Append all records from INFO on to `logs/LEAGUE.log`; `report` gets a message if writing fails.

    Leaves the level of the root logger at INFO. OSError or DamagedStore if the file cannot be opened.
    """
    files.make_folder(results, "logs")
    name = f"logs/{league}.log"
    number = files.open_file(results, name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    handler = _LogFile(os.fdopen(number, "a", encoding="utf-8"), (results / name).absolute(), report)
    handler.setFormatter(logging.Formatter("%(asctime)s %(processName)s %(name)s %(levelname)s %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()
