"""`arena league run` with schedules that depend on results: the same standings after any stop, and words about it."""

import json
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.league_made import RANDOM
from support.scripted_bot import RandomBot
from support.threads import play_in_threads

from arena.cli import execute

pytestmark = pytest.mark.process
STOP_AFTER = "ARENA_TEST_STOP_AFTER"
SCHEDULES: dict[str, dict[str, Any]] = {
    "swiss": {"schedule": {"kind": "swiss", "rounds": 3}},
    "knockout": {"schedule": {"kind": "knockout", "blocks_per_tie": 1, "cap_blocks": 3}},
    "decided": {"schedule": {"kind": "round_robin", "until": "decided", "cap_blocks": 3}, "cycles": 1},
}


class Stopping(ThreadPoolExecutor):
    """Threads; Ctrl-C comes when it is given one batch more than the variable says.

    By then all of these but the last are stored: the window is filled before the disk is waited for.
    """

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> "Future[Any]":
        left = int(os.environ[STOP_AFTER])
        if left == 0:
            raise KeyboardInterrupt
        os.environ[STOP_AFTER] = str(left - 1)
        return super().submit(function, *arguments, **named)


def write(folder: Path, kind: str) -> Path:
    players = [{"bot": str(RANDOM), "name": f"p{number}"} for number in range(4)]
    content = {"name": kind, "game": "nim", "options": {"heaps": [2, 3]}, "seed": 1, "players": players}
    path = folder / f"{kind}.yaml"
    path.write_text(yaml.safe_dump({**content, **SCHEDULES[kind]}))
    return path


def standings(results: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert execute(["leaderboard", kind, "--format", "json", "--no-timing", "--results", str(results)]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCHEDULES)
def test_stopped_anywhere_it_ends_with_the_same_standings(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after each batch or two, and again played in one go by two workers: the same bytes, all of them sound."""
    path = write(tmp_path, kind)
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    command = ["league", "run", str(path), "--isolation", "none"]
    codes: list[int] = []
    while codes[-1:] != [0]:
        monkeypatch.setenv(STOP_AFTER, "2")
        play_in_threads(monkeypatch, Stopping(1))
        codes.append(execute([*command, "--results", str(stopped)]))
        assert len(codes) < 40
    monkeypatch.undo()

    assert execute([*command, "--workers", "2", "--results", str(whole)]) == 0

    assert len(codes) > 2
    assert set(codes) == {0, 3}
    table = standings(stopped, kind, capsys)
    assert table == standings(whole, kind, capsys)
    assert json.loads(table)["standings"]["is_complete"]
    assert execute(["verify", kind, "--results", str(stopped)]) == 0


def test_says_which_round_is_on_and_who_won(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half played: the round, and at most how many matches; at the end the ties and the winner."""
    path, results = write(tmp_path, "knockout"), tmp_path / "results"
    command = ["league", "run", str(path), "--isolation", "none", "--results", str(results)]
    monkeypatch.setattr("arena.league.worker.open_channel", lambda *_, **__: RandomBot().open())
    monkeypatch.setenv(STOP_AFTER, "2")
    play_in_threads(monkeypatch, Stopping(1))
    assert execute(command) == 3
    play_in_threads(monkeypatch)
    stopped = capsys.readouterr().err
    assert execute(["league", "status", "--results", str(results)]) == 0
    status = capsys.readouterr().out
    assert execute(command) == 0
    ended = capsys.readouterr().out

    where = "round 2: semi-finals, 2 ties still level"
    assert "of at most 18 matches stored; the same command continues" in stopped
    assert status.startswith(f"knockout: 4 of at most 18 matches, {where}, 4 players, game nim\n")
    assert sum(line.endswith(" wins the knockout") for line in ended.splitlines()) == 1
    assert ended.splitlines()[-1].startswith("history: 18:")
    assert sum(" beats " in line for line in ended.splitlines()) == 3
