"""Bots on offer: those in the user's folder, submitted ones, kept by content hash in results/bots/, and bundled ones.

Rule: what plays is a copy that nobody edits (see arena.store.homes).
"""

import contextlib
import logging
import os
import stat
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.bundled import bundled_folder, is_path
from arena.errors import SpecError
from arena.process.limits import DEFAULT_ISOLATION, Isolation
from arena.process.manifest import MANIFEST, BotSpec, label_of, read_bot
from arena.store import database, owners
from arena.store.archives import pack_bot
from arena.store.homes import Homes
from arena.store.view import Connection
from arena.text import unknown

_NOTES: Final = {"", ".md", ".rst", ".txt"}
log: Final = logging.getLogger("arena.store")


class Submission(msgspec.Struct, frozen=True):
    """A submitted bot as the database knows it; `submitted_at` in UTC, ISO 8601. `owner`: of its name, by now."""

    name: str
    version: str
    digest: str
    submitted_at: str
    owner: str

    @property
    def label(self) -> str:
        """As that of a `BotSpec`."""
        return label_of(self.name, self.version, self.digest)


class BotStore:
    """The bots of one results folder, those in the user's folder of bots, and the bundled ones.

    The user's own, from their folder or submitted, come first: a bundled bot of that name is hidden, and found by hash.
    """

    def __init__(self, results: Path, folder: Path, isolation: Isolation = DEFAULT_ISOLATION) -> None:
        self._homes = Homes(results / "bots", isolation)
        self._results = results
        self._path = database.path_in(results)
        bundled = bundled_folder("bots")
        self._folders = (folder,) if folder.resolve() == bundled.resolve() else (folder, bundled)
        self._hiding: set[str] = set()

    def find(self, text: str, *, given: str = "", is_handed_in: bool = False) -> BotSpec:
        """The bot that a person means: a path (anything with a slash), `name`, or `name@beginning-of-hash`.

        `given` is the path in messages, if otherwise; `is_handed_in` as for `read_bot`. SpecError if there is no such
        bot, or more than one with that name and different content.
        """
        if is_path(text):
            if not os.path.lexists(text.rstrip("/")):
                raise SpecError(f"{text}: no such file or folder")  # as it was written: a Path drops the `./`
            return read_bot(Path(text), given or text.rstrip("/"), is_handed_in=is_handed_in)
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
        """The bot in a folder that has the name of `bot`, and its place."""
        named = [each for each in (*self.own(), *self.bundled()) if each.name == bot.name]
        return (named[0], Path(named[0].given)) if named else None

    def owned_names(self) -> dict[str, str]:
        """The owner of each name of a bot; of a bot in a folder, its place."""
        names = {each.name: each.given for each in (*self.bundled(), *self.own())}
        return names | dict(self._stored(owners.OWNED_NAMES))

    def own(self) -> list[BotSpec]:
        """The bots in the user's folder, by name; `unreadable` tells of the others."""
        return _sorted(self._entries(self._folders[:-1]))

    def bundled(self) -> list[BotSpec]:
        """The bots that come with arena, by name; of a checkout, all those in its `bots/`."""
        return _sorted(self._entries(self._folders[-1:]))

    def names(self) -> list[str]:
        """The names of all bots that can be found, sorted."""
        return sorted({bot.name for bot in (*self.own(), *self.bundled())} | {each.name for each in self.submitted()})

    def unreadable(self) -> list[SpecError]:
        """The errors of the bots in folders that cannot be read; they are in nobody's way."""
        return [error for _path, error in self._entries(self._folders) if isinstance(error, SpecError)]

    def submitted(self) -> list[Submission]:
        """The submitted bots, the latest of each name first."""
        query = """
            SELECT name, version, digest, submitted_at, ifnull(owner, '') FROM bot LEFT JOIN owner ON owner.bot = name
            ORDER BY name, submitted_at DESC, digest
        """
        return [Submission(*row) for row in self._stored(query)]

    def _stored(self, query: str) -> list[Any]:
        """The rows that a query finds; none before anything is stored."""
        with database.reading(self._results) as connection, database.translating_sqlite_errors(self._path):
            return [] if connection is None else connection.collect(query)

    def register(self, bot: BotSpec, owner: str, connection: Connection, *, takes_over: bool = False) -> None:
        """Put an installed bot on the list of submissions, and give its name to `owner`.

        NameTaken if another owner has the name by now, unless it `takes_over`.
        """
        row = (bot.digest, bot.name, bot.manifest.version, datetime.now(UTC).isoformat(timespec="microseconds"))
        with database.transaction(connection, self._path):
            if not takes_over:
                owners.require_free(bot.name, owner, dict(connection.collect(owners.OWNED_NAMES)))
            owners.own(connection, bot.name, owner)
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

    def packed(self, digest: str) -> bytes:
        """The installed bot of that hash as an archive, for another machine. SpecError as from `installed`."""
        return pack_bot(self._homes.read(digest), self._homes.built(digest))

    def changed(self, digests: Iterable[str]) -> list[str]:
        """Those of the installed bots that are missing, or not what was put there: their source, or what was built."""
        return [digest for digest in digests if self._homes.is_changed(digest)]

    def _entries(self, folders: Iterable[Path]) -> Iterator[tuple[Path, BotSpec | SpecError]]:
        """Entries of folders of bots: folders with a manifest, and scripts; a README between them is neither."""
        for path in (path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())):
            if is_script(path) or os.path.lexists(path / MANIFEST):
                try:
                    yield path, read_bot(path.parent.resolve() / path.name, str(path))
                except SpecError as error:
                    yield path, error

    def _unknown(self, text: str, name: str) -> str:
        """Why nothing is found, with all that may have been meant."""
        parts = [f'no bot "{text}"', unknown("bot", name, self.names()).partition("; ")[2]]
        parts += [str(error) for error in self.unreadable()]
        if text and Path(text).exists():
            parts.append(f"there is a ./{text} here: write ./{text}")
        return "; ".join(parts)

    def _named(self, name: str, *, is_any_version: bool) -> list[BotSpec]:
        """The user's bots of that name, of submitted ones the latest, else the bundled one; all if a hash chooses."""
        submitted = [self.installed(each.digest) for each in self.submitted() if each.name == name]
        own = [bot for bot in self.own() if bot.name == name]
        bundled = [bot for bot in self.bundled() if bot.name == name]
        if is_any_version:
            return own + bundled + submitted
        own += submitted[:1]
        if bundled and not own:
            self._require_readable(name)
        elif bundled and all(bot.digest != bundled[0].digest for bot in own) and name not in self._hiding:
            self._hiding.add(name)
            place = own[0].given or "a submitted bot"
            log.warning("%s is %s here; it hides the bundled bot %s@%s", name, place, name, bundled[0].digest[:8])
        return own or bundled

    def _require_readable(self, name: str) -> None:
        """SpecError if the user's bot in the place of that name cannot be read: no bundled bot plays in its stead."""
        for path, found in self._entries(self._folders[:-1]):
            if name in (path.name, path.stem) and isinstance(found, SpecError):
                raise found


def _sorted(entries: Iterable[tuple[Path, BotSpec | SpecError]]) -> list[BotSpec]:
    return sorted((bot for _path, bot in entries if isinstance(bot, BotSpec)), key=lambda bot: bot.name)


def is_script(path: Path) -> bool:
    """Tell whether a file among bots is meant as one: not hidden, and executable or not just a note.

    A link is, too, so that it is refused instead of being left out.
    """
    return _is_file(path) and not is_note(path) and path.name[0] != "."


def is_note(path: Path) -> bool:
    """Tell whether a file is a README or the like; a link is never opened to find out."""
    notes = _NOTES - {""} if path.is_symlink() else _NOTES
    return _is_file(path) and path.suffix in notes and (path.is_symlink() or not os.access(path, os.X_OK))


def _is_file(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)
