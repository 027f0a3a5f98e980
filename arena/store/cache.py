"""A cache of bots on a worker's machine: installed by hash, of bounded size, the least recently used removed first.

Rule: several processes, and threads of them, may share one cache. A bot in use is locked (flock on its home), so a
process that is killed holds none; a home without a lock may be removed at any moment. Each process computes the hash of
a home anew before the first use.
"""

import contextlib
import fcntl
import logging
import os
import platform
import re
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from arena.errors import HarnessFault, MachineFault, SpecError
from arena.process.limits import Isolation
from arena.process.manifest import safe_path
from arena.process.scratch import ENDING, remove, scratch_folder, sweep
from arena.store.archives import unpack_bot
from arena.store.homes import Homes

MOST_BYTES: Final = 4 << 30
_ARRIVING: Final = "arriving-"
_LEAVING: Final = "leaving-"
_LOCKS: Final = "locks"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_ROOT: Final = 0
_BLOCK: Final = 512
"""Bytes of a block, the unit of `st_blocks`."""
log: Final = logging.getLogger("arena.store")


class BotsMissing(HarnessFault):
    """Bots that a worker lacks; they have to be sent to it."""

    def __init__(self, digests: Iterable[str]) -> None:
        self.digests = tuple(digests)
        super().__init__(f"this worker lacks {', '.join(digest[:8] for digest in self.digests)}")

    def __reduce__(self) -> tuple[type["BotsMissing"], tuple[tuple[str, ...]]]:
        return BotsMissing, (self.digests,)


def default_folder() -> Path:
    """Return the folder of this user's cache among the temporary files."""
    return Path(tempfile.gettempdir(), f"arena-bots-{os.geteuid()}")


