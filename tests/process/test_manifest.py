"""Reading a bot from disk: what is refused, and what its identity depends on.

An archive that somebody hands in can bring links in the place of a bot, on the way to it, and in it.
"""

import contextlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.golden import Golden

from arena.errors import SpecError
from arena.process import manifest
from arena.process.manifest import BOT_SIZE, MANIFEST_LIMIT, SOURCE_FILE_LIMIT, read_bot, source_size_limit
from arena.yaml_file import parse_yaml

MANIFEST = 'name: simple\ncommand: ["python3", "bot.py"]\n'


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Return the folder of a bot without a manifest."""
    place = tmp_path / "simple"
    place.mkdir()
    (place / "bot.py").write_text("pass\n")
    return place


@pytest.fixture
def folder(bare: Path) -> Path:
    """Return the folder of a bot that can be read."""
    (bare / "bot.yaml").write_text(MANIFEST)
    return bare


def refusal(path: Path) -> str:
    with pytest.raises(SpecError) as caught:
        read_bot(path)
    assert str(caught.value).replace("\n", "").isprintable()
    return str(caught.value)


def test_a_folder_is_read_as_its_manifest_says(folder: Path) -> None:
    """Name, command and folder come from bot.yaml, the rest are defaults."""
    bot = read_bot(folder)

    assert (bot.name, bot.manifest.command, bot.folder) == ("simple", ("python3", "bot.py"), str(folder))
    assert not bot.manifest.processes
    assert bot.label == f"simple 1 ({bot.digest[:8]})"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('name: "no spaces"\ncommand: [x]\n', "name: expected a name of 1 to 40 characters: letters A to Z"),
        ("name: -x\ncommand: [x]\n", "name: expected a name of 1 to 40 characters: letters A to Z"),
        (f"name: {'x' * 41}\ncommand: [x]\n", "name: expected a name of 1 to 40 characters: letters A to Z"),
        ("name: x\ncommand: []\n", "command: expected a list of words, such as [python3, bot.py], found []"),
        ("name: x\ncommand: ['']\n", "command[0]: expected text of 1 to 4096 characters, without"),
        ("name: x\ncommand: python3 bot.py\n", "command: expected a list of words, such as [python3, bot.py], found"),
        ("name: x\ncomand: [x]\n", 'did you mean "command"?'),
        (
            "name: x\ncommand: [x]\nversion: 1\n",
            "version: expected text of one line, at most 40 characters that print, found 1; put it",
        ),
        ("name: x\ncommand: [x]\ncores: 0\n", "cores: expected a whole number"),
        ("- name\n", "expected an object with the keys name, command, version, build, games, processes, "),
        ("name: [\n", "line 2"),
    ],
)
def test_a_manifest_that_says_something_else_is_refused(folder: Path, text: str, expected: str) -> None:
    """The message names the file, the key, what was found and what was expected."""
    (folder / "bot.yaml").write_text(text)

    message = refusal(folder)

    assert expected in message
    assert str(folder / "bot.yaml") in message


def test_a_folder_without_a_manifest_is_refused_with_what_is_there(
    folder: Path, tmp_path: Path, golden: Golden
) -> None:
    """The author sees what was found instead."""
    (folder / "bot.yaml").rename(folder / "bot.yml")
    (tmp_path / "empty").mkdir()

    told = refusal(folder)
    golden(told)
    golden(refusal(tmp_path / "empty"))
    (folder / "bot.yaml").write_text(told.split("`")[1])
    assert read_bot(folder).manifest.command == ("python3", "bot.py")
    golden(refusal(tmp_path / "x"))


def grow(path: Path, length: int) -> None:
    """Make a sparse file of that length; neither making nor refusing it may take long."""
    with path.open("wb") as file:
        file.truncate(length)


def fill(folder: Path, make: Callable[[Path], object]) -> None:
    """Add files until there is one more than allowed."""
    for number in range(SOURCE_FILE_LIMIT - 1):
        make(folder / f"{number}")


def swap_manifest(folder: Path, make: Callable[[Path], object]) -> None:
    """Replace the manifest by something else."""
    (folder / "bot.yaml").unlink()
    make(folder / "bot.yaml")


ODD = "a bot may contain only plain files and folders, this is"
A_PIPE = "a pipe, socket or device"
TOO_LARGE = "larger than 64 MiB or 2000 files"
SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "link": (lambda folder: (folder / "x").symlink_to("bot.py"), f"/x: {ODD} a link"),
    "dangling link": (lambda folder: (folder / "x").symlink_to("nowhere"), f"/x: {ODD} a link"),
    "link to all": (lambda folder: (folder / "x").symlink_to("/"), f"/x: {ODD} a link"),
    "pipe": (lambda folder: os.mkfifo(folder / "x"), f"/x: {ODD} {A_PIPE}"),
    "huge file": (lambda folder: grow(folder / "x", 1 << 40), f"/x: {TOO_LARGE}"),
    "many bytes": (lambda folder: grow(folder / "x", source_size_limit()), f": {TOO_LARGE}"),
    "many files": (lambda folder: fill(folder, Path.touch), f": {TOO_LARGE}"),
    "many folders": (lambda folder: fill(folder, Path.mkdir), f": {TOO_LARGE}"),
    "manifest in a pipe": (lambda folder: swap_manifest(folder, os.mkfifo), f"/bot.yaml: {ODD} {A_PIPE}"),
    "manifest of a folder": (lambda folder: swap_manifest(folder, Path.mkdir), f"/bot.yaml: {ODD} a folder"),
}


@pytest.mark.parametrize("what", SPOILT)
def test_only_plain_files_and_folders_of_some_size_are_taken(folder: Path, what: str) -> None:
    """A link could lead out of the folder and a pipe never ends, so neither is opened."""
    spoil, said = SPOILT[what]
    spoil(folder)

    assert refusal(folder) == f"{folder}{said}"


def test_a_huge_script_is_refused_by_its_size(tmp_path: Path) -> None:
    """The limit is that of a file in a folder."""
    grow(tmp_path / "huge.py", 1 << 40)

    assert refusal(tmp_path / "huge.py") == f"{tmp_path}/huge.py: {TOO_LARGE}"


def test_the_organiser_sets_the_size_of_bots(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a larger ARENA_BOT_MIB the same bot is read, up to that size; what is no size is refused by name."""
    grow(folder / "net", 65 << 20)
    monkeypatch.setenv(BOT_SIZE, "66")
    assert read_bot(folder).name == "simple"
    grow(folder / "net", 66 << 20)
    assert refusal(folder) == f"{folder}: larger than 66 MiB or 2000 files"
    for text in ("", "0", "-1", "513", "64.0", "many"):
        monkeypatch.setenv(BOT_SIZE, text)
        assert refusal(folder) == f"ARENA_BOT_MIB: expected whole mebibytes from 1 to 512, found {text}"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("clever.py", ("python3", "clever.py")),
        ("clever.PL", ("perl", "clever.PL")),
        ("clever.jar", ("java", "-jar", "clever.jar")),
    ],
)
def test_a_single_script_runs_by_its_ending(tmp_path: Path, name: str, command: tuple[str, ...]) -> None:
    """It needs no manifest, and its name is that of its file."""
    (tmp_path / name).touch()

    bot = read_bot(tmp_path / name)

    assert (bot.name, bot.manifest.command, bot.folder) == ("clever", command, str(tmp_path))


