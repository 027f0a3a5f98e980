"""The verdict on a bot whose process has ended: evidence goes in, the bot's fault or the machine's comes out."""

import os
import signal
from pathlib import Path

import pytest
from support.golden import Golden
from support.process_boxes import ask, folder_of, talking

from arena.errors import Crashed, Shortage
from arena.process.death import Evidence, judge

KILLED = "was ended by signal 9 (SIGKILL)"


@pytest.mark.parametrize(
    "evidence",
    [
        Evidence("ended with exit code 1"),
        Evidence("ended with exit code 137"),
        Evidence("closed its stdin or stdout while still running"),
        Evidence(KILLED, is_killed=True),
        Evidence("ended with exit code 1", oom_kills=7),
        Evidence(KILLED, is_killed=True, oom_kills=7, violation="it used all of it"),
        Evidence(KILLED, is_wrapper_killed=True, is_crowded=True, violation="it used all of it"),
    ],
    ids=["error", "feigned", "mute", "suicide", "others died", "own limit", "own limit first"],
)
def test_a_bot_is_to_blame_for_what_it_can_do_to_itself(evidence: Evidence) -> None:
    """It is so even while the machine is short of memory, with any exit code."""
    assert isinstance(judge(evidence, ""), Crashed)


@pytest.mark.parametrize(
    "evidence",
    [
        Evidence(KILLED, is_killed=True, oom_kills=1),
        Evidence("ended with exit code 1", oom_kills=1, has_processes=True),
        Evidence(KILLED, is_killed=True, is_wrapper_killed=True),
        Evidence("ended with exit code 1", is_crowded=True),
    ],
    ids=["memory", "memory of a child", "from outside", "processes"],
)
def test_the_machine_is_to_blame_for_what_it_lacks_until_the_last_repeat(evidence: Evidence) -> None:
    """A bot that dies each time, alone and with room for its limits, loses: so no void match can be bought."""
    assert isinstance(judge(evidence, ""), Shortage)
    assert isinstance(judge(evidence, "", is_last=True), Crashed)


@pytest.mark.process
def test_a_signal_to_the_wrapper_comes_from_outside(tmp_path: Path, golden: Golden) -> None:
    """The bot cannot reach it; its own processes are another matter."""
    with talking(folder_of(tmp_path, bot_py="input()\n")) as (channel, process):
        os.kill(process.pid, signal.SIGKILL)

        with golden.raises(Shortage):
            ask(channel)


@pytest.mark.process
@pytest.mark.parametrize(
    "end",
    ["os.kill(os.getpid(), 9)", "os.kill(1, 9); os.kill(0, 9)", "os._exit(137)", "os.abort()"],
    ids=["itself", "all", "exit code", "abort"],
)
def test_a_bot_cannot_look_as_if_somebody_had_killed_it(tmp_path: Path, end: str) -> None:
    """Anything that it does in its sandbox is reported as its own end."""
    code = f"import os\ninput()\n{end}\n"
    with talking(folder_of(tmp_path, bot_py=code)) as (channel, _), pytest.raises(Crashed):
        ask(channel)
