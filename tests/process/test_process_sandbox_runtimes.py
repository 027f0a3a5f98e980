"""Languages in the box: each answers a line, as a bot does."""

import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest
from process_boxes import BOT, ask, bot_in, folder_of, in_a_box, ran, ran_command, talking

from arena.errors import Crashed
from arena.process import launch
from arena.process.limits import Limits
from arena.process.sandbox import runtimes

pytestmark = in_a_box

WIDE = Limits(memory_mib=512, tasks=64, processes=False, scratch_mib=0)
"""What a tournament allows by default, without processes."""
SCRIPTS = {
    "python3": ("bot.py", "import sys\nfor line in sys.stdin: print('got', line.strip(), flush=True)\n"),
    "node": (
        "bot.js",
        "require('readline').createInterface({input: process.stdin}).on('line', l => console.log('got ' + l))\n",
    ),
    "perl": ("bot.pl", "$| = 1; while (<STDIN>) { print 'got ', $_; }\n"),
    "bash": ("bot.sh", "while read -r line; do echo got $line; done\n"),
    "sh": ("bot.sh", "while read -r line; do echo got $line; done\n"),
    "java": (
        "Bot.java",
        """
import java.util.Scanner;
class Bot {
    public static void main(String[] a) {
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) System.out.println("got " + in.nextLine());
    }
}
""",
    ),
    "ruby": ("bot.rb", "$stdout.sync = true\nwhile line = gets do puts 'got ' + line end\n"),
    "lua": ("bot.lua", "for l in io.lines() do print('got ' .. l) io.stdout:flush() end\n"),
}
C = r"""
#include <stdio.h>
int main(void) {
    char s[99];
    while (fgets(s, 99, stdin)) { printf("got %s", s); fflush(stdout); }
}
"""
CPP = r"""
#include <iostream>
#include <string>
int main() { std::string s; while (std::getline(std::cin, s)) std::cout << "got " << s << std::endl; }
"""
THREADS = """
import queue, sys, threading
todo, done = queue.Queue(), queue.Queue()
def work():
    while True: done.put("got " + todo.get().strip())
for _ in range(8): threading.Thread(target=work, daemon=True).start()
for line in sys.stdin:
    todo.put(line)
    print(done.get(), flush=True)
"""


def require_program(program: str) -> None:
    """Skip where bots have no such program."""
    if shutil.which(program, path=runtimes.search_path()) is None:
        pytest.skip(f"no {program} for bots here")


@pytest.mark.parametrize("program", sorted(SCRIPTS))
def test_an_interpreter_plays(tmp_path: Path, program: str) -> None:
    """Two requests, with a rest between them."""
    require_program(program)
    name, code = SCRIPTS[program]
    folder = folder_of(tmp_path)
    (folder / name).write_text(code)

    with talking(folder, program, name, limits=WIDE) as (channel, _):
        assert ask(channel, b"one") == b"got one"
        assert ask(channel, b"two") == b"got two"


def test_awk_plays(tmp_path: Path) -> None:
    """Debian's awk needs to be told that somebody waits."""
    require_program("awk")
    folder = folder_of(tmp_path, bot_awk='{ print "got " $0; fflush() }\n')

    with talking(folder, "awk", "-W", "interactive", "-f", "bot.awk") as (channel, _):
        assert ask(channel, b"one") == b"got one"


@pytest.mark.parametrize(("compiler", "code"), [("cc", C), ("g++", CPP)])
@pytest.mark.parametrize("static", [(), ("-static",)], ids=["dynamic", "static"])
def test_a_compiled_program_plays(tmp_path: Path, compiler: str, code: str, static: tuple[str, ...]) -> None:
    """With the system's libraries, or with none."""
    require_program(compiler)
    folder = folder_of(tmp_path)
    source = folder / ("bot.c" if compiler == "cc" else "bot.cc")
    source.write_text(code)
    made = ran_on_host([compiler, str(source), "-o", str(folder / "bot"), *static])
    if static and made:
        pytest.skip(f"no static libraries: {made[-60:]}")

    with talking(folder, "./bot") as (channel, _):
        assert ask(channel, b"one") == b"got one"
        assert ask(channel, b"two") == b"got two"


def ran_on_host(command: list[str]) -> str:
    """What it complained about, empty if it went well."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stderr if done.returncode else ""


def test_threads_of_python_play(tmp_path: Path) -> None:
    """Eight of them, in one core's time."""
    with talking(folder_of(tmp_path, bot_py=THREADS)) as (channel, _):
        assert [ask(channel, b"%d" % n) for n in range(3)] == [b"got 0", b"got 1", b"got 2"]


def test_processes_need_to_be_declared(tmp_path: Path) -> None:
    """Without `processes` they fail as the system says; with it `subprocess` and `multiprocessing` work."""
    code = """
import subprocess, multiprocessing
try:
    print(subprocess.run(["echo", "hello"], capture_output=True, text=True).stdout.strip())
except OSError as error:
    print(error.strerror)
try:
    with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))
except OSError as error:
    print(error.strerror)
"""
    declared = msgspec.structs.replace(BOT, processes=True, scratch_mib=8)

    assert ran(tmp_path / "a", code).out.splitlines()[0] == "Operation not permitted"
    assert ran(tmp_path / "b", code, limits=declared).out.splitlines() == ["hello", "[1, 2]"]


def test_the_environment_of_a_bot(tmp_path: Path) -> None:
    """All of it."""
    found = ran_command(folder_of(tmp_path), "env", limits=BOT)

    names = {line.partition("=")[0] for line in found.out.splitlines()}
    assert names <= {"PATH", "HOME", "LANG", "PYTHONHASHSEED", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PWD"}
    assert "HOME=/\n" in found.out


def test_what_a_bot_sees_of_the_machine(tmp_path: Path) -> None:
    """Its folder, the system's programs, and nothing of anybody's."""
    found = ran(tmp_path, "import os\nprint(os.listdir('/'), os.listdir('/bot'), os.getcwd(), os.uname().nodename)")

    places = set(eval(found.out.partition("]")[0] + "]"))
    allowed = {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "proc", "dev", "bot"}
    named = {folder.split("/")[1] for folder in runtimes.search_path().split(":")}
    assert places <= allowed | named
    assert found.out.strip().endswith("['bot.py'] /bot arena")


def test_a_program_elsewhere_is_told_before_the_start(tmp_path: Path) -> None:
    """In the words of the machine, with the command that tells more."""
    elsewhere = folder_of(tmp_path / "opt", tool="#!/bin/sh\n") / "tool"

    with pytest.raises(Crashed, match="is not among what bots see of this machine; `arena doctor` lists that"):
        launch.start(bot_in(folder_of(tmp_path / "bot"), str(elsewhere)))
