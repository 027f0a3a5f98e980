"""Files of a results folder: plain ones in plain folders, and nothing else is opened."""

import ast
import os
from pathlib import Path

import pytest
from support.golden import Golden
from support.hostile_folders import Change, commitment, link, pipe, sound

from arena.errors import DamagedStore
from arena.library.callable_bots import CALLABLES, bridge_folder
from arena.store import database, files
from arena.store.league_log import logging_to
from arena.store.secrets import SecretFiles

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("kind", [link("arena.lock"), pipe("arena.lock")])
def test_the_lock_is_a_plain_file(tmp_path: Path, kind: Change, golden: Golden) -> None:
    """A link there had its target truncated."""
    (tmp_path / "victim").write_text("TOPSECRET")
    (tmp_path / "results").mkdir()
    kind(tmp_path / "results", tmp_path / "victim")

    with golden.raises(DamagedStore), database.writer_lock(tmp_path / "results"):
        pass

    assert (tmp_path / "victim").read_text() == "TOPSECRET"


@pytest.mark.parametrize("kind", [link("secrets/COMMITMENT"), link("secrets/COMMITMENT", "/dev/zero"), link("secrets")])
def test_a_secret_is_read_from_a_plain_file(tmp_path: Path, kind: Change, golden: Golden) -> None:
    """A secret is read only from a plain file in a plain folder."""
    (tmp_path / "victim").write_text("ab" * 32)
    sound(tmp_path / "results")
    kind(tmp_path / "results", tmp_path / "victim")

    with golden.raises(DamagedStore):
        SecretFiles(tmp_path / "results").find(commitment())


@pytest.mark.parametrize("name", ["logs", "logs/test.log"])
def test_no_log_is_written_through_a_link(tmp_path: Path, name: str, golden: Golden) -> None:
    """Lines of the log were appended to whatever it named."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "test.log").write_text("TOPSECRET")
    place = tmp_path / "results" / name
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / "elsewhere" / place.name if "." in name else tmp_path / "elsewhere")

    with golden.raises(DamagedStore), logging_to(tmp_path / "results", "test", print):
        pass

    assert (tmp_path / "elsewhere" / "test.log").read_text() == "TOPSECRET"


def test_only_plain_files_are_opened(tmp_path: Path, golden: Golden) -> None:
    """Whatever else has the name of one, there or on the way, is said and not waited for."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("text")
    (tmp_path / "way").symlink_to("folder")
    (tmp_path / "link").symlink_to("folder/file")
    os.mkfifo(tmp_path / "pipe")

    assert files.read_plain(tmp_path, "folder/file", 4) == b"text"
    with golden.raises(DamagedStore):
        files.read_plain(tmp_path, "folder/file", 3)
    for name, kind in {"way/file": "a link", "link": "a link", "pipe": "a pipe", "folder": "a folder"}.items():
        for flags in (os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT | os.O_APPEND):
            with pytest.raises(DamagedStore, match=kind):
                files.open_file(tmp_path, name, flags)
    with pytest.raises(FileNotFoundError, match="folder/none"):
        files.open_file(tmp_path, "folder/none")


OPENERS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "mkstemp", "fdopen"}
ELSEWHERE = {
    "league_log.py": {"fdopen"},  # what `files.open_file` opened
    "files.py": {"open", "fdopen"},
    "view.py": {"open", "fdopen", "read_text"},  # of copies in a folder of ours, and of the list of mounts
    "database.py": {"fdopen"},
    "secrets.py": {"open", "fdopen"},  # of a secret file that a person names
    "homes.py": {"open", "write_text", "write_bytes"},  # in a home in the making
    "cache.py": {"open"},  # of a worker of a cluster, without any results
    "times.py": {"read_text"},  # of the kernel's
    "authors.py": {"read_text", "read_bytes"},  # of a file that a person names
    "equal_files.py": {"read_bytes"},  # of kits and bots that come with arena
    "made_folder.py": {"read_text", "write_text"},  # in a folder that a person names
    "unpack.py": {"open"},  # of an archive that a person names, without links
    "recent.py": {"read_bytes"},  # of the folder of states of the user, not of results
}
"""The modules of the store that open files, and how; descriptors come from `files.open_file`."""


def test_files_of_results_are_opened_in_one_place() -> None:
    """A new call is either one of `arena.store.files`, or somebody says here why not."""
    calls: dict[str, set[str]] = {}
    for path in sorted((ROOT.parent / "arena" / "store").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in OPENERS:
                    calls.setdefault(path.name, set()).add(name)

    assert calls == ELSEWHERE


def test_functions_are_put_into_plain_folders(tmp_path: Path, golden: Golden) -> None:
    """A link in the place of the folder for functions of the library, which would lead files elsewhere, is refused."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / CALLABLES).symlink_to(tmp_path / "elsewhere")

    with golden.raises(DamagedStore):
        files.make_folder(tmp_path / "results", CALLABLES)
    with golden.raises(DamagedStore):
        bridge_folder(tmp_path / "results", "ann", "1")

    assert [*(tmp_path / "elsewhere").iterdir()] == []
