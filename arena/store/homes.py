"""The installed copies of bots, `results/bots/<hash>`: made whole, durable, checked before they play.

Rule: nothing plays that is not what was built. A home is `source`, the bot as it was given, `run`, the same after its
build, and `built`, the hash of that. It is on the disk, every file and folder of it, before one rename gives it its
name; and the name is on the disk before `install` returns.

A home in the making is a scratch folder `new-...` (see arena.process.scratch).
"""

import contextlib
import errno
import logging
import os
import re
from pathlib import Path, PurePath
from typing import Final

from arena.errors import DamagedStore, MachineFault, SpecError
from arena.process.build import build, digest_of_folder, is_too_large
from arena.process.limits import Isolation
from arena.process.manifest import MANIFEST, BotFile, BotSpec, bot_digest, bot_files, read_bot
from arena.process.scratch import scratch_folder, sweep
from arena.store import files

_BUILT: Final = "built"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_UNFINISHED: Final = "new-"
NO_ROOM: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Errors of a disk that is full, or fails."""
_ADVICE: Final = "choose another folder with --results"
log: Final = logging.getLogger("arena.store")


class Homes:
    """The homes of bots in one folder, built with that isolation; `advice` ends messages about a lack of room."""

    def __init__(self, folder: Path, isolation: Isolation, advice: str = _ADVICE) -> None:
        self._folder = folder
        self._isolation = isolation
        self._advice = advice

    def read(self, digest: str) -> BotSpec:
        """Read the installed bot with this hash from its source. SpecError if it is missing or was changed."""
        home = self._home_of(digest)
        try:
            self._require_plain(digest, "source")
        except FileNotFoundError:
            raise SpecError(f"{home} is missing: the bot with hash {digest[:8]} has to be submitted again") from None
        bot = read_bot(root_of(home.resolve() / "source"))  # the results folder itself may be a link
        if bot.digest != digest:
            raise SpecError(
                f"{home / 'source'} is not what was submitted: it has the hash {bot.digest[:8]}; somebody changed it,"
                f" or a disk lost a part of it: delete {home} and submit the bot again"
            )
        return bot

    def _home_of(self, digest: str) -> Path:
        """Return the home for a hash. SpecError for other text, which could name any folder."""
        if not _DIGEST.fullmatch(digest):
            raise SpecError(f"{digest!a:.80} is no hash of a bot; put a copy of the database back")
        return self._folder / digest

    def _require_plain(self, digest: str, part: str) -> None:
        """Raise DamagedStore for a link in the place of a folder: it leads anywhere."""
        with files.open_folder(self._folder.parent, f"{self._folder.name}/{digest}/{part}"):
            pass

    def run_of(self, digest: str) -> str:
        """Return the folder in which the bot with this hash runs."""
        return str((self._folder / digest / "run").resolve())

    def install(self, bot: BotSpec) -> None:
        """Make the home of a bot that has none, or whose home has no record of its build; otherwise check it.

        SpecError if its build fails, or if what lies there is not what was put there. MachineFault without room.
        """
        try:
            files.make_folder(self._folder.parent, self._folder.name)
            sweep(self._folder)
            home = self._folder / bot.digest
            if home.is_dir() and self.build_digest(bot.digest):
                self._require_unchanged(bot.digest)
                return
            if home.is_dir():
                log.warning(
                    "%s: nothing tells of the build there, as after a power cut; it is built again",
                    home,
                )
            self._make_home(bot)
        except OSError as error:
            what = f"{self._folder}: {bot.label} cannot be installed: {error.strerror}"
            if error.errno in NO_ROOM:
                raise MachineFault(f"{what}; make room there, or {self._advice}") from None
            raise SpecError(f"{what}; {self._advice}") from None

    def remove(self, digest: str) -> None:
        """Remove the home with this hash, if it is there; a later call goes on after a kill."""
        home = self._home_of(digest)
        if self._folder.is_dir():
            with scratch_folder(_UNFINISHED, self._folder) as scratch, contextlib.suppress(FileNotFoundError):
                home.rename(scratch / "home")

    def is_changed(self, digest: str) -> bool:
        """Return True if a home is missing, or is not what was put there."""
        try:
            self._require_unchanged(digest)
        except (SpecError, DamagedStore, OSError):
            return True
        return False

    def build_digest(self, digest: str) -> str:
        """Return the recorded hash of the build in that home; empty if there is no record."""
        text = ""
        with contextlib.suppress(OSError, UnicodeDecodeError, DamagedStore):
            text = files.read_plain(
                self._folder.parent, f"{self._folder.name}/{digest}/{_BUILT}", 2 * len(digest)
            ).decode("ascii")
        return text if len(text) == len(digest) else ""

    def _require_unchanged(self, digest: str) -> None:
        """Raise SpecError if the home is missing, or if its source or its build was changed."""
        self.read(digest)
        home, built = self._folder / digest, self.build_digest(digest)
        self._require_plain(digest, "run")
        if not built or is_too_large(home / "run") or built != digest_of_folder(home / "run"):
            raise SpecError(
                f"{home / 'run'} is not what was built there: somebody changed it, or a disk lost a part of it;"
                f" delete {home}, and it is made anew"
            )

    def _make_home(self, bot: BotSpec) -> None:
        """Copy and build the bot in a scratch folder, flush that to the disk, and rename it to the bot's home."""
        home = self._folder / bot.digest
        with scratch_folder(_UNFINISHED, self._folder) as scratch:
            files.make_folder(scratch, "home")
            made = scratch / "home"
            _copy_source(bot, made)
            build(bot.manifest, made / "run", self._isolation, given=bot.given_folder)
            (made / _BUILT).write_text(digest_of_folder(made / "run"), encoding="ascii")
            (made / _BUILT).chmod(0o600)
            sync_all(made)
            if home.is_dir() and not self.build_digest(bot.digest):
                home.rename(scratch / "former")
            try:
                made.rename(home)
            except OSError:
                if not home.is_dir():  # otherwise another process made the same home meanwhile
                    raise
            sync(self._folder)
            sync(self._folder.parent)


def _copy_source(bot: BotSpec, home: Path) -> None:
    """Copy the bot into `source` and `run` of its home. SpecError if it changes meanwhile."""
    source = Path(bot.source)
    for file in bot_files(source):
        for part in ("source", "run"):
            write_file(home / part, file)
    if bot_digest(root_of((home / "source").resolve()), bot.manifest) != bot.digest:
        raise SpecError(f"{bot.given or bot.source} was changed while it was being copied; try again")


def write_file(folder: Path, file: BotFile) -> None:
    """Write a file of a bot below `folder`, for this user alone."""
    target = folder / file.name
    files.make_folder(folder, str(PurePath(file.name).parent))
    target.write_bytes(file.content)
    target.chmod(0o700 if file.is_executable else 0o600)


def root_of(source: Path) -> Path:
    """Return the bot's path in a stored source: the folder if it has a manifest, else its one script."""
    if (source / MANIFEST).is_file() or not source.is_dir():
        return source
    files = [path for path in source.iterdir() if path.is_file()]
    return files[0] if len(files) == 1 else source


def sync_all(folder: Path) -> None:
    """Flush all files and folders below `folder`, and itself, to the disk; links are parts of their folders."""
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            path = Path(place) / name
            if path.is_file() and not path.is_symlink():
                sync(path)
        sync(Path(place))


def sync(path: Path) -> None:
    """Flush a file or a folder to the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
