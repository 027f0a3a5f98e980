"""A league on the machines of a lab: scheduler, workers and driver, each an own process on an own machine."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from support.cli_arena import ROOT
from support.cluster_lab import BIN, Host, Lab, a_lab
from support.e2e_arena import Place
from support.waiting import until

PATIENCE_S = 240.0
"""For what takes some seconds on an idle machine."""
_PORT = 8786
_TOKEN = "player-of-a-cluster"
"""A word in the command line of each bot."""
CLUSTER_FILE = "cluster.yaml"
_TLS = ("ca.pem", "cert.pem", "key.pem")


class Driver(Place):
    """The machine on which the league is kept: `arena` runs there."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.folder)
        self.host = host

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        environment = {"ARENA_RESULTS": str(self.results), "ARENA_BOTS": str(ROOT / "bots")}
        settings: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return self.host.start(sys.executable, "-m", "arena", *arguments, environment=environment, **settings)


class Cluster:
    """A scheduler on the driver's machine, and workers on others."""

    def __init__(self, lab: Lab, certificates: Path) -> None:
        self.lab, self.head = lab, lab.host()
        self.driver = Driver(self.head)
        self._certificates, self._log_folder = certificates, certificates.parent
        self.address = f"tls://{self.head.address}:{_PORT}"
        self._nannies: dict[str, subprocess.Popen[str]] = {}
        self._equip(self.head)
        self.scheduler = self.start_scheduler()

    def write(self) -> None:
        """The league of these tests, kept on the driver's machine."""
        self.write_league(self.driver)

    @staticmethod
    def write_league(place: Place) -> None:
        """Three bots, of which one takes a while for each move."""
        place.write("random", "random", "slow", cycles=12, chunk_blocks=2, options={"heaps": [1, 2, 3]})
        content = yaml.safe_load(place.tournament.read_text())
        for player in content["players"]:
            player["arguments"] = [_TOKEN]
        place.tournament.write_text(yaml.safe_dump(content))

    def start_scheduler(self) -> "subprocess.Popen[str]":
        """A scheduler; it listens before this returns."""
        tls = ["--tls-ca-file=ca.pem", "--tls-cert=cert.pem", "--tls-key=key.pem"]
        words = ["--host", self.address, "--no-dashboard", "--scheduler-file", "scheduler.json", *tls]
        file = self.head.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        process = self.head.start(str(BIN / "dask"), "scheduler", *words, log=self.log(self.head, "scheduler"))
        until(file.exists, within_s=PATIENCE_S, what="the start of the scheduler")
        return process

    def host(self, **options: Any) -> Host:
        """One more machine, with certificates."""
        host = self.lab.host(**options)
        self._equip(host)
        return host

    def start_worker(self, host: Host, **environment: str) -> "subprocess.Popen[str]":
        """`arena worker` on that machine."""
        words = ["worker", CLUSTER_FILE, "--workers", "1", "--name", host.name]
        log = self.log(host, "worker")
        environment["ARENA_WORKER_CACHE"] = str(host.folder / "cache")
        process = host.start(sys.executable, "-m", "arena", *words, environment=environment, log=log)
        self._nannies[host.name] = process
        return process

    def workers(self, count: int) -> list[Host]:
        """So many machines, each with a worker."""
        hosts = [self.host() for _ in range(count)]
        for host in hosts:
            self.start_worker(host)
        return hosts

    def start_league(self) -> "subprocess.Popen[str]":
        """The league; the same call continues it."""
        return self.driver.start_league("--cluster", CLUSTER_FILE)

    def finish(self, process: "subprocess.Popen[str]", exit_code: int = 0) -> str:
        """Wait for its end; what it said to the person who waits."""
        out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == exit_code, (process.returncode, out, err, self.logs())
        return err

    def begin_league(self) -> "subprocess.Popen[str]":
        """Start the league, and wait until some matches are stored, and not all."""
        process = self.start_league()

        def is_begun() -> bool:
            assert process.poll() is None, (process.communicate(), self.logs())
            return len(self.driver.matches()) >= 3

        until(is_begun, within_s=PATIENCE_S, what="the first matches")
        return process

    def bots(self, host: Host) -> list[int]:
        """The bots of this league that run on that machine."""
        return [pid for pid in self._with_token() if str(host.folder) in _text(pid, "mountinfo")]

    def logs(self) -> str:
        """All that was logged, for a test that fails."""
        files = [*self._log_folder.glob("*.log"), *self.lab.folder.glob("*/results/logs/*.log")]
        return "\n".join(f"== {path}\n{path.read_text()[-3000:]}" for path in files)

    def nanny_of(self, host: Host) -> int:
        """The process that starts dask's worker of a machine again when it dies."""
        return self._nannies[host.name].pid

    def worker_of(self, host: Host) -> int:
        """Dask's worker of a machine."""
        parent = str(self.nanny_of(host))
        pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        below = [pid for pid in pids if _text(pid, "stat").rpartition(")")[2].split()[1:2] == [parent]]
        return next(pid for pid in below if "spawn_main" in _text(pid, "cmdline"))

    def wait_for_workers(self, count: int) -> None:
        """Wait until the scheduler has heard of so many."""
        log = self.log(self.head, "scheduler")
        until(lambda: log.read_text().count("Register worker") >= count, within_s=PATIENCE_S, what="the workers")

    def _with_token(self) -> list[int]:
        pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
        return [pid for pid in pids if _TOKEN in _text(pid, "cmdline") and "bwrap" not in _text(pid, "cmdline")]

    def _equip(self, host: Host) -> None:
        for name in _TLS:
            host.write(name, (self._certificates / name).read_bytes())
        files = {f"tls_{name.removesuffix('.pem')}": name for name in _TLS}
        host.write(CLUSTER_FILE, yaml.safe_dump({"address": self.address, **files}).encode())

    def log(self, host: Host, name: str) -> Path:
        """The file to which a program of that name writes on that machine; it lies outside of the lab."""
        return self._log_folder / f"{host.name}-{name}.log"


def _text(pid: int, name: str) -> str:
    try:
        return Path("/proc", str(pid), name).read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def make_certificates(folder: Path) -> Path:
    """One certificate for scheduler, workers and driver, as docs/cluster.md makes it."""
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=arena"
    subprocess.run(
        [*words.split(), "-keyout", "key.pem", "-out", "cert.pem"], cwd=folder, check=True, capture_output=True
    )
    shutil.copy(folder / "cert.pem", folder / "ca.pem")
    return folder


@contextlib.contextmanager
def a_cluster(folder: Path) -> Iterator[Cluster]:
    """A lab with a scheduler, for a while."""
    certificates, machines = folder / "certificates", folder / "lab"
    certificates.mkdir()
    machines.mkdir()
    with a_lab(machines) as lab:
        yield Cluster(lab, make_certificates(certificates))


def kill(pid: int) -> None:
    """As the kernel does it when memory runs out."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