def test_an_executable_of_any_ending_runs_itself(tmp_path: Path) -> None:
    """A compiled bot, or a script with a first line."""
    (tmp_path / "clever").touch(0o755)

    assert read_bot(tmp_path / "clever").manifest.command == ("./clever",)


def test_a_file_that_nothing_can_run_is_refused(tmp_path: Path, golden: Golden) -> None:
    """The message lists the endings and says what else would do."""
    (tmp_path / "clever.exe").touch(0o644)

    message = refusal(tmp_path / "clever.exe")

    golden(message)
    assert f"chmod +x {tmp_path}/clever.exe" in message


def test_a_script_whose_file_name_is_no_name_is_refused(tmp_path: Path, golden: Golden) -> None:
    """The name of a bot goes into tables, files and addresses."""
    (tmp_path / "my bot.py").touch()

    golden(refusal(tmp_path / "my bot.py"))


@pytest.mark.parametrize(
    "change",
    [
        lambda place: (place / "bot.py").write_text("pasS\n"),
        lambda place: (place / "bot.py").chmod(0o755),
        lambda place: (place / "bot.py").rename(place / "bot2.py"),
        lambda place: (place / "empty").touch(),
        lambda place: (place / "bot.yaml").write_text(MANIFEST + "version: '2'\n"),
        lambda place: (place / "bot.yaml").write_text(MANIFEST + "# a comment\n"),
        lambda place: (place / "bot.yaml").write_text(MANIFEST + "processes: true\n"),
    ],
)
def test_the_hash_changes_with_whatever_could_change_the_bot(folder: Path, change: Callable[[Path], object]) -> None:
    """A byte, the executable bit, a name, one more file and a key of the manifest change it."""
    before = read_bot(folder).digest

    change(folder)

    assert read_bot(folder).digest != before


