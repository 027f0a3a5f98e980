"""The edge: streams that are closed or full, a machine that lacks something, strange names; never a traceback."""

import errno
import multiprocessing.forkserver
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import click
import pytest
from support.cli_arena import ROOT, Terminal
from support.golden import Golden
from support.tampering import opened

from arena.cli import edge
from arena.cli.edge import TerminalLine
from arena.errors import HarnessFault, SpecError
from arena.operations.events import Progress
from arena.process import workers
from arena.process.sandbox import bubblewrap, self_test, syscalls
from arena.store import files

LEAGUE = "{name: test, game: nim, seed: 1, cycles: 1, players: [{bot: random, name: a}, {bot: random, name: b}]}"


LONG_KEY = "k" * 70_000


def shell(folder: Path, line: str) -> "subprocess.CompletedProcess[str]":
    """A line for the shell, in which `arena` is the program."""
    arena = f"{sys.executable} -m arena"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ARENA_BOTS": str(ROOT / "bots"), "ARENA_RESULTS": "results"}
    words = ["sh", "-c", line.replace("arena", arena, 1)]
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, timeout=120, check=False, encoding="utf-8"
    )


@pytest.mark.process
@pytest.mark.parametrize("command", ["bots", "--help", "league run nothing.yaml --help"])
def test_stdout_on_a_full_disk(tmp_path: Path, command: str, golden: Golden) -> None:
    """A sentence and exit code 5; nothing from Python itself."""
    done = shell(tmp_path, f"arena {command} > /dev/full")

    assert done.returncode == 5
    golden(done.stderr.strip())


@pytest.mark.process
@pytest.mark.parametrize("command", ["bots", "play random --game nim --isolation none"])
def test_a_reader_that_goes_is_no_error(tmp_path: Path, command: str) -> None:
    """`arena ... | head`: quiet, exit code 0; also of a command that writes to a person in the middle of its work."""
    done = shell(tmp_path, f"(arena {command} < /dev/null; echo $? >&2) | true")

    assert done.stderr == "0\n"


@pytest.mark.slow
@pytest.mark.process
def test_closed_streams(tmp_path: Path) -> None:
    """A league is played all the same, and no file of it gets the number of a stream."""
    (tmp_path / "league.yaml").write_text(LEAGUE)

    done = shell(tmp_path, "arena league run league.yaml --workers 1 <&- >&-")
    silent = shell(tmp_path, "arena leaderboard test <&- >&- 2>&-")
    wrong = shell(tmp_path, "arena leaderboard nothing 2>&-")

    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines()[0] == "stdout is closed: what this command prints is lost"
    assert "Traceback" not in done.stderr
    assert (silent.returncode, wrong.returncode) == (0, 2)
    with opened(tmp_path / "results") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM record").fetchone() == (2,)


def test_progress_without_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    """None at all, or a terminal that is gone in the middle."""

    class Gone:
        def isatty(self) -> bool:
            return True

        def write(self, _: str) -> int:
            raise OSError(errno.EIO, "Input/output error")

    for stream in (None, Gone()):
        monkeypatch.setattr(sys, "stderr", stream)
        line = TerminalLine(lambda _: "1/3")
        line.show(Progress("steps", 1, 3))
        line.end()
        assert not line._is_shown


@pytest.mark.process
def test_a_folder_whose_name_is_not_utf8(tmp_path: Path) -> None:
    """Bots in it are played, also where only their owner may enter it."""
    place = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xffolder"))
    bot = place / "mine"
    bot.mkdir(parents=True, mode=0o755)
    for file in (ROOT / "bots/random").iterdir():
        (bot / file.name).write_bytes(file.read_bytes())
    place.chmod(0o700)

    done = shell(place, "arena check ./mine --game nim")
    wrong = shell(place, 'arena check "$PWD/nothing"')

    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert (wrong.returncode, "nothing: no such file or folder" in wrong.stderr) == (2, True), wrong.stderr


