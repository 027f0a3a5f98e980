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
from arena.store import database, owners, times
from arena.store.archives import pack_bot
from arena.store.homes import Homes
from arena.store.view import Connection
from arena.text import unknown

_NOTES: Final = {"", ".md", ".rst", ".txt"}
log: Final = logging.getLogger("arena.store")


class Submission(msgspec.Struct, frozen=True):
    """A submitted bot in the database; `submitted_at` is UTC in ISO 8601, `owner` the present owner of its name."""

    name: str
    version: str
    digest: str
    submitted_at: str
    owner: str

    @property
    def label(self) -> str:
        """The label, as of a `BotSpec`."""
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
        self._reported: set[str] = set()

    def find(self, text: str, *, given: str = "", is_handed_in: bool = False) -> BotSpec:
        """Find the bot that `text` names: a path (anything with a slash), `name`, or `name@beginning-of-hash`.

        `given` replaces the path in messages; `is_handed_in` as for `read_bot`. SpecError if there is no such
        bot, or more than one with that name and different content.
        """
        if is_path(text):
            if not os.path.lexists(text.rstrip("/")):
                raise SpecError(f"{text}: no such file or folder")  # the text as typed: a Path drops the `./`
            return read_bot(Path(text), given or text.rstrip("/"), is_handed_in=is_handed_in)
        name, _, prefix = text.partition("@")
        namesakes = self._find_by_name(name, is_any_version=bool(prefix))
        candidates = {bot.digest: bot for bot in namesakes if bot.digest.startswith(prefix)}
        if len(candidates) == 1:
            return next(iter(candidates.values()))
        if not candidates:
            raise SpecError(self._explain_unknown(text, name))
        choices = ", ".join(f"{name}@{digest[:8]} ({candidates[digest].folder})" for digest in candidates)
        submitted = any(submission.digest in candidates for submission in self.submissions())
        advice = f"; `arena withdraw {text}` takes the submitted one off the list" if submitted else ""
        raise SpecError(f'more than one bot is called "{name}"; say which: {choices}{advice}')

    def namesake(self, bot: BotSpec) -> tuple[BotSpec, Path] | None:
        """Return the bot named as `bot` in the user's folder, or the bundled one, and its path; None without one."""
        named = [candidate for candidate in (*self.read_own(), *self.read_bundled()) if candidate.name == bot.name]
        return (named[0], Path(named[0].given)) if named else None

    def owned_names(self) -> dict[str, str]:
        """Return the owner of each known name of a bot; for a bot in a folder, its path."""
        names = {bot.name: bot.given for bot in (*self.read_bundled(), *self.read_own())}
        return names | dict(self._query(owners.OWNED_NAMES))

    def read_own(self) -> list[BotSpec]:
        """Read the bots in the user's folder, sorted by name; `unreadable` has the errors of the others."""
        return _sort_bots(self._read_entries(self._folders[:-1]))

    def read_bundled(self) -> list[BotSpec]:
        """Read the bots that come with arena, sorted by name; in a checkout, all bots in its `bots/`."""
        return _sort_bots(self._read_entries(self._folders[-1:]))

    def names(self) -> list[str]:
        """Return the names of all bots that `find` knows, sorted."""
        names = {bot.name for bot in (*self.read_own(), *self.read_bundled())}
        return sorted(names | {submission.name for submission in self.submissions()})

    def unreadable(self) -> list[SpecError]:
        """Return the errors of the bots in folders that cannot be read; they do not stop other bots."""
        return [error for _path, error in self._read_entries(self._folders) if isinstance(error, SpecError)]

    def submissions(self) -> list[Submission]:
        """Return the submitted bots by name, the latest of each name first."""
        query = """
            SELECT name, version, digest, submitted_at, ifnull(owner, '') FROM bot LEFT JOIN owner ON owner.bot = name
            ORDER BY name, submitted_at DESC, digest
        """
        return [Submission(*row) for row in self._query(query)]

    def hand_ins(self) -> list[tuple[datetime, str, str]]:
        """Return the hand-ins of submitted bots in their order: time, as last corrected, name and hash."""
        corrected = {tuple(key): at for *key, at in self._query(times.HAND_INS)}
        return sorted((times.parse(at), name, digest) for (name, _, digest), at in corrected.items())

    def jump_s(self, now: times.Moment) -> float:
        """Return the seconds by which the clock jumped (forwards if positive) since the last hand-in, 0 before one."""
        return next((times.jump_s(now, *row) for row in self._query(times.LAST_CLOCK)), 0.0)

    def correct_time(self, text: str, at: datetime, maker: str) -> times.Correction:
        """Correct the time of the last hand-in of `name` or `name@beginning-of-hash` to `at`; store and return that.

        `maker` is the name of who corrects it. SpecError without such a hand-in.
        """
        name, _, prefix = text.partition("@")
        handed_in = self._query("SELECT at, digest FROM hand_in WHERE name = ? ORDER BY at", name)
        matching = [(was, digest) for was, digest in handed_in if digest.startswith(prefix)]
        if not matching:
            known = [f"{name}@{digest[:8]}" for _, name, digest in self.hand_ins()]
            raise SpecError(unknown("hand-in", text, dict.fromkeys(known)))
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        correction = times.Correction(name, *matching[-1], now, times.utc(at), maker)
        with contextlib.closing(database.open_for_writing(self._results)) as connection:  # noqa: SIM117 - in this order
            with database.transaction(connection, self._path):
                connection.execute("INSERT OR REPLACE INTO correction VALUES (?, ?, ?, ?, ?, ?)", correction)
        return correction

    def versions_of(self, owner: str) -> list[tuple[str, str]]:
        """Return the name and hash of each version that was handed in under a name of this owner."""
        query = "SELECT DISTINCT name, digest FROM hand_in JOIN owner ON bot = name WHERE owner = ? ORDER BY name, at"
        return self._query(query, owner)

    def removed(self) -> frozenset[str]:
        """Return the hashes of the versions whose authors were removed."""
        return frozenset(digest for (digest,) in self._query("SELECT digest FROM removal"))

    def delete_sources(self, digests: Iterable[str]) -> None:
        """Delete the installed copies with these hashes, where they are."""
        for digest in digests:
            self._homes.remove(digest)

    def _query(self, query: str, *values: str) -> list[Any]:
        """Return the rows of a query; none before anything is stored."""
        with database.reading(self._results) as connection, database.translating_sqlite_errors(self._path):
            return [] if connection is None else connection.collect(query, values)

    def register(
        self,
        bot: BotSpec,
        owner: str,
        connection: Connection,
        *,
        takes_over: bool = False,
        handed_in: times.Moment | None = None,
    ) -> None:
        """Put an installed bot on the list of submissions, and give its name to `owner`.

        `handed_in`: the time of the hand-in, by default now. A time is after all earlier ones, even if the clock goes
        back. NameTaken if another owner has the name by now, unless it `takes_over`.
        """
        with database.transaction(connection, self._path):
            if not takes_over:
                owners.require_free(bot.name, owner, dict(connection.collect(owners.OWNED_NAMES)))
            owners.set_owner(connection, bot.name, owner)
            ((listed,),) = connection.collect("SELECT max(submitted_at) FROM bot")
            row = (bot.digest, bot.name, bot.manifest.version, times.after(listed, datetime.now(UTC)))
            connection.execute("INSERT OR REPLACE INTO bot VALUES (?, ?, ?, ?)", row)
            times.add_hand_in(connection, bot.name, bot.digest, handed_in or times.read_clock())

    def withdraw(self, text: str) -> Submission:
        """Take a submission, `name` (the latest) or `name@beginning-of-hash`, off the list, and return it.

        Its installed copy and all stored matches stay. SpecError if no submission, or more than one, is meant.
        """
        name, _, prefix = text.partition("@")
        submissions = self.submissions()
        matching = [entry for entry in submissions if entry.name == name and entry.digest.startswith(prefix)]
        if not matching:
            known = ", ".join(f"{entry.name}@{entry.digest[:8]}" for entry in submissions) or "none"
            raise SpecError(f'no submission "{text}"; known: {known}')
        if prefix and len(matching) > 1:
            choices = ", ".join(f"{name}@{entry.digest}" for entry in matching)
            raise SpecError(f'more than one submission is "{text}"; say which: {choices}')
        with contextlib.closing(database.open_for_writing(self._results)) as connection:  # noqa: SIM117 - in this order
            with database.transaction(connection, self._path):
                connection.execute("DELETE FROM bot WHERE digest = ?", (matching[0].digest,))
        return matching[0]

    def install(self, bot: BotSpec) -> BotSpec:
        """Copy the bot to its place by hash, build it there if necessary, and return the installed bot.

        SpecError if its build fails, or if what lies there is not what was put there. MachineFault without room.
        """
        self._homes.install(bot)
        return msgspec.structs.replace(bot, folder=self._homes.run_of(bot.digest))

    def read_installed(self, digest: str) -> BotSpec:
        """Read the installed bot with this hash. SpecError if it is missing or was changed."""
        return msgspec.structs.replace(self._homes.read(digest), folder=self._homes.run_of(digest), given="")

    def pack(self, digest: str) -> bytes:
        """Pack the installed bot with this hash for another machine. SpecError as from `read_installed`."""
        return pack_bot(self._homes.read(digest), self._homes.build_digest(digest))

    def find_changed(self, digests: Iterable[str]) -> list[str]:
        """Return the hashes of the bots that are missing, or whose installed source or build was changed."""
        return [digest for digest in digests if self._homes.is_changed(digest)]

    def _read_entries(self, folders: Iterable[Path]) -> Iterator[tuple[Path, BotSpec | SpecError]]:
        """Yield the path of each bot in the folders, sorted within each, with the bot or the error of reading it.

        Bots are folders with a manifest, and scripts; a README between them is skipped.
        """
        for path in (path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())):
            if is_script(path) or os.path.lexists(path / MANIFEST):
                try:
                    yield path, read_bot(path.parent.resolve() / path.name, str(path))
                except SpecError as error:
                    yield path, error

    def _explain_unknown(self, text: str, name: str) -> str:
        """Explain why no bot was found, with the names that may have been meant."""
        parts = [f'no bot "{text}"', unknown("bot", name, self.names()).partition("; ")[2]]
        parts += [str(error) for error in self.unreadable()]
        if text and Path(text).exists():
            parts.append(f"there is a ./{text} here: write ./{text}")
        return "; ".join(parts)

    def _find_by_name(self, name: str, *, is_any_version: bool) -> list[BotSpec]:
        """Return the user's bots of that name and the latest submitted one, or else the bundled one.

        SpecError if the user's cannot be read and a bundled one would play; warn once if a bundled one is hidden.
        With `is_any_version`, return the user's, the bundled and all submitted ones together, without either.
        """
        submitted = [self.read_installed(entry.digest) for entry in self.submissions() if entry.name == name]
        user_bots = [bot for bot in self.read_own() if bot.name == name]
        bundled = [bot for bot in self.read_bundled() if bot.name == name]
        if is_any_version:
            return user_bots + bundled + submitted
        user_bots += submitted[:1]
        if bundled and not user_bots:
            self._require_readable(name)
        elif bundled and all(bot.digest != bundled[0].digest for bot in user_bots) and name not in self._reported:
            self._reported.add(name)
            place = user_bots[0].given or "a submitted bot"
            log.warning("%s is %s here; it hides the bundled bot %s@%s", name, place, name, bundled[0].digest[:8])
        return user_bots or bundled

    def _require_readable(self, name: str) -> None:
        """Raise SpecError if the user's bot of that name cannot be read: no bundled bot plays in its place."""
        for path, entry in self._read_entries(self._folders[:-1]):
            if name in (path.name, path.stem) and isinstance(entry, SpecError):
                raise entry


def _sort_bots(entries: Iterable[tuple[Path, BotSpec | SpecError]]) -> list[BotSpec]:
    """Return the bots that could be read, sorted by name."""
    return sorted((bot for _path, bot in entries if isinstance(bot, BotSpec)), key=lambda bot: bot.name)


def is_script(path: Path) -> bool:
    """Return True if a file among bots is meant as one: not hidden, and executable or not just a note.

    A link counts as one, so that it is refused instead of being left out.
    """
    return _is_file_or_link(path) and not is_note(path) and path.name[0] != "."


def is_note(path: Path) -> bool:
    """Return True if a file is a README or the like; a link is never opened to find out."""
    notes = _NOTES - {""} if path.is_symlink() else _NOTES
    return _is_file_or_link(path) and path.suffix in notes and (path.is_symlink() or not os.access(path, os.X_OK))


def _is_file_or_link(path: Path) -> bool:
    """Return True for a plain file or a link; False for anything else, and if it is missing."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)
