"""Languages at work in the box: threads, timers, garbage collectors under pressure, and programs that a build made.

Each answers two requests, with a rest between them; a call of the kernel that it needs and does not have shows here.
"""

import shutil
from pathlib import Path
from typing import Final

import msgspec
import pytest
from process_boxes import ask, built, folder_of, in_a_box, ran, talking
from test_process_sandbox_runtimes import WIDE, require_program

from arena.process.sandbox import runtimes

pytestmark = in_a_box

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


def folder_with(place: Path, source: str) -> Path:
    """A folder with that file of `languages`."""
    shutil.copy(SOURCES / source, folder_of(place))
    return place


def check_answers(folder: Path, command: tuple[str, ...]) -> None:
    """Two, the second after a rest, and no complaint."""
    with talking(folder, *command, limits=WIDE) as (channel, _):
        assert ask(channel, b"one") == b"got one"
        assert ask(channel, b"two") == b"got two"
        complaints = [line for line in channel.stderr().splitlines() if TELLS.get(command[0], "\0") not in line]
        assert complaints == []


@pytest.mark.parametrize("program", sorted(INTERPRETED))
def test_an_interpreter_at_work(tmp_path: Path, program: str) -> None:
    """With what it has of threads, timers and garbage."""
    require_program(program)

    check_answers(folder_with(tmp_path, INTERPRETED[program]), (program, INTERPRETED[program]))


@pytest.mark.parametrize("compiler", sorted(COMPILED))
def test_a_compiler_and_what_it_made(tmp_path: Path, compiler: str) -> None:
    """The one in the box of builds, the other in that of bots."""
    require_program(compiler)
    build, command = COMPILED[compiler]
    folder = folder_with(tmp_path / "run", build.split()[-1])

    check_answers(built(folder, build), command)


def test_numpy_at_work(tmp_path: Path) -> None:
    """With the threads of its linear algebra, where bots have it."""
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
    """Each language has a way of its own to start them; Python's pools need shared memory besides."""
    require_program(program)
    name = CHILDREN[program]
    folder = folder_with(tmp_path, f"children/{name}")
    limits = msgspec.structs.replace(WIDE, processes=True, scratch_mib=8)

    with talking(folder, program, name, limits=limits) as (channel, _):
        assert ask(channel, b"one") == b"got one"
        assert ask(channel, b"two") == b"got two"


def test_awk_and_shells_at_work(tmp_path: Path) -> None:
    """A script of a shell that runs programs, where the bot may have processes."""
    code = 'while read -r line; do echo "$line" | awk \'{ print "got", $1 }\' | cat; done\n'
    folder = folder_of(tmp_path, bot_sh=code)
    limits = msgspec.structs.replace(WIDE, processes=True)

    for shell in ("sh", "bash"):
        if shutil.which(shell, path=runtimes.search_path()):
            with talking(folder, shell, "bot.sh", limits=limits) as (channel, _):
                assert ask(channel, b"one") == b"got one"
