"""A machine that runs short of memory or processes: nobody loses by it, and nobody wins by it."""

import csv
import io
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from support.bot_source import bot_script
from support.cli_arena import ROOT
from support.golden import Golden
from support.kernel_groups import group_of_version_1, limited, run_in
from support.league_made import FakeBackend, played
from support.made_matches import tournament

from arena.errors import HarnessFault, MachineFault, Shortage
from arena.league import worker
from arena.league.driver import play_jobs
from arena.league.schedule import Job, jobs
from arena.league.tournament import ClusterSettings
from arena.league.worker import PlayedMatch, play_rotations
from arena.operations import playing
from arena.operations.events import Event, Warned
from arena.process import room
from arena.process.limits import Limits
from arena.store.bots import BotStore

MIB: Final = 1 << 20
FILL: Final = "while len(held) < 40: held.append(bytearray(b'x' * (1 << 20))); time.sleep(0.03)"
HOG: Final = bot_script(start="held = []", asked=FILL)
"""Within its limit of 64 MiB, from its first move on."""
BUYER: Final = bot_script(start="held = []", asked=f"{FILL}\n        if m['id'] == 9: os.kill(os.getpid(), 9)")
"""The same, and then it dies as the kernel ends a bot: where memory is short it looks like any other victim."""
ARENA: Final = (sys.executable, "-m", "arena", "league")


class _Player:
    def close(self, *, grace_s: float) -> None: ...


