"""Bots on offer: the shelf `bots/` of the project, and what was submitted, kept by content hash in results/bots/.

Rule: what plays is a copy that nobody edits. `results/bots/<hash>/source` is the bot as it was given, `run` the same
after its build, `built` the hash of that; all appear together by one rename.
"""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from arena import strict
from arena.errors import SpecError
from arena.process.build import build, digest_of_folder
from arena.process.limits import DEFAULT_ISOLATION, Isolation
from arena.process.manifest import MANIFEST, BotSpec, digest_of, files_of, read_bot
from arena.store import database

_BUILT: Final = "built"
_NOTES: Final = {"", ".md", ".rst", ".txt"}


class Submission(msgspec.Struct, frozen=True):
    """A submitted bot as the database knows it; `submitted_at` in UTC, ISO 8601."""

    name: str
    version: str
    digest: str
    submitted_at: str


class BotStore:
    """The bots of one results folder and of the shelf beside it."""

    def __init__(self, results: Path, shelf: Path, isolation: Isolation = DEFAULT_ISOLATION) -> None:
        self._folder = results / "bots"
        self._results = results
        self._shelf = shelf
        self._isolation = isolation

    def find(self, text: str) -> BotSpec:
        """The bot that a person means: a path (anything with a slash), `name`, or `name@beginning-of-hash`.

        SpecError if there is none, or more than one with that name and different content.
        """
        if "/" in text:
            if not Path(text).exists():
                raise SpecError(f"{text}: no such file or folder")  # as it was written: a Path drops the `./`
            return read_bot(Path(text))
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
        """The bot on the shelf that has the name of `bot`, and where it lies."""
        return next(
            ((each, self._shelf / Path(each.source).name) for each in self.on_shelf() if each.name == bot.name), None
        )

    def without_shelf(self) -> str:
        """What a person is told if there is no shelf; empty if there is one."""
        if self._shelf.is_dir():
            return ""
        return f"no folder {self._shelf}/ here; run it in the project's folder or give --bots"

    def on_shelf(self) -> list[BotSpec]:
        """The bots in `bots/`, by name; `unreadable` tells of the others."""
        return sorted((bot for bot in self._shelf_entries() if isinstance(bot, BotSpec)), key=lambda bot: bot.name)

    def unreadable(self) -> list[SpecError]:
        """What is wrong with the bots in `bots/` that cannot be read; they are in nobody's way."""
        return [error for error in self._shelf_entries() if isinstance(error, SpecError)]

    def submitted(self) -> list[Submission]:
        """The submitted bots, the latest of each name first."""
        connection = database.open_for_reading(self._results)
        if connection is None:
            return []
        query = "SELECT name, version, digest, submitted_at FROM bot ORDER BY name, submitted_at DESC, digest"
        with contextlib.closing(connection), database.speaking_for(database.path_in(self._results)):
            return [Submission(*row) for row in connection.execute(query)]

    def register(self, bot: BotSpec, connection: sqlite3.Connection) -> None:
        """Put an installed bot on the list of submissions."""
        row = (bot.digest, bot.name, bot.manifest.version, datetime.now(UTC).isoformat(timespec="microseconds"))
        with database.speaking_for(database.path_in(self._results)), database.transaction(connection):
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
        path = database.path_in(self._results)
        with contextlib.closing(database.open_for_writing(self._results)) as connection:  # noqa: SIM117 - in this order
            with database.speaking_for(path), database.transaction(connection):
                connection.execute("DELETE FROM bot WHERE digest = ?", (found[0].digest,))
        return found[0]

    def install(self, bot: BotSpec) -> BotSpec:
        """The same bot, copied to its place by hash and built there if that was not done before.

        SpecError if its build fails, or if what was built then is not what lies there now.
        """
        home = self._folder / bot.digest
        if not home.is_dir():
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                tempfile.TemporaryDirectory(dir=self._folder).cleanup()
            except OSError as error:
                raise database.unwritable(self._results, error) from None
            with tempfile.TemporaryDirectory(dir=self._folder, prefix="new-") as scratch:
                made = _make_home(bot, Path(scratch) / "home", self._isolation)
                try:
                    made.rename(home)
                except OSError:
                    if not home.is_dir():  # otherwise somebody else made the same one meanwhile
                        raise
        elif _is_altered(home):
            raise SpecError(
                f"{home / 'run'} is not what was built there: somebody changed it; delete {home}, and it is made anew"
            )
        return msgspec.structs.replace(bot, folder=str((home / "run").resolve()))

    def installed(self, digest: str) -> BotSpec:
        """The bot of that hash from its own place."""
        home = self._folder / digest
        if not (home / "source").is_dir():
            raise SpecError(f"{home} is missing: the bot with hash {digest[:8]} has to be submitted again")
        bot = read_bot(_root(home / "source"))
        return msgspec.structs.replace(bot, folder=str((home / "run").resolve()))

    def changed(self, digests: Iterable[str]) -> list[str]:
        """Those of the installed bots that are missing, or whose stored source no longer has its hash.

        Also those whose running copy is not what was built.
        """
        return [digest for digest in digests if self._is_changed(digest)]

    def _is_changed(self, digest: str) -> bool:
        try:
            home = self._folder / digest
            bot = read_bot(_root(home / "source"))
            return bot.digest != digest or _is_altered(home)
        except (SpecError, OSError):
            return True

    def _shelf_entries(self) -> list[BotSpec | SpecError]:
        """What lies on the shelf: folders with a manifest, and scripts; a README between them is neither."""
        if not self._shelf.is_dir():
            return []
        entries: list[BotSpec | SpecError] = []
        for path in sorted(self._shelf.iterdir()):
            if (path / MANIFEST).is_file() or _is_script(path):
                try:
                    entries.append(read_bot(path))
                except SpecError as error:
                    entries.append(error)
        return entries

    def _unknown(self, text: str, name: str) -> str:
        """Why nothing is found, with all that may have been meant."""
        known = sorted({bot.name for bot in self.on_shelf()} | {each.name for each in self.submitted()})
        parts = [f'no bot "{text}"', strict.unknown("bot", name, known).partition("; ")[2]]
        parts += [str(error) for error in self.unreadable()]
        if text and Path(text).exists():
            parts.append(f"there is a ./{text} here: write ./{text}")
        if missing := self.without_shelf():
            parts.append(missing)
        return "; ".join(parts)

    def _named(self, name: str, *, is_any_version: bool) -> list[BotSpec]:
        """Bots of that name: from the shelf, and of the submitted ones the latest, or all if a hash is to choose."""
        submitted = [self.installed(each.digest) for each in self.submitted() if each.name == name]
        shelf = [bot for bot in self.on_shelf() if bot.name == name]
        return shelf + (submitted if is_any_version else submitted[:1])


def _is_script(path: Path) -> bool:
    """Whether a file among bots is meant as one: not hidden, and executable or not just a note."""
    return path.is_file() and path.name[0] != "." and (os.access(path, os.X_OK) or path.suffix not in _NOTES)


def _root(source: Path) -> Path:
    """A stored source is a folder with a manifest, or holds the one script."""
    if (source / MANIFEST).is_file() or not source.is_dir():
        return source
    files = [path for path in source.iterdir() if path.is_file()]
    return files[0] if len(files) == 1 else source


def _is_altered(home: Path) -> bool:
    """Whether the running copy is not what was built; one of arena 0.1.0 has no hash of that."""
    built = home / _BUILT
    return built.is_file() and built.read_text(encoding="ascii") != digest_of_folder(home / "run")


def _make_home(bot: BotSpec, home: Path, isolation: Isolation) -> Path:
    for name, file in files_of(Path(bot.source)):
        for part in ("source", "run"):
            target = home / part / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    if digest_of(_root(home / "source"), bot.manifest) != bot.digest:
        raise SpecError(f"{bot.source} was changed while it was being copied; try again")
    build(bot.manifest, home / "run", isolation)
    (home / _BUILT).write_text(digest_of_folder(home / "run"), encoding="ascii")
    return home
