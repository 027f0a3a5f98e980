"""Bots as archives, to be sent to another machine: the same bytes for the same hash, on every machine.

Rule: an archive lists the names, bytes and executable bits of a bot's files, and has no words for anything else: no
link, device, owner or time. It is checked before the first file is written, and once more afterwards: only the one
archive that this module makes of a bot is taken for that bot.
"""

from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from arena.errors import SpecError
from arena.process.manifest import (
    DEEPEST_FOLDER,
    IGNORED,
    SOURCE_FILE_LIMIT,
    BotFile,
    BotSpec,
    bot_files,
    read_bot,
    safe_path,
    source_size_limit,
)
from arena.store.homes import root_of, write_file

_LONGEST_NAME: Final = 4000
_LONGEST_PART: Final = 255
"""The most bytes of a file name on Linux."""
_NAMES_SIZE_LIMIT: Final = SOURCE_FILE_LIMIT * (_LONGEST_NAME + 16)
"""The most bytes of all in an archive that is not the content of files."""


class _Archive(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    """The content of an archive; `built` is the hash of the bot's build on the machine that packed it."""

    built: Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?\Z")]
    files: Annotated[list[BotFile], Meta(max_length=SOURCE_FILE_LIMIT)]


def pack_bot(bot: BotSpec, built: str) -> bytes:
    """Pack the bot's source in MessagePack: [built, [[name, bytes, is executable], ...]], in order of name.

    `built` is the hash of its build here. SpecError for a source that is no bot any more.
    """
    return msgspec.msgpack.encode(_Archive(built, list(bot_files(Path(bot.source)))))


def unpack_bot(archive: bytes, digest: str, folder: Path) -> tuple[BotSpec, str]:
    """Write the files of an archive into the empty `folder`; return the bot and the hash of its original build.

    SpecError for an archive that is not that of the bot with this hash; of one whose names lead out of the folder, or
    that is too large, nothing is written.
    """
    content = _decode_archive(archive)
    for file in content.files:
        write_file(folder, file)
    bot = read_bot(root_of(folder.resolve()), digest[:8])
    if bot.digest != digest:
        raise _refusal(f"it holds the bot with hash {bot.digest[:8]}")
    if pack_bot(bot, content.built) != archive:  # a file that the hash leaves out could still be run
        raise _refusal("it holds more than the files that the hash is made of, or in another order")
    return bot, content.built


def _decode_archive(archive: bytes) -> _Archive:
    """Decode an archive and check its names and sizes. SpecError if no bot can have them."""
    limit = source_size_limit()
    if len(archive) > limit + _NAMES_SIZE_LIMIT:
        raise _refusal(f"it has {len(archive)} bytes, at most {limit + _NAMES_SIZE_LIMIT} are allowed")
    try:
        content = msgspec.msgpack.decode(archive, type=_Archive)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _refusal(str(error)) from None
    files = content.files
    names, folders = {file.name for file in files}, set[str]()
    for name in names:
        if not is_file_name(name):
            raise _refusal(f"no bot has a file {safe_path(name[:80])}")
        parts = name.split("/")
        folders.update("/".join(parts[:count]) for count in range(1, len(parts)))
    if len(names) < len(files) or names & folders:
        raise _refusal("two of its files have one name, or one lies in another")
    if sum(len(file.content) for file in files) > limit or len(names) + len(folders) > SOURCE_FILE_LIMIT:
        raise _refusal(f"it holds more than {limit >> 20} MiB, or {SOURCE_FILE_LIMIT} files and folders")
    return content


def is_file_name(name: str) -> bool:
    """Return True for a name, a relative path, that a file of a bot can have."""
    parts = name.split("/")
    if not name.isprintable() or len(name.encode()) > _LONGEST_NAME or len(parts) > DEEPEST_FOLDER + 1:
        return False
    is_part = all(0 < len(part.encode()) <= _LONGEST_PART for part in parts)
    return is_part and not {".", "..", *IGNORED}.intersection(parts)


def _refusal(why: str) -> SpecError:
    """Return the error for an archive that is not taken."""
    return SpecError(f"an archive is refused: {why}; expected what this arena makes of an installed bot")