class BotCache:
    """A cache of installed bots in `folder`, of at most `most_bytes` bytes unless more are in use.

    Bots are built with `isolation`. Other users cannot read the folder. MachineFault if it belongs to another user, who
    could exchange bots.
    """

    def __init__(self, folder: Path, isolation: Isolation, most_bytes: int = MOST_BYTES) -> None:
        folder = folder / isolation  # bots built with and without the sandbox stay apart
        self._folder, self._most_bytes = folder, most_bytes
        self._homes = Homes(folder, isolation, advice="choose another folder by ARENA_WORKER_CACHE")
        self._believed: set[tuple[str, int]] = set()
        """The homes whose content was checked, by hash and inode."""
        self._alone = threading.Lock()
        try:
            for place in (folder.parent, folder, folder / _LOCKS):
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise MachineFault(f"{folder}: {error.strerror}; choose another folder by ARENA_WORKER_CACHE") from None
        _check_owner(folder.parent, {os.geteuid(), _ROOT})  # its owner could replace the folder
        _check_owner(folder, {os.geteuid()})
        sweep(folder)

    def missing(self, digests: Iterable[str]) -> list[str]:
        """Return the hashes of the bots that are not in the cache, or not as they were built."""
        lacking = []
        for digest in dict.fromkeys(digests):
            try:
                with self.hold([digest]):
                    pass
            except BotsMissing:
                lacking.append(digest)
        return lacking

    @contextlib.contextmanager
    def hold(self, digests: Iterable[str]) -> Iterator[dict[str, str]]:
        """Lock these bots against removal and yield their folders by hash. BotsMissing names those not here."""
        with contextlib.ExitStack() as stack:
            wanted = dict.fromkeys(digests)
            lacking = [digest for digest in wanted if not self._hold_one(digest, stack)]
            if lacking:
                raise BotsMissing(lacking)
            yield {digest: self._homes.run_of(digest) for digest in wanted}

    def install(self, digest: str, archive: bytes) -> None:
        """Install the bot with this hash from its archive and build it; log a warning if the build differs.

        Of several calls for one bot, in all processes, one works and the others wait. HarnessFault if this machine
        cannot build it or lacks room; SpecError for an archive that is not that of this bot.
        """
        with _lock_path(self._folder / _LOCKS / self._home_of(digest).name, fcntl.LOCK_EX):
            if self.missing([digest]):
                self._install_missing(digest, archive)

    def _home_of(self, digest: str) -> Path:
        """Return the home for a hash. SpecError for other text: it comes from another machine, and names a path."""
        if not _DIGEST.fullmatch(digest):
            raise SpecError(f"found {safe_path(digest[:80])}, expected the hash of a bot")
        return self._folder / digest

    def _hold_one(self, digest: str, stack: contextlib.ExitStack) -> bool:
        """Lock the home until `stack` closes, and note its use; return True if it is here, as it was built."""
        home = self._home_of(digest)
        try:
            opened = os.fstat(stack.enter_context(_lock_path(home, fcntl.LOCK_SH)))
            if not os.path.samestat(opened, home.stat()):  # removed before it was locked
                return False
            os.utime(home)
        except FileNotFoundError:
            return False
        known = (digest, opened.st_ino)
        with self._alone:
            if known not in self._believed and not self._homes.is_changed(digest):
                self._believed.add(known)
            return known in self._believed

    def _install_missing(self, digest: str, archive: bytes) -> None:
        """Install a bot in place of a damaged copy or none; make room before and afterwards."""
        self._remove(digest)  # a copy that is here is damaged
        self._make_room(self._most_bytes)
        try:
            self._unpack_and_build(digest, archive)
        except MachineFault:  # the disk is full although the cache is within its limit
            self._make_room(0)
            self._unpack_and_build(digest, archive)
        self._make_room(self._most_bytes, spared=digest)

    def _unpack_and_build(self, digest: str, archive: bytes) -> None:
        """Unpack an archive, build its bot and install it; log a warning if the build is another one than the sender's.

        HarnessFault if this machine cannot build it, MachineFault without room, SpecError for another bot's archive.
        """
        host = platform.node()
        try:
            with scratch_folder(_ARRIVING, self._folder) as scratch:
                bot, expected = unpack_bot(archive, digest, scratch / "source")
                try:
                    self._homes.install(bot)
                except SpecError as error:
                    raise HarnessFault(f"{host} cannot install {bot.label}: {error}") from None
        except OSError as error:
            raise MachineFault(f"{self._folder}: no bot can be put there: {error.strerror}; make room there") from None
        if (built := self._homes.build_digest(digest)) != expected:
            how = f"is built otherwise on {host} ({built[:8]}, not {expected[:8]})"
            log.warning("%s %s: another compiler or library, or a build that never repeats", bot.label, how)

    def _make_room(self, most_bytes: int, spared: str = "") -> None:
        """Remove unused bots, the least recently used first, until the others have at most `most_bytes` bytes."""
        used = sorted((when, home, size) for home, when, size in self._measure_homes())
        left = sum(size for _, _, size in used)
        for _, home, size in used:
            if left > most_bytes and home.name != spared and self._remove(home.name):
                left -= size

    def _measure_homes(self) -> Iterator[tuple[Path, int, int]]:
        """Yield each home, the time of its last use in ns, and its size in bytes; skip homes removed meanwhile."""
        for home in self._folder.iterdir():
            if not _DIGEST.fullmatch(home.name):
                continue
            with contextlib.suppress(FileNotFoundError):
                sizes = (path.lstat().st_blocks * _BLOCK for path in home.rglob("*"))
                yield home, home.stat().st_mtime_ns, sum(sizes)

    def _remove(self, digest: str) -> bool:
        """Remove a bot; return True if it is gone, False if it is in use."""
        home, leaving = self._folder / digest, self._folder / f"{_LEAVING}{digest[:8]}{ENDING}"
        try:
            with _lock_path(home, fcntl.LOCK_EX | fcntl.LOCK_NB) as number:
                if not os.path.samestat(os.fstat(number), home.stat()):  # replaced before it was locked
                    return False
                remove(leaving)
                home.rename(leaving)
                remove(leaving)
        except BlockingIOError:
            return False
        except FileNotFoundError:
            return True
        log.info("%s: the bot with hash %s left", self._folder, digest[:8])
        return True


def _check_owner(folder: Path, owners: set[int]) -> None:
    """Raise MachineFault unless the folder belongs to one of `owners`, which are user ids."""
    if folder.lstat().st_uid not in owners:
        raise MachineFault(f"{folder} belongs to another user; choose another folder by ARENA_WORKER_CACHE")


@contextlib.contextmanager
def _lock_path(path: Path, how: int) -> Iterator[int]:
    """Open and lock the file or folder at `path`, and yield its descriptor; a lock file is made if need be.

    `how` is that of `flock`. BlockingIOError with LOCK_NB if it is locked, FileNotFoundError if it is missing.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    number = os.open(path, flags | (os.O_CREAT if path.parent.name == _LOCKS else 0), 0o600)
    try:
        fcntl.flock(number, how)
        yield number
    finally:
        os.close(number)
