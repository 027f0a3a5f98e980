"""What is free on a machine, with plain files in place of the kernel's; and errors that name a shortage."""

import errno
from pathlib import Path

import pytest

from arena.errors import MachineFault
from arena.process import shortage

MIB = 1 << 20
V1 = "1 2 0:1 {top} /sys/fs/cgroup/{name} rw,relatime shared:3 - cgroup cgroup rw,{name}\n"
V2 = "3 2 0:3 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"


def machine(root: Path, files: dict[str, str], mounts: str = "", groups: str = "") -> Path:
    """Return the root of a machine with 1000 MiB free and these files."""
    basic = {
        "proc/meminfo": f"MemTotal: 9999999 kB\nMemFree: 1 kB\nMemAvailable: {1000 << 10} kB\n",
        "proc/vmstat": "nr_free_pages 12\noom_kill 40\n",
        "proc/self/mountinfo": f"0 1 0:9 / / rw - ext4 /dev/root rw\n{mounts}",
        "proc/self/cgroup": groups,
    }
    for name, text in {**basic, **files}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "ascii")
    return root


def v1_group(folder: str, limit_mib: int, used_mib: int, inactive_mib: int = 0) -> dict[str, str]:
    """Return the files of a memory group of version 1, whose own `inactive_file` is less than that of its tree."""
    return {
        f"sys/fs/cgroup/memory/{folder}memory.limit_in_bytes": f"{limit_mib * MIB}\n",
        f"sys/fs/cgroup/memory/{folder}memory.usage_in_bytes": f"{used_mib * MIB}\n",
        f"sys/fs/cgroup/memory/{folder}memory.stat": f"inactive_file 0\ntotal_inactive_file {inactive_mib * MIB}\n",
        f"sys/fs/cgroup/memory/{folder}memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
    }


def test_without_groups_the_machine_tells(tmp_path: Path) -> None:
    """Its available memory and its kills count, and no limit of processes."""
    root = machine(tmp_path, {})

    assert shortage.free_memory(root) == 1000 * MIB
    assert shortage.oom_kills(root) == 40


@pytest.mark.parametrize(
    ("own", "above", "free_mib"),
    [
        ((300, 100), (2000, 0), 200),
        ((900, 0), (500, 400), 100),
        ((5000, 0), (5000, 0), 1000),
        ((100, 130), (500, 0), 0),
    ],
    ids=["own limit", "limit above", "machine", "none"],
)
def test_the_nearest_limit_counts_in_version_1(
    tmp_path: Path, own: tuple[int, int], above: tuple[int, int], free_mib: int
) -> None:
    """Own group or one above, as far as it is mounted; kills are those of the own group."""
    files = {**v1_group("a/b/", *own), **v1_group("a/", *above), **v1_group("", 1 << 40, 0)}
    mounts, groups = V1.format(top="/", name="memory"), "4:memory:/a/b\n3:cpu,cpuacct:/x\n0::/\n"
    root = machine(tmp_path, files, mounts, groups)

    assert shortage.free_memory(root) == free_mib * MIB
    assert shortage.oom_kills(root) == 3


def test_a_container_shows_its_own_group_as_the_root(tmp_path: Path) -> None:
    """The path of the group begins where the mount does; files that nobody uses now count as free."""
    mounts, groups = V1.format(top="/docker/0123", name="memory"), "4:memory:/docker/0123\n"
    root = machine(tmp_path, v1_group("", 300, 250, inactive_mib=50), mounts, groups)

    assert shortage.free_memory(root) == 100 * MIB


def test_a_group_outside_of_the_mount_is_that_of_the_mount(tmp_path: Path) -> None:
    """So a namespace of groups may show it."""
    mounts, groups = V1.format(top="/", name="memory"), "4:memory:/../../init\n"
    root = machine(tmp_path, v1_group("", 300, 250), mounts, groups)

    assert shortage.free_memory(root) == 50 * MIB


@pytest.mark.parametrize(
    ("limit", "high", "free_mib"),
    [("max", "max", 1000), (str(400 * MIB), "max", 310), ("max", str(200 * MIB), 110)],
    ids=["none", "max", "high"],
)
def test_the_nearest_limit_counts_in_version_2(tmp_path: Path, limit: str, high: str, free_mib: int) -> None:
    """The limit from which the kernel slows down counts, too; kills are those of the group and below."""
    files = {
        "sys/fs/cgroup/user/memory.max": limit,
        "sys/fs/cgroup/user/memory.high": high,
        "sys/fs/cgroup/user/memory.current": str(100 * MIB),
        "sys/fs/cgroup/user/memory.stat": f"anon 1\ninactive_file {10 * MIB}\n",
        "sys/fs/cgroup/user/own/memory.max": "max",
        "sys/fs/cgroup/user/own/memory.current": "17",
        "sys/fs/cgroup/user/own/memory.events": "low 0\noom 9\noom_kill 2\noom_group_kill 5\n",
    }
    root = machine(tmp_path, files, V2, "0::/user/own\n")

    assert shortage.free_memory(root) == free_mib * MIB
    assert shortage.oom_kills(root) == 2


def test_the_nearest_limit_of_processes_counts(tmp_path: Path) -> None:
    """Groups of both versions count."""
    files = {
        "sys/fs/cgroup/pids/a/pids.max": "40",
        "sys/fs/cgroup/pids/a/pids.current": "12",
        "sys/fs/cgroup/pids/a/pids.events": "max 7\n",
        "sys/fs/cgroup/pids/pids.max": "max",
        "sys/fs/cgroup/pids/pids.events": "max 100\n",
    }
    root = machine(tmp_path, files, V1.format(top="/", name="pids"), "2:pids:/a\n")

    assert shortage.free_tasks(root) == 28
    assert shortage.refused_starts(root) == 7


def test_refusals_of_full_groups_count_in_version_2(tmp_path: Path) -> None:
    """Refusals of groups around this process count, not those of groups below."""
    files = {
        "sys/fs/cgroup/a/pids.events": "max 9\n",
        "sys/fs/cgroup/a/pids.events.local": "max 2\n",
        "sys/fs/cgroup/a/b/pids.events.local": "max 0\n",
    }

    assert shortage.refused_starts(machine(tmp_path, files, V2, "0::/a/b\n")) == 2


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (OSError(errno.EAGAIN, "busy"), "pids.max"),
        (OSError(errno.EMFILE, "many"), "ulimit -n"),
        (OSError(errno.ENFILE, "many"), "end other programs"),
        (OSError(errno.ENOMEM, "no"), "not enough memory"),
        (MemoryError(), "not enough memory"),
        (RuntimeError("can't start new thread"), "pids.max"),
    ],
    ids=["fork", "own files", "all files", "memory", "Python's memory", "thread"],
)
def test_errors_of_a_machine_that_ran_short(error: Exception, advice: str) -> None:
    """Each error of Python becomes a sentence with an advice, and the machine's exit code."""
    found = shortage.as_shortage(error)

    assert isinstance(found, MachineFault)
    assert advice in str(found)


@pytest.mark.parametrize("error", [OSError(errno.ENOENT, "none"), RuntimeError("a bug"), ValueError("a bug")])
def test_other_errors_are_no_shortage(error: Exception) -> None:
    """They have their own words."""
    assert shortage.as_shortage(error) is None


def test_a_programs_last_words_name_a_shortage() -> None:
    """Bubblewrap reports errors only as text, without the number."""
    found = shortage.shortage_in("bwrap: Creating new namespace failed: Resource temporarily unavailable")

    assert "pids.max" in str(found)
    assert shortage.shortage_in("bwrap: Unknown option --no-such") is None
