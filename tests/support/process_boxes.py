"""Bots and builds in boxes, for the tests: programs in a folder of their own, started as arena starts them."""

import os
import select
import selectors
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
import pytest

from arena.errors import HarnessFault, SpecError
from arena.process import launch
from arena.process.build import build
from arena.process.channel import ProcessChannel
from arena.process.clock import MoveClock
from arena.process.launch import Confinement
from arena.process.limits import Limits
from arena.process.manifest import BotSpec, Manifest
from arena.process.process import BotProcess, resident_bytes
from arena.process.reaper import descendants
from arena.process.sandbox import bubblewrap, runtimes, sandbox, self_test, syscalls
from arena.process.sandbox.users import reachable
from support.waiting import PATIENCE_S, eventually

BOT: Final = Limits(memory_mib=128, tasks=24, processes=False, scratch_mib=0)
FORKING: Final = msgspec.structs.replace(BOT, processes=True)
TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")
_NOBODY: Final = 65534


def why_no_sandbox() -> str:
    """Why there is none here, empty if there is."""
    try:
        self_test.require_isolation("sandbox")
    except HarnessFault as fault:
        return str(fault)
    return ""


in_a_box = [pytest.mark.process, pytest.mark.skipif(bool(why_no_sandbox()), reason=why_no_sandbox())]


class Ran(msgspec.Struct, frozen=True):
    """What a program said and how it ended."""

    out: str
    err: str
    ending: str


def folder_of(place: Path, **files: str) -> Path:
    """A folder that everybody may read, with these files; `bot_py` becomes `bot.py`."""
    place.mkdir(parents=True, exist_ok=True)
    place.chmod(0o755)
    for name, text in files.items():
        path = place / name.replace("_", ".")
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return place


def bot_in(folder: Path, *command: str) -> BotSpec:
    """A bot of these files; without a word of command the Python program bot.py."""
    words = command or (runtimes.require_python(), "bot.py")
    manifest = Manifest(name="bot", command=words)
    return BotSpec(manifest=manifest, source=str(folder), folder=str(folder), digest="0" * 64)


@contextmanager
def started(folder: Path, *command: str, limits: Limits = BOT) -> Iterator[BotProcess]:
    """A process of the bot in its box; killed at the end."""
    process = launch.start(bot_in(folder, *command), (), Confinement(limits=limits))
    try:
        yield process
    finally:
        process.kill()


@contextmanager
def talking(
    folder: Path, *command: str, limits: Limits = BOT, may_ponder: bool = False
) -> Iterator[tuple[ProcessChannel, BotProcess]]:
    """The same, and a channel to it."""
    with started(folder, *command, limits=limits) as process:
        channel = ProcessChannel(
            process, limit=limits.line_bytes, kept_stderr=limits.stderr_bytes, may_ponder=may_ponder
        )
        yield channel, process


def ran(place: Path, code: str, *, limits: Limits = BOT) -> Ran:
    """A Python program that says something and ends."""
    return ran_command(folder_of(place, bot_py=code), limits=limits)


def ran_command(folder: Path, *command: str, limits: Limits = BOT) -> Ran:
    """Any program; there is nothing at its stdin."""
    with started(folder, *command, limits=limits) as process:
        process.close_stdin()
        out, err = _read_all(process)
        assert eventually(lambda: bool(process.ending()))
        return Ran(out, err, process.ending())


def built(folder: Path, *commands: str, timeout_s: float = 60.0) -> Path:
    """The folder after these commands of a shell."""
    manifest = Manifest(name="bot", command=("./bot",), build=tuple(("sh", "-c", command) for command in commands))
    build(manifest, folder, "sandbox", timeout_s=timeout_s)
    return folder


def refusal(folder: Path, *commands: str, timeout_s: float = 60.0) -> str:
    """What the author is told about a build that fails."""
    with pytest.raises(SpecError) as caught:
        built(folder, *commands, timeout_s=timeout_s)
    return str(caught.value)


def ask(channel: ProcessChannel, line: bytes = b"go") -> bytes:
    """One request and its answer, with the bot awake for that time only."""
    clock = wall_clock()
    channel.wake()
    channel.send(line + b"\n", clock)
    answer = channel.receive(clock)
    channel.rest()
    return answer


def wall_clock() -> MoveClock:
    """A clock that only real time can end."""
    return MoveClock(cpu=lambda: 0.0, wall=time.monotonic, budget_s=PATIENCE_S, wall_s=PATIENCE_S, decides_cpu=False)


def cpu_of_all_s(process: BotProcess) -> float:
    """CPU time of all processes of a bot, those that have ended too, from /proc/PID/stat, in ticks of 10 ms."""
    used = 0
    for pid in {process.group.id} | descendants(process.group.id):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        used += sum(map(int, fields[11:15]))
    return used * TICK_S


