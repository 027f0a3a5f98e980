"""Who a bot is on the host: under root a spare user of its own, otherwise the user of the harness."""

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.golden import Golden
from support.process_boxes import ask, folder_of, host_python, in_a_box, open_files, ran_command, started, talking

from arena.errors import HarnessFault
from arena.process.process import BotProcess
from arena.process.sandbox import users

IS_ROOT = os.geteuid() == 0
pytestmark = in_a_box
as_root = pytest.mark.skipif(not IS_ROOT, reason="of interest where root runs the harness")
as_ordinary_user = pytest.mark.skipif(IS_ROOT, reason="of interest where an ordinary user runs the harness")
WAIT = "input()\n"


def users_of(process: BotProcess) -> set[int]:
    """Return real, effective, saved and file system user of the sandbox, as the host sees them."""
    text = Path(f"/proc/{process.group.id}/status").read_text(encoding="ascii")
    return {int(word) for line in text.splitlines() if line.startswith("Uid:") for word in line.split()[1:]}


@as_root
def test_each_running_bot_has_a_user_of_its_own(tmp_path: Path) -> None:
    """No such user is root or a named user of this machine."""
    folder = folder_of(tmp_path, bot_py=WAIT)
    with contextlib.ExitStack() as running:
        users = [users_of(running.enter_context(started(folder))) for _ in range(5)]

    assert all(len(each) == 1 for each in users)
    numbers = {user for each in users for user in each}
    assert len(numbers) == 5
    assert all(0x7000_0000 <= number < 0x8000_0000 for number in numbers)


@pytest.fixture
def all_but_two() -> Iterator[None]:
    """Take all users of this process but two."""
    taken = [users.acquire_uid() for _ in range(users._UIDS_PER_PROCESS - len(users._taken) - 2)]
    yield
    for uid in taken:
        users.release_uid(uid)


@as_root
@pytest.mark.usefixtures("all_but_two")
def test_a_user_is_given_back(tmp_path: Path) -> None:
    """One process can start bots without end."""
    folder = folder_of(tmp_path, bot_py="")
    before = set(users._taken)

    for _ in range(4):
        with started(folder):
            pass

    assert users._taken == before


@as_root
def test_a_user_is_given_back_by_a_start_that_fails(tmp_path: Path, golden: Golden) -> None:
    """The reason of the failure does not matter."""
    folder = folder_of(tmp_path / "closed", bot_py="")
    folder.chmod(0o700)
    before = set(users._taken)

    with golden.raises(HarnessFault), started(folder):
        pass

    assert users._taken == before


@as_root
@pytest.mark.usefixtures("all_but_two")
def test_more_bots_than_users_are_refused(golden: Golden) -> None:
    """The message contains the number of users."""
    last = [users.acquire_uid() for _ in range(2)]

    with golden.raises(HarnessFault):
        users.acquire_uid()

    for uid in last:
        users.release_uid(uid)


@as_root
def test_a_folder_that_only_root_can_reach_is_lent(tmp_path: Path) -> None:
    """The bot sees it, and not what lies beside it."""
    folder = folder_of(tmp_path / "closed" / "bot", bot_py="import os\nprint(os.listdir('.'), os.access('/bot/..', 2))")
    folder_of(tmp_path / "closed", secret="s").chmod(0o700)

    found = ran_command(folder)

    assert found.out == "['bot.py'] False\n"


LENDING = """
import os, sys, threading
from pathlib import Path
from support.process_boxes import ran_command

def lend():
    wait.wait()
    print(ran_command(Path(sys.argv[1])).out.strip(), flush=True)

wait = threading.Event()
threads = [threading.Thread(target=lend) for _ in range(int(sys.argv[2]))]
for thread in threads: thread.start()
print(ran_command(Path(sys.argv[1])).out.strip(), flush=True)
wait.set()
for thread in threads: thread.join()
print(len([line for line in open("/proc/self/mountinfo") if " /run/arena" in line]), flush=True)
"""


@as_root
@pytest.mark.parametrize("threads", [0, 2])
def test_what_is_lent_is_seen_by_nobody_else(tmp_path: Path, threads: int) -> None:
    """It is mounted in a namespace of the harness alone and ends with it; any thread may start the bot."""
    folder = folder_of(tmp_path / "closed" / "bot", bot_py="print('here')")
    (tmp_path / "closed").chmod(0o700)
    witnesses = [Path(f"/proc/{pid}/mountinfo") for pid in (1, os.getppid())]
    before = [witness.read_text() for witness in witnesses]

    found = host_python(LENDING, str(folder), str(threads))

    *said, mounts = found.stdout.split()
    assert "".join(said) == "here" * (threads + 1), found.stderr  # threads print at once
    assert int(mounts) >= 2
    assert [witness.read_text() for witness in witnesses] == before


@as_ordinary_user
def test_a_bot_is_the_user_of_the_harness(tmp_path: Path) -> None:
    """An ordinary user has no other to give."""
    with started(folder_of(tmp_path, bot_py=WAIT)) as process:
        assert users_of(process) == {os.geteuid()}
    assert users.acquire_uid() is None


@as_ordinary_user
def test_a_folder_of_the_users_own_is_as_good_as_any(tmp_path: Path) -> None:
    """Nothing needs to be readable by others."""
    folder = folder_of(tmp_path / "closed" / "bot", bot_py="print('here')")
    folder.chmod(0o700)
    (tmp_path / "closed").chmod(0o700)

    assert ran_command(folder).out == "here\n"
    assert users.reachable(folder) == folder.resolve()


def test_nothing_is_left_of_a_killed_box(tmp_path: Path) -> None:
    """At the moment `kill` returns: no process, no descriptor, no thread."""
    folder = folder_of(tmp_path, bot_py="import sys\nfor line in sys.stdin: print(1, flush=True)\n")
    with talking(folder) as (channel, process):
        ask(channel)
    fds, threads = open_files(), threading.active_count()

    for _ in range(5):
        with talking(folder) as (channel, process):
            ask(channel)
        assert not Path(f"/proc/{process.group.id}").exists()

    assert open_files() == fds
    assert threading.active_count() == threads
