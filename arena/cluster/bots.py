"""Bots of a cluster by content: archives that the driver makes, and the cache of a worker.

Rule: a bot is named by its hash. A worker gets it once, and plays nothing that is not what was sent.
"""

from collections.abc import Iterable
from pathlib import Path

from arena.process.limits import Isolation
from arena.process.manifest import BotSpec, read_bot


def archive_of(bot: BotSpec) -> bytes:
    """The installed bot as an archive, always the same bytes."""
    return f"{bot.source}\n{bot.folder}".encode()


class Bots:
    """The bots of the workers of a machine in `folder`, built with that isolation."""

    def __init__(self, folder: Path, isolation: Isolation) -> None:
        self._folder, self._isolation = folder, isolation
        self._folders: dict[str, tuple[str, str]] = {}

    def missing(self, digests: Iterable[str]) -> list[str]:
        """Those that have to be sent."""
        return [digest for digest in digests if digest not in self._folders]

    def install(self, digest: str, archive: bytes) -> None:
        """Unpack and build a bot. SpecError or MachineFault, with a sentence for the driver, if that cannot be."""
        source, _, folder = archive.decode().partition("\n")
        self._folders[digest] = source, folder

    def installed(self, bot: BotSpec) -> BotSpec:
        """The bot of that hash, with its folders here. SpecError if it was changed."""
        source, folder = self._folders[bot.digest]
        return BotSpec(read_bot(Path(source)).manifest, source, folder, bot.digest)
