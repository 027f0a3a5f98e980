"""The recipes of docs/cluster.md, with the programs that they name."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
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


def test_the_script_for_slurm_asks_for_what_workers_need(tmp_path: Path) -> None:
    """Without a Slurm here, at least the jobs that the page's script would submit are checked."""
    pytest.importorskip("dask_jobqueue")
    make_certificates(tmp_path)
    text, mark = written(PAGE, "slurm_league.py"), "with cluster:"
    assert text.count(mark) == 1
    (tmp_path / "script.py").write_text(text.partition(mark)[0])

    done = subprocess.run(
        [sys.executable, "script.py", "2", "first"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert "#SBATCH -t 04:00:00" in done.stdout
    assert "#SBATCH -n 1\n#SBATCH --cpus-per-task=1" in done.stdout
    assert "export DASK_DISTRIBUTED__WORKER__DAEMON=False" in done.stdout
    (command,) = [line for line in done.stdout.splitlines() if "dask_worker" in line]
    for words in (
        "tls://",
        "--nthreads 1",
        "--memory-limit 0",
        "--preload arena.cluster.session",
        f"--tls-cert {tmp_path}/cert.pem",
    ):
        assert words in command


SSHD_CONF = """
ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/client_key.pub
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
Subsystem sftp internal-sftp
SetEnv TMPDIR={folder} PATH={bin}:/usr/bin:/bin
"""
SSH_CONFIG = """
Host *
    IdentityFile {folder}/client_key
    StrictHostKeyChecking no
    UserKnownHostsFile /dev/null
    LogLevel ERROR
"""
_START_SSHD = """
mount -t tmpfs run /run && mkdir /run/sshd
sed "s#^root:.*#root:x:0:0::$PWD:/bin/sh#" /etc/passwd > passwd && mount --bind passwd /etc/passwd
chmod 600 host_key && exec /usr/sbin/sshd -D -e -f sshd_config
"""
"""The home folder of root is that of the machine: files that are copied there stay in the lab."""


def start_sshd(host: Host, client_key: bytes) -> None:
    """Start an SSH server on that machine, whose sessions end with it."""
    subprocess.run(["ssh-keygen", "-q", "-N", "", "-f", str(host.folder / "host_key")], check=True)
    host.write("client_key.pub", client_key)
    host.write("sshd_config", SSHD_CONF.format(address=host.address, folder=host.folder, bin=BIN).encode())
    log = host.folder / "sshd.log"
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", _START_SSHD]
    server = host.start(*words, log=log)
    until(
        lambda: "Server listening" in log.read_text() or server.poll() is not None,
        within_s=PATIENCE_S,
        what="the start of sshd",
    )
    assert server.poll() is None, log.read_text()


def openssh(head: Host, others: list[Host]) -> dict[str, str]:
    """Real SSH from the first machine to the others: the programs `ssh` and `scp`."""
    if not Path("/usr/sbin/sshd").exists():
        pytest.skip("OpenSSH's server is not installed")
    subprocess.run(["ssh-keygen", "-q", "-N", "", "-f", str(head.folder / "client_key")], check=True)
    for host in others:
        start_sshd(host, (head.folder / "client_key.pub").read_bytes())
    head.write("ssh_config", SSH_CONFIG.format(folder=head.folder).encode())
    return {name: f'exec /usr/bin/{name} -F {head.folder}/ssh_config "$@"' for name in ("ssh", "scp")}


def stand_ins(_: Host, others: list[Host]) -> dict[str, str]:
    """Return shell scripts that replace `ssh` and `scp`, as far as this recipe needs them."""
    goes = "\n".join(f'{host.address}) exec {host.entrance()} "$@" ;;' for host in others)
    copies = 'for last; do :; done; for file; do [ "$file" = "$last" ] || ssh "${last%:}" tee "$file" < "$file"; done'
    return {"ssh": f"address=$1; shift; case $address in\n{goes}\nesac", "scp": copies}


@needs_lab
@pytest.mark.parametrize("way", [stand_ins, openssh])
def test_workers_are_started_by_ssh(
    lab: Lab, tmp_path: Path, way: Callable[[Host, list[Host]], dict[str, str]]
) -> None:
    """The block of the page, with three machines of the lab, from certificates to the end of a league."""
    head, *others = [lab.host() for _ in range(3)]
    make_certificates(head.folder)
    (head.folder / "bin").mkdir()
    for name, text in way(head, others).items():
        head.write(f"bin/{name}", f"#!/bin/sh\n{text}\n".encode())
        (head.folder / "bin" / name).chmod(0o755)
    driver, alone = Driver(head), Place(tmp_path)
    for place in (driver, alone):
        Cluster.write_league(place)
    alone.league("--workers", "2")
    (script,) = [each.text for each in blocks(PAGE) if "ssh $host" in each.text]
    for number, host in enumerate((head, *others), start=1):
        script = script.replace(f"10.0.0.{number}", host.address)
    environment = {
        "PATH": f"{head.folder}/bin:{BIN}:{os.environ['PATH']}",
        "ARENA_RESULTS": str(driver.results),
        "ARENA_BOTS": str(ROOT / "bots"),
    }

    done = head.run("sh", "-ec", script.replace("run first", "run league.yaml"), environment=environment)

    logs = "\n".join(path.read_text()[-3000:] for path in lab.folder.glob("*/sshd.log"))
    assert done.returncode == 0, (done.stdout, done.stderr, logs)
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