def raising(error: BaseException) -> Callable[..., Any]:
    def fails(*_: object, **__: object) -> Any:
        raise error

    return fails


@pytest.mark.parametrize(
    ("patched", "error", "said"),
    [
        ((workers, "_socket_folder"), OSError(errno.EROFS, "Read-only file system"), "a folder for temporary files"),
        (
            (multiprocessing.forkserver, "ensure_running"),
            FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']"),
            "No usable temporary directory found in ['/tmp']; they need a folder for temporary files (TMPDIR)",
        ),
        ((BaseProcess, "start"), OSError(errno.EAGAIN, "no processes"), "cannot be started: no processes"),
        ((BaseProcess, "start"), EOFError("unexpected EOF"), "the process that starts workers died; what is"),
    ],
)
def test_workers_that_cannot_be_started(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, patched: tuple[Any, str], error: Exception, said: str
) -> None:
    """Exit code 5 and what they need; the end of a file is not taken for Ctrl-C."""
    monkeypatch.setattr(*patched, raising(error))

    told = terminal.league()

    assert told.code == 5
    assert said in told.err
    assert "Traceback" not in told.err


def test_a_fork_server_that_died_once_is_replaced(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The league goes on."""
    start, calls = BaseProcess.start, list[int]()

    def fails_once(*arguments: Any, **more: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise EOFError("unexpected EOF")
        return start(*arguments, **more)

    monkeypatch.setattr(BaseProcess, "start", fails_once)

    told = terminal.league()

    assert (told.code, "4 of 4 matches" in told.out) == (0, True)


def test_a_full_shared_memory_is_named(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers' log needs semaphores there."""
    lack = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr("multiprocessing.synchronize.SemLock.__init__", raising(lack))

    told = terminal.league()

    assert (told.code, "room in /dev/shm: No space left on device" in told.err) == (5, True), told.err


def test_a_missing_prerequisite_has_its_own_exit_code(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """No bwrap, no libseccomp, no physics engine: the sentence names it and what to do."""
    self_test.require_isolation.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(bubblewrap, "runnable", raising(HarnessFault("no bubblewrap 0.8.0 or newer: `apt-get install`")))
        bwrap = terminal.league()
    with monkeypatch.context() as patch:
        patch.setattr(syscalls, "compile_filter", raising(HarnessFault("the library libseccomp.so.2 is missing")))
        library = terminal.league()
    with monkeypatch.context() as patch:
        missing = raising(SpecError("MuJoCo is not installed: pip install"))
        patch.setattr("arena.operations.playing.require_simulator", missing)
        engine = terminal.league()
    self_test.require_isolation.cache_clear()

    assert [said.code for said in (bwrap, library, engine)] == [5, 5, 5]
    golden(bwrap.err)
    assert "libseccomp.so.2" in library.err
    golden(engine.err)


def aborted(cause: BaseException) -> click.exceptions.Abort:
    error = click.exceptions.Abort()
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (MemoryError(), 5, "not enough memory"),
        (EOFError(), 2, "the input ended"),
        (aborted(EOFError()), 2, "the input ended"),
        (aborted(KeyboardInterrupt()), 3, "interrupted"),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates not allowed"), 2, "is not UTF-8"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), 2, "save it as UTF-8"),
        (OSError(errno.ENOSPC, "No space left on device"), 5, "No space left on device; make room"),
        (OSError(errno.ENOSPC, "No space left on device", "here/x"), 5, "here/x: No space left on device; make room"),
        (OSError(errno.EMFILE, "Too many open files", "x"), 5, "ulimit -n"),
        (OSError(errno.ENOLCK, "No locks available"), 5, "keep results on a disk of this machine"),
        (PermissionError(errno.EACCES, "Permission denied", b"there"), 2, "there: Permission denied"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "x"), 2, "x: No such file or directory"),
        (OSError("somebody raised it without a number"), 5, "somebody raised it without a number"),
        (shutil.Error([("a", "b", "[Errno 28] No space left: 'a' -> 'b'")]), 5, "error: [Errno 28] No space left: 'a'"),
        (OSError(errno.EBADF, "Bad file descriptor"), 4, "a mistake in arena itself"),
        (ZeroDivisionError(), 4, "a mistake in arena itself"),
    ],
)
def test_every_error_is_a_sentence(error: BaseException, code: int, said: str) -> None:
    """Every error is a sentence with the exit code of its cause; only our own mistakes have a traceback."""
    text, exit_code = edge.explain(error)

    assert (exit_code, said in text) == (code, True), text
    assert ("mistake in arena" in text) == (code == 4)


