"""A core for a worker and its bots: claimed by one process of the machine, inherited by bots, left when crowded."""

import contextlib
import fcntl
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.process_boxes import (
    BOT,
    FORKING,
    as_ordinary_user,
    ask,
    eventually,
    folder_of,
    host_environment,
    in_a_box,
    open_to_all,
    talking,
)

from arena.process import cores
from arena.process.cores import CoreTimes, OwnCore, claims_folder, free_cores, read_core_times
from arena.process.limits import Limits

CORES = sorted(os.sched_getaffinity(0))
pytestmark = [pytest.mark.process, pytest.mark.skipif(len(CORES) < 2, reason="this machine has one core")]
LAST, FIRST = CORES[-1], CORES[0]
Make = Callable[..., OwnCore]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes processes' own cores, all of this one here, whose claims no other test or program meets."""
    made = []

    def own_core(**more: object) -> OwnCore:
        made.append(OwnCore(folder=lambda: tmp_path, **more))  # type: ignore[arg-type]
        return made[-1]

    yield own_core
    for each in made:
        each.release()
    os.sched_setaffinity(0, CORES)


def test_each_core_is_claimed_once(make: Make) -> None:
    """From the last on, which the kernel's own work likes least; who finds none runs on all, and finds one later."""
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
    """This thread, and what it starts, runs on that core only; and then on all."""
    owner = make()
    owner.claim()
    owner.claim()

    assert os.sched_getaffinity(0) == {LAST}
    assert affinity_of_a_child() == {LAST}

    owner.release()

    assert os.sched_getaffinity(0) == set(CORES)


def affinity_of_a_child() -> set[int]:
    """The cores of a process that is started now."""
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
    """Also of another command, which claims another core meanwhile."""
    owner = make()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path], stdout=subprocess.PIPE, env=host_environment()
    ) as holder:
        assert holder.stdout is not None
        assert int(holder.stdout.readline()) == LAST
        owner.claim()
        assert owner.core == CORES[-2]
        owner.release()
        holder.kill()
    owner.claim()

    assert owner.core == LAST


class Machine:
    """The times of its cores, and the clock on the wall, as the test says."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.times = dict.fromkeys(CORES, CoreTimes(0.0, 0.0))

    def read(self) -> dict[int, CoreTimes]:
        return dict(self.times)

    def wall(self) -> float:
        return self.now_s

    def passes(self, seconds: float, **busy: float) -> None:
        """So much time, with this share of it busy on the first and the last core; all others are busy throughout."""
        shares = {LAST: busy["last"], FIRST: busy["first"]}
        self.now_s += seconds
        for core, (busy_s, idle_s) in self.times.items():
            share = shares.get(core, 1.0)
            self.times[core] = CoreTimes(busy_s + share * seconds, idle_s + (1 - share) * seconds)


@pytest.mark.parametrize(
    ("window_s", "last", "first", "moves"),
    [(2.0, 0.5, 0.1, True), (2.0, 0.2, 0.0, False), (2.0, 1.0, 0.3, False), (0.9, 1.0, 0.0, False)],
    ids=["crowded", "quiet", "no-better", "too-early"],
)
def test_a_crowded_core_is_left_for_a_free_one(
    make: Make, window_s: float, last: float, first: float, moves: bool
) -> None:
    """With all that was started on it. Where every core has work, a wake-up on the same one is still the cheapest."""
    machine = Machine()
    owner = make(read=machine.read, wall=machine.wall)
    owner.claim()
    with subprocess.Popen(["sleep", "60"]) as child:
        machine.passes(window_s, last=last, first=first)
        owner.look()
        cores = os.sched_getaffinity(child.pid)
        child.kill()

    assert cores == os.sched_getaffinity(0) == {FIRST if moves else LAST}


def test_a_free_core_that_somebody_else_has_is_no_better(make: Make) -> None:
    """Two arena commands never share one."""
    machine = Machine()
    owner, other = make(read=machine.read, wall=machine.wall), make()
    owner.claim()
    other._move_to([FIRST])
    os.sched_setaffinity(0, {LAST})

    machine.passes(2.0, last=1.0, first=0.0)
    owner.look()

    assert owner.core == LAST


@pytest.mark.parametrize("has_ended", [False, True])
def test_what_a_worker_and_its_bots_use_crowds_nobody(make: Make, has_ended: bool) -> None:
    """A child has burnt what the core was busy with, and may have ended since."""
    machine = Machine()
    owner = make(read=machine.read, wall=machine.wall)
    owner.claim()
    with subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) as child:
        clock_id = (~child.pid << 3) | 2
        assert eventually(lambda: time.clock_gettime(clock_id) > 0.5)
        if has_ended:
            child.kill()
            child.wait()
        machine.passes(1.0, last=0.5, first=0.0)
        owner.look()
        child.kill()

    assert owner.core == LAST


def test_the_kernel_tells_the_times_of_all_cores() -> None:
    """They grow with the time."""
    before = read_core_times()

    assert eventually(lambda: all(sum(read_core_times()[core]) > sum(before[core]) for core in CORES))
    assert set(CORES) <= set(before)


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
    """It inherits it, and has no call to choose another."""
    make().claim()
    with talking(folder_of(tmp_path / "bot", bot_py=LEAVING), limits=limits) as (channel, _):
        said = ask(channel, str(max(CORES) + 1).encode())

    assert said.decode() == f"{LAST} Function not implemented"


@pytest.mark.usefixtures("make")
def test_a_claimed_core_is_not_free() -> None:
    """As the doctor tells it; this claim is a real one."""
    owner = OwnCore()
    owner.claim()
    claimed, during = owner.core, free_cores()
    owner.release()

    assert claimed not in during


def test_another_user_takes_no_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by a name that everybody may bind, nor by folders and links that lie where the claims shall be."""
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
    """The core is left to nobody; another one is claimed."""
    victim = tmp_path / "victim"
    (tmp_path / f"core-{LAST}").symlink_to(victim)
    owner = OwnCore(folder=lambda: tmp_path)
    owner.claim()
    core = owner.core
    owner.release()

    assert core == CORES[-2]
    assert not victim.exists()
