"""What a bot starts ends with it: in the sandbox with the box, outside of it at the latest by the referee's sweep."""

import os
import re
from pathlib import Path

import pytest
from support.golden import Golden
from support.hostile_play import (
    BARE,
    HOSTILE,
    WITH_PROCESSES,
    Guest,
    against,
    alive,
    elapsed_s,
    hostile,
    is_gone,
    left_of,
)
from support.process_boxes import next_line, python_process
from support.waiting import a_second

from arena.match.record import MatchRecord
from arena.process.launch import STRICTEST, Confinement
from arena.process.manifest import read_bot

pytestmark = pytest.mark.process

SWEEP = """
import os, sys, time
from support.hostile_play import BARE, against, hostile
from arena.process import reaper

reaper.become_subreaper()
bot = hostile("grandchild-in-a-session", confinement=BARE)
record = against(bot.bot_player)
bot.bot_player.close(grace_s=0.0)
deadline = time.monotonic() + 5
while not reaper.children(os.getpid()) and time.monotonic() < deadline:
    os.sched_yield()
print(record.termination.value, reaper.kill_descendants(), reaper.descendants(os.getpid()))
print(bot.bot_player.stderr())
"""

KILLED = """
import sys
from support.hostile_play import BARE, hostile

bot = hostile(sys.argv[1], confinement=BARE)
bot.bot_player.start_up.open()
print(bot.processes[0].pid, bot.processes[0].group.id, flush=True)
sys.stdin.readline()
"""

EVERY_WAY = pytest.mark.parametrize("confinement", [BARE, STRICTEST], ids=["bare", "sandbox"])


def test_a_daemon_is_killed_by_the_sweep(golden: Golden) -> None:
    """It left session and group, so the kill of the group misses it; the subreaper, for good, is not this process."""
    with python_process(SWEEP) as referee:
        output, _ = referee.communicate(timeout=20)

    first, second, *_ = output.splitlines()
    golden(first)
    (pid,) = map(int, re.findall(r"grandchild (\d+)", second))
    assert is_gone(lambda: alive(pid))


def test_a_grandchild_in_the_group_goes_with_the_bot() -> None:
    """Without any sweep: the whole group is killed although the child in between is gone."""
    bot = hostile("orphan", confinement=BARE)
    against(bot.bot_player)
    assert len(left_of(bot)) == 2

    bot.bot_player.close(grace_s=0.0)

    assert is_gone(lambda: left_of(bot))


@pytest.mark.parametrize("confinement", [BARE, WITH_PROCESSES], ids=["bare", "sandbox"])
def test_a_child_that_holds_the_pipes_goes_with_a_bot_that_died(confinement: Confinement, golden: Golden) -> None:
    """The group is killed before the dead leader is reaped, while its id is still its own."""
    bot = hostile("vanish", confinement=confinement)

    record = against(bot.bot_player)

    assert record.termination.value == "crash"
    assert record.fault is not None
    golden(record.fault.message)
    assert is_gone(lambda: left_of(bot))


def test_a_shell_around_the_bot_does_not_save_it(tmp_path: Path) -> None:
    """The shell uses no time of its own, so real time ends the match; then the shell and the bot are killed."""
    (tmp_path / "bot.yaml").write_text(
        f"name: wrapped\ncommand: [sh, -c, 'python3 {HOSTILE} spin; true']\nprocesses: true\n"
    )
    records: list[MatchRecord] = []
    with Guest(read_bot(tmp_path), confinement=BARE) as bot:
        took_s = elapsed_s(lambda: records.append(against(bot.bot_player)))

    assert records[0].termination.value == "timeout"
    assert took_s < 0.4 + 2 * a_second()
    assert is_gone(lambda: left_of(bot))


@pytest.mark.parametrize("mode", ["honest", "ignore-all", "never-hello"])
def test_a_bot_dies_with_its_referee(mode: str) -> None:
    """Even one that ignores the end of its input, if the referee is killed without a word."""
    with python_process(KILLED, mode) as referee:
        pid, group = map(int, next_line(referee).split())
        assert is_gone(lambda: [] if alive(pid) and alive(group) else [0])
        referee.kill()

    assert is_gone(lambda: alive(pid) + alive(group))


@EVERY_WAY
def test_ctrl_c_at_the_terminal_does_not_reach_a_bot(confinement: Confinement) -> None:
    """It leads a session of its own, so the signal for the foreground group is not for it."""
    bot = hostile("honest", confinement=confinement)
    against(bot.bot_player)
    pids = {bot.processes[0].pid, bot.processes[0].group.id}

    assert {(os.getsid(pid), os.getpgid(pid)) for pid in pids} == {(pid, pid) for pid in pids}
    bot.bot_player.close(grace_s=0.0)


@EVERY_WAY
def test_a_bot_inherits_nothing(tmp_path: Path, confinement: Confinement) -> None:
    """Three pipes and a few harmless settings: no descriptors and no secrets of ours."""
    script = "import os\nprint(sorted(os.listdir('/proc/self/fd')), sorted(os.environ), flush=True)\nos._exit(0)\n"
    (tmp_path / "bot.py").write_text(script)
    with (tmp_path / "bot.py").open() as ours:
        os.set_inheritable(ours.fileno(), True)
        bot = Guest(read_bot(tmp_path / "bot.py"), confinement=confinement)
        record = against(bot.bot_player)

    assert record.fault is not None
    seen = next(line for line in record.fault.transcript if line.startswith("< ["))
    assert "['0', '1', '2', '3']" in seen  # 3 is the listing itself
    assert "SECRET" not in seen
    assert "'HOME', 'LANG'" in seen
