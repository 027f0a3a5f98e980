"""A core for a worker and its bots: claimed by one process of the machine, inherited by bots."""

import contextlib
import fcntl
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.process_boxes import (
    BOT,
    FORKING,
    as_ordinary_user,
    ask,
    folder_of,
    in_a_box,
    next_line,
    open_to_all,
    python_process,
    talking,
)

from arena.process import cores
from arena.process.cores import OwnCore, claims_folder, free_cores
from arena.process.limits import Limits

CORES = sorted(os.sched_getaffinity(0))
pytestmark = [pytest.mark.process, pytest.mark.skipif(len(CORES) < 2, reason="this machine has one core")]
LAST = CORES[-1]
Make = Callable[[], OwnCore]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Return a function that makes `OwnCore`s, whose claims no other test or program meets."""
    made = []

    def own_core() -> OwnCore:
        made.append(OwnCore(folder=lambda: tmp_path))
        return made[-1]

    yield own_core
    for each in made:
        each.release()
    os.sched_setaffinity(0, CORES)


def test_each_core_is_claimed_once(make: Make) -> None:
    """Cores are claimed from the last on; a process without a free core runs on all and may claim one later."""
    owners = [make() for _ in range(len(CORES) + 1)]
    for owner in owners:
        owner.claim()
    (*some, late) = owners

    assert [owner.core for owner in some] == CORES[::-1]
    assert late.core is None

    some[0].release()
    late.claim()

    assert late.core == LAST


def test_a_claim_is_kept_until_it_is_given_back(make: Make) -> None:
    """This thread and its children run on that core only, and afterwards on all."""
    owner = make()
    owner.claim()
    owner.claim()

    assert os.sched_getaffinity(0) == {LAST}
    assert affinity_of_a_child() == {LAST}

    owner.release()

    assert os.sched_getaffinity(0) == set(CORES)


def affinity_of_a_child() -> set[int]:
    """Return the cores of a process that is started now."""
    code = "import os; print(*os.sched_getaffinity(0))"
    return set(map(int, subprocess.check_output([sys.executable, "-S", "-c", code]).split()))


HOLDER = """
import sys, time
from pathlib import Path
from arena.process import cores
from arena.process.cores import OwnCore
owner = OwnCore(folder=lambda: Path(sys.argv[1]))
owner.claim()
print(owner.core, flush=True)
time.sleep(60)
"""


def test_the_claim_of_a_killed_process_is_free(make: Make, tmp_path: Path) -> None:
    """A later process can claim the core."""
    owner = make()
    with python_process(HOLDER, str(tmp_path)) as holder:
        assert next_line(holder) == str(LAST)
        owner.claim()
        assert owner.core == CORES[-2]
        owner.release()
    owner.claim()

    assert owner.core == LAST


LEAVING = """
import os, sys
for line in sys.stdin:
    try:
        os.sched_setaffinity(0, set(range(int(line))))
        left = "left"
    except OSError as error:
        left = error.strerror
    print(*os.sched_getaffinity(0), left, flush=True)
"""


@pytest.mark.parametrize("limits", [BOT, FORKING], ids=["alone", "forking"])
@pytest.mark.skipif(not in_a_box or in_a_box[1].args[0], reason="no sandbox here")
def test_a_bot_cannot_leave_the_core_that_its_worker_has(make: Make, tmp_path: Path, limits: Limits) -> None:
    """It inherits the core, and no system call that it may make changes that."""
    make().claim()
    with talking(folder_of(tmp_path / "bot", bot_py=LEAVING), limits=limits) as (channel, _):
        said = ask(channel, str(max(CORES) + 1).encode())

    assert said.decode() == f"{LAST} Function not implemented"


@pytest.mark.usefixtures("make")
def test_a_claimed_core_is_not_free() -> None:
    """`free_cores` leaves it out, as the doctor shows; this claim is a real one."""
    owner = OwnCore()
    owner.claim()
    claimed, during = owner.core, free_cores()
    owner.release()

    assert claimed not in during


def test_another_user_takes_no_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders and links of other users where the claims should be, and locks in them, prevent no claim."""
    open_to_all(tmp_path).chmod(0o1777)
    monkeypatch.setattr(cores, "_SHARED", str(tmp_path))
    names = [f"arena-{os.geteuid()}", f"arena-{os.geteuid()}-2", f"arena-{os.geteuid()}-3"]

    def take_all() -> str:
        squatted, linked, locked = (tmp_path / name for name in names)
        squatted.mkdir(mode=0o777)
        linked.symlink_to(tmp_path / "elsewhere")
        locked.mkdir(mode=0o700)
        for core in CORES:
            claim = os.open(squatted / f"core-{core}", os.O_RDWR | os.O_CREAT)
            fcntl.flock(claim, fcntl.LOCK_EX)
        return "taken"

    if os.geteuid() == 0:
        assert as_ordinary_user(take_all) == "taken"
    listeners = [socket.socket(socket.AF_UNIX) for _ in CORES]
    for core, listener in zip(CORES, listeners, strict=True):
        with contextlib.suppress(OSError):
            listener.bind(f"\0arena-core-{core}")
    owner = OwnCore()
    owner.claim()
    folder, claimed = claims_folder(), owner.core
    owner.release()
    for listener in listeners:
        listener.close()

    assert folder is not None
    assert folder.stat().st_uid == os.geteuid()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert claimed in CORES


def test_a_link_in_the_folder_is_not_followed(tmp_path: Path) -> None:
    """That core is claimed by no process; another one is."""
    victim = tmp_path / "victim"
    (tmp_path / f"core-{LAST}").symlink_to(victim)
    owner = OwnCore(folder=lambda: tmp_path)
    owner.claim()
    core = owner.core
    owner.release()

    assert core == CORES[-2]
    assert not victim.exists()
