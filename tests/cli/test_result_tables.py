"""The tables in results: there at the end of a league and at a stop, whole, in the place of no link."""

import csv
import io
import json
from pathlib import Path

import pytest
from support.cli_arena import Terminal
from support.golden import Golden

from arena.errors import Interrupted
from arena.operations.run_league import LeagueRun

pytestmark = pytest.mark.process


def test_a_league_leaves_its_table(terminal: Terminal, golden: Golden) -> None:
    """A league writes its table as Markdown and CSV, with the numbers of the leaderboard, and no other file."""
    terminal.league()

    folder = Path("results/tables")
    rows = json.loads(terminal.arena("leaderboard --format json").out)["standings"]["rows"]
    lines = list(csv.DictReader(io.StringIO((folder / "test.csv").read_text())))
    text = (folder / "test.md").read_text()

    assert sorted(path.name for path in folder.iterdir()) == ["test.csv", "test.md"]
    assert [line["player"] for line in lines] == [row["player"] for row in rows]
    assert [float(line["rating"]) for line in lines] == [row["rating"] for row in rows]
    golden(text)
    assert terminal.arena("leaderboard --format markdown").out.strip() in text


def test_a_stop_leaves_the_table_by_then(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """A stopped league writes the table of the blocks stored so far."""

    def stop(*_: object) -> None:
        raise Interrupted("stopped")

    terminal.league()
    monkeypatch.setattr(LeagueRun, "play", stop)
    Path("results/tables/test.md").unlink()

    assert terminal.league(cycles=3).code == 3
    golden(Path("results/tables/test.md").read_text())


@pytest.mark.parametrize("place", ["results/tables", "results/tables/test.md"])
def test_no_link_is_followed(terminal: Terminal, place: str) -> None:
    """Neither of the folder nor of a file: what a sent results folder points at stays as it is."""
    outside = Path("outside")
    outside.mkdir()
    (outside / "test.md").write_text("mine")
    path = Path(place)
    path.parent.mkdir(parents=True)
    path.symlink_to((outside if path.name == "tables" else outside / "test.md").absolute())

    said = terminal.league()

    assert [(each.name, each.read_text()) for each in outside.iterdir()] == [("test.md", "mine")]
    assert (said.code == 1) == (path.name == "tables")
