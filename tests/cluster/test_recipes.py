"""The recipes of docs/cluster.md, with the programs that they name."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli_arena import ROOT
from support.cluster_lab import BIN, Host, Lab, a_lab, needs_lab
from support.cluster_league import CLUSTER_FILE, PATIENCE_S, Cluster, Driver, a_cluster, make_certificates
from support.docs_pages import blocks
from support.e2e_arena import Place
from support.waiting import until

pytestmark = [pytest.mark.process, pytest.mark.slow]
PAGE = "docs/cluster.md"
SLURM_CONF = """
ClusterName=lab
SlurmctldHost={name}({address})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
NodeName={name} NodeAddr={address} CPUs=4 RealMemory=100000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def written(page: str, file: str) -> str:
    """Return the block of a page that readers save under that name."""
    (block,) = [each for each in blocks(page) if each.file == file]
    return block.text


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    (tmp_path / "lab").mkdir()
    with a_lab(tmp_path / "lab") as made:
        yield made


def start_slurm(host: Host) -> dict[str, str]:
    """Start Slurm with one node on that machine; return the environment of its programs."""
    folder = host.folder
    for name in ("munge", "state", "spool"):
        (folder / name).mkdir(mode=0o711)
    host.write("munge/key", os.urandom(1024))
    (folder / "munge" / "key").chmod(0o600)
    host.write("slurm.conf", SLURM_CONF.format(name=host.name, address=host.address, folder=folder).encode())
    files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    munge = host.start(
        "munged", "--foreground", "--force", *(f"--{name}={folder}/munge/{file}" for name, file in files.items())
    )
    socket = folder / "munge" / "socket"
    until(lambda: socket.exists() or munge.poll() is not None, within_s=PATIENCE_S, what="the start of munge")
    environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{BIN}:{os.environ['PATH']}"}
    for program in ("slurmctld", "slurmd"):
        host.start(program, "-D", "-f", str(folder / "slurm.conf"), log=folder / f"{program}.out")
    until(
        lambda: "idle" in host.run("sinfo", environment=environment).stdout, within_s=PATIENCE_S, what="a node of Slurm"
    )
    return environment


@needs_lab
@pytest.mark.skipif(
    not all(map(shutil.which, ("slurmctld", "slurmd", "munged"))), reason="Slurm and munge are not installed"
)
def test_a_league_is_played_by_jobs_of_slurm(lab: Lab, tmp_path: Path) -> None:
    """The script of the page, on a real Slurm with a node of four cores: the standings are those of one machine."""
    pytest.importorskip("dask_jobqueue")
    host = lab.host()
    environment = start_slurm(host)
    make_certificates(host.folder)
    driver = Driver(host)
    Cluster.write_league(driver)
    host.write("slurm_league.py", written(PAGE, "slurm_league.py").encode())
    alone = Place(tmp_path)
    Cluster.write_league(alone)
    alone.league("--workers", "2")

    done = host.run(
        sys.executable,
        "slurm_league.py",
        "2",
        "league.yaml",
        environment={**environment, "ARENA_RESULTS": str(driver.results), "ARENA_BOTS": str(ROOT / "bots")},
    )

    logs = "\n".join(path.read_text()[-3000:] for path in host.folder.glob("slurm*.out"))
    assert done.returncode == 0, (done.stdout, done.stderr, logs)
    assert driver.standings() == alone.standings()


def stand_ins(others: list[Host]) -> dict[str, str]:
    """Return shell scripts that replace `ssh` and `scp`, as far as this recipe needs them."""
    goes = "\n".join(f'{host.address}) exec {host.entrance()} "$@" ;;' for host in others)
    copies = 'for last; do :; done; for file; do [ "$file" = "$last" ] || ssh "${last%:}" tee "$file" < "$file"; done'
    return {"ssh": f"address=$1; shift; case $address in\n{goes}\nesac", "scp": copies}


@needs_lab
def test_workers_are_started_by_ssh(lab: Lab, tmp_path: Path) -> None:
    """The block of the page, with three machines of the lab, from certificates to the end of a league."""
    head, *others = [lab.host() for _ in range(3)]
    make_certificates(head.folder)
    (head.folder / "bin").mkdir()
    for name, text in stand_ins(others).items():
        head.write(f"bin/{name}", f"#!/bin/sh\n{text}\n".encode())
        (head.folder / "bin" / name).chmod(0o755)
    driver, alone = Driver(head), Place(tmp_path)
    for place in (driver, alone):
        Cluster.write_league(place)
    alone.league("--workers", "2")
    head.write(CLUSTER_FILE, written(PAGE, CLUSTER_FILE).replace("10.0.0.1", head.address).encode())
    (script,) = [each.text for each in blocks(PAGE) if "ssh $host" in each.text]
    for number, host in enumerate((head, *others), start=1):
        script = script.replace(f"10.0.0.{number}", host.address)
    environment = {
        "PATH": f"{head.folder}/bin:{BIN}:{os.environ['PATH']}",
        "ARENA_RESULTS": str(driver.results),
        "ARENA_BOTS": str(ROOT / "bots"),
    }

    done = head.run("sh", "-ec", script.replace("run first", "run league.yaml"), environment=environment)

    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "can play" in done.stdout
    assert driver.standings() == alone.standings()


_PREPARE_USERS = """
python=$1; shift
mount -t tmpfs home /home
case $python in /root/*)  # root's folder, without which this Python cannot be started, has nothing else in it here
    mkdir python && mount --bind "$python" python && mount -t tmpfs -o mode=755 root /root
    mkdir -p "$python" && mount --move python "$python" ;;
esac
for uid in "$@"; do
    mkdir -m 700 /home/w$uid && cp cluster.yaml ca.pem cert.pem key.pem /home/w$uid && chown -R $uid:$uid /home/w$uid
done
"""


def as_user(uid: str, folder: str) -> list[str]:
    """Return a command that runs a command as that user, in a folder."""
    return [*f"setpriv --reuid {uid} --regid {uid} --clear-groups sh -c".split(), 'cd "$0" && exec "$@"', folder]


@needs_lab
def test_two_users_of_one_machine_play_for_one_league(tmp_path: Path) -> None:
    """Neither can open the other's folder; the standings are those of one machine."""
    uids = ("61001", "61002")
    with a_cluster(tmp_path) as cluster:
        cluster.write()
        host = cluster.host()
        prepared = host.run("sh", "-ec", _PREPARE_USERS, "sh", sys.base_prefix, *uids)
        assert prepared.returncode == 0, prepared.stderr
        other = as_user(uids[0], "/")
        if host.run(*other, sys.executable, "-c", "import arena").returncode:
            pytest.skip("other users cannot read this checkout")
        for uid in uids:
            home = f"/home/w{uid}"
            words = ["worker", CLUSTER_FILE, "--workers", "1", "--name", f"w{uid}"]
            host.start(
                *as_user(uid, home),
                *(sys.executable, "-m", "arena", *words),
                environment={"HOME": home, "TMPDIR": home, "ARENA_WORKER_CACHE": f"{home}/bots"},
                log=cluster.log(host, f"worker-{uid}"),
            )
        cluster.wait_for_workers(2)
        cluster.finish(cluster.start_league())
        alone = Place(tmp_path)
        Cluster.write_league(alone)
        alone.league("--workers", "2")

        assert cluster.driver.standings() == alone.standings()
        assert host.run("sh", "-c", "stat -c %u /home/*/bots/sandbox/*").stdout.split().count(uids[0]) > 0
        assert host.run(*other, "ls", f"/home/w{uids[1]}").returncode != 0