class Machine:
    """A machine that runs short when a match is played for the first `short` times; it notes how each was played."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, faults: list[HarnessFault], lack: str = "") -> None:
        self.faults = faults
        self.played: list[tuple[int, str]] = []
        self._how = ""
        monkeypatch.setattr(room, "lack_of_room", lambda _: lack)
        monkeypatch.setattr(worker, "_make_bots", self._seat)
        monkeypatch.setattr(worker, "_play_at_table", self._play)
        monkeypatch.setattr(room, "_hold_lock", self._locked)
        self._held: list[str] = []

    def _seat(self, _job: Job, *, is_last: bool) -> list[_Player]:
        alone = self._held == ["entry", "tables"]
        self._how = "last" if is_last else "alone" if alone else "shared"
        return [_Player(), _Player()]

    def _play(self, _job: Job, fixture: Any, rotation: int, _table: object) -> PlayedMatch:
        self.played.append((fixture.block, self._how))
        if rotation == 0 and fixture.block == 1 and self.faults:
            raise self.faults.pop(0)
        return None, None  # type: ignore[return-value]

    @contextmanager
    def _locked(self, name: str, *, is_shared: bool = False) -> Iterator[None]:
        self._held.append(f"{name} shared" if is_shared else name)
        yield
        self._held.pop()


def job(cycles: int = 3) -> Job:
    """A job whose first rotation is 0."""
    return next(jobs(tournament("ann", "bob", cycles=cycles, chunk_blocks=cycles, luck=False), {}, "none"))


def short() -> Shortage:
    return Shortage("the machine ran out of memory")


@pytest.mark.parametrize(
    ("faults", "repeats"),
    [([short()], ["alone"]), ([short(), short()], ["alone", "last"])],
    ids=["once", "twice"],
)
def test_a_match_for_which_the_machine_ran_short_is_repeated_alone(
    monkeypatch: pytest.MonkeyPatch, faults: list[HarnessFault], repeats: list[str]
) -> None:
    """Matches before it stay, and those after it are played beside others again."""
    machine = Machine(monkeypatch, faults)

    assert len(list(play_rotations(job()))) == 6

    begin = machine.played.index((1, repeats[0])) - 2
    assert machine.played[begin : begin + 3 + len(repeats)] == [
        (0, "shared"),
        (1, "shared"),
        *((1, how) for how in repeats),
        (2, "shared"),
    ]


@pytest.mark.parametrize(
    ("faults", "lack", "repeats", "said"),
    [
        ([short()] * 3, "", ["alone", "last"], "ran out of memory; with nothing else playing, too"),
        ([short()], "a match may use 9 MiB of memory, and 5 are free", [], "with nothing else playing, a match may"),
        ([MachineFault("no bubblewrap")], "", [], "no bubblewrap"),
    ],
    ids=["always short", "no room", "a program"],
)
def test_what_a_machine_lacks_is_nobodys_loss(
    monkeypatch: pytest.MonkeyPatch, faults: list[HarnessFault], lack: str, repeats: list[str], said: str
) -> None:
    """The message names what is missing, and nothing is tried that cannot help."""
    machine = Machine(monkeypatch, list(faults), lack=lack)

    with pytest.raises(MachineFault, match=said):
        list(play_rotations(job()))
    assert machine.played[-1 - len(repeats) :] == [(1, "shared"), *((1, how) for how in repeats)]


@pytest.mark.parametrize(
    "error",
    [MachineFault("no room"), MemoryError(), OSError(24, "Too many files")],
    ids=["room", "memory", "files"],
)
def test_a_lack_of_the_machine_ends_the_league_and_keeps_what_was_played(error: Exception, golden: Golden) -> None:
    """The exit code is that of the machine, and the message says that the same command continues."""
    stored: list[object] = []
    jobs_left = [2]

    def play(job: Job) -> Any:
        if not jobs_left[0]:
            raise error
        jobs_left[0] -= 1
        return played(job)

    backend = FakeBackend(play, slots=1)
    league = tournament("ann", "bob", cycles=4, chunk_blocks=1)

    with golden.raises(MachineFault):
        play_jobs([jobs(league, {}, "none")], backend, commit=stored.extend)
    assert len(stored) == 2
    assert backend.closed == [True]


def test_as_many_matches_fit_as_there_is_memory_and_processes_for(
    monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """The smaller number counts; scratch folders of a bot count as its memory."""
    bots = [Limits(memory_mib=100, tasks=8, scratch_mib=0), Limits(memory_mib=100, tasks=8, scratch_mib=20)]
    need = room.room_for(bots, workers=1)
    monkeypatch.setattr(room, "free_memory", lambda: (3 * need.memory_mib + 5) * MIB)

    for tasks, count in ((None, 3), (2 * need.tasks, 2), (need.tasks - 1, 0)):
        monkeypatch.setattr(room, "free_tasks", lambda tasks=tasks: tasks)
        assert room.matches_that_fit(bots) == count
    assert need.memory_mib >= 240
    golden(room.lack_of_room(need))


def test_workers_of_a_cluster_here_that_do_not_fit_are_told(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """As those of this machine: whoever asks for so many gets them, and matches that are void."""
    monkeypatch.setattr(playing, "matches_that_fit", lambda _: 1)
    monkeypatch.setattr("arena.cluster.backend.cluster_backend", lambda *_: FakeBackend(played))
    told: list[Event] = []

    here = ClusterSettings("local:3")
    playing.backend_of(here, tournament(), BotStore(Path(), Path(), "none"), "none", FakeBackend(played), told.append)

    assert [type(event) for event in told] == [Warned]
    golden(told[0])


@pytest.mark.process
def test_a_match_alone_waits_for_all_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits also for matches of other commands, and new ones wait for it."""
    monkeypatch.setattr(room, "claims_folder", lambda: tmp_path)
    with room.share_machine(), room.share_machine():
        assert not _can_lock(tmp_path / "tables", exclusive=True)
        assert _can_lock(tmp_path / "entry", exclusive=True)
    with room.claim_machine([Limits(memory_mib=16)]):
        assert not _can_lock(tmp_path / "tables", exclusive=False)
        assert not _can_lock(tmp_path / "entry", exclusive=True)


def _can_lock(file: Path, *, exclusive: bool) -> bool:
    words = ["flock", "--nonblock", "--exclusive" if exclusive else "--shared", str(file), "true"]
    return subprocess.run(words, check=False).returncode == 0


def league_file(folder: Path, hog: str = HOG, **changes: Any) -> Path:
    """Write the file of a league of two honest bots and one that fills its memory."""
    folder.chmod(0o755)
    bots = folder / "bots"
    bots.mkdir()
    (bots / "hog.py").write_text(hog)
    content = {
        "name": "test",
        "game": "shanghaien",
        "seed": 1,
        "cycles": 6,
        "chunk_blocks": 1,
        "limits": {"memory_mib": 64},
        "players": [
            {"bot": str(bots / "hog.py")},
            {"bot": str(ROOT / "bots" / "random"), "name": "ann"},
            {"bot": str(ROOT / "bots" / "random"), "name": "bob"},
        ],
    }
    file = folder / "league.yaml"
    file.write_text(yaml.safe_dump(content | changes))
    return file