@pytest.mark.parametrize("name", ["__pycache__", ".git", ".mypy_cache", ".pytest_cache", ".DS_Store"])
def test_what_tools_leave_behind_does_not_count(folder: Path, name: str) -> None:
    """Running a bot does not change what it is."""
    before = read_bot(folder).digest
    (folder / name).mkdir()
    (folder / name / "bot.pyc").touch()

    assert read_bot(folder).digest == before


def test_the_hash_of_a_script_is_of_that_file_alone(tmp_path: Path) -> None:
    """Its neighbours may change; its own bytes and its name may not."""
    (tmp_path / "a.py").write_text("pass\n")
    (tmp_path / "b.py").write_text("pass\n")
    before = read_bot(tmp_path / "a.py").digest
    (tmp_path / "c.py").touch()

    assert read_bot(tmp_path / "a.py").digest == before
    assert read_bot(tmp_path / "b.py").digest != before


def test_a_bot_of_before_has_the_hash_of_before(bare: Path) -> None:
    """Results belong to a hash: how it is computed must not change with how files are read."""
    (bare / "bot.yaml").write_text("name: simple\ncommand: [python3, bot.py]\n")
    (bare / "a").mkdir()
    (bare / "a" / "z").write_text("1")
    (bare / "a.b").write_text("2")
    (bare / "run").touch(mode=0o755)

    assert read_bot(bare).digest == "6dbe54eda66fe56ae1a773a1bd1a4637aa2933d6abd98da6e2ee86ac26ad7e41"


def test_a_manifest_that_is_a_link_is_not_opened(bare: Path, tmp_path: Path) -> None:
    """Nothing of its target is shown, and a pipe behind it makes nobody wait."""
    (tmp_path / "shadow").write_text("root:secret:19000:0:99999:7:::\n")
    os.mkfifo(tmp_path / "pipe")
    for target in ("../shadow", "../pipe", "../nothing", "/", "bot.yaml"):
        (bare / "bot.yaml").symlink_to(target)

        message = refusal(bare)

        assert message == f"{bare}/bot.yaml: a symbolic link; put the file itself there"
        (bare / "bot.yaml").unlink()


def test_a_pipe_is_no_script(tmp_path: Path, golden: Golden) -> None:
    """It is told what it is, without waiting for somebody to write."""
    os.mkfifo(tmp_path / "bot.py")

    golden(refusal(tmp_path / "bot.py"))


def test_a_manifest_of_one_byte_too_much_is_refused(bare: Path) -> None:
    """The limit is exact."""
    start = "name: x\ncommand: [x]\n#"
    (bare / "bot.yaml").write_text(start + "x" * (MANIFEST_LIMIT - len(start)))
    assert read_bot(bare).name == "x"

    (bare / "bot.yaml").write_text(start + "x" * (MANIFEST_LIMIT - len(start) + 1))
    assert refusal(bare) == f"{bare}/bot.yaml: larger than 64 KiB"


