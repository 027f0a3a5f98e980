"""The self-test can fail: with one protection taken away it says which ways that one closed, and no others."""

import ctypes
import inspect
import os
import tempfile
from collections.abc import Callable
from errno import ENOSYS
from pathlib import Path

import msgspec
import pyseccomp
import pytest
from support.process_boxes import box_with, bwrap_is, in_a_box, without

from arena.errors import HarnessFault
from arena.process.limits import Limits, sandbox_rlimits
from arena.process.sandbox import bubblewrap, calls, kernel_files, sandbox, self_test, syscalls

pytestmark = in_a_box

Words = list[str]
ALONE = ["--unshare-user", "--unshare-ipc", "--unshare-uts", "--unshare-net"]


def instead_of(word: str, *others: str) -> Callable[[Words], Words]:
    """Return a function that replaces one argument."""
    return lambda arguments: [new for old in arguments for new in (others if old == word else (old,))]


def with_more(*words: str) -> Callable[[Words], Words]:
    """Return a function that inserts arguments before the last ones."""
    return instead_of("--proc", *words, "--proc")


SHARING_NET = instead_of("--unshare-all", "--unshare-all", "--share-net")


def empty_filter() -> bytes:
    """Return a filter that allows every call."""
    with os.fdopen(os.memfd_create("empty"), "rb") as file:
        pyseccomp.SyscallFilter(pyseccomp.ALLOW).export_bpf(file)
        file.seek(0)
        return file.read()


def breaches(start: sandbox.Start) -> dict[str, dict[str, str]]:
    """Return the breach by group and way."""
    found = {
        group: {way: breach for way, breach in ways.items() if breach}
        for group, ways in self_test.attempt_escapes(start).items()
    }
    return {group: ways for group, ways in found.items() if ways}


def ways(found: dict[str, dict[str, str]]) -> dict[str, set[str]]:
    """Return the ways that were open, by group."""
    return {group: set(open_ways) for group, open_ways in found.items()}


def test_nothing_is_open_under_the_arguments_of_bots() -> None:
    """Every way of the lists was tried, and none is open."""
    tried = self_test.attempt_escapes()

    assert self_test.breaches(tried) == []
    assert tried["calls"].keys() == self_test.closed_calls().keys() <= calls.FORBIDDEN_CALLS
    assert {f"/proc/{path.name}" for path in kernel_files.changing_entries()} < set(tried["counters of the machine"])
    assert set(tried["limits"]) == set(sandbox_rlimits(Limits()))
    assert {"AF_NETLINK", "AF_VSOCK", "AF_ALG"} <= tried["network"].keys()
    assert sum(map(len, tried.values())) > 190


OF_PROCESSES = {
    f"/proc/{who}/{name}"
    for who in ("1", "self")
    for name in ("mem", "oom_score_adj", "clear_refs", "coredump_filter", "autogroup", "comm", "timerslack_ns")
}


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (with_more("--ro-bind", "/var", "/var"), {"files": {"/var"}}),
        (with_more("--ro-bind", "/sys", "/sys"), {"files": {"/sys"}}),
        (with_more("--ro-bind", "/etc/passwd", "/etc/passwd"), {"files": {"/etc/passwd"}}),
        (without("--remount-ro", "/"), {"writing": {"/", "/dev", "/dev/shm", "/etc"}}),
        (with_more("--tmpfs", "/tmp"), {"writing": {"/tmp"}}),
        (
            without("--remount-ro", "/proc"),
            {"files of processes": OF_PROCESSES | {"all other files of /proc"}},
        ),
        (SHARING_NET, {"namespaces": {"net"}}),
        (instead_of("--unshare-all", "--unshare-pid", "--unshare-net", "--unshare-uts"), {"namespaces": {"ipc"}}),
        (with_more("--setenv", "API_TOKEN", "x"), {"environment": {"its own"}}),
        (instead_of("--cap-drop", "--cap-add"), {"rights": {"capabilities"}}),
    ],
    ids=["var", "sys", "passwd", "root", "tmpfs", "proc", "network", "ipc", "setting", "capabilities"],
)
def test_a_missing_argument_is_seen(edit: Callable[[Words], Words], expected: dict[str, set[str]]) -> None:
    """Exactly the ways that the argument closes are open."""
    found = ways(breaches(box_with(edit)))

    assert found == expected