def outcomes(results: Path) -> list[tuple[str, ...]]:
    """Return each match: its id, who sat where, how it ended, and the ranks."""
    words = (*ARENA, "matches", "--results", str(results), "--format", "csv")
    said = subprocess.run(words, capture_output=True, text=True, check=True, cwd=results.parent).stdout
    rows = csv.DictReader(io.StringIO(said))
    wanted = ("match", "termination", "at_fault", "rank_0", "rank_1", "score_0", "score_1")
    return [tuple(row.get(name) or "" for name in wanted) for row in rows]


@pytest.mark.slow
@pytest.mark.process
@group_of_version_1("memory")
@pytest.mark.parametrize(("hog", "ends"), [(HOG, {"normal"}), (BUYER, {"normal", "crash"})], ids=["a hog", "a buyer"])
def test_a_league_short_of_memory_ends_as_on_a_large_machine(tmp_path: Path, hog: str, ends: set[str]) -> None:
    """The kernel kills bots, their matches are void and repeated alone: no forfeit, and the hog loses as ever.

    So does one that dies on purpose: it buys a repeat with the same luck, and no void match.
    """
    file, found, most = league_file(tmp_path, hog), {}, 8192 * MIB
    for name in ("large", "small"):
        with limited("memory", most) as group:
            words = (*ARENA, "run", str(file), "--results", str(tmp_path / name), "--workers", "6")
            ended = run_in(group, *words, cwd=tmp_path)
            kills = int((group / "memory.oom_control").read_text().split()[-1])
            most = int((group / "memory.max_usage_in_bytes").read_text()) * 17 // 20
        assert ended.returncode == 0, ended.stderr
        assert (kills > 0) == (name == "small")
        found[name] = outcomes(tmp_path / name)

    assert found["small"] == found["large"]
    assert {termination for _, termination, *_ in found["small"]} == ends
    assert "is void" in (tmp_path / "small" / "logs" / "test.log").read_text()


NO_ROOM = [
    pytest.param("memory", mib * MIB, workers, codes, marks=group_of_version_1("memory"))
    for mib in (90, 120)
    for workers, codes in (([], {5}), (["--workers", "2"], {0, 5}))
]
NO_PROCESSES = [
    pytest.param("pids", most, ["--workers", "2"], codes, marks=group_of_version_1("pids"))
    for most, codes in ((8, {5}), (12, {5}), (24, {0, 5}), (40, {0, 5}))
]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(("kind", "most", "workers", "exit_codes"), NO_ROOM + NO_PROCESSES)
def test_a_small_machine_blames_nobody(
    tmp_path: Path, kind: str, most: int, workers: list[str], exit_codes: set[int]
) -> None:
    """It plays nothing by itself without room for a match; as asked it plays as far as it gets, and none is a forfeit.

    Nothing is a mistake of arena's own.
    """
    file = league_file(tmp_path, limits={"memory_mib": 512 if kind == "memory" else 64})
    with limited(kind, most) as group:
        words = (*ARENA, "run", str(file), "--results", str(tmp_path / "results"), *workers)
        ended = run_in(group, *words, cwd=tmp_path)

    assert ended.returncode in exit_codes, ended.stderr
    assert "Traceback" not in ended.stderr
    assert kind == "pids" or "may use" in ended.stderr
    if workers and (kind == "memory" or ended.returncode == 0):
        assert {termination for _, termination, *_ in outcomes(tmp_path / "results")} <= {"normal"}


@pytest.mark.process
@pytest.mark.parametrize(
    ("limit", "sentence"),
    [("-v 150000", "`ulimit -v` allows 146 MiB"), ("-n 24", "`ulimit -n`")],
    ids=["memory", "files"],
)
def test_limits_of_the_shell_are_named(tmp_path: Path, limit: str, sentence: str) -> None:
    """The error is one sentence, with the exit code of a machine that lacks something."""
    command = f'ulimit {limit} && exec "$@"'
    words = ["sh", "-c", command, "sh", *ARENA, "run", str(league_file(tmp_path)), "--results", str(tmp_path / "r")]
    ended = subprocess.run([*words, "--workers", "1"], capture_output=True, text=True, check=False, cwd=tmp_path)

    assert ended.returncode == MachineFault.exit_code
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr
