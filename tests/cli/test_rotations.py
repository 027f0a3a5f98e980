"""No two games of a block side by side: in no command do processes of different rotations live together.

A bot takes a lock that the kernel gives back at its death: of its player, in its worker. One process of each player
lives in a worker then, or the second one notes that it met the first.
"""

from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal

from arena.league.forecast import SampleTimes
from arena.operations import plan_league

pytestmark = pytest.mark.process

LOCK = """
import fcntl
lock = open(f"FOLDER/{os.getppid()}-NAME", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    noted = "alone"
except BlockingIOError:
    noted = "together"
with open("FOLDER/notes", "a") as notes:
    notes.write(f"NAME {noted}\\n")
"""


@pytest.fixture
def folder(terminal: Terminal) -> Path:
    """The folder of the locks, and two bots beside it: `ann.py` and `bob.py`."""
    locks = terminal.folder / "locks"
    locks.mkdir()
    for name in ("ann", "bob"):
        start = LOCK.replace("FOLDER", str(locks)).replace("NAME", name)
        Path(f"{name}.py").write_text(bot_script(start=start))
    return locks


def starts(folder: Path) -> dict[str, int]:
    """The starts of each player; the notes begin anew."""
    notes = (folder / "notes").read_text().splitlines()
    (folder / "notes").unlink()
    assert {note.split()[1] for note in notes} == {"alone"}
    return {name: sum(note.split()[0] == name for note in notes) for name in ("ann", "bob")}


def test_a_league_never_plays_two_rotations_at_once(terminal: Terminal, folder: Path) -> None:
    """Two workers, lives of two blocks; as many starts as lives have rotations. And so the lives played again."""
    said = terminal.league("./ann.py", "./bob.py", cycles=6, chunk_blocks=2, flags="--isolation none")
    assert said.code == 0, said.err
    assert starts(folder) == {"ann": 6, "bob": 6}

    said = terminal.arena("verify --replay 2 --isolation none")

    assert "with the actions that are stored" in said.out, said.err
    assert starts(folder) == {"ann": 4, "bob": 4}


def test_nor_does_a_sample_of_it(terminal: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a plan are played in lives of 1, 2 and 4."""
    monkeypatch.setattr(plan_league, "TIMES", SampleTimes(begin_s=60, end_s=90, pairing_s=60.0))

    said = terminal.league("./ann.py", "./bob.py", cycles=7, chunk_blocks=7, flags="--plan --isolation none")

    assert said.code == 0, said.err
    assert starts(folder) == {"ann": 6, "bob": 6}


@pytest.mark.parametrize(("blocks", "lives"), [(3, 1), (21, 2)])
def test_nor_does_a_match(terminal: Terminal, folder: Path, blocks: int, lives: int) -> None:
    """Played here one by one, and on all cores."""
    said = terminal.arena(f"match ./ann.py ./bob.py --game nim --blocks {blocks} --isolation none")

    assert said.code == 0, said.err
    assert starts(folder) == {"ann": 2 * lives, "bob": 2 * lives}


def test_nor_does_a_comparison(terminal: Terminal, folder: Path) -> None:
    """Whatever it comes to."""
    said = terminal.arena("compare ./ann.py ./bob.py --game nim --batch 4 --blocks 16 --workers 2 --isolation none")

    assert said.code == 0, said.err
    assert starts(folder)["ann"] >= 8


def test_nor_does_the_block_of_a_submission(terminal: Terminal, folder: Path) -> None:
    """The baseline plays that block only. In the check before it one bot is alone, and plays against nobody."""
    said = terminal.arena("submit ./ann.py --baseline ./bob.py --game nim --isolation none")

    notes = (folder / "notes").read_text().splitlines()
    assert said.code == 0, said.err
    assert [note for note in notes if "bob" in note] == ["bob alone", "bob alone"]
