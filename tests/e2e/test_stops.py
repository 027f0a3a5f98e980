"""Leagues that are stopped in every way there is: nothing stored is lost, nothing is left running, resume completes."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.e2e_arena import DEADLINE_S, Place
from support.waiting import a_second, load, until

pytestmark = pytest.mark.process
alone = pytest.mark.alone  # a second is a second where nothing else plays
KILLS = 20
ROOT = Path(__file__).parents[2]
COUNTED_RUN = """
import os, pathlib, sys
from arena.operations.run_league import RunLeague, run_league

def on(event):
    if hasattr(event, "counts"):
        os.write(int(sys.argv[1]), b"%d\\n" % event.counts.stored)

bots = pathlib.Path(os.environ["PYTHONPATH"]) / "bots"
run_league(RunLeague(tournament=sys.argv[2], workers=2, results=pathlib.Path(sys.argv[3]), bots_folder=bots), on)
"""


@pytest.mark.slow
def test_twenty_kills_change_nothing(tmp_path: Path) -> None:
    """`kill -9` of the main process at 20 moments: all processes go, stored matches stay, standings come out equal.

    A match that was counted before the kill is stored.
    """
    place = Place(tmp_path).write("random", "random", "random", cycles=80, chunk_blocks=5)
    undisturbed = place.beside("undisturbed")
    undisturbed.tournament = place.tournament
    undisturbed.league("--workers", "2")
    rng = random.Random(2026)
    seen: dict[tuple[object, ...], tuple[object, ...]] = {}
    slowest_s = 0.0

    for _ in range(KILLS):
        reader, writer = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-c", COUNTED_RUN, str(writer), str(place.tournament), str(place.results)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            pass_fds=(writer,),
            start_new_session=True,
        )
        os.close(writer)
        time.sleep(rng.uniform(0.05, 0.9))  # the moment is the point: any is right
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with os.fdopen(reader) as told:
            shown = [int(line) for line in told if line.endswith("\n")]
        slowest_s = max(
            slowest_s, until(lambda: not place.alive(), within_s=a_second(), what="the end of all processes")
        )
        now = place.matches()
        assert {key: now.get(key) for key in seen} == seen, "a stored match was lost or changed"
        assert len(now) >= max(shown, default=0), "a match was counted before it was on the disk"
        seen = now
    place.league("--workers", "2")

    final = place.matches()
    assert {key: final.get(key) for key in seen} == seen
    assert set(final) == set(undisturbed.matches())
    assert None not in {digest for _, digest, _ in final.values()}
    assert place.standings() == undisturbed.standings()
    out, _ = place.run("verify")
    assert "PROBLEM" not in out


def test_workers_do_not_matter(tmp_path: Path) -> None:
    """One and four workers give the same bytes."""
    place = Place(tmp_path).write("random", "random", "random", cycles=4, chunk_blocks=2)
    found = set()
    for workers in ("1", "4"):
        each = place.beside(f"with-{workers}")
        each.league("--workers", workers)
        found.add(each.standings())

    assert len(found) == 1


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The standings of the league with a sleeping bot that nobody stops."""
    folder = tmp_path_factory.mktemp("undisturbed")
    folder.chmod(0o755)
    place = with_a_sleeper(folder)
    place.league("--workers", "2")
    return place.standings()


def with_a_sleeper(folder: Path) -> Place:
    return Place(folder).write("random", "sleeper", cycles=8, chunk_blocks=1, options={"heaps": [1, 2]})