def open_files() -> int:
    """Descriptors of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def resident_mib(process: BotProcess) -> float:
    """Memory of the bot's first two processes."""
    return sum(map(resident_bytes, {process.group.id} | descendants(process.group.id))) / 2**20


def _read_all(process: BotProcess) -> tuple[str, str]:
    """Both streams to their ends; a thread each would do, poll does it without."""
    said = {process.stdout: b"", process.stderr: b""}
    with selectors.DefaultSelector() as selector:
        for fd in said:
            selector.register(fd, selectors.EVENT_READ)
        deadline_s = time.monotonic() + PATIENCE_S
        while selector.get_map():
            assert time.monotonic() < deadline_s, f"no end of {said}"
            for key, _ in selector.select(0.1):
                data = os.read(key.fd, 1 << 16)
                said[key.fd] += data
                if not data:
                    selector.unregister(key.fd)
    return said[process.stdout].decode("utf-8", "replace"), said[process.stderr].decode("utf-8", "replace")


@contextmanager
def bwrap_is(place: Path, script: str) -> Iterator[None]:
    """Another program instead of bwrap for a while."""
    path = folder_of(place / "programs", bwrap=script) / "bwrap"
    os.environ[bubblewrap.BWRAP] = str(path)
    bubblewrap.program.cache_clear()
    try:
        yield
    finally:
        del os.environ[bubblewrap.BWRAP]
        bubblewrap.program.cache_clear()


def host_environment(**more: str) -> dict[str, str]:
    """For a Python that finds this project and these tests."""
    root = Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": f"{root}:{root / 'tests'}", **more}


def open_to_all(place: Path) -> Path:
    """The folder, once all users can reach it: pytest keeps its own from them."""
    for folder in (place, *place.parents):
        mode = stat.S_IMODE(folder.stat().st_mode)
        if mode & 0o005 != 0o005:
            folder.chmod(mode | 0o055)
    return place


def as_ordinary_user(action: Callable[[], object]) -> str:
    """What it returns or raises in a copy of this process, of a user who is not root: nobody's, if root runs the tests.

    That user may be unable to read the Python that runs here: all that is needed must be imported before, and bots see
    what is below /usr only.
    """
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setresgid(_NOBODY, _NOBODY, _NOBODY)
                os.setresuid(_NOBODY, _NOBODY, _NOBODY)
            runtimes.folders = lambda: ()  # type: ignore[assignment]
            text = str(action())
        except BaseException as error:  # noqa: BLE001 - the test tells it
            text = repr(error)
        os.write(writing, text.encode()[: select.PIPE_BUF])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return text


def host_python(code: str, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """A Python of the harness's own, so that what is cached for a process's life is fresh."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=host_environment(**environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@contextmanager
def python_process(code: str, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A Python of the harness's own that runs beside the test, which talks to it by pipes; killed at the end."""
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=host_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: "subprocess.Popen[str]") -> str:
    """The next line that such a process says."""
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


BOTS_FILTER = syscalls.compile_filter(is_play=True, processes=False)


def box_with(
    edit: Callable[[list[str]], list[str]] = lambda words: words,
    *,
    filters: bytes | None = BOTS_FILTER,
    **limits: int | bool,
) -> sandbox.Start:
    """The way bots are started, with other arguments, another filter, or other limits."""

    def start(command: list[str], folder: Path, environment: dict[str, str], allowed: Limits) -> sandbox.Started:
        words = edit(bubblewrap.bwrap_arguments(reachable(folder), environment=environment, scratch_mib=0))
        given = msgspec.structs.replace(allowed, **limits)
        return sandbox.start_with(command, words, given, filters)

    return start


def without(*words: str) -> Callable[[list[str]], list[str]]:
    """The arguments without this run of words."""

    def edit(arguments: list[str]) -> list[str]:
        length = len(words)
        place = next(i for i in range(len(arguments)) if tuple(arguments[i : i + length]) == words)
        return arguments[:place] + arguments[place + length :]

    return edit


on_x86_64 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the attack is in the code of x86_64")


@contextmanager
def boxed(start: sandbox.Start, folder: Path) -> Iterator[tuple[ProcessChannel, BotProcess]]:
    """The bot of a folder in a box of one's own making, and a channel to it."""
    environment = {"PATH": runtimes.search_path()}
    popen, body = start([runtimes.require_python(), "bot.py"], folder, environment, BOT)
    process = BotProcess(popen, body, "a bot")
    try:
        yield ProcessChannel(process, limit=1 << 16), process
    finally:
        process.kill()
