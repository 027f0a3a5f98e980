"""Leagues on several machines of which one thing after the other dies: the same bytes of standings, nothing lost.

Each test has machines of its own (`support.cluster_lab`): their networks are parted, none sees the folder of another.
"""

import os
import re
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from support.cluster_lab import needs_lab
from support.cluster_league import CLUSTER_FILE, PATIENCE_S, Cluster, a_cluster, kill, make_certificates
from support.e2e_arena import Place
from support.waiting import until

from arena.cluster.dealer import DEFAULT_TIMES

pytestmark = [pytest.mark.process, pytest.mark.slow, needs_lab]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with a_cluster(tmp_path) as made:
        made.write()
        yield made


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the standings of the same league on one machine, without a cluster."""
    folder = tmp_path_factory.mktemp("undisturbed")
    folder.chmod(0o755)
    place = Place(folder)
    Cluster.write_league(place)
    place.league("--workers", "2")
    return place.standings()


@pytest.mark.parametrize("count", [1, 4])
def test_the_number_of_machines_does_not_matter(cluster: Cluster, undisturbed: str, count: int) -> None:
    """The standings are the same bytes; bots came from the driver's machine, which plays none."""
    hosts = cluster.workers(count)

    process = cluster.begin_league()
    assert cluster.bots(cluster.head) == []
    cluster.finish(process)

    assert_sound(cluster, undisturbed)
    assert all(cluster.bots(host) == [] for host in hosts)
    assert all((host.folder / "cache").is_dir() for host in hosts)


def assert_sound(cluster: Cluster, undisturbed: str, seen: Mapping[Any, Any] = MappingProxyType({})) -> None:
    """Check that standings are the same bytes, the store is valid, and all matches `seen` are unchanged."""
    now = cluster.driver.matches()
    assert {key: now.get(key) for key in seen} == seen, "a stored match was lost or changed"
    assert cluster.driver.standings() == undisturbed
    assert "PROBLEM" not in cluster.driver.run("verify")[0]


@pytest.mark.parametrize("what", ["worker", "nanny", "machine"])
def test_the_death_of_a_worker_costs_nothing_that_is_stored(cluster: Cluster, undisturbed: str, what: str) -> None:
    """Other machines play what it had; its bots die with it."""
    victim, *_ = cluster.workers(3)
    process = cluster.begin_league()
    until(lambda: bool(cluster.bots(victim)), within_s=PATIENCE_S, what="a match on the victim")
    seen = cluster.driver.matches()

    if what == "machine":
        victim.close()
    else:
        kill(cluster.nanny_of(victim) if what == "nanny" else cluster.worker_of(victim))
    cluster.finish(process)

    assert_sound(cluster, undisturbed, seen)
    until(lambda: not cluster.bots(victim), within_s=PATIENCE_S, what="the end of the bots")


def test_the_death_of_the_scheduler_costs_nothing_that_is_stored(cluster: Cluster, undisturbed: str) -> None:
    """A new one at the same address, with workers, and the league goes on: the driver was waiting for it."""
    hosts = cluster.workers(2)
    process = cluster.begin_league()
    seen = cluster.driver.matches()

    cluster.scheduler.kill()
    cluster.scheduler.wait()
    cluster.scheduler = cluster.start_scheduler()
    for host in hosts:
        cluster.start_worker(host)
    cluster.finish(process)

    assert_sound(cluster, undisturbed, seen)


def test_the_death_of_the_driver_costs_nothing_that_is_stored(cluster: Cluster, undisturbed: str) -> None:
    """Bots end with the lease; the same command continues on the same workers."""
    hosts = cluster.workers(2)
    process = cluster.begin_league()
    process.kill()
    process.communicate()
    seen = cluster.driver.matches()
    assert seen

    cluster.finish(cluster.start_league())

    assert_sound(cluster, undisturbed, seen)
    assert all(cluster.bots(host) == [] for host in hosts)


def test_a_driver_that_was_stopped_for_a_while_goes_on(cluster: Cluster, undisturbed: str) -> None:
    """Ctrl-Z, and `fg` after more than a lease: its sessions are over, and no block is blamed for that."""
    hosts = cluster.workers(2)
    process = cluster.begin_league()

    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(DEFAULT_TIMES.lease_s + 1.0)
    until(lambda: not any(map(cluster.bots, hosts)), within_s=PATIENCE_S, what="the end of the leases")
    os.kill(process.pid, signal.SIGCONT)
    cluster.finish(process)

    assert_sound(cluster, undisturbed)
    assert "its worker died" not in (cluster.driver.results / "logs" / "test.log").read_text()