def test_processes_of_others_are_seen() -> None:
    """There is no process namespace here; as root, each bot has a user that cannot signal others."""
    found = ways(breaches(box_with(instead_of("--unshare-all", *ALONE))))

    assert found == {
        "namespaces": {"pid"},
        "other processes": {"seeing them"} if os.geteuid() == 0 else {"seeing them", "signals"},
    }


def test_a_file_of_the_harness_is_seen() -> None:
    """Its folder is bound here."""
    found = breaches(box_with(with_more("--ro-bind", "/tmp", "/tmp")))

    assert found.keys() == {"files"}
    assert any(way.startswith(f"{tempfile.gettempdir()}/arena-self-test-") for way in found["files"])


def test_each_counter_that_is_not_covered_is_seen() -> None:
    """Without the covers exactly those files are readable."""
    found = breaches(box_with(without(*kernel_files.cover_arguments())))

    counters = {f"/proc/{path.name}" for path in kernel_files.changing_entries()}
    assert ways(found) == {"counters of the machine": counters}


def test_a_counter_that_no_list_knows_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A future kernel could have it, if it were not covered."""
    covers = kernel_files.cover_arguments()
    monkeypatch.setattr(kernel_files, "changing_entries", list)

    found = breaches(box_with(without(*covers)))

    assert "loadavg" in found["counters of the machine"]["files that no list knows"]


def test_files_without_a_stand_in_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot reads the machine's files then."""
    synthetic = kernel_files.synthetic_contents
    monkeypatch.setattr(kernel_files, "synthetic_contents", lambda mib: {} if _is_called_by_box() else synthetic(mib))

    found = breaches(box_with())

    assert ways(found) == {"counters of the machine": {"/proc/stat", "/proc/cpuinfo", "/proc/meminfo"}}


def _is_called_by_box() -> bool:
    return any(frame.function == "start_with" for frame in inspect.stack())


def test_a_network_that_filter_and_namespace_leave_open_is_seen() -> None:
    """Either of them keeps a bot from the programs of this machine."""
    found = breaches(box_with(SHARING_NET, filters=None))

    assert {"AF_INET", "AF_UNIX"} <= found["network"].keys()
    assert "connected to a program outside" in found["network"]["AF_INET"]


def test_a_writable_folder_is_seen() -> None:
    """A build has one."""

    def start(command: Words, folder: Path, environment: dict[str, str], limits: Limits) -> sandbox.Started:
        folder.chmod(0o777)
        forking = msgspec.structs.replace(limits, processes=True)
        return sandbox.start_sandboxed(command, folder, environment, forking, is_build=True)

    found = ways(breaches(start))

    assert found["writing"] == {"/bot"}
    assert {"setsid", "setpgid", "flock"} <= found["calls"]
    assert found["own processes"] == {"fork", "posix_spawn"}


def test_settings_left_to_bwrap_itself_are_seen(tmp_path: Path) -> None:
    """Its first process keeps them in /proc/1/environ, whatever the bot's own environment is."""
    careless = f'#!/bin/sh\nSECRET="$*" exec {bubblewrap.program()} "$@"\n'

    with bwrap_is(tmp_path, careless):
        found = breaches(sandbox.start_sandboxed)

    assert found == {"environment": {"the first process's": "sees settings of the harness: /proc/1/environ"}}


NEED_RIGHTS = {"pivot_root", "move_mount", "fsopen", "fsmount", "fspick", "sethostname"}
"""Without a filter the kernel itself refuses them; rights in the box's own namespaces open them."""