@pytest.mark.process
def test_an_umask_that_takes_rights_from_the_owner(tmp_path: Path) -> None:
    """The folders that the program makes can be used by their owner, and others get no rights."""
    (tmp_path / "league.yaml").write_text(LEAGUE)

    done = shell(tmp_path, "umask 777; arena league run league.yaml --isolation none --results made")

    assert done.returncode == 0, done.stderr
    assert [(tmp_path / "made" / name).stat().st_mode & 0o777 for name in ("bots", "logs")] == [0o700, 0o700]


@pytest.mark.process
@pytest.mark.parametrize("command", ["league run first", "league run first --results new", "new-bot mybot"])
def test_a_working_folder_that_was_deleted(tmp_path: Path, command: str) -> None:
    """A deleted working folder is named in the error, which is a usage error."""
    (tmp_path / "gone").mkdir()

    done = shell(tmp_path, f"cd gone; rmdir ../gone; arena {command}")

    assert (done.returncode, done.stderr.strip()) == (
        2,
        "error: the folder in which this command was typed does not exist any more",
    )


@pytest.mark.parametrize(
    "text",
    [
        f"? [{LONG_KEY}]\n: 1\n",
        f"name: t\n{LONG_KEY}: 1\n",
        f"name: t\ngame: {LONG_KEY}\nplayers: []\n",
        f"name: t\ngame: nim\noptions: {{{LONG_KEY}: 1}}\nplayers: [{{bot: random}}, {{bot: random, name: b}}]\n",
        f"name: t\ngame: nim\nplayers: [{{bot: {LONG_KEY}}}, {{bot: random, name: b}}]\ncycles: 1\n",
        f"name: t\nname: {LONG_KEY}\n? {LONG_KEY[:1000]}\n: 1\n? {LONG_KEY[:1000]}\n: 2\n",
    ],
)
def test_a_line_of_an_error_is_bounded(terminal: Terminal, text: str) -> None:
    """Whatever it quotes of a file."""
    Path("league.yaml").write_text(text)

    said = terminal.arena("league run league.yaml")

    assert said.code == 2
    assert "error: " in said.err
    assert max(map(len, said.err.splitlines())) <= 2000


@pytest.mark.parametrize("words", [[LONG_KEY], ["match", f"--{LONG_KEY}"], ["leaderboard", LONG_KEY]])
def test_a_line_about_a_word_of_the_command_line_is_bounded(terminal: Terminal, words: list[str]) -> None:
    """Lines that quote a word of the command line have at most 2000 characters, errors of click too."""
    said = terminal.arena("", *words)

    assert said.code == 2
    assert 0 < max(map(len, said.err.splitlines())) <= 2000


def test_a_log_that_fails_to_the_end_costs_no_leaderboard(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """The last bytes of a log are written when it is closed: that fails, too, and is said once, with its name."""
    open_file = files.open_file

    def open_full(results: Path, name: str, *more: int) -> int:
        return os.open("/dev/full", os.O_WRONLY) if name.startswith("logs/") else open_file(results, name, *more)

    monkeypatch.setattr(files, "open_file", open_full)

    found = terminal.league()

    assert found.code == 0
    golden(found.out)
    assert re.findall(r"(\S+)\.log: cannot be written: \[Errno 28\]", found.err) == [
        str(terminal.results.absolute() / "logs" / "test")
    ]
