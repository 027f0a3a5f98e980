"""Without all that Linux alone has: `check`, `match` and `play` of trusted bots, and the channel they play over."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.errors import Crashed, MalformedReply, OutOfTime
from arena.process.clock import MoveClock
from arena.process.manifest import read_bot
from arena.process.portable import LINUX_ONLY, PortableChannel, start_portably, usable_cores

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests" / "support" / "other_systems.py"
LIMIT = 1000


def ran(system: str, folder: Path, *lines: str, said: str = "") -> tuple[list[str], str]:
    """Each `arena LINE` where Python has what it has on that system: stdout of each with its exit code, and stderr."""
    environment = {name: value for name, value in os.environ.items() if name != "ARENA_BOTS"}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), system, *lines],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT)},
        input=said,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.split("END\n")[:-1], done.stderr


@pytest.mark.parametrize("system", ["darwin"])
def test_trusted_bots_play_on_other_systems(system: str, tmp_path: Path) -> None:
    """A new bot passes its check and meets a bundled one; a person plays. Without the option no bot runs."""
    said, errors = ran(
        system,
        tmp_path,
        "new-bot mine",
        "check ./mine --game nim --isolation none",
        "match ./mine random --game nim --isolation none --blocks 11",
        "play random --game nim --isolation none",
        "match random random --game nim",
        "doctor",
        said="1\n" * 99,
    )

    assert [text.splitlines()[-1] for text in said] == [f"exit {code}" for code in (0, 0, 0, 0, 5, 1)], (said, errors)
    assert "FAILED" not in said[1]
    assert "22 of 22 matches" in said[2]
    assert "isolation: none. UNSANDBOXED" in said[2]
    assert f"error: {LINUX_ONLY}" in errors
    assert LINUX_ONLY in " ".join(said[5].split())
    assert "Traceback" not in errors


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], PortableChannel]]:
    """Starts a bot with this code, and ends it after the test."""
    channels: list[PortableChannel] = []

    def start(code: str) -> PortableChannel:
        (tmp_path / "bot.py").write_text(f"import sys, time\n{code}\n")
        channels.append(PortableChannel(start_portably(read_bot(tmp_path / "bot.py"), ()), limit=LIMIT))
        return channels[-1]

    yield start
    for channel in channels:
        channel.close(0.0)


def clock(budget_s: float = 20.0) -> MoveClock:
    return MoveClock(cpu=lambda: 0.0, wall=time.monotonic, budget_s=budget_s, wall_s=2 * budget_s, decides_cpu=False)


def test_lines_go_to_and_fro(opened: Callable[[str], PortableChannel]) -> None:
    """Also one that is larger than any pipe; the bot sees the end of its input and ends by itself."""
    channel = opened("for line in sys.stdin: print(len(line), flush=True); print('heard', file=sys.stderr, flush=True)")

    answers = []
    for size in (10, 300_000):
        channel.send(b"x" * size + b"\n", clock())
        answers.append(channel.receive(clock()))

    assert answers == [b"11", b"300001"]
    assert channel.close(10.0) == "ended with exit code 0"
    assert channel.stderr() == "heard\nheard\n"


@pytest.mark.parametrize(
    ("code", "fault", "told"),
    [
        ("sys.exit(3)", Crashed, "the bot ended with exit code 3"),
        ("time.sleep(60)", OutOfTime, "had 300 ms"),
        ("print('x' * 5000, flush=True); time.sleep(60)", MalformedReply, "a line of more than 1000 bytes"),
        ("sys.stdout.write('x' * 5000); sys.stdout.flush(); time.sleep(60)", MalformedReply, "more than 1000 bytes"),
        ("sys.stdout.close(); import os; os.close(1); time.sleep(60)", Crashed, "closed its stdin or stdout"),
    ],
    ids=["exit", "silence", "long line", "line without end", "closed"],
)
def test_faults_of_a_bot_are_its_own(
    opened: Callable[[str], PortableChannel], code: str, fault: type[Exception], told: str
) -> None:
    """The same faults as over a `ProcessChannel`, in the same words."""
    channel = opened(code)

    with pytest.raises(fault, match=told):
        channel.receive(clock(0.3 if fault is OutOfTime else 20.0))


def test_a_flood_waits_and_is_a_fault(opened: Callable[[str], PortableChannel]) -> None:
    """A bot that never stops talking fills no memory, and loses before its next request."""
    channel = opened("while True: print('x' * 900)")

    channel.receive(clock())
    with pytest.raises(MalformedReply, match="lines without end"):
        ask_without_end(channel)


def ask_without_end(channel: PortableChannel) -> None:
    while True:
        channel.pending()
        time.sleep(0.01)


def test_a_bot_that_reads_nothing_runs_out_of_time(opened: Callable[[str], PortableChannel]) -> None:
    """A write that nobody takes has a deadline, and its end is by force."""
    channel = opened("time.sleep(60)")

    with pytest.raises(OutOfTime):
        channel.send(b"x" * 1_000_000, clock(0.3))

    assert channel.close(0.0) == "was killed"


def test_the_cores_are_those_of_this_process() -> None:
    """By the kernel's word where there is one."""
    assert usable_cores() == sorted(os.sched_getaffinity(0))