@alone
@pytest.mark.parametrize(
    "way", ["ctrl-c", "terminate", *(pytest.param(way, marks=pytest.mark.slow) for way in ("ctrl-c twice", "hang-up"))]
)
def test_a_stop_returns_at_once_and_resumes(tmp_path: Path, undisturbed: str, way: str) -> None:
    """With a sleeping bot in play: exit 3 within a second, nothing left, no forfeit; resume gives the same table."""
    place = with_a_sleeper(tmp_path)
    process = place.start_league("--workers", "2")
    until(lambda: len(place.matches()) > 2 and bool(place.bots_alive()), within_s=DEADLINE_S, what="the first matches")

    start_s = time.monotonic()
    if way == "terminate":
        os.kill(process.pid, signal.SIGTERM)
    else:
        os.killpg(process.pid, signal.SIGHUP if way == "hang-up" else signal.SIGINT)
    if way == "ctrl-c twice":
        time.sleep(0.02)  # a finger
        os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE_S)

    assert time.monotonic() - start_s < a_second()
    assert (process.returncode, out) == (3, "")
    assert f"interrupted with {len(place.matches())} of 16 matches stored; the same command continues" in err
    assert "Traceback" not in err
    until(lambda: not place.alive(), within_s=a_second(), what="the end of all processes")
    assert 0 < len(place.matches()) < 16
    place.league("--workers", "2")
    assert place.standings() == undisturbed


@pytest.mark.slow
def test_twenty_stops_of_a_busy_machine_print_no_traceback(tmp_path: Path) -> None:
    """SIGTERM at any moment, the start, the end and Python's own exit included, while others want every core."""
    place = Place(tmp_path).write("random", "random", cycles=40, chunk_blocks=2)
    rng = random.Random(2026)
    with load(2):
        for _ in range(KILLS):
            process = place.start_league("--workers", "2")
            time.sleep(rng.uniform(0.2, 3.0))  # the moment is the point: any is right
            os.kill(process.pid, signal.SIGTERM)
            _, err = process.communicate(timeout=DEADLINE_S)
            assert process.returncode in {0, 3, -signal.SIGTERM}
            assert "Traceback" not in err


def test_a_killed_resource_tracker_is_no_ones_business(tmp_path: Path) -> None:
    """It would only tidy up; without it the league ends as ever, and nobody reads of its insides."""
    place = Place(tmp_path).write("random", "slow", cycles=12, chunk_blocks=2)
    process = place.start_league("--workers", "1")
    until(lambda: len(place.matches()) > 2, within_s=DEADLINE_S, what="the first matches")
    trackers = [pid for pid, command in place.alive().items() if "resource_tracker import main" in command]
    for pid in trackers:
        os.kill(pid, signal.SIGKILL)
    _, err = process.communicate(timeout=DEADLINE_S)

    assert len(trackers) == 1
    assert (process.returncode, err) == (0, "")
    assert len(place.matches()) == 24


@pytest.mark.parametrize("length", [0, 130])
def test_a_killed_program_leaves_nothing_to_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    """SIGKILL of a driver and of the tracker that would tidy up: the next command does; semaphores have no name.

    The folder of temporary files may have a longer path than a socket can have.
    """
    scratch = tmp_path / "t".ljust(length - len(str(tmp_path)), "t")
    scratch.mkdir(mode=0o755)
    monkeypatch.setenv("TMPDIR", str(scratch))
    place = Place(tmp_path).write("random", "slow", cycles=6, chunk_blocks=2)
    process = place.start_league("--workers", "1")
    until(lambda: len(place.matches()) > 2, within_s=DEADLINE_S, what="the first matches")
    left = list(scratch.iterdir())
    maps = "".join(Path(f"/proc/{pid}/maps").read_text() for pid in place.alive())
    for pid, command in place.alive().items():
        if pid == process.pid or "resource_tracker import main" in command:
            os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=DEADLINE_S)
    until(lambda: not place.alive(), within_s=DEADLINE_S, what="the end of all processes")

    place.league("--workers", "1")

    assert left
    assert [name for name in re.findall(r"/dev/shm/\S+", maps) if Path(name).exists()] == []
    assert list(scratch.iterdir()) == []
    assert len(place.matches()) == 12


