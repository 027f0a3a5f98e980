"""A bot that predicts the dice of a public seed: it wins, and the audit of luck names it, and nobody else."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from arena.cli import cli
from arena.league.schedule import pairings
from arena.league.tournament import read_tournament
from arena.process.limits import Isolation
from arena.store.bots import BotStore

ROOT = Path(__file__).parents[2]
SEED = "spring"


class Hall:
    """A league of Shanghaien with a public seed, in which one player foresees, and two others do not."""

    def __init__(self, folder: Path, *, blocks: int) -> None:
        self._keys = folder / "keys.txt"
        self._results, self._file = folder / "results", folder / "league.yaml"
        bot = folder / "foresight"
        bot.mkdir()
        (bot / "foresight.py").write_bytes((ROOT / "tests/hostile/bots/foresight.py").read_bytes())
        (bot / "bot.yaml").write_text(
            yaml.safe_dump({"name": "foresight", "version": "1", "command": [sys.executable, "foresight.py"]})
        )
        suspect = {"name": "suspect", "bot": str(bot), "arguments": [SEED, str(self._keys)]}
        players = [suspect, *({"bot": "greedy", "name": name} for name in ("ann", "bob"))]
        league = {"name": "test", "game": "shanghaien", "seed": SEED, "blocks_per_pairing": blocks, "players": players}
        league |= {"clock": {"startup_ms": 60_000, "move_ms": 10_000, "wall_ms": 60_000}}
        self._file.write_text(yaml.safe_dump(league))

    def arena(self, *words: str) -> Result:
        return CliRunner().invoke(cli, [*words, "--results", str(self._results)], catch_exceptions=False)

    def play(self, isolation: Isolation = "none") -> dict[str, Any]:
        bots = BotStore(self._results, ROOT / "bots", isolation)
        tournament = read_tournament(self._file, bots.find)
        self._keys.write_text("\n".join(pairing.key for pairing in pairings(tournament)))
        bots_option = ("--bots", str(ROOT / "bots"))
        ran = self.arena("league", "run", str(self._file), "--isolation", isolation, *bots_option)
        assert ran.exit_code == 0, ran.output
        told: dict[str, Any] = json.loads(self.arena("leaderboard", "test", "--format", "json").output)
        return told


@pytest.mark.slow
@pytest.mark.process
def test_the_audit_names_the_bot_that_predicts(tmp_path: Path) -> None:
    """In the leaderboard and in `verify`, which is no failure; the others are not named."""
    hall = Hall(tmp_path, blocks=60)

    told = hall.play()

    rows = told["standings"]["rows"]
    assert {row["player"]: row["score"] for row in rows}["suspect"] > 0.7
    assert not any(row["faults"] for row in rows)
    lucks = {row["player"]: row["luck"] for row in rows}
    assert {name: luck["stands_out"] for name, luck in lucks.items()} == {"suspect": True, "ann": False, "bob": False}
    assert lucks["suspect"]["least"] > 0
    assert [sentence[:30] for sentence in told["luck_audit"]] == ["WARNING: luck audit: suspect i"]
    assert "WARNING: luck audit: suspect is luckier" in " ".join(hall.arena("leaderboard", "test").output.split())
    verified = hall.arena("verify", "test")
    assert verified.exit_code == 0
    assert "test: WARNING: luck audit: suspect is luckier than a player can be" in verified.output
