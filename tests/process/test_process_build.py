"""Builds: confined like bots, with a folder to write to; what they leave is looked at, not followed."""

import os
import shutil
import time
from pathlib import Path

import pytest
from process_boxes import built, folder_of, in_a_box, refusal

from arena.process import build as building
from arena.process.sandbox import runtimes

pytestmark = in_a_box

C = '#include <stdio.h>\nint main(void) { puts("built"); }\n'
CPP = '#include <iostream>\nint main() { std::cout << "built\\n"; }\n'
JAVA = 'class Bot { public static void main(String[] a) { System.out.println("built"); } }\n'
RUST = 'fn main() { println!("built"); }\n'


@pytest.mark.parametrize(
    ("program", "name", "code", "command", "made"),
    [
        ("cc", "bot.c", C, "cc -O2 -o bot bot.c", "bot"),
        ("g++", "bot.cc", CPP, "g++ -O1 -o bot bot.cc", "bot"),
        ("javac", "Bot.java", JAVA, "javac Bot.java", "Bot.class"),
        ("make", "bot.c", C, "make bot", "bot"),
        ("rustc", "bot.rs", RUST, "rustc bot.rs", "bot"),
        ("python3", "bot.py", "x = 1\n", "python3 -m compileall -q . && touch bot", "bot"),
    ],
)
def test_compilers_work(tmp_path: Path, program: str, name: str, code: str, command: str, made: str) -> None:
    """What they make lies in the folder."""
    if shutil.which(program, path=runtimes.search_path()) is None:
        pytest.skip(f"no {program} for bots here")
    (folder_of(tmp_path / "run") / name).write_text(code)

    folder = built(tmp_path / "run", command)

    assert (folder / made).is_file()


def test_commands_run_one_after_the_other(tmp_path: Path) -> None:
    """In the folder, each with what the one before has left."""
    folder = built(folder_of(tmp_path / "run"), "echo a > x", "cat x x > y", "mkdir z && mv y z/")

    assert (folder / "z" / "y").read_text() == "a\na\n"


def test_a_failed_build_shows_command_ending_and_output(tmp_path: Path) -> None:
    """The commands after it are not run."""
    said = refusal(folder_of(tmp_path / "run"), "echo out; echo err >&2; exit 3", "touch never")

    assert said == "build `sh -c 'echo out; echo err >&2; exit 3'` ended with exit code 3 and said:\nout\nerr\n"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/shadow",
        "cat /etc/passwd",
        "ls /home",
        "ls /var /srv /opt",
        "cat ../source/secret",
        "cat {outside}/secret",
        "touch /usr/x",
        "touch /x",
        "touch ../x",
        "touch {outside}/x",
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 22), 1)'",
        "python3 -c 'import os; os.setns'  && unshare -U true",
        "mount -t tmpfs x /bot",
        "kill -0 {harness}",
    ],
)
def test_a_build_reaches_nothing_outside(tmp_path: Path, command: str) -> None:
    """Neither to read nor to write; no network, no namespaces, no other processes."""
    folder_of(tmp_path, secret="s").chmod(0o777)
    folder_of(tmp_path / "source", secret="s")

    said = refusal(folder_of(tmp_path / "run"), command.format(outside=tmp_path, harness=os.getpid()))

    assert "ended with exit code" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret", "source"]


def test_a_build_sees_none_of_our_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tokens."""
    monkeypatch.setenv("API_TOKEN", "geheim")

    folder = built(folder_of(tmp_path / "run"), "env > settings; cat /proc/1/environ >> settings")

    assert "geheim" not in (folder / "settings").read_text()


def test_a_build_without_end_is_stopped(tmp_path: Path) -> None:
    """The message says how long it had."""
    said = refusal(folder_of(tmp_path / "run"), "echo begun; sleep 60", timeout_s=0.5)

    assert "did not end within 0.5 s and said:\nbegun\n" in said


def test_a_build_that_floods_its_output_is_kept_short(tmp_path: Path) -> None:
    """Beginning and end of it; and it is read, so that it comes to its end."""
    said = refusal(folder_of(tmp_path / "run"), "echo first; yes | head -c 50000000; echo last; exit 1")

    assert len(said) < 20_000
    assert "first" in said
    assert "bytes left out" in said
    assert said.endswith("last\n")


def test_a_build_that_fills_the_disk_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the size of a file, which is sparse here so that it costs nothing, and by the number of files."""
    monkeypatch.setattr(building, "BUILT_FILE_LIMIT", 200)

    many = refusal(folder_of(tmp_path / "a"), "i=0; while true; do i=$((i+1)); : > f$i; done", timeout_s=30)
    large = refusal(folder_of(tmp_path / "b"), "truncate -s 500M x y z && sleep 60", timeout_s=30)
    quick = refusal(folder_of(tmp_path / "c"), "truncate -s 500M x y z")

    assert "made more than 512 MiB or 200 files" in many
    assert "made more than 512 MiB" in large
    assert "larger than 512 MiB" in quick or "made more than 512 MiB" in quick


def test_daemons_of_a_build_do_not_outlive_it(tmp_path: Path) -> None:
    """The box ends with its first program."""
    folder = built(folder_of(tmp_path / "run"), "setsid sh -c 'sleep 0.3; touch late' & touch now")

    time.sleep(0.5)
    assert [path.name for path in folder.iterdir()] == ["now"]