@alone
@pytest.mark.parametrize("way", ["ctrl-c", "terminate"])
@pytest.mark.parametrize(
    ("line", "matches"),
    [("./hangs.py random --move-ms 60000", 2), ("./sleeper.py ./slow.py --blocks 40", 80)],
    ids=["a bot that never answers", "many blocks in parallel"],
)
def test_a_stop_ends_matches_at_once(tmp_path: Path, way: str, line: str, matches: int) -> None:
    """Of `arena match`: exit 3 within a second, nothing left."""
    place = Place(tmp_path).write("hangs", "sleeper", "slow")
    place.results.mkdir()  # bots are known by it
    process = place.start("match", *line.split(), "--game", "nim")
    until(lambda: len(place.bots_alive()) >= 2, within_s=DEADLINE_S, what="the start of the bots")

    start_s = time.monotonic()
    if way == "ctrl-c":
        os.killpg(process.pid, signal.SIGINT)
    else:
        os.kill(process.pid, signal.SIGTERM)
    _, err = process.communicate(timeout=DEADLINE_S)

    assert time.monotonic() - start_s < a_second()
    assert process.returncode == 3
    assert re.fullmatch(rf"interrupted after \d+ of {matches} matches", err.strip())
    until(lambda: not place.alive(), within_s=a_second(), what="the end of all processes")


def test_a_stopped_match_shows_what_was_played(tmp_path: Path) -> None:
    """The steps of the matches so far, and their table."""
    place = Place(tmp_path).write("random", "sleeper")
    talk = tmp_path / "talk.txt"
    words = ("match", "./sleeper.py", "random", "--game", "nim", "--options", '{"heaps": [1, 2]}', "--blocks", "99")
    with talk.open("w") as file:
        process = place.start(*words, "--steps", stdout=file)
    until(lambda: talk.read_text().count("match ") >= 2, within_s=DEADLINE_S, what="the first matches")

    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=DEADLINE_S)

    assert process.returncode == 3
    (count,) = re.findall(r"^interrupted after (\d+) of 198 matches$", err, re.MULTILINE)
    assert int(count) >= 2
    out = talk.read_text()
    assert f"{count} of 198 matches" in out
    assert len(re.findall("^match .*: nim", out, re.MULTILINE)) == int(count)


@pytest.mark.slow
def test_killed_workers_cost_nothing(tmp_path: Path) -> None:
    """Two workers that log a lot die, too few to end a job: every match is there, the log is whole."""
    place = Place(tmp_path).write("cheats", "slow", "random", cycles=30, chunk_blocks=5)
    rng = random.Random(7)
    process = place.start_league("--workers", "2")
    killed = 0
    while killed < 2 and process.poll() is None:
        time.sleep(rng.uniform(0.1, 0.4))
        workers = [pid for pid in place.alive() if pid != process.pid and _is_worker(pid)]
        if workers:
            os.kill(rng.choice(workers), signal.SIGKILL)
            killed += 1
    _, err = process.communicate(timeout=DEADLINE_S)

    assert (process.returncode, err) == (0, "")
    assert killed == 2
    assert len(place.matches()) == 180
    log = (place.results / "logs" / "test.log").read_text().splitlines()
    assert sum("cheats forfeits (illegal_action)" in line for line in log) == 20
    assert any(line.endswith("120 forfeits by cheats in this run, the first 20 are above") for line in log)
    until(lambda: not place.alive(), within_s=a_second(), what="the end of all processes")
    faults = {row["player"]: sum(row["faults"].values()) for row in place.rows()}
    listed, _ = place.run("league", "matches", "test", "--faults")
    assert sum(line.endswith("illegal_action by cheats") for line in listed.splitlines()) == 120
    assert faults == {"cheats": 120, "slow": 0, "p2": 0}


def _is_worker(pid: int) -> bool:
    """A fork of the fork server, and its child; a bot is the child of such a fork."""
    try:
        parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
        return all("forkserver" in Path(f"/proc/{each}/cmdline").read_text() for each in (pid, parent))
    except OSError:
        return False
