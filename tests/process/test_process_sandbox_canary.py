"""The canary can fail: with one protection taken away it says which."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pyseccomp
import pytest
from process_boxes import bwrap_is, in_a_box

from arena.errors import HarnessFault
from arena.process.limits import Limits
from arena.process.sandbox import box, bubblewrap, probe, syscalls
from arena.process.sandbox.reach import reachable

pytestmark = in_a_box

Words = list[str]
ALONE = ["--unshare-user", "--unshare-ipc", "--unshare-uts", "--unshare-net"]


def box_with(
    edit: Callable[[Words], Words] = lambda words: words,
    *,
    filters: Callable[[], int | None] = lambda: syscalls.filter_for_play(processes=False),
    **limits: int | bool,
) -> box.Start:
    """The way bots are started, with other arguments, another filter, or other limits."""

    def start(
        command: Words, folder: Path, environment: dict[str, str], allowed: Limits
    ) -> tuple["subprocess.Popen[bytes]", box.Box]:
        words = edit(bubblewrap.arguments(reachable(folder), environment=environment, scratch_mib=0))
        fd = filters()
        words += [] if fd is None else ["--seccomp", str(fd)]
        given = msgspec.structs.replace(allowed, **limits)
        return box.start_with(command, words, given, passed=() if fd is None else (fd,))

    return start


def without(*words: str) -> Callable[[Words], Words]:
    """The arguments without this run of words."""

    def edit(arguments: Words) -> Words:
        length = len(words)
        place = next(i for i in range(len(arguments)) if tuple(arguments[i : i + length]) == words)
        return arguments[:place] + arguments[place + length :]

    return edit


def instead_of(word: str, *others: str) -> Callable[[Words], Words]:
    """The arguments with others in place of one."""
    return lambda arguments: [new for old in arguments for new in (others if old == word else (old,))]


def with_more(*words: str) -> Callable[[Words], Words]:
    """The arguments and these besides them, before the last ones."""
    return instead_of("--proc", *words, "--proc")


SHARING_NET = instead_of("--unshare-all", "--unshare-all", "--share-net")


def empty_filter() -> int:
    """A filter that lets everything pass."""
    fd = os.memfd_create("empty")
    with os.fdopen(os.dup(fd), "wb") as file:
        pyseccomp.SyscallFilter(pyseccomp.ALLOW).export_bpf(file)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def breaches(start: box.Start) -> dict[str, str]:
    """What the canary got through."""
    return {what: breach for what, breach in probe.try_to_break_out(start).items() if breach}


def test_nothing_is_open_under_the_arguments_of_bots() -> None:
    """Every subject is tried, none is open."""
    found = probe.try_to_break_out()

    assert len(found) == 11
    assert set(found.values()) == {""}


def test_the_seam_of_these_tests_adds_no_hole() -> None:
    """With nothing taken away the box of these tests holds too."""
    assert breaches(box_with()) == {}


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (with_more("--ro-bind", "/tmp", "/tmp"), {"files": "read /tmp/arena-bait-"}),
        (without("--remount-ro", "/"), {"writing": "wrote to /, /dev, /dev/shm"}),
        (with_more("--tmpfs", "/tmp"), {"writing": "wrote to /tmp"}),
        (SHARING_NET, {"namespaces": "net"}),
        (instead_of("--unshare-all", *ALONE), {"other processes": "outside", "namespaces": "pid"}),
        (instead_of("--unshare-all", "--unshare-pid", "--unshare-net", "--unshare-uts"), {"namespaces": "ipc"}),
        (with_more("--setenv", "API_TOKEN", "x"), {"environment": "API_TOKEN"}),
        (instead_of("--cap-drop", "--cap-add"), {"rights": "capabilities"}),
    ],
    ids=["host-tmp", "root", "tmpfs", "network", "pids", "ipc", "setting", "capabilities"],
)
def test_a_missing_argument_is_seen(edit: Callable[[Words], Words], expected: dict[str, str]) -> None:
    """The subject is the one that the argument protects, and no other."""
    found = breaches(box_with(edit))

    assert found.keys() == expected.keys()
    for what, words in expected.items():
        assert words in found[what]


def test_a_network_that_filter_and_namespace_leave_open_is_seen() -> None:
    """Either of them keeps a bot from the programs of this machine."""
    found = breaches(box_with(SHARING_NET, filters=lambda: None))

    assert "connected to a program outside" in found["network"]


def test_a_writable_folder_is_seen() -> None:
    """As a build has it."""

    def start(
        command: Words, folder: Path, environment: dict[str, str], limits: Limits
    ) -> tuple["subprocess.Popen[bytes]", box.Box]:
        folder.chmod(0o777)
        return box.start_build(command, folder, environment, limits)

    found = breaches(start)

    assert found["writing"] == "wrote to /bot"
    assert "setsid" in found["system calls"]
    assert found["own processes"] == "can start processes"


def test_settings_left_to_bwrap_itself_are_seen(tmp_path: Path) -> None:
    """Its first process keeps them in /proc/1/environ, whatever the bot's own environment is."""
    careless = f'#!/bin/sh\nSECRET="$*" exec {bubblewrap.program()} "$@"\n'

    with bwrap_is(tmp_path, careless):
        found = breaches(box.start)

    assert found == {"environment": "sees settings of the harness: /proc/1/environ"}


def test_a_missing_filter_is_seen() -> None:
    """In its absence, and by what passes where one was."""
    no_filter = breaches(box_with(filters=lambda: None))
    idle_filter = breaches(box_with(filters=empty_filter))

    assert no_filter["rights"] == "has no system call filter"
    assert no_filter.keys() == idle_filter.keys() | {"rights"}
    for name in ("setsid", "ptrace", "keyctl", "memfd_create", "sched_setaffinity"):
        assert name in idle_filter["system calls"]
    assert "unshare" not in idle_filter["system calls"]  # --disable-userns holds by itself
    assert idle_filter["own processes"] == "can start processes"


def test_user_namespaces_left_open_are_seen() -> None:
    """Without the filter `unshare` works where --disable-userns is not given."""
    found = breaches(box_with(without("--disable-userns"), filters=lambda: None))

    assert "unshare" in found["system calls"]


def test_a_filter_that_lets_bots_fork_is_seen() -> None:
    """It is the one of bots that declare `processes`."""
    found = breaches(box_with(filters=lambda: syscalls.filter_for_play(processes=True)))

    assert found == {"own processes": "can start processes"}


def test_limits_that_were_not_set_are_seen() -> None:
    """Threads without a limit, and more memory than was agreed."""
    assert breaches(box_with(tasks=64)) == {"tasks": "started 17 threads, allowed are 16 tasks"}
    assert breaches(box_with(memory_mib=1024)) == {"limits": "has no limit of memory"}


def test_a_canary_that_cannot_run_is_no_canary_that_was_kept() -> None:
    """A box without its Python says so instead of nothing."""
    with pytest.raises(HarnessFault, match="the sandbox"):
        breaches(box_with(without("--ro-bind", "/usr", "/usr")))
