"""Links in the place of a bot, on the way to it, and in it: an archive that somebody hands in can bring them."""

import os
from pathlib import Path
from typing import Any

import pytest

from arena.errors import SpecError
from arena.process import manifest
from arena.process.manifest import read_bot
from arena.yaml_file import parse_yaml


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bot that can be read."""
    place = tmp_path / "simple"
    place.mkdir()
    (place / "bot.py").write_text("pass\n")
    (place / "bot.yaml").write_text("name: simple\ncommand: [python3, bot.py]\n")
    return place


def refusal(path: Path) -> str:
    with pytest.raises(SpecError) as caught:
        read_bot(path)
    return str(caught.value)


LINKED = "it, or a folder on the way to it, is a symbolic link; name the place that it leads to"


@pytest.mark.parametrize("path", ["bot.py", "folder", "dangling", "closed", "up/simple", "up/../up/simple", "self"])
def test_no_part_of_a_path_is_a_link(folder: Path, tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, a folder, nothing, a folder on the way: an archive can bring all of them."""
    handed_in = tmp_path / "handed-in"
    handed_in.mkdir()
    (handed_in / "bot.py").symlink_to(folder / "bot.py")
    (handed_in / "folder").symlink_to(folder)
    (handed_in / "dangling").symlink_to("nowhere")
    (handed_in / "closed").symlink_to("/proc/1/root")
    (handed_in / "up").symlink_to(tmp_path)
    (handed_in / "self").symlink_to("self")

    for here, start in ((handed_in, Path()), (Path("/"), handed_in), (tmp_path, Path("handed-in"))):
        monkeypatch.chdir(here)
        monkeypatch.setenv("PWD", str(here))
        assert refusal(start / path) == f"{start / path}: {LINKED}"


def test_a_link_on_the_way_to_where_the_user_is_is_theirs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The home folder or the working folder may lie behind one, as on many servers."""
    (tmp_path / "home").symlink_to(folder.parent)
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "home" / folder.name

    for name in ("HOME", "PWD"):
        monkeypatch.delenv("HOME")
        monkeypatch.setenv("PWD", str(tmp_path))
        monkeypatch.setenv(name, str(tmp_path / "home"))
        assert read_bot(place).source == str(folder)
    with pytest.raises(SpecError, match="is a symbolic link"):
        read_bot(Path("home") / folder.name)


def test_a_folder_that_is_exchanged_for_a_link_is_not_followed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After it was opened its files are still those of the folder that was looked at."""
    private = tmp_path / "private"
    private.mkdir()
    (private / "bot.yaml").write_text("name: private\ncommand: [x]\n")
    before = read_bot(folder).digest

    def exchanged(text: bytes, *arguments: Any, real: Any = parse_yaml, **more: Any) -> Any:
        folder.rename(tmp_path / "away")
        folder.symlink_to(private)
        return real(text, *arguments, **more)

    monkeypatch.setattr(manifest, "parse_yaml", exchanged)

    assert read_bot(folder).digest == before


def test_a_hard_link_is_refused_of_a_bot_that_is_handed_in(folder: Path, tmp_path: Path) -> None:
    """An archive can make one to any file below the place where it is unpacked; one's own files may have two names."""
    (tmp_path / "secret").write_text("TOPSECRET\n")
    os.link(tmp_path / "secret", folder / "notes.txt")
    os.link(tmp_path / "secret", tmp_path / "secret.py")

    assert read_bot(folder).name == "simple"
    for path, place in ((folder, folder / "notes.txt"), (tmp_path / "secret.py", tmp_path / "secret.py")):
        with pytest.raises(SpecError, match=f"{place}: a file with other names"):
            read_bot(path, is_handed_in=True)
