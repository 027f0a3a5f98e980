"""`arena league run` with a schedule that depends on results: words about its rounds."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.golden import Golden
from support.league_made import RANDOM
from support.scripted_bot import RandomBot
from support.threads import play_in_threads

from arena.cli import execute

pytestmark = pytest.mark.process


class Stopping(ThreadPoolExecutor):
    """A thread; Ctrl-C comes when it is given a third batch.

    By then the first is stored: the window is filled before the disk is waited for.
    """

    left = 2

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> "Future[Any]":
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        return super().submit(function, *arguments, **named)


def test_says_which_round_is_on_and_who_won(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """Half played it shows the round and the most matches; at the end the ties and the winner."""
    path, results = tmp_path / "knockout.yaml", tmp_path / "results"
    players = [{"bot": str(RANDOM), "name": f"p{number}"} for number in range(4)]
    content = {"name": "knockout", "game": "nim", "options": {"heaps": [2, 3]}, "seed": 1, "players": players}
    path.write_text(yaml.safe_dump(content | {"schedule": {"kind": "knockout", "blocks_per_tie": 1, "cap_blocks": 3}}))
    command = ["league", "run", str(path), "--isolation", "none", "--results", str(results)]
    monkeypatch.setattr("arena.league.worker.open_channel", lambda *_, **__: RandomBot().open())
    play_in_threads(monkeypatch, Stopping(1))
    assert execute(command) == 3
    play_in_threads(monkeypatch)
    stopped = capsys.readouterr().err
    assert execute(["league", "status", "--results", str(results)]) == 0
    status = capsys.readouterr().out
    assert execute(command) == 0
    ended = capsys.readouterr().out

    where = "round 2: semi-finals, 2 ties still level"
    golden(stopped)
    assert status.startswith(f"knockout: 4 of at most 18 matches, {where}, 4 players, game nim\n")
    assert sum(line.endswith(" wins the knockout") for line in ended.splitlines()) == 1
    assert ended.splitlines()[-1].startswith("history: 18:")
    assert sum(" beats " in line for line in ended.splitlines()) == 3
