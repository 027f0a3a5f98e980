"""Leagues on real dask workers: the same standings as without, in spite of deaths."""

import contextlib
import os
import platform
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml
from support.cli_arena import Terminal
from support.cluster_lab import BIN
from support.golden import Golden
from support.waiting import until

from arena.process import reaper
from arena.process.reaper import read_proc

pytestmark = [pytest.mark.slow, pytest.mark.process]
PATIENCE_S = 120.0


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    content = {"name": "test", "game": "nim", "seed": 1, "cycles": 20, "chunk_blocks": 5}
    players = [{"bot": "random", "name": name} for name in ("ann", "bob", "cid")]
    (tmp_path / "league.yaml").write_text(yaml.safe_dump({**content, "players": players}))
    monkeypatch.setenv("ARENA_WORKER_CACHE", str(tmp_path / "cache"))
    return Terminal(tmp_path, monkeypatch, capsys)


def board(terminal: Terminal, results: str) -> str:
    return terminal.arena(f"leaderboard test --format json --no-timing --results {results}").out


def start(log: Path, *words: str) -> "subprocess.Popen[bytes]":
    with log.open("w") as file:
        return subprocess.Popen([BIN / words[0], *words[1:]], stdout=file, stderr=file)


def test_workers_here_play_the_same_league(terminal: Terminal, golden: Golden) -> None:
    """`local:2`: the same bytes of standings as without dask; they also check it, and find what is found here."""
    alone = terminal.arena("league run league.yaml --workers 2 --results alone")
    code, said = arena(terminal.folder, "league run league.yaml --cluster local:2 --results here")

    assert (alone.code, code) == (0, 0), said
    assert board(terminal, "here") == board(terminal, "alone")
    log = (terminal.folder / "here" / "logs" / "test.log").read_text()
    assert re.search(rf"done, 120/120 matches, .*, on {re.escape(platform.node())} 120$", log, re.MULTILINE)
    told = terminal.arena("league status --results here").out
    assert re.search(rf"^  {re.escape(platform.node())}, speed [\d. to]+: 60 blocks$", told, re.MULTILINE)
    assert "cluster" not in terminal.arena("league status --results alone").out
    found = terminal.arena("verify --results here --replay 2").out
    code, said = arena(terminal.folder, "verify --results here --replay 2 --cluster local:2")
    assert code == 0, said
    assert found == said
    golden(said)


def arena(folder: Path, line: str) -> tuple[int, str]:
    """Run `arena LINE` in a process of its own, with dask's warnings and threads; return exit code and output."""
    run = start(folder / "said.log", "arena", *line.split())
    return run.wait(PATIENCE_S), (folder / "said.log").read_text()


def test_no_worker_is_ended_by_ctrl_c_while_it_begins(terminal: Terminal) -> None:
    """A terminal sends it to all processes of a command; workers at their start printed a traceback."""
    words = "league run league.yaml --cluster local:2"
    run = start(terminal.folder / "run.log", "arena", *words.split())
    hit = set()
    while run.poll() is None:
        for pid in reaper.children(run.pid):
            if b"spawn_main" in read_proc(f"/proc/{pid}/cmdline"):
                hit.add(pid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGINT)
        time.sleep(0.01)

    assert run.returncode == 0
    assert len(hit) == 2, "none of them was replaced by another one"
    assert "Traceback" not in (terminal.folder / "run.log").read_text()


@pytest.mark.parametrize("word", [b"spawn_main", b"resource_tracker"])
def test_a_process_that_is_killed_while_workers_start_costs_nothing(terminal: Terminal, word: bytes) -> None:
    """A dask worker is started again; without multiprocessing's tracker nobody reads of its insides."""
    words = "league run league.yaml --cluster local:2"
    run = start(terminal.folder / "run.log", "arena", *words.split())
    until(
        lambda: any(word in read_proc(f"/proc/{pid}/cmdline") for pid in reaper.children(run.pid)), within_s=PATIENCE_S
    )
    pid = next(pid for pid in reaper.children(run.pid) if word in read_proc(f"/proc/{pid}/cmdline"))
    if word == b"resource_tracker":
        until(
            lambda: any(b"forkserver" in read_proc(f"/proc/{each}/cmdline") for each in reaper.descendants(run.pid)),
            within_s=PATIENCE_S,
        )
    os.kill(pid, signal.SIGKILL)

    assert run.wait(PATIENCE_S) == 0, (terminal.folder / "run.log").read_text()
    assert "Traceback" not in (terminal.folder / "run.log").read_text()


def test_a_tournament_names_its_cluster(terminal: Terminal) -> None:
    """A section `cluster:` of the file does what the option does; one without an address is an error."""
    file = terminal.folder / "league.yaml"
    content = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump(content | {"cluster": {"address": "local:2"}}))
    code, text = arena(terminal.folder, "league run league.yaml --results with")
    assert code == 0, text
    machines = terminal.arena("league status test --results with").out
    assert f"{platform.node()}, speed" in machines
    assert "without a cluster" not in machines

    file.write_text(yaml.safe_dump(content | {"cluster": {"tls_ca": "ca.pem"}}))
    code, text = arena(terminal.folder, "league run league.yaml --results none")
    assert (code, "expected `address:` or `scheduler_file:`" in text) == (2, True)