def test_each_call_is_seen_where_there_is_no_filter() -> None:
    """Without a filter, and with one that allows everything, each call is reported by name."""
    no_filter = ways(breaches(box_with(filters=None)))
    idle_filter = ways(breaches(box_with(filters=empty_filter())))

    assert no_filter.pop("rights") == {"the filter"}
    assert no_filter == idle_filter
    assert set(self_test.closed_calls()) - idle_filter["calls"] <= NEED_RIGHTS | _not_in_this_kernel()
    assert idle_filter["own processes"] == {"fork", "posix_spawn"}
    assert {"AF_NETLINK", "AF_VSOCK"} <= idle_filter["network"]


def _not_in_this_kernel() -> set[str]:
    """Return the calls that this kernel lacks, asked outside any sandbox with senseless arguments."""
    libc = ctypes.CDLL(None, use_errno=True)
    harmless = ("set_mempolicy_home_node", "cachestat", "statmount", "listmount", "setxattrat", "removexattrat")
    more = ("open_tree_attr", "file_setattr", "memfd_secret", "process_mrelease", "lsm_set_self_attr", "modify_ldt")
    young = self_test.closed_calls()
    missing = set()
    for name in (*harmless, *more, "lsm_list_modules", "pkey_alloc", "landlock_create_ruleset"):
        ctypes.set_errno(0)
        if name in young and libc.syscall(young[name], *[ctypes.c_long(-1)] * 6) < 0 and ctypes.get_errno() == ENOSYS:
            missing.add(name)
    return missing


def test_calls_that_need_rights_are_seen_where_there_are_some() -> None:
    """Together with a network of raw packets; without user namespaces closed, which would take them away."""
    edit = instead_of("--cap-drop", "--cap-add")
    found = ways(breaches(box_with(lambda words: without("--disable-userns")(edit(words)), filters=None)))

    assert found["calls"] >= NEED_RIGHTS - {"sethostname", "pivot_root", "move_mount", "fsmount"}
    assert "AF_PACKET" in found["network"]


def test_each_argument_is_seen_where_there_is_no_filter() -> None:
    """The kernel itself refuses none of them."""
    tried = self_test.attempt_escapes(box_with(filters=empty_filter()))["arguments of calls"]

    assert len(tried) > 20
    assert [way for way, breach in tried.items() if not breach] == []


def test_shared_memory_that_nothing_counts_is_seen() -> None:
    """It is allowed only if a control group counts it."""
    counted = box_with(filters=syscalls.compile_filter(is_play=True, processes=False, counts_shared_memory=True))

    assert ways(breaches(counted)) == {"arguments of calls": {"mmap shared and anonymous"}}


def test_user_namespaces_left_open_are_seen() -> None:
    """Without the filter `unshare` works where --disable-userns is not given."""
    found = breaches(box_with(without("--disable-userns"), filters=None))

    assert "unshare" in found["calls"]


def test_a_filter_that_lets_bots_fork_is_seen() -> None:
    """It is the filter of bots that declare `processes`."""
    found = breaches(box_with(filters=syscalls.compile_filter(is_play=True, processes=True)))

    assert ways(found) == {"own processes": {"fork", "posix_spawn"}}


def test_limits_that_were_not_set_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads without a limit, too much memory, and both together are breaches."""
    assert breaches(box_with(tasks=64)) == {
        "limits": {"NPROC": "has no limit"},
        "tasks": {"threads": "started 17 threads, allowed are 16 tasks"},
    }
    assert breaches(box_with(memory_mib=1024)).keys() == {"limits", "counters of the machine"}

    monkeypatch.setattr(sandbox, "set_rlimits", lambda _pid, _values: None)
    found = ways(breaches(box_with()))

    assert found["limits"] >= {"DATA", "FSIZE"}


def test_a_self_test_that_cannot_run_is_none_that_holds() -> None:
    """A sandbox without its Python is reported as such."""
    with pytest.raises(HarnessFault, match="the sandbox"):
        breaches(box_with(without("--ro-bind", "/usr", "/usr")))
