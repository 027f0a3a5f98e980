"""No two games of a block side by side: in no command do processes of different rotations live together.

A bot takes a lock that the kernel gives back at its death: of its player, in its worker. One process of that player
lives in a worker then, or the second one notes that it met the first.
"""

from pathlib import Path

import pytest
import yaml
from support.bot_source import bot_script
from support.cli_arena import Terminal

from arena.league.forecast import SampleTimes
from arena.operations import plan_league

pytestmark = pytest.mark.process

LOCK = """
import fcntl
lock = open(f"FOLDER/{os.getppid()}.lock", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    noted = "alone"
except BlockingIOError:
    noted = "together"
with open("FOLDER/notes", "a") as notes:
    notes.write(f"{noted}\\n")
"""
LEAGUE = {"name": "test", "game": "nim", "cycles": 6, "chunk_blocks": 2}
PLAYERS = [{"bot": f"./{name}.py"} for name in ("ann", "bob")]


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("league run league.yaml --workers 2", 6),  # jobs of two blocks, and as many starts as jobs have rotations
        ("league run league.yaml --plan", 12),
        ("verify --replay 2", 6 + 4),
        ("match ./ann.py ./bob.py --game nim --blocks 3", 2),  # one by one
        ("match ./ann.py ./bob.py --game nim --blocks 21", 4),  # on all cores
        ("compare ./ann.py ./bob.py --game nim --batch 4 --blocks 16 --workers 2 --seed 1", 16),
        ("submit ./ann.py --baseline ./bob.py --game nim", 2),
    ],
)
def test_no_command_plays_two_rotations_at_once(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, line: str, starts: int
) -> None:
    """Whatever plays: leagues, samples of them, jobs played again, matches, comparisons and submissions."""
    monkeypatch.setattr(plan_league, "TIMES", SampleTimes(begin_s=60, end_s=90, pairing_s=60.0))
    Path("ann.py").write_text(bot_script())
    Path("bob.py").write_text(bot_script(start=LOCK.replace("FOLDER", str(terminal.folder))))
    Path("league.yaml").write_text(yaml.safe_dump({**LEAGUE, "players": PLAYERS}))
    if line.startswith("verify"):
        assert terminal.arena("league run league.yaml --workers 1 --isolation none").code == 0

    said = terminal.arena(f"{line} --isolation none")

    assert said.code == 0, said.err
    assert Path("notes").read_text().split() == ["alone"] * starts
    assert "with the actions that are stored" in said.out or not line.startswith("verify")
