"""Installed bots: on the disk before they have a name, looked at before they play, and nothing left lying around."""

import errno
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.store_bots import bot_folder, store

from arena.errors import MachineFault, SpecError
from arena.process.manifest import BotSpec
from arena.store.bots import BotStore

BUILD = "build: [[sh, -c, 'mkdir -p deep/er; cp bot.py deep/er/made; ln -s bot.py link']]\n"


def installed(folder: Path) -> tuple[BotStore, BotSpec, Path]:
    """A store with one built bot, and the home of that."""
    bots = store(folder)
    found = bots.find(str(bot_folder(folder / "mine", "mine", build=BUILD)))
    bots.install(found)
    return bots, found, folder / "results" / "bots" / found.digest


class Disk:
    """Hears what is put on the disk, and under which name; a power cut keeps only that."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.synced: set[tuple[int, int, int]] = set()
        self.named: list[tuple[Path, dict[str, bool]]] = []
        self.synced_since: set[int] = set()
        monkeypatch.setattr(os, "fsync", self._sync)
        monkeypatch.setattr(Path, "rename", lambda *paths: self._rename(*paths))  # noqa: PLW0108 - a method binds its path

    def is_on_disk(self, path: Path) -> bool:
        """Return True if the file or folder has not changed since it was synchronised."""
        return self._state(path.stat()) in self.synced

    def _sync(self, number: int) -> None:
        self.synced.add(self._state(os.fstat(number)))
        self.synced_since.add(os.fstat(number).st_ino)

    def _rename(self, source: Path, target: Path) -> Path:
        parts = [source, *(path for path in source.rglob("*") if not path.is_symlink())]
        whole = {str(path.relative_to(source)): self.is_on_disk(path) for path in parts}
        os.rename(source, target)  # noqa: PTH104 - the method stands in for it
        self.named.append((target, whole))
        self.synced_since = set()
        return target

    @staticmethod
    def _state(found: os.stat_result) -> tuple[int, int, int]:
        return found.st_ino, found.st_mtime_ns, found.st_size


def test_a_home_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut at any moment leaves no home, or a whole one: all of it first, then the name, then the folder's."""
    disk = Disk(monkeypatch)

    _, bot, home = installed(tmp_path)

    ((target, parts),) = disk.named
    assert target == home
    assert {"source/bot.py", "run/bot.py", "run/deep/er/made", "built", "run/deep/er", "."} <= set(parts)
    assert [name for name, is_safe in parts.items() if not is_safe] == []
    assert {home.parent.stat().st_ino, home.parent.parent.stat().st_ino} <= disk.synced_since, "its name is lost"
    assert bot.digest == home.name


def truncate(path: Path) -> None:
    path.write_bytes(b"")


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "the program": (lambda home: truncate(home / "run/bot.py"), "run is not what was built there"),
    "what the build made": (lambda home: truncate(home / "run/deep/er/made"), "run is not what was built there"),
    "a part of it": (lambda home: (home / "run/deep/er/made").unlink(), "run is not what was built there"),
    "the source": (lambda home: truncate(home / "source/bot.py"), "source is not what was submitted"),
    "the build's hash": (lambda home: (home / "built").write_text("0" * 64), "run is not what was built there"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_home_never_plays(tmp_path: Path, what: str) -> None:
    """The error names the place and what to do; afterwards the home is made anew."""
    bots, bot, home = installed(tmp_path)
    spoil, said = DAMAGE[what]
    spoil(home)

    with pytest.raises(SpecError, match=said) as caught:
        bots.install(bot)

    assert f"delete {home}" in str(caught.value)
    assert bots.find_changed([bot.digest]) == [bot.digest]
    shutil.rmtree(home)
    bots.install(bot)
    assert bots.find_changed([bot.digest]) == []


@pytest.mark.parametrize("built", [None, "", b"\xff\xfe", "0" * 63])
@pytest.mark.parametrize("is_truncated", [False, True])
def test_a_home_that_does_not_tell_its_build_is_built_again(
    tmp_path: Path, built: Any, is_truncated: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """After a power cut the hash of the build may be missing: the home is built again, with a warning."""
    bots, bot, home = installed(tmp_path)
    (home / "built").unlink()
    if built is not None:
        (home / "built").write_bytes(built if isinstance(built, bytes) else built.encode())
    if is_truncated:
        truncate(home / "run/bot.py")
    assert bots.find_changed([bot.digest]) == [bot.digest]

    bots.install(bot)

    assert f"{home}: nothing tells of the build there" in caplog.text
    assert (home / "run/bot.py").read_text() == "print()"
    assert bots.find_changed([bot.digest]) == []
    assert [path.name for path in home.parent.iterdir()] == [bot.digest]


def test_no_room_names_the_place_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error does not name the author's file, which is only read; exit code 5, and no file is left."""
    bots = store(tmp_path)
    found = bots.find(str(bot_folder(tmp_path / "mine", "mine")))

    def full(path: Path, _: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(MachineFault, match=r"results/bots: mine 1 \(.*\) cannot be installed: No space left") as caught:
        bots.install(found)

    assert caught.value.exit_code == 5
    assert str(tmp_path / "mine") not in str(caught.value)
    assert list((tmp_path / "results/bots").iterdir()) == []


def test_a_source_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This time it is the author's file."""
    bots = store(tmp_path)
    found = bots.find(str(bot_folder(tmp_path / "mine", "mine")))

    opened = os.open

    def closed(name: Any, *how: Any, **where: Any) -> int:
        if name == "bot.py":
            raise PermissionError(errno.EACCES, "Permission denied", name)
        return opened(name, *how, **where)

    monkeypatch.setattr(os, "open", closed)
    with pytest.raises(SpecError, match=r"mine/bot\.py: Permission denied"):
        bots.install(found)


KILLED_WHILE_BUILDING = """
import sys
from pathlib import Path
from arena.store.bots import BotStore
bots = BotStore(Path(sys.argv[1]), Path("/nowhere"), "none")
bots.install(bots.find(sys.argv[2]))
"""


@pytest.mark.process
def test_leftovers_of_a_killed_program_are_swept_and_nobody_elses(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The folder of a living program that builds stays, that of a killed one goes with the next install."""
    caplog.set_level(logging.INFO)
    slow = bot_folder(tmp_path / "slow", "slow", build="build: [[sh, -c, 'touch begun; sleep 60']]\n")
    quick = bot_folder(tmp_path / "quick", "quick")
    folder = tmp_path / "results" / "bots"
    process = subprocess.Popen([sys.executable, "-c", KILLED_WHILE_BUILDING, str(tmp_path / "results"), str(slow)])
    try:
        while not list(folder.glob("new-*/home/run/begun")):
            assert process.poll() is None
        bots = store(tmp_path)
        bots.install(bots.find(str(quick)))
        assert len(list(folder.glob("new-*"))) == 1
    finally:
        process.kill()
        process.wait()

    bots.install(bots.find(str(quick)))

    assert list(folder.glob("new-*")) == []
    assert "removed; a program that was killed had left it" in caplog.text
