"""Which control group is ours to manage, and when systemd is asked for one: a folder in place of a machine's files."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from support.golden import Golden

from arena.errors import HarnessFault, SpecError
from arena.operations import playing
from arena.process.sandbox import cgroup, scope, self_test

USER: Final = 1000
SESSION: Final = "user.slice/user-1000.slice/session-3.scope"
MANAGER: Final = "user.slice/user-1000.slice/user@1000.service"


class Machine:
    """The files of a machine: cgroup v2 at /sys/fs/cgroup, this process in the group `own`."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.uid = 0
        self.owners: dict[Path, int] = {}
        self.marks: dict[tuple[Path, str], bytes] = {}
        (root / "proc/self").mkdir(parents=True)
        self.tree = root / "sys/fs/cgroup"
        self.write("proc/self/mountinfo", "24 1 0:22 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n")
        self.group("", controllers="cpuset cpu io memory pids")
        self._stat = Path.stat
        patch.setattr(os, "geteuid", lambda: self.uid)
        patch.setattr(os, "getxattr", self._getxattr)
        patch.setattr(Path, "stat", self._stat_of())
        patch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
        patch.setattr(scope, "user_name", lambda _uid: "ada")
        patch.setattr(scope, "_ends_with_its_terminal", lambda: False)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")

    def group(self, name: str, *, controllers: str = "memory pids", members: str = "", owner: int = 0) -> Path:
        folder = self.tree / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.controllers").write_text(controllers)
        (folder / "cgroup.subtree_control").write_text("")
        (folder / "cgroup.procs").write_text(members)
        self.owners[folder] = owner
        return folder

    def own(self, name: str, **about: object) -> Path:
        self.write("proc/self/cgroup", f"9:name=systemd:/\n0::/{name}\n")
        return self.group(name, **about)  # type: ignore[arg-type]

    def with_systemd(self) -> None:
        (self.root / "run/systemd/system").mkdir(parents=True)

    def with_manager(self, *, linger: bool = True) -> None:
        self.with_systemd()
        self.uid = USER
        self.group(MANAGER, owner=USER)
        self.write("run/user/1000/bus", "")
        (self.root / "run/user/1000/systemd").mkdir()
        if linger:
            self.write("var/lib/systemd/linger/ada", "")

    def _getxattr(self, path: Path, name: str) -> bytes:
        try:
            return self.marks[path, name]
        except KeyError:
            raise OSError from None

    def _stat_of(self) -> Callable[..., os.stat_result]:
        def owned(path: Path, **how: bool) -> os.stat_result:
            words = list(self._stat(path, **how))
            words[4] = self.owners.get(path, 0)
            return os.stat_result(words)

        return owned


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path / "machine", monkeypatch)


def found(machine: Machine) -> Path | None:
    return cgroup.find(machine.root)