def test_folders_in_folders_are_refused(folder: Path) -> None:
    """1200 nested folders with a file at the end are deeper than a path can be."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d" * 20, dir_fd=here)
        inner = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)

    try:
        assert refusal(folder) == f"{folder}: folders lie more than 64 deep in each other"
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=True)


def test_a_folder_that_cannot_be_read_is_not_left_out_silently(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot whose files are half invisible would have another hash for everybody."""
    (folder / "closed").mkdir()
    opened = os.open

    def closed(name: Any, *args: Any, **more: Any) -> int:
        if name == "closed":  # root, who may run this test, would be let in
            raise PermissionError(13, "Permission denied", name)
        return opened(name, *args, **more)

    monkeypatch.setattr(os, "open", closed)

    assert refusal(folder) == f"{folder}/closed: Permission denied"


@pytest.mark.parametrize("name", ["a\nb", "\x1b]0;pwn\x07", "\u202egnp.exe", "caf\udce9"])
def test_the_name_of_a_file_is_told_with_escapes(bare: Path, name: str, golden: Golden) -> None:
    """Also where the folder itself has such a name, and where there is no manifest."""
    (bare / name).touch()
    golden(refusal(bare))
    (bare / "bot.yaml").write_text("name: x\ncommand: [x]\n")
    golden(refusal(bare))
    (bare / name).unlink()
    (bare / "bot.yaml").write_text("nam: x\n")

    golden(refusal(bare.rename(bare.parent / name)))


def exchange(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, new: Callable[[Path], object]) -> None:
    """Replace `name` by something else as soon as the names of the folder have been listed."""

    def scandir(*arguments: Any, real: Any = os.scandir) -> Any:
        with real(*arguments) as found:
            entries = list(found)
        place = folder / name
        place.rename(folder.parent / "away")
        new(place)
        return contextlib.nullcontext(entries)

    monkeypatch.setattr(os, "scandir", scandir)


@pytest.mark.parametrize(
    ("name", "new", "sentence"),
    [
        ("bot.py", lambda place: place.symlink_to("/etc/passwd"), "this is a link"),
        ("bot.py", os.mkfifo, "this is a pipe, socket or device"),
        ("bot.py", lambda _: None, "it was there a moment ago, try again"),
        ("sub", lambda place: place.symlink_to("/etc"), "this is a link"),
        ("bot.yaml", lambda place: place.write_text("name: y\ncommand: [y]\n"), "was changed while it was being read"),
        ("bot.yaml", lambda place: place.symlink_to("/etc/passwd"), "this is a link"),
    ],
)
def test_what_is_exchanged_while_it_is_read_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, new: Callable[[Path], object], sentence: str
) -> None:
    """A link, a pipe, nothing or another manifest may come between listing and opening."""
    (folder / "sub").mkdir()
    (folder / "sub" / "passwd").write_text("mine\n")
    exchange(folder, monkeypatch, name, new)

    assert sentence in refusal(folder)


def test_a_file_that_grows_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """It grows after its size was checked; no more than the limit is read."""
    grow(tmp_path / "bot.py", source_size_limit() + 1)
    monkeypatch.setattr(os, "fstat", lambda file, real=os.fstat: _of_length(real(file), 10))

    with golden.raises(SpecError):
        read_bot(tmp_path / "bot.py")


def _of_length(found: os.stat_result, length: int) -> os.stat_result:
    values = list(found)
    values[6] = length
    return os.stat_result(values)


LINKED = "it, or a folder on the way to it, is a symbolic link; name the place that it leads to"


@pytest.mark.parametrize("path", ["bot.py", "folder", "dangling", "closed", "up/simple", "up/../up/simple", "self"])
def test_no_part_of_a_path_is_a_link(folder: Path, tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive can bring links to a file, a folder or nothing, and links in the middle of a path."""
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
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
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
    with golden.raises(SpecError):
        read_bot(Path("home") / folder.name)


def test_a_folder_that_is_exchanged_for_a_link_is_not_followed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After it was opened its files are still read from the folder that was opened."""
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
