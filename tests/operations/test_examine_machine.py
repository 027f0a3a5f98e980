"""`arena doctor`: a screen that tells a teacher whether bots can be run safely, whatever is missing here."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from support.cli_arena import ROOT, Terminal

from arena.doctor import machine, sandbox
from arena.doctor.machine import CheckResult, checked, note
from arena.errors import HarnessFault, SpecError
from arena.operations.examine_machine import Diagnosis, ExamineMachine, examine_machine
from arena.process.sandbox import bubblewrap, self_test

HELD = {"files": {"/home": "", "/etc/passwd": ""}, "calls": {"bpf": "", "listmount": ""}}
OPEN = {"files": {"/x": "read /x", "/y": ""}, "network": {"AF_UNIX": ""}, "tasks": {"threads": "started 17"}}


@pytest.fixture
def diagnose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Diagnosis]:
    """The diagnosis of this machine where a self-test tells this, or raises an error."""

    def diagnose(attempts: self_test.Attempts | Exception) -> Diagnosis:
        def attempt() -> self_test.Attempts:
            if isinstance(attempts, Exception):
                raise attempts
            return attempts

        monkeypatch.setattr(self_test, "attempt_escapes", attempt)
        return examine_machine(ExamineMachine(results=tmp_path))

    return diagnose


def text(findings: Iterable[CheckResult]) -> str:
    return " ".join(finding.text for finding in findings)


def test_the_number_of_ways_is_that_of_the_ways_tried(diagnose: Callable[..., Diagnosis]) -> None:
    """With the groups."""
    found = diagnose(HELD)

    assert found.is_safe
    said = "a hostile program tried 4 ways out of it just now, none open:\nfiles 2, calls 2"
    assert found.sandbox[1].text == said


@pytest.mark.process
def test_a_screen_is_enough(terminal: Terminal) -> None:
    """The answer comes first; every line fits, and so do all lines together. The needs of commands are at the end."""
    said = terminal.arena("doctor")

    lines = said.out.splitlines()
    assert said.err == ""
    assert max(map(len, lines)) <= 100
    assert "need the sandbox, or `--isolation none` for bots you trust: league run, match, check, submit" in said.out
    assert "need no sandbox: leaderboard, league status, show, verify" in said.out
    if said.code:
        assert lines[0].startswith("Bots cannot be run safely here")
    else:
        assert lines[0] == "Bots can be run safely here."
        assert len(lines) <= 50
        for words in (
            f"bubblewrap {bubblewrap.version()}",
            "memory",
            "the kernel",
            "languages for bots: ",
            "free for results",
        ):
            assert words in said.out


@pytest.mark.parametrize(
    ("attempts", "said"),
    [
        (OPEN, "files (/x): the bot read /x\ntasks (threads): the bot started 17\n"),
        (HarnessFault("bwrap: no\ninstall a newer one"), "bwrap: no\nwhat to do: install a newer one"),
        (SpecError("ARENA_RUNTIMES: x"), "ARENA_RUNTIMES: x"),
        (FileNotFoundError(2, "No such file", "/proc/self/uid_map"), "/proc/self/uid_map"),
        (AttributeError("module 'os' has no attribute 'pidfd_open'"), "pidfd_open"),
        (ZeroDivisionError("nobody thought of it"), "nobody thought of it"),
        (RuntimeError(""), "RuntimeError"),
    ],
)
def test_a_sandbox_that_does_not_hold_is_not_safe(
    diagnose: Callable[..., Diagnosis], attempts: self_test.Attempts | Exception, said: str
) -> None:
    """Each breach on a line, or whatever the self-test runs into; nothing is said of languages inside."""
    found = diagnose(attempts)

    assert not found.is_safe
    assert said in text(found.sandbox)
    assert "network" not in text(found.sandbox)
    assert "languages" not in text([*found.sandbox, *found.machine])


def test_an_obstacle_comes_first_with_what_to_do(terminal: Terminal, diagnose: Callable[..., Diagnosis]) -> None:
    """The exit code is 1."""
    diagnose(HarnessFault("bwrap: no\ninstall a newer one"))

    said = terminal.arena("doctor")

    assert said.code == 1
    assert said.out.splitlines()[:6] == [
        "Bots cannot be run safely here, so they are not run.",
        "",
        "Sandbox",
        "  BAD   bwrap: no",
        "        what to do: install a newer one",
        "        then run `arena doctor` again",
    ]


@pytest.mark.process
@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"ARENA_BWRAP": "/none"}, "no bubblewrap 0.8.0 or newer (/none is no program that runs)"),
        ({"ARENA_RUNTIMES": "/none"}, "ARENA_RUNTIMES: /none: expected the absolute path of a folder"),
    ],
)
def test_what_is_set_wrongly_is_named(tmp_path: Path, environment: dict[str, str], expected: str) -> None:
    """By its variable, at the top."""
    found = _doctor_in(tmp_path, "", environment)

    assert found.returncode == 1
    assert expected in found.stdout
    assert found.stderr == ""


@pytest.mark.process
@pytest.mark.parametrize(
    "before",
    [
        "sys.modules['pyseccomp'] = None",
        "os.environ['PATH'] = ''",
        "import tempfile; tempfile.TemporaryFile = tempfile.TemporaryDirectory = None",
        "import subprocess; subprocess.Popen = None",
    ],
)
def test_a_machine_that_lacks_something_is_told_what(tmp_path: Path, before: str) -> None:
    """Never a traceback, always the end of the screen."""
    found = _doctor_in(tmp_path, before, {})

    assert found.returncode in {0, 1}, found.stderr
    assert found.stderr == ""
    assert "\nCommands\n" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 160  # an error's own words may be long


def _doctor_in(folder: Path, before: str, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """`arena doctor` in a process of its own, of which something was taken before, and the physics, for speed."""
    start = "from arena.cli import execute\nsys.exit(execute(['doctor']))"
    code = f"import os, sys\nsys.modules['mujoco'] = None\nimport arena.cli.doctor\n{before}\n{start}"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_look_that_fails_is_a_finding() -> None:
    """Who asks a doctor has trouble already."""

    def broken() -> list[CheckResult]:
        raise KeyError("x")

    assert checked("load", broken) == [note("load: cannot be told here: KeyError: 'x'")]


def test_a_finding_fits_a_hundred_columns() -> None:
    """Its later lines begin where its text does."""
    lines = note(f"{'word ' * 60}\nsecond").lines()

    assert lines[0].startswith("  note  word")
    assert all(line.startswith("        ") for line in lines[1:])
    assert max(map(len, lines)) <= 100
    assert lines[-1] == "        second"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("core\n", ""),
        ("/var/crash/core.%p\n", ""),
        ("|/usr/lib/systemd/systemd-coredump %P %u\n", "handed to /usr/lib/systemd/systemd-coredump, outside"),
        ("|\n", "handed to a program"),
    ],
)
def test_crashes_that_leave_the_sandbox_are_noted(pattern: str, expected: str) -> None:
    """A limit of 0 does not keep the kernel from handing them over."""
    found = text(sandbox.cores_dumped(pattern))

    assert expected in found
    assert bool(found) == bool(expected)


def test_what_is_weaker_without_a_control_group() -> None:
    """All of it is said, with the reason, and with what to do where something can be done."""
    (counted,), (watched,) = sandbox.accounting(""), sandbox.accounting("no bus; `apt-get install it`")

    assert (counted.status, watched.status) == ("ok", "WEAK")
    for said in ("memory is watched", "shared memory is refused", "CPU time is that of the bot's first process"):
        assert said in watched.text
    assert "why: no bus" in watched.text
    assert "what to do: `apt-get install it`" in watched.text
    assert "what to do" not in text(sandbox.accounting("switched off by ARENA_CGROUP=no"))


def test_who_bots_are() -> None:
    """A spare user under root, oneself otherwise."""
    assert "a spare user of its own" in text(sandbox.users(0))
    assert "bots run as you" in text(sandbox.users(1000))


def test_results_that_cannot_be_stored_are_noted(tmp_path: Path) -> None:
    """With the option that chooses another place; a folder that is not there yet is looked for above."""
    assert "GiB free for results" in text(machine.disk(tmp_path / "a" / "b"))
    if os.geteuid():
        tmp_path.chmod(0o500)
        assert "choose another folder with --results" in text(machine.disk(tmp_path))
    else:
        assert "choose another folder with --results" in text(machine.disk(Path("/proc")))
