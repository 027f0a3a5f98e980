"""A bot that hands itself over to another process: to the box's first one, to a child, to a thread, to another program.

Nothing may live on that is not stopped and clocked as the bot.
"""

import os
import select
import subprocess
from pathlib import Path

import pytest
from support.golden import Golden
from support.process_boxes import (
    FORKING,
    ask,
    box_with,
    boxed,
    folder_of,
    in_a_box,
    on_x86_64,
    started,
    talking,
    without,
)
from support.process_boxes import wall_clock as patient
from support.waiting import PATIENCE_S, eventually, is_alive

from arena.errors import Crashed
from arena.process.channel import ProcessChannel
from arena.process.reaper import descendants
from arena.process.sandbox import runtimes, sandbox

pytestmark = in_a_box

STAGE = """
import os, struct, sys, time
print(input(), flush=True)
second = [b"/bot/second.sh", b"second"]
while (state := open("/proc/1/syscall").read()).startswith("running"):
    time.sleep(0.001)
where = int(state.split()[-1], 16)
def code(data):
    return (b"\\xbf\\x01\\0\\0\\0\\x31\\xf6\\xb8\\x9d\\0\\0\\0\\x0f\\x05"  # prctl(PR_SET_PDEATHSIG, 0)
        + b"\\x48\\xbf" + struct.pack("<Q", data) + b"\\x48\\xbe" + struct.pack("<Q", data + 64)
        + b"\\x31\\xd2\\xb8\\x3b\\0\\0\\0\\x0f\\x05")  # execve(second, [second], NULL)
size = len(code(0))
data = where + size
text = second[0].ljust(64, b"\\0") + struct.pack("<QQ", data, 0)
try:
    with open("/proc/1/mem", "rb+", buffering=0) as memory:
        memory.seek(where)
        memory.write(code(data) + text)
except OSError as refusal:
    for line in sys.stdin: print(refusal.strerror, flush=True)
os._exit(0)
"""
"""Review A2: the first process of the box wakes when the stage ends, and is the bot, with its pipes and no parent."""
SECOND = """#!{python}
import os, sys
for line in sys.stdin:
    print("second", os.getpid(), flush=True)
"""
DAEMON = """
import os, sys
print(input(), flush=True)
if os.fork():
    os._exit(0)
for line in sys.stdin: print("daemon", flush=True)
"""
GRANDCHILD = DAEMON.replace("if os.fork():", "if os.fork() or os.fork():")


def attack(place: Path) -> Path:
    """Make the folder of the bot that becomes the first process."""
    folder = folder_of(place, bot_py=STAGE)
    second = folder / "second.sh"
    second.write_text(SECOND.format(python=runtimes.require_python()), encoding="utf-8")
    second.chmod(0o755)
    return folder


@on_x86_64
def test_a_bot_cannot_become_the_first_process(tmp_path: Path) -> None:
    """The attack of the review meets a file system that is read-only."""
    with talking(attack(tmp_path)) as (channel, _):
        ask(channel)

        assert ask(channel) == b"Read-only file system"


@on_x86_64
@pytest.mark.alone  # any other arena would end what such a bot leaves, and rightly so
@pytest.mark.parametrize("may_ponder", [False, True])
def test_a_bot_that_became_the_first_process_is_ended(tmp_path: Path, may_ponder: bool) -> None:
    """Its own process is gone, so it cannot be stopped, and all its processes are killed."""
    start = box_with(without("--remount-ro", "/proc"))
    with boxed(start, attack(tmp_path)) as (channel, process):
        channel._may_ponder = may_ponder
        first = process.group.id

        ask_until_it_crashes(channel)

        assert eventually(lambda: not is_alive(first), 5.0)


@on_x86_64
def test_the_attack_works_where_it_is_not_met(tmp_path: Path) -> None:
    """Without both protections the first process does answer, so the tests above test something."""
    start = box_with(without("--remount-ro", "/proc"))
    with boxed(start, attack(tmp_path)) as (channel, process):
        channel.send(b"go\n", patient())
        channel.receive(patient())
        assert eventually(lambda: descendants(process.group.id) == set())

        channel.send(b"go\n", patient())

        ready, _, _ = select.select([process.stdout], [], [], PATIENCE_S)
        assert ready
        assert os.read(process.stdout, 100) == b"second 1\n"


@pytest.mark.parametrize("code", [DAEMON, GRANDCHILD], ids=["child", "grandchild"])
def test_a_daemon_with_the_bots_pipes_is_not_the_bot(tmp_path: Path, code: str) -> None:
    """Its main process has ended, so the bot has."""
    with talking(folder_of(tmp_path, bot_py=code), limits=FORKING) as (channel, process):
        ask_until_it_crashes(channel)
        pids = {process.group.id} | descendants(process.group.id)
        process.kill()

        assert eventually(lambda: not any(map(is_alive, pids)), 5.0)


def test_a_bot_that_ended_before_it_was_seen_is_no_bot(tmp_path: Path, golden: Golden) -> None:
    """What it left in the pipe is not read as an answer."""
    folder = folder_of(tmp_path, hello="#!/bin/sh\necho hello\n")
    with talking(folder, "./hello") as (channel, process):
        assert eventually(lambda: bool(process.ending()))

        with golden.raises(Crashed):
            ask(channel)


def test_a_bot_that_answers_and_ends_has_not_answered(tmp_path: Path, golden: Golden) -> None:
    """The time of its answer is unknown."""
    code = "import os\nprint(input(), flush=True)\nos._exit(3)\n"
    with talking(folder_of(tmp_path, bot_py=code)) as (channel, process):
        channel.send(b"go\n", patient())
        assert channel.receive(patient()) == b"go"
        assert eventually(lambda: bool(process.ending()))

        with golden.raises(Crashed):
            channel.rest()


def test_what_cannot_be_stopped_is_killed(tmp_path: Path) -> None:
    """All processes of the sandbox are killed at once."""
    with started(folder_of(tmp_path, bot_py="input()\n")) as process:
        body = process.group
        assert isinstance(body, sandbox.Sandbox)
        os.close(body._main_handle)
        with subprocess.Popen(["true"]) as other:
            body._main_handle = os.pidfd_open(other.pid)

        assert not process.suspend()
        assert eventually(lambda: process.ending() == "was ended by signal 9 (SIGKILL)")


def ask_until_it_crashes(channel: ProcessChannel) -> None:
    """It may answer once or twice before it hands over, or be seen to have; the loop ends with the test's patience."""

    def is_over() -> bool:
        try:
            ask(channel)
        except Crashed:
            return True
        return False

    assert eventually(is_over)
