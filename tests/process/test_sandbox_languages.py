"""The machine as a bot finds it, and languages at work in the box: threads, timers, garbage collectors under pressure.

Each answers two requests, with a rest between them; a call of the kernel that it needs and does not have shows here.
"""

import shutil
from pathlib import Path
from typing import Final

import msgspec
import pytest
from support.golden import Golden
from support.process_boxes import BOT, ask, bot_in, built, folder_of, in_a_box, ran, ran_command, talking

from arena.errors import Crashed
from arena.process import launch
from arena.process.limits import Limits
from arena.process.manifest import read_bot
from arena.process.sandbox import runtimes

pytestmark = in_a_box

WIDE: Final = Limits(memory_mib=512, tasks=64, processes=False, scratch_mib=0)
"""What a tournament allows by default, without processes."""
SOURCES: Final = Path(__file__).parent / "languages"
INTERPRETED: Final = {
    "node": "bot.js",
    "python3": "bot.py",
    "php": "bot.php",
    "lua5.4": "bot.lua",
    "ruby": "bot.rb",
    "perl": "bot.pl",
}
TELLS: Final = {"ruby": "timer_create failed"}
"""Complaints that cost nothing: Ruby then has no timer for signals that come at a bad moment."""
COMPILED: Final = {
    "go": ("go build -o bot bot.go", ("./bot",)),
    "rustc": ("rustc -C target-feature=+crt-static bot.rs", ("./bot",)),
    "gcc": ("gcc -O1 -pthread -static -o bot bot.c", ("./bot",)),
    "g++": ("g++ -O1 -pthread -o bot bot.cc", ("./bot",)),
    "javac": ("javac Bot.java", ("java", "-Xmx96m", "-cp", ".", "Bot")),
}


def require_program(program: str) -> None:
    """Skip the test if bots have no such program."""
    if shutil.which(program, path=runtimes.search_path()) is None:
        pytest.skip(f"no {program} for bots here")


def folder_with(place: Path, source: str) -> Path:
    """Make a folder of a bot with a file of `languages`."""
    shutil.copy(SOURCES / source, folder_of(place))
    return place


def check_answers(folder: Path, command: tuple[str, ...]) -> None:
    """Check two answers, the second after a suspension, and that stderr is empty."""
    with talking(folder, *command, limits=WIDE) as (channel, _):
        assert ask(channel, b"one") == b"got one"
        assert ask(channel, b"two") == b"got two"
        complaints = [line for line in channel.stderr().splitlines() if TELLS.get(command[0], "\0") not in line]
        assert complaints == []


@pytest.mark.parametrize("program", sorted(INTERPRETED))
def test_an_interpreter_at_work(tmp_path: Path, program: str) -> None:
    """The bot uses threads, timers and garbage collection, as far as its language has them."""
    require_program(program)

    check_answers(folder_with(tmp_path, INTERPRETED[program]), (program, INTERPRETED[program]))


@pytest.mark.slow
@pytest.mark.parametrize("compiler", sorted(COMPILED))
def test_a_compiler_and_what_it_made(tmp_path: Path, compiler: str) -> None:
    """The compiler runs in the sandbox of builds, its program in that of bots."""
    require_program(compiler)
    build, command = COMPILED[compiler]
    folder = folder_with(tmp_path / "run", build.split()[-1])

    check_answers(built(folder, build), command)


def test_numpy_at_work(tmp_path: Path) -> None:
    """The bot uses the threads of linear algebra; skipped if bots have no numpy."""
    require_program("python3")
    code = """
try:
    import numpy
except ImportError:
    print("none")
else:
    print(numpy.linalg.inv(numpy.eye(300) * 2).sum())
"""
    said = ran(tmp_path, code, limits=WIDE)
    if said.out == "none\n":
        pytest.skip("no numpy for bots here")

    assert (said.out, said.err) == ("150.0\n", "")


CHILDREN: Final = {"node": "bot.js", "python3": "bot.py", "java": "Bot.java", "perl": "bot.pl", "ruby": "bot.rb"}


@pytest.mark.parametrize("program", sorted(CHILDREN))
def test_children_of_a_bot_with_processes(tmp_path: Path, program: str) -> None:
    """Each language starts processes in its own way; Python's pools also need shared memory."""
    require_program(program)
    name = CHILDREN[program]
    folder = folder_with(tmp_path, f"children/{name}")
    limits = msgspec.structs.replace(WIDE, processes=True, scratch_mib=8)

    with talking(folder, program, name, limits=limits) as (channel, _):
        assert ask(channel, b"one") == b"got one"
        assert ask(channel, b"two") == b"got two"


@pytest.mark.parametrize(
    ("name", "code", "processes"),
    [
        ("bot.sh", 'while read -r line; do echo "got $line"; done\n', False),
        ("bot.bash", 'while read -r line; do echo "$line" | awk \'{ print "got", $1 }\' | cat; done\n', True),
        # mawk would wait until its buffer is full if nobody told it of the one who waits
        ("bot.awk", '{ print "got " $0; fflush() }\n', False),
    ],
)
def test_a_script_of_one_file_plays(tmp_path: Path, name: str, code: str, processes: bool) -> None:
    """Its ending selects the interpreter: shells, which start programs, and awk."""
    script = folder_of(tmp_path) / name
    script.write_text(code)
    command = read_bot(script).manifest.command
    require_program(command[0])

    with talking(tmp_path, *command, limits=msgspec.structs.replace(WIDE, processes=processes)) as (channel, _):
        assert ask(channel, b"one") == b"got one"


def test_the_environment_of_a_bot(tmp_path: Path) -> None:
    """These are all its variables."""
    found = ran_command(folder_of(tmp_path), "env", limits=BOT)

    names = {line.partition("=")[0] for line in found.out.splitlines()}
    assert names <= {"PATH", "HOME", "LANG", "PYTHONHASHSEED", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PWD"}
    assert "HOME=/\n" in found.out


def test_what_a_bot_sees_of_the_machine(tmp_path: Path, golden: Golden) -> None:
    """It sees its folder and the system's programs, but no files of users."""
    found = ran(tmp_path, "import os\nprint(os.listdir('/'), os.listdir('/bot'), os.getcwd(), os.uname().nodename)")

    places = set(eval(found.out.partition("]")[0] + "]"))
    allowed = {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "proc", "dev", "bot"}
    named = {folder.split("/")[1] for folder in runtimes.search_path().split(":")}
    assert places <= allowed | named
    golden(found.out.strip())


def test_a_program_elsewhere_is_told_before_the_start(tmp_path: Path, golden: Golden) -> None:
    """The message names the path on the machine and the command that lists what bots see."""
    elsewhere = folder_of(tmp_path / "opt", tool="#!/bin/sh\n") / "tool"

    with golden.raises(Crashed):
        launch.start(bot_in(folder_of(tmp_path / "bot"), str(elsewhere)))
