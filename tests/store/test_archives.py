"""Archives of bots: the same bytes on every machine, and nothing written outside of the folder by a hostile one."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.store_bots import bot_folder, files, store

from arena.errors import SpecError
from arena.process.build import digest_of_folder
from arena.process.manifest import SOURCE_FILE_LIMIT, read_bot
from arena.store.archives import pack_bot, unpack_bot

MANIFEST = b"name: mine\ncommand: [python3, bot.py]\n"


def packed(*entries: Any) -> bytes:
    """An archive that somebody made by hand."""
    return msgspec.msgpack.encode(["", list(entries)])


def hash_of(folder: Path, *entries: tuple[str, bytes, bool]) -> str:
    """The hash of a bot with these files."""
    for name, content, is_executable in entries:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(0o755 if is_executable else 0o644)
    return read_bot(folder).digest


def test_an_archive_is_the_same_whenever_and_wherever_it_is_made(tmp_path: Path) -> None:
    """Times, owners, the order of making, masks and what is left out of the hash leave no trace."""
    first, second = bot_folder(tmp_path / "a", "mine"), tmp_path / "b"
    (first / "zeta").mkdir()
    (first / "zeta" / "run").write_text("#!/bin/sh\n")
    (first / "zeta" / "run").chmod(0o755)
    (first / "zeta.txt").write_text("between")
    second.mkdir(mode=0o700)
    for name in ("zeta.txt", "zeta/run", "bot.yaml", "bot.py"):
        (second / name).parent.mkdir(exist_ok=True)
        (second / name).write_bytes((first / name).read_bytes())
        (second / name).chmod(0o700 if name == "zeta/run" else 0o600)
        os.utime(second / name, (1, 1))
    (second / "__pycache__").mkdir()
    (second / "__pycache__" / "bot.pyc").write_text("stale")

    made = pack_bot(read_bot(first), "")

    assert pack_bot(read_bot(second), "") == made
    assert [entry[0] for entry in msgspec.msgpack.decode(made)[1]] == ["bot.py", "bot.yaml", "zeta.txt", "zeta/run"]


@pytest.mark.parametrize("kind", ["folder", "script", "program"])
def test_a_bot_comes_out_as_it_went_in(tmp_path: Path, kind: str) -> None:
    """Hash, files and modes; of a script too, which has no manifest."""
    if kind == "folder":
        source = bot_folder(tmp_path / "mine", "mine")
        (source / "deep" / "er").mkdir(parents=True)
        (source / "deep" / "er" / "tool").write_bytes(bytes(range(256)))
        (source / "deep" / "er" / "tool").chmod(0o755)
    else:
        source = tmp_path / ("mine.py" if kind == "script" else "mine")
        source.write_text("#!/usr/bin/env python3\n")
        source.chmod(0o755 if kind == "program" else 0o644)
    bot = read_bot(source)

    arrived, _ = unpack_bot(pack_bot(bot, ""), bot.digest, tmp_path / "there")

    assert (arrived.digest, arrived.manifest) == (bot.digest, bot.manifest)
    if kind == "folder":
        assert files(tmp_path / "there") == files(source)
        assert (tmp_path / "there/deep/er/tool").stat().st_mode & 0o777 == 0o700
    assert pack_bot(arrived, "") == pack_bot(bot, "")


def test_the_archive_is_that_of_the_installed_copy(tmp_path: Path) -> None:
    """Its author may go on editing; a copy that somebody changed is not sent."""
    source = bot_folder(tmp_path / "mine", "mine")
    bots = store(tmp_path)
    installed = bots.install(bots.find(str(source)))
    expected = pack_bot(read_bot(source), digest_of_folder(source))
    (source / "bot.py").write_text("something else")

    assert bots.pack(installed.digest) == expected
    (tmp_path / "results/bots" / installed.digest / "source/bot.py").write_text("stronger")
    with pytest.raises(SpecError, match="is not what was submitted"):
        bots.pack(installed.digest)


NAMES = [
    *("../outside", "a/../../outside", "/outside", "//outside", "a//outside", "./outside", "a/./b", "..", ".", ""),
    *("a/", "a\0b", "line\nend", "\x1b[2J", "\udcff", "\u202etxt", "x" * 256, "a/" * 65 + "b", "a/" * 1999 + "b"),
    *("__pycache__/bot.cpython-311.pyc", ".git/hooks/post-checkout", "deep/__pycache__/x", ".DS_Store", "a\\..\\b\n"),
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name[:30]))
def test_a_name_that_leads_elsewhere_writes_nothing(tmp_path: Path, name: str) -> None:
    """An archive with such a name writes no file, in the folder or beside it."""
    inside = tmp_path / "a" / "b" / "c" / "folder"
    raw = name.encode("utf-8", "surrogateescape")
    entry = b"\x93" + msgspec.msgpack.encode("x" * len(raw))[: -len(raw) or None] + raw + b"\xc4\x01x\xc2"
    archive = b"\x92\xa0\x92" + msgspec.msgpack.encode(["bot.yaml", MANIFEST, False]) + entry

    with pytest.raises(SpecError, match="an archive is refused"):
        unpack_bot(archive, "0" * 64, inside)

    assert list(tmp_path.iterdir()) == []
    assert not Path("/outside").exists()


BOT = ["bot.yaml", MANIFEST, False]
HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "another hash of the build": msgspec.msgpack.encode(["../../x", [BOT]]),
    "more to the archive": msgspec.msgpack.encode(["", [BOT], "/etc/passwd"]),
    "no list": msgspec.msgpack.encode({"bot.py": b""}),
    "text for bytes": packed(BOT, ["bot.py", "print()", False]),
    "a mode with more in it": packed(BOT, ["bot.py", b"", 0o4755]),
    "more to an entry": packed(BOT, ["bot.py", b"", False, "/etc/passwd"]),
    "less of an entry": packed(BOT, ["bot.py", b""]),
    "a map for an entry": packed(BOT, {"name": "bot.py", "linkname": "/etc/passwd"}),
    "extension types": packed(BOT, msgspec.msgpack.Ext(1, b"x")),
    "two files of one name": packed(BOT, ["bot.py", b"1", False], ["bot.py", b"2", False]),
    "a file in a file": packed(BOT, ["bot.py", b"", False], ["bot.py/x", b"", False]),
    "a file in a file, first": packed(["a/b", b"", False], ["a", b"", False], BOT),
    "no bot": packed(["readme.txt", b"", False], ["other.txt", b"", False]),
    "no file": packed(),
    "a manifest that is none": packed(["bot.yaml", b"{", False]),
    "too many files": packed(*([f"{number}", b"", False] for number in range(SOURCE_FILE_LIMIT + 1))),
    "too many folders": packed(*([f"{number}/{'a/' * 60}b", b"", False] for number in range(40))),
    "a list without its entries": b"\x92\xa0\xdd\xff\xff\xff\xff",
    "a file without its bytes": b"\x92\xa0\x91\x93\xa6bot.py\xc6\xff\xff\xff\xff",
    "lists in lists": b"\x91" * 100_000,
    "something behind": packed(BOT, ["bot.py", b"", False]) + b"\0",
    "too many bytes": b"\0" * (72 << 20),
    "larger than a bot": packed(BOT, ["bot.py", b"\0" * (64 << 20), False]),
    "pickled code": b"\x80\x04cposix\nsystem\n(S'touch /outside'\ntR.",
    "compressed": b"\x1f\x8b\x08" + b"\0" * 100,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_an_archive_that_is_none_is_refused(tmp_path: Path, what: str) -> None:
    """Any other bytes are refused with a message; the format has no word for links, owners and the like."""
    with pytest.raises(SpecError):
        unpack_bot(HOSTILE[what], "0" * 64, tmp_path / "folder")

    assert all(path.is_file() or path.is_dir() for path in tmp_path.rglob("*"))
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))
    assert not Path("/outside").exists()


def test_another_bot_of_that_hash_is_refused(tmp_path: Path) -> None:
    """The hash is computed from what was written."""
    entries = (("bot.py", b"print()", False), ("bot.yaml", MANIFEST, False))
    digest = hash_of(tmp_path / "mine", *entries)
    unpack_bot(packed(*entries), digest, tmp_path / "whole")

    for number, other in enumerate(
        [
            (("bot.py", b"print('stronger')", False), entries[1]),
            (("bot.py", b"print()", True), entries[1]),
            (*entries, ("more.py", b"", False)),
            entries[1:],
        ]
    ):
        with pytest.raises(SpecError, match="it holds the bot with hash"):
            unpack_bot(packed(*other), digest, tmp_path / str(number))


def test_the_right_files_in_another_order_are_refused(tmp_path: Path) -> None:
    """A bot has exactly one archive."""
    entries = (("bot.py", b"print()", False), ("bot.yaml", MANIFEST, False))
    digest = hash_of(tmp_path / "mine", *entries)

    with pytest.raises(SpecError, match="in another order"):
        unpack_bot(packed(*reversed(entries)), digest, tmp_path / "there")


@given(archive=st.binary(max_size=200))
def test_bytes_of_any_kind_are_refused(tmp_path_factory: pytest.TempPathFactory, archive: bytes) -> None:
    """Never another error than ours."""
    folder = tmp_path_factory.mktemp("any")

    with pytest.raises(SpecError):
        unpack_bot(archive, "0" * 64, folder / "there")


@given(place=st.integers(min_value=0, max_value=10_000), value=st.integers(min_value=0, max_value=255))
def test_a_changed_byte_is_refused(tmp_path_factory: pytest.TempPathFactory, place: int, value: int) -> None:
    """Anywhere in a true archive: its names, lengths, bits and bytes."""
    folder = tmp_path_factory.mktemp("changed")
    digest = hash_of(folder / "mine", ("bot.py", b"print()", True), ("bot.yaml", MANIFEST, False))
    archive = bytearray(pack_bot(read_bot(folder / "mine"), ""))
    place %= len(archive)
    if archive[place] == value:
        return
    archive[place] = value

    with pytest.raises(SpecError):
        unpack_bot(bytes(archive), digest, folder / "there")
