"""Machines for tests of clusters: each with its own network, folders and clock, as far as the kernel can part them.

Rule: all of it hangs on processes that this module starts, and is gone with them: no name, address or mount outlives
a test that is killed.
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.cli_arena import ROOT

BIN = Path(sys.executable).parent
_NET = "10.77.0"
_HELD = ["setpriv", "--pdeathsig", "KILL"]


def missing_for_a_lab() -> str:
    """Why there can be no machines here; empty if there can."""
    if os.geteuid() != 0:
        return "machines of their own need root"
    if lacking := [name for name in ("ip", "nsenter", "unshare", "setpriv", "openssl") if shutil.which(name) is None]:
        return f"machines of their own need {', '.join(lacking)}"
    tried = subprocess.run(
        ["unshare", "--net", "--mount", "ip", "link", "add", "br0", "type", "bridge"], capture_output=True, check=False
    )
    return tried.stderr.decode().strip()


needs_lab = pytest.mark.skipif(bool(missing_for_a_lab()), reason=missing_for_a_lab())


class Host:
    """One machine: processes started here share its network and folders. `address` is its own in the lab."""

    def __init__(self, lab: "Lab", number: int, *, disk_mib: int = 0, clock_s: int = 0) -> None:
        self.name, self.address = f"host{number}", f"{_NET}.{number}"
        self.folder = lab.folder / self.name
        self.folder.mkdir(mode=0o755)
        self._lab, self._port = lab, f"port{number}"
        self._processes: list[subprocess.Popen[Any]] = []
        clock = [f"--time --monotonic {clock_s} --boottime {clock_s}"] if clock_s else []
        words = ["unshare", "--net", "--mount", "--uts", *" ".join(clock).split(), "sh", "-c", "echo; exec sleep inf"]
        self._holder = subprocess.Popen([*_HELD, *words], stdout=subprocess.PIPE)
        assert self._holder.stdout is not None
        self._holder.stdout.readline()
        self._enter = ["nsenter", "-t", str(self._holder.pid), "--net", "--mount", "--uts", *(["--time"] * bool(clock))]
        self._connect()
        self._hide_other_machines(disk_mib)

    def start(self, *command: str, log: Path | None = None, **options: Any) -> "subprocess.Popen[str]":
        """A process on this machine, in its folder. `environment` is added to what all have here.

        It writes to the file `log`, if that is given.
        """
        if log is not None:
            with log.open("a") as file:
                return self.start(*command, stdout=file, stderr=subprocess.STDOUT, **options)
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "TMPDIR": str(self.folder),
            "HOME": str(self.folder),
            **options.pop("environment", {}),
        }
        process = subprocess.Popen(
            [*_HELD, *self._enter, "sh", "-c", 'cd "$0" && exec "$@"', str(self.folder), *command],
            env=environment,
            text=True,
            start_new_session=True,
            **options,
        )
        self._processes.append(process)
        return process

    def run(self, *command: str, **options: Any) -> "subprocess.CompletedProcess[str]":
        """A process on this machine that ended."""
        process = self.start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def write(self, name: str, content: bytes) -> None:
        """Put a file into the machine's folder."""
        command = [*self._enter, "sh", "-c", 'cat > "$0"', str(self.folder / name)]
        subprocess.run(command, input=content, check=True)

    def entrance(self) -> str:
        """Words of a shell that run the words after them on this machine, in its folder; from any other machine."""
        into = shlex.join([*self._enter, "env", f"TMPDIR={self.folder}", f"PATH={BIN}:/usr/bin:/bin"])
        return f"{into} sh -c 'cd {self.folder} && exec \"$@\"' sh"

    def cut(self) -> None:
        """Pull out its network cable."""
        self._lab.switch("ip", "link", "set", self._port, "down")

    def join(self) -> None:
        """Put it in again."""
        self._lab.switch("ip", "link", "set", self._port, "up")

    def close(self) -> None:
        """Switch the machine off."""
        for process in [*self._processes, self._holder]:
            with contextlib.suppress(ProcessLookupError):
                if process is self._holder:
                    process.kill()
                else:  # with what it left in the background; each has a session of its own
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()

    def _connect(self) -> None:
        self._lab.switch("ip", "link", "add", self._port, "type", "veth", "peer", "name", "eth0", "netns", self._pid)
        self._lab.switch("ip", "link", "set", self._port, "master", "br0", "up")
        for words in ("addr add {}/24 dev eth0", "link set eth0 up", "link set lo up"):
            self._inside("ip", *words.format(self.address).split())

    def _hide_other_machines(self, disk_mib: int) -> None:
        """Nothing of the lab's folder but its own is seen here; of that, as much as the disk has."""
        own = self.folder
        if disk_mib:
            self._inside("mount", "-t", "tmpfs", "-o", f"size={disk_mib}m,mode=0755", "disk", str(own))
        self._inside("mkdir", "-p", f"/run/{self.name}")
        self._inside("mount", "--bind", str(own), f"/run/{self.name}")
        self._inside("mount", "-t", "tmpfs", "-o", "size=1m,mode=0755", "lab", str(self._lab.folder))
        self._inside("mkdir", str(own))
        self._inside("mount", "--move", f"/run/{self.name}", str(own))
        self._inside("hostname", self.name)

    @property
    def _pid(self) -> str:
        return str(self._holder.pid)

    def _inside(self, *command: str) -> None:
        subprocess.run([*self._enter, *command], check=True, capture_output=True)


class Lab:
    """A switch with machines. Each has its own part of `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._hosts: list[Host] = []
        self._switch = subprocess.Popen(
            [*_HELD, "unshare", "--net", "sh", "-c", "echo; exec sleep inf"], stdout=subprocess.PIPE
        )
        assert self._switch.stdout is not None
        self._switch.stdout.readline()
        self.switch("ip", "link", "add", "br0", "type", "bridge")
        self.switch("ip", "link", "set", "br0", "up")

    def host(self, **options: Any) -> Host:
        """A new machine."""
        host = Host(self, len(self._hosts) + 1, **options)
        self._hosts.append(host)
        return host

    def switch(self, *command: str) -> None:
        """Run a command where all cables end."""
        subprocess.run(["nsenter", "-t", str(self._switch.pid), "--net", *command], check=True, capture_output=True)

    def close(self) -> None:
        """Switch all off."""
        for host in self._hosts:
            host.close()
        self._switch.kill()
        self._switch.wait()
        assert self._switch.stdout is not None
        self._switch.stdout.close()


@contextlib.contextmanager
def a_lab(folder: Path) -> Iterator[Lab]:
    """A lab for a while."""
    lab = Lab(folder)
    try:
        yield lab
    finally:
        lab.close()
