"""What a bot starts ends with it, at the latest when the referee sweeps up behind it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_play import HOSTILE, Guest, against, alive, elapsed_s, hostile, is_gone

from arena.match.record import MatchRecord
from arena.process.manifest import read_bot

pytestmark = pytest.mark.process

SWEEP = """
import os, sys, time
from hostile_play import against, hostile
from arena.process import reaper

reaper.become_subreaper()
bot = hostile("daemon")
record = against(bot.contestant)
bot.contestant.close(grace_s=0.0)
deadline = time.monotonic() + 5
while not reaper.children(os.getpid()) and time.monotonic() < deadline:
    os.sched_yield()
print(record.termination.value, reaper.kill_descendants(), reaper.descendants(os.getpid()))
print(bot.contestant.stderr())
"""

KILLED = """
import sys
from hostile_play import against, hostile

bot = hostile(sys.argv[1])
print(bot.contestant._open_channel() and bot.processes[0].pid, flush=True)
sys.stdin.readline()
"""


def python(script: str, *arguments: str) -> "subprocess.Popen[str]":
    """A referee of its own: a subreaper is one for good, so it must not be this process."""
    places = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_daemon_is_killed_by_the_sweep() -> None:
    """It left session and group, so the kill of the group misses it; the subreaper gets and finds it."""
    with python(SWEEP) as referee:
        output, _ = referee.communicate(timeout=20)

    first, second, *_ = output.splitlines()
    assert first == "normal 1 set()"
    (pid,) = map(int, re.findall(r"grandchild (\d+)", second))
    assert is_gone(lambda: alive(pid))


def test_a_grandchild_in_the_group_goes_with_the_bot() -> None:
    """Without any sweep: the whole group is killed although the child in between is gone."""
    bot = hostile("orphan")
    against(bot.contestant)
    group = bot.processes[0].pid
    assert len(alive(group)) == 2

    bot.contestant.close(grace_s=0.0)

    assert is_gone(lambda: alive(group))


def test_a_child_that_holds_the_pipes_goes_with_a_bot_that_died() -> None:
    """The group is killed before the dead leader is reaped, while its id is still its own."""
    bot = hostile("forked")

    record = against(bot.contestant)

    assert record.termination.value == "crash"
    assert is_gone(lambda: alive(bot.processes[0].pid))


def test_a_shell_around_the_bot_does_not_save_it(tmp_path: Path) -> None:
    """The shell uses no time of its own, so real time ends the match; then the shell and the bot are killed."""
    (tmp_path / "bot.yaml").write_text(
        f"name: wrapped\ncommand: [sh, -c, 'python3 {HOSTILE} spin; true']\nprocesses: true\n"
    )
    bot = Guest(read_bot(tmp_path))
    records: list[MatchRecord] = []
    took_s = elapsed_s(lambda: records.append(against(bot.contestant)))

    assert records[0].termination.value == "timeout"
    assert took_s < 0.4 + 2.0
    assert is_gone(lambda: alive(bot.processes[0].pid))


@pytest.mark.parametrize("mode", ["honest", "ignore-all", "mute"])
def test_a_bot_dies_with_its_referee(mode: str) -> None:
    """Even one that ignores the end of its input, if the referee is killed without a word."""
    with python(KILLED, mode) as referee:
        assert referee.stdout is not None
        pid = int(referee.stdout.readline())
        assert is_gone(lambda: [] if alive(pid) else [0])
        referee.kill()

    assert is_gone(lambda: alive(pid))


def test_ctrl_c_at_the_terminal_does_not_reach_a_bot() -> None:
    """It leads a session of its own, so the signal for the foreground group is not for it."""
    bot = hostile("honest")
    against(bot.contestant)
    pid = bot.processes[0].pid

    assert (os.getsid(pid), os.getpgid(pid)) == (pid, pid)
    bot.contestant.close(grace_s=0.0)


def test_a_bot_inherits_nothing(tmp_path: Path) -> None:
    """Three pipes and a few harmless settings: no descriptors and no secrets of ours."""
    script = "import os\nprint(sorted(os.listdir('/proc/self/fd')), sorted(os.environ), flush=True)\nos._exit(0)\n"
    (tmp_path / "bot.py").write_text(script)
    with (tmp_path / "bot.py").open() as ours:
        os.set_inheritable(ours.fileno(), True)
        bot = Guest(read_bot(tmp_path / "bot.py"))
        record = against(bot.contestant)

    assert record.fault is not None
    seen = next(line for line in record.fault.transcript if line.startswith("< ["))
    assert "['0', '1', '2', '3']" in seen  # 3 is the listing itself
    assert "SECRET" not in seen
    assert "'HOME', 'LANG'" in seen
