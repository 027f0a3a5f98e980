"""Reading a bot from disk: what is refused, and what its identity depends on."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.errors import SpecError
from arena.process import bot_files
from arena.process.channel import ProcessChannel
from arena.process.clock import MoveClock
from arena.process.launch import start
from arena.process.manifest import read_bot

MANIFEST = 'name: simple\ncommand: ["python3", "bot.py"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a bot that can be read."""
    place = tmp_path / "simple"
    place.mkdir()
    (place / "bot.yaml").write_text(MANIFEST)
    (place / "bot.py").write_text("pass\n")
    return place


def refusal(path: Path) -> str:
    with pytest.raises(SpecError) as caught:
        read_bot(path)
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
        ("name: x\n", 'the key "command" is missing'),
        ("command: [x]\n", 'the key "name" is missing'),
        ("name: x\ncommand: []\n", "command: expected a list of words, such as [python3, bot.py], found []"),
        ("name: x\ncommand: ['']\n", "command[0]: expected text of 1 to 4096 characters, without"),
        ("name: x\ncommand: python3 bot.py\n", "command: expected a list of words, such as [python3, bot.py], found"),
        ("name: x\ncomand: [x]\n", 'unknown key "comand"; known: name, command'),
        ("name: x\ncomand: [x]\n", 'did you mean "command"?'),
        ("name: x\nname: y\ncommand: [x]\n", 'key "name" is given twice'),
        (
            "name: x\ncommand: [x]\nversion: 1\n",
            "version: expected text of one line, at most 40 characters that print, found 1; put it",
        ),
        ("name: x\ncommand: [x]\nprocesses: maybe\n", "processes: expected true or false, found 'maybe'"),
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


def test_a_folder_without_a_manifest_is_refused_with_what_is_there(folder: Path) -> None:
    """The author sees what was found instead."""
    (folder / "bot.yaml").rename(folder / "bot.yml")

    assert refusal(folder).endswith("a bot's folder needs a bot.yaml; found bot.py, bot.yml")


def test_an_empty_folder_and_a_missing_one_are_refused(tmp_path: Path) -> None:
    """Each in its own words."""
    assert refusal(tmp_path).endswith("needs a bot.yaml; found nothing")
    assert refusal(tmp_path / "x").endswith("/x: no such file or folder")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda path: path.symlink_to("bot.py"), "a link"),
        (lambda path: path.symlink_to("nowhere"), "a link"),
        (lambda path: path.symlink_to("/"), "a link"),
        (os.mkfifo, "a pipe, socket or device"),
    ],
)
def test_only_plain_files_and_folders_are_taken(folder: Path, make: Callable[[Path], None], kind: str) -> None:
    """A link could lead out of the folder, and a pipe would never end."""
    make(folder / "odd")

    assert refusal(folder) == f"{folder}/odd: a bot may contain only plain files and folders, this is {kind}"


def test_a_bot_may_not_be_too_large(folder: Path) -> None:
    """Neither in bytes (the file is sparse, it costs nothing) nor in files."""
    with (folder / "weights.bin").open("wb") as file:
        file.truncate(bot_files.SOURCE_SIZE_LIMIT)

    assert refusal(folder) == f"{folder}: larger than 64 MiB or 2000 files"


def test_a_bot_may_not_have_too_many_files(folder: Path) -> None:
    """One more than allowed is refused."""
    for number in range(bot_files.SOURCE_FILE_LIMIT - 1):
        (folder / f"{number}").touch()

    assert refusal(folder) == f"{folder}: larger than 64 MiB or 2000 files"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("clever.py", ("python3", "clever.py")),
        ("clever.PL", ("perl", "clever.PL")),
        ("clever.jar", ("java", "-jar", "clever.jar")),
    ],
)
def test_a_single_script_runs_by_its_ending(tmp_path: Path, name: str, command: tuple[str, ...]) -> None:
    """It needs no manifest and is named after its file."""
    (tmp_path / name).touch()

    bot = read_bot(tmp_path / name)

    assert (bot.name, bot.manifest.command, bot.folder) == ("clever", command, str(tmp_path))


def test_an_executable_of_any_ending_runs_itself(tmp_path: Path) -> None:
    """A compiled bot, or a script with a first line."""
    (tmp_path / "clever").touch(0o755)

    assert read_bot(tmp_path / "clever").manifest.command == ("./clever",)


def test_a_file_that_nothing_can_run_is_refused(tmp_path: Path) -> None:
    """The message lists the endings and says what else would do."""
    (tmp_path / "clever.exe").touch(0o644)

    message = refusal(tmp_path / "clever.exe")

    assert "not executable, and its ending .exe names no interpreter; known: .py, .js" in message
    assert f"chmod +x {tmp_path}/clever.exe" in message


def test_a_script_whose_file_name_is_no_name_is_refused(tmp_path: Path) -> None:
    """The name of a bot goes into tables, files and addresses."""
    (tmp_path / "my bot.py").touch()

    assert "name: expected a name of 1 to 40 characters: letters A to Z" in refusal(tmp_path / "my bot.py")


def test_a_link_to_a_script_is_that_script(tmp_path: Path) -> None:
    """Inside a folder a link is refused; as the path itself it is the owner's own choice."""
    (tmp_path / "a.py").write_text("pass\n")
    (tmp_path / "b.py").symlink_to("a.py")

    assert read_bot(tmp_path / "b.py").name == "b"


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
    """A byte, the right to run, a name, one more file, a key of the manifest."""
    before = read_bot(folder).digest

    change(folder)

    assert read_bot(folder).digest != before


def test_two_files_that_swap_their_contents_change_the_hash(folder: Path) -> None:
    """The hash binds contents to names."""
    (folder / "a").write_text("1")
    (folder / "b").write_text("2")
    before = read_bot(folder).digest
    (folder / "a").write_text("2")
    (folder / "b").write_text("1")

    assert read_bot(folder).digest != before


def test_the_same_tree_elsewhere_has_the_same_hash(folder: Path, tmp_path: Path) -> None:
    """Whatever the order in which its files were made, and whatever their times."""
    (folder / "a").mkdir()
    (folder / "a" / "z").write_text("1")
    (folder / "a.b").write_text("2")
    other = tmp_path / "other"
    (other / "a").mkdir(parents=True)
    (other / "a.b").write_text("2")
    (other / "a" / "z").write_text("1")
    (other / "bot.py").write_text("pass\n")
    (other / "bot.yaml").write_text(MANIFEST)
    os.utime(other / "bot.py", (0, 0))

    assert read_bot(folder).digest == read_bot(other).digest


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


@pytest.mark.process
@pytest.mark.skipif(shutil.which("awk") is None, reason="no awk on this machine")
def test_a_correct_awk_script_gets_its_first_line_at_once(tmp_path: Path) -> None:
    """mawk would wait until its buffer is full, and the bot would never say hello."""
    script = tmp_path / "echo.awk"
    script.write_text('{ print "got " $0; fflush() }\n')
    process = start(read_bot(script))
    channel = ProcessChannel(process, limit=1000)
    clock = MoveClock(cpu=process.group.cpu, wall=time.monotonic, budget_s=5.0, wall_s=5.0, decides_cpu=False)

    channel.send(b"hello\n", clock)
    answer = channel.receive(clock)
    channel.close(0.0)

    assert answer == b"got hello"