def test_ctrl_c_ends_the_bots_on_all_machines(cluster: Cluster, undisturbed: str) -> None:
    """Exit code 3; the same command continues, and `compare` uses the same workers by the file of their scheduler."""
    hosts = cluster.workers(2)
    process = cluster.begin_league()
    os.kill(process.pid, signal.SIGINT)
    err = cluster.finish(process, exit_code=3)

    assert "the same command continues" in err
    until(lambda: not any(map(cluster.bots, hosts)), within_s=PATIENCE_S, what="the end of the bots")
    cluster.finish(cluster.start_league())
    assert_sound(cluster, undisturbed)
    described = (cluster.head.folder / CLUSTER_FILE).read_text()
    cluster.head.write(
        "other.yaml", described.replace(f"address: {cluster.address}", "scheduler_file: scheduler.json").encode()
    )
    line = "compare random random --game nim --seed 1 --blocks 20 --cluster other.yaml"
    cluster.driver.run(*line.split())


def test_a_machine_that_is_cut_off_ends_its_matches(cluster: Cluster, undisturbed: str) -> None:
    """Others play its blocks once it was declared lost, and nothing goes on there when its lease has ended."""
    victim, _ = cluster.workers(2)
    process = cluster.begin_league()
    until(lambda: bool(cluster.bots(victim)), within_s=PATIENCE_S, what="a match on the victim")

    victim.cut()
    cluster.finish(process)

    assert_sound(cluster, undisturbed)
    until(lambda: not cluster.bots(victim), within_s=PATIENCE_S, what="the end of its lease")


def test_a_network_that_comes_and_goes_changes_nothing(cluster: Cluster, undisturbed: str) -> None:
    """Cuts at any moment, of a worker and of the machine of driver and scheduler."""
    victim, _ = cluster.workers(2)
    process = cluster.begin_league()

    for host in (victim, cluster.head, victim):
        host.cut()
        time.sleep(1.5)  # the moment is the point: any is right
        host.join()
        time.sleep(0.5)
    cluster.finish(process)

    assert_sound(cluster, undisturbed)


def test_a_full_disk_of_a_worker_is_told_and_others_play(cluster: Cluster, undisturbed: str) -> None:
    """The sentence names the machine and the place; the league is complete."""
    small, _ = cluster.host(disk_mib=1), cluster.workers(1)
    small.run("sh", "-c", "mkdir cache; cat /dev/zero > filler")
    cluster.start_worker(small)
    cluster.wait_for_workers(2)

    err = cluster.finish(cluster.start_league())

    assert f"worker {small.name}-0" in err
    assert "No space left on device" in err
    assert_sound(cluster, undisturbed)


def test_a_worker_without_a_sandbox_is_left_out_with_the_reason(cluster: Cluster, undisturbed: str) -> None:
    """Nothing is played there; the doctor tells it too, and exits with 1."""
    cluster.workers(1)
    bare = cluster.host()
    cluster.start_worker(bare, ARENA_BWRAP="/none")
    cluster.wait_for_workers(2)
    told, _ = cluster.driver.run("doctor", "--cluster", CLUSTER_FILE, exit_code=1)

    err = cluster.finish(cluster.start_league())

    assert "2 workers, 1 of them can play" in told
    assert f"worker {bare.name}-0 on {bare.name}: no bubblewrap" in " ".join(told.split())
    assert f"worker {bare.name}-0 is left out: " in err
    assert "no bubblewrap" in err
    assert_sound(cluster, undisturbed)


def test_clocks_that_are_apart_change_nothing(cluster: Cluster, undisturbed: str) -> None:
    """A machine whose wall clock is two hours ahead, and one that runs for longer than the others; the doctor tells."""
    cluster.start_worker(cluster.host(), LD_PRELOAD=str(faketime()), FAKETIME="+7200s")
    cluster.start_worker(cluster.host(clock_s=1_000_000))
    cluster.wait_for_workers(2)
    told, _ = cluster.driver.run("doctor", "--cluster", CLUSTER_FILE)

    cluster.finish(cluster.start_league())

    assert "its clock is 7" in " ".join(told.split())
    assert_sound(cluster, undisturbed)


def faketime() -> Path:
    """Return the path of Debian's libfaketime, which gives one process another time."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        pytest.skip("libfaketime is not installed")
    return found[0]


def test_a_driver_without_a_certificate_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    """A certificate of another authority is refused; the sentence says where no scheduler answers."""
    (tmp_path / "other").mkdir()
    make_certificates(tmp_path / "other")
    for name in ("ca.pem", "cert.pem", "key.pem"):
        cluster.head.write(name, (tmp_path / "other" / name).read_bytes())

    err = cluster.finish(cluster.start_league(), exit_code=5)

    assert f"no scheduler answers at {cluster.address}" in err


def test_workers_show_no_pages(cluster: Cluster) -> None:
    """Dask serves HTTP beside TLS, for everybody on the network."""
    (host,) = cluster.workers(1)
    log = cluster.log(host, "worker")
    until(lambda: "is ready" in log.read_text(), within_s=PATIENCE_S, what="a worker")
    (port,) = re.findall(r"dashboard at: +\S+:(\d+)", log.read_text())

    page = f"http://{host.address}:{port}/metrics"
    told = host.run(sys.executable, "-c", f"import urllib.request; urllib.request.urlopen({page!r})")

    assert "HTTP Error 404" in told.stderr