def test_roots_delegated_group_is_used_and_its_members_move_aside(machine: Machine) -> None:
    """Systemd's mark says so; a group with members cannot have limited children."""
    machine.with_systemd()
    base = machine.own("system.slice/arena.scope", members="12")
    machine.marks[base, "trusted.delegate"] = b"1"

    assert found(machine) == base
    assert (base / "arena-harness/cgroup.procs").read_text() == "12"
    assert (base / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_a_process_that_has_moved_aside_finds_the_same_group(machine: Machine) -> None:
    """This is so for workers, and for an arena started by arena."""
    machine.with_systemd()
    base = machine.group("system.slice/arena.scope")
    machine.marks[base, "trusted.delegate"] = b"1"
    machine.own("system.slice/arena.scope/arena-harness", controllers="")

    assert found(machine) == base


@pytest.mark.parametrize("own", ["", "init.scope", "system.slice/ssh.service", SESSION])
def test_what_systemd_manages_is_never_taken(machine: Machine, own: str) -> None:
    """Root could write to all of it."""
    machine.with_systemd()
    base = machine.own(own, members=str(os.getpid()))
    (base / "cgroup.subtree_control").write_text("memory pids")

    assert found(machine) is None
    assert not (base / "arena-harness").exists()


def test_a_terminals_scope_is_never_taken_though_it_is_the_users(machine: Machine) -> None:
    """The user's own systemd manages it, and their shell is in it."""
    machine.with_manager()
    machine.group(f"{MANAGER}/app.slice", owner=USER)
    base = machine.own(f"{MANAGER}/app.slice/vte-spawn-1.scope", owner=USER, members="7 8")
    machine.write("run/user/1000/systemd/transient/vte-spawn-1.scope", "[Scope]\nSlice=app.slice\n")

    assert found(machine) is None
    assert (base / "cgroup.procs").read_text() == "7 8"


@pytest.mark.parametrize("how", ["mark", "unit", "drop-in", "boundary"])
def test_a_users_delegated_group_is_used(machine: Machine, how: str) -> None:
    """It is marked by systemd, by its unit's settings, or was given to this user by hand."""
    machine.with_manager()
    unit = "run/user/1000/systemd/transient/run-r1.scope"
    place = "batch" if how == "boundary" else f"{MANAGER}/app.slice"
    machine.group(place, owner=0 if how == "boundary" else USER)
    base = machine.own(f"{place}/run-r1.scope", owner=USER, members="7")
    if how == "mark":
        machine.marks[base, "user.delegate"] = b"1"
    elif how == "unit":
        machine.write(unit, "# made by systemd\n[Scope]\nDelegate=yes\n")
    elif how == "drop-in":
        machine.write(f"{unit}.d/50-Delegate.conf", "[Scope]\nDelegate=pids memory\n")

    assert found(machine) == base


def test_somebody_elses_group_is_never_used(machine: Machine) -> None:
    """A session's scope belongs to root."""
    machine.with_manager()
    machine.own(SESSION, members="7")

    assert found(machine) is None


def test_a_group_without_memory_is_not_used(machine: Machine) -> None:
    """Hybrid machines with version 1 have such groups, which could not limit memory."""
    machine.own("batch", controllers="pids", members=str(os.getpid()))

    assert found(machine) is None


def test_without_systemd_root_uses_a_group_in_which_it_is_alone(machine: Machine) -> None:
    """Only this process is moved."""
    base = machine.own("batch", members=str(os.getpid()))

    assert found(machine) == base
    assert (base / "arena-harness/cgroup.procs").read_text() == str(os.getpid())


def test_without_systemd_root_moves_nobody_else(machine: Machine) -> None:
    """The group may contain a container's first process, for example."""
    base = machine.own("", members=f"1 {os.getpid()}")

    assert found(machine) is None
    assert not (base / "arena-harness").exists()


def test_without_systemd_root_uses_a_group_that_is_set_up(machine: Machine) -> None:
    """Its children's limits are enabled already; no process is moved."""
    base = machine.own("", members="1 2 3")
    (base / "cgroup.subtree_control").write_text("memory pids cpu")

    assert found(machine) == base
    assert not (base / "arena-harness").exists()


def test_empty_groups_of_dead_referees_are_removed(machine: Machine) -> None:
    """Groups of living ones stay."""
    base = machine.own("batch", members=str(os.getpid()))
    dead, alive = base / f"arena-{10**9}-0", base / f"arena-{os.getpid()}-0"
    dead.mkdir()
    alive.mkdir()

    assert found(machine) == base
    assert not dead.exists()
    assert alive.exists()


@pytest.mark.parametrize("mounts", ["", "25 1 0:23 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"])
def test_a_machine_without_version_2(machine: Machine, mounts: str, golden: Golden) -> None:
    """The machine is not changed, and the reason is reported."""
    machine.own("batch")
    machine.write("proc/self/mountinfo", mounts)

    assert found(machine) is None
    golden(scope.obstacle(machine.root))


def test_each_obstacle_has_a_reason_and_an_advice(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """The obstacles are removed one by one."""
    machine.uid = USER
    machine.own(SESSION)
    said = [scope.obstacle(machine.root)]
    machine.with_systemd()
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    said.append(scope.obstacle(machine.root))
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    said.append(scope.obstacle(machine.root))
    (machine.root / "run/user/1000/systemd").mkdir(parents=True)
    said.append(scope.obstacle(machine.root))
    machine.write("run/user/1000/bus", "")
    said.append(scope.obstacle(machine.root))
    machine.group(MANAGER)
    said.append(scope.obstacle(machine.root))
    machine.write("var/lib/systemd/linger/ada", "")

    assert scope.obstacle(machine.root) == ""
    assert [each.partition(";")[0] for each in said] == [
        "no systemd runs here to hand a group over",
        "busctl, a part of systemd, is missing",
        "no systemd of your own runs",
        "your own systemd has no bus",
        "your own systemd may not limit memory",
        "your own systemd ends when you log out, and a command in the background shall not end with it",
    ]
    assert all(each.partition("; ")[2] for each in said)
    golden(said[-1])


@pytest.mark.parametrize("uid", [0, USER])
@pytest.mark.parametrize("manager", ["", f"{MANAGER}/"])
def test_a_service_is_not_left(machine: Machine, uid: int, manager: str, golden: Golden) -> None:
    """A service may have limits, and is stopped as a unit."""
    machine.with_manager()
    machine.uid = uid
    machine.own(f"{manager}app.slice/nightly.service")

    golden(scope.obstacle(machine.root))
    machine.own(f"{manager}app.slice/nightly.service/more.scope")
    assert scope.obstacle(machine.root) == ""


@pytest.mark.parametrize("why", ["linger", "foreground", "inside"])
def test_nobody_is_moved_into_a_shorter_life(machine: Machine, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    """A league under nohup runs on after logout; in a scope it would not, unless lingering is enabled."""
    machine.with_manager(linger=why == "linger")
    machine.own(f"{MANAGER}/app.slice/tmux.scope" if why == "inside" else SESSION)
    monkeypatch.setattr(scope, "_ends_with_its_terminal", lambda: why == "foreground")

    assert scope.obstacle(machine.root) == ""


LEADER: Final = """
import fcntl, os, signal, termios
from arena.process.sandbox import scope
os.setsid()
signal.signal(signal.SIGHUP, signal.SIG_DFL)
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
CASES = {
    "foreground": lambda: None,
    "nohup": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    "tmux": lambda: os.environ.update(TMUX="/tmp/tmux-1000/default,1,0"),
    "screen": lambda: os.environ.update(STY="1.pts-0"),
    "background": lambda: os.setpgid(0, 0),
    "no terminal": lambda: os.setsid(),
}
for name, prepare in CASES.items():
    if os.fork() == 0:
        prepare()
        if scope._ends_with_its_terminal(): print(name, flush=True)
        os._exit(0)
    os.wait()
"""


def test_which_processes_end_with_their_terminal() -> None:
    """Foreground processes do, unless nohup or tmux protects them; tried on a terminal made here."""
    terminal, end = os.openpty()
    settings = {key: value for key, value in os.environ.items() if key not in ("TMUX", "STY")}
    try:
        ran = subprocess.run(
            [sys.executable, "-c", LEADER], stdin=end, capture_output=True, text=True, env=settings, check=False
        )
    finally:
        os.close(terminal)
        os.close(end)

    assert (ran.stdout, ran.stderr) == ("foreground\n", "")


@pytest.mark.parametrize("value", ["off", "AUTO", "1"])
def test_an_impossible_setting(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """It is refused, with the possible values."""
    monkeypatch.setenv("ARENA_CGROUP", value)

    with pytest.raises(SpecError, match=f"expected auto, no or required, found {value}"):
        scope.enter()


def test_it_can_be_switched_off(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The delegated group is not used then, and systemd is not asked."""
    monkeypatch.setenv("ARENA_CGROUP", "no")
    cgroup.delegated_group.cache_clear()
    machine.own("batch", members=str(os.getpid()))

    assert "ARENA_CGROUP=no" in scope.enter(machine.root)
    assert cgroup.delegated_group() is None
    cgroup.delegated_group.cache_clear()


def test_what_is_required_and_cannot_be_had(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """No bot is started without the required group."""
    monkeypatch.setenv("ARENA_CGROUP", "required")
    monkeypatch.setattr(scope, "enter", lambda: "no systemd; get one")
    monkeypatch.setattr(self_test, "require_isolation", pytest.fail)

    with golden.raises(HarnessFault):
        playing.prepare_isolation("sandbox", "nim")


def test_a_refusal_of_systemd_is_told(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, golden: Golden
) -> None:
    """The message is systemd's; an older one, which knows no preference, is asked again without it."""
    asked = tmp_path / "asked"
    program = tmp_path / "busctl"
    program.write_text(f'#!/bin/sh\necho "$@" >> {asked}\necho "Access denied" >&2\nexit 1\n')
    program.chmod(0o755)
    machine.with_manager()
    machine.own(SESSION)
    monkeypatch.setenv("PATH", str(tmp_path))
    cgroup.delegated_group.cache_clear()

    said = scope._ask_systemd()

    golden(said)
    first, second = asked.read_text().splitlines()
    assert "ManagedOOMPreference" in first
    assert "ManagedOOMPreference" not in second
    assert f"PIDs au 1 {os.getpid()} Delegate b true" in second
