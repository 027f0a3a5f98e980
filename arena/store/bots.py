"""Bots on offer: those in the folder `bots/`, and the submitted ones, kept by content hash in results/bots/.

Rule: what plays is a copy that nobody edits (see arena.store.homes).
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from arena.errors import SpecError
from arena.process.limits import DEFAULT_ISOLATION, Isolation
from arena.process.manifest import MANIFEST, BotSpec, label_of, read_bot
from arena.store import database
from arena.store.homes import Homes
from arena.text import unknown

_NOTES: Final = {"", ".md", ".rst", ".txt"}


class Submission(msgspec.Struct, frozen=True):
    """A submitted bot as the database knows it; `submitted_at` in UTC, ISO 8601."""

    name: str
    version: str
    digest: str
    submitted_at: str

    @property
    def label(self) -> str:
        """As that of a `BotSpec`."""
        return label_of(self.name, self.version, self.digest)


class BotStore:
    """The bots of one results folder, and those in a folder of bots beside it."""

    def __init__(self, results: Path, folder: Path, isolation: Isolation = DEFAULT_ISOLATION) -> None:
        self._homes = Homes(results / "bots", isolation)
        self._results = results
        self._path = database.path_in(results)
        self._folder = folder

    def find(self, text: str) -> BotSpec:
        """The bot that a person means: a path (anything with a slash), `name`, or `name@beginning-of-hash`.

        SpecError if there is none, or more than one with that name and different content.
        """
        if "/" in text:
            if not Path(text).exists():
                raise SpecError(f"{text}: no such file or folder")  # as it was written: a Path drops the `./`
            return read_bot(Path(text), text.rstrip("/"))
        name, _, prefix = text.partition("@")
        found = {
            bot.digest: bot for bot in self._named(name, is_any_version=bool(prefix)) if bot.digest.startswith(prefix)
        }
        if len(found) == 1:
            return next(iter(found.values()))
        if not found:
            raise SpecError(self._unknown(text, name))
        choices = ", ".join(f"{name}@{digest[:8]} ({found[digest].folder})" for digest in found)
        submitted = any(each.digest in found for each in self.submitted())
        advice = f"; `arena withdraw {text}` takes the submitted one off the list" if submitted else ""
        raise SpecError(f'more than one bot is called "{name}"; say which: {choices}{advice}')

    def namesake(self, bot: BotSpec) -> tuple[BotSpec, Path] | None:
        """The bundled bot that has the name of `bot`, and its place."""
        return next(
            ((each, self._folder / Path(each.source).name) for each in self.bundled() if each.name == bot.name), None
        )

    def missing_folder(self) -> str:
        """The hint for a person if there is no folder of bots; empty if there is one."""
        if self._folder.is_dir():
            return ""
        return f"no folder {self._folder}/ here; run it in the project's folder or give --bots"

    def bundled(self) -> list[BotSpec]:
        """The bots in `bots/`, by name; `unreadable` tells of the others."""
        return sorted((bot for bot in self._entries() if isinstance(bot, BotSpec)), key=lambda bot: bot.name)

    def unreadable(self) -> list[SpecError]:
        """The errors of the bots in `bots/` that cannot be read; they are in nobody's way."""
        return [error for error in self._entries() if isinstance(error, SpecError)]

    def submitted(self) -> list[Submission]:
        """The submitted bots, the latest of each name first."""
        connection = database.open_for_reading(self._results)
        if connection is None:
            return []
        query = "SELECT name, version, digest, submitted_at FROM bot ORDER BY name, submitted_at DESC, digest"
        with contextlib.closing(connection), database.translating_sqlite_errors(self._path):
            return [Submission(*row) for row in connection.execute(query)]

    def register(self, bot: BotSpec, connection: sqlite3.Connection) -> None:
        """Put an installed bot on the list of submissions."""
        row = (bot.digest, bot.name, bot.manifest.version, datetime.now(UTC).isoformat(timespec="microseconds"))
        with database.transaction(connection, self._path):
            connection.execute("INSERT OR REPLACE INTO bot VALUES (?, ?, ?, ?)", row)

    def withdraw(self, text: str) -> Submission:
        """Take a submission off the list, `name` (the latest) or `name@beginning-of-hash`; which it was.

        Its installed copy stays, and so does every stored match.
        """
        name, _, prefix = text.partition("@")
        all_of_them = self.submitted()
        found = [each for each in all_of_them if each.name == name and each.digest.startswith(prefix)]
        if not found:
            known = ", ".join(f"{each.name}@{each.digest[:8]}" for each in all_of_them) or "none"
            raise SpecError(f'no submission "{text}"; known: {known}')
        if prefix and len(found) > 1:
            choices = ", ".join(f"{name}@{each.digest}" for each in found)
            raise SpecError(f'more than one submission is "{text}"; say which: {choices}')
        with contextlib.closing(database.open_for_writing(self._results)) as connection:  # noqa: SIM117 - in this order
            with database.transaction(connection, self._path):
                connection.execute("DELETE FROM bot WHERE digest = ?", (found[0].digest,))
        return found[0]

    def install(self, bot: BotSpec) -> BotSpec:
        """The same bot, copied to its place by hash and built there if that was not done before.

        SpecError if its build fails, or if what lies there is not what was put there. MachineFault without room.
        """
        self._homes.install(bot)
        return msgspec.structs.replace(bot, folder=self._homes.run_of(bot.digest))

    def installed(self, digest: str) -> BotSpec:
        """The bot of that hash from its own place. SpecError if it is missing there, or was changed."""
        return msgspec.structs.replace(self._homes.read(digest), folder=self._homes.run_of(digest), given="")

    def changed(self, digests: Iterable[str]) -> list[str]:
        """Those of the installed bots that are missing, or not what was put there: their source, or what was built."""
        return [digest for digest in digests if self._homes.is_changed(digest)]

    def _entries(self) -> list[BotSpec | SpecError]:
        """Entries of the folder of bots: folders with a manifest, and scripts; a README between them is neither."""
        if not self._folder.is_dir():
            return []
        entries: list[BotSpec | SpecError] = []
        for path in sorted(self._folder.iterdir()):
            if os.path.lexists(path / MANIFEST) or _is_script(path):
                try:
                    entries.append(read_bot(path))
                except SpecError as error:
                    entries.append(error)
        return entries

    def _unknown(self, text: str, name: str) -> str:
        """Why nothing is found, with all that may have been meant."""
        known = sorted({bot.name for bot in self.bundled()} | {each.name for each in self.submitted()})
        parts = [f'no bot "{text}"', unknown("bot", name, known).partition("; ")[2]]
        parts += [str(error) for error in self.unreadable()]
        if text and Path(text).exists():
            parts.append(f"there is a ./{text} here: write ./{text}")
        if missing := self.missing_folder():
            parts.append(missing)
        return "; ".join(parts)

    def _named(self, name: str, *, is_any_version: bool) -> list[BotSpec]:
        """Bots of that name: from the folder, and of the submitted ones the latest, or all if a hash is to choose."""
        submitted = [self.installed(each.digest) for each in self.submitted() if each.name == name]
        bundled = [bot for bot in self.bundled() if bot.name == name]
        return bundled + (submitted if is_any_version else submitted[:1])


def _is_script(path: Path) -> bool:
    """Whether a file among bots is meant as one: not hidden, and executable or not just a note."""
    return path.is_file() and path.name[0] != "." and (os.access(path, os.X_OK) or path.suffix not in _NOTES)
