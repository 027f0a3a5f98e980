"""Databases of former layouts: their matches are moved into columns, all of them or none, and tell what they told."""

import json
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from msgspec.structs import replace
from store_made import counted, fill, older, reading, tournament

from arena.api import league_table
from arena.errors import DamagedStore
from arena.league.state import state_of
from arena.match.record import unpack
from arena.match.results import result_of
from arena.standings.sums import sums_of
from arena.store import database

HERE = Path(__file__).parent
TOLD = ("luck", "ship", "swiss", "decided")
"""The leagues of layout 9; `ship` has three seats."""


@pytest.fixture(scope="module")
def layout_9(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layout-9")
    with tarfile.open(HERE / "arena-layout-9.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.parametrize("name", TOLD)
def test_a_league_of_layout_9_tells_what_it_told(layout_9: Path, name: str) -> None:
    """Matches, scores, margins, faults and ratings, as the arena of that layout printed them."""
    then = json.loads((layout_9 / f"{name}.json").read_text())["standings"]
    with reading(layout_9 / "results") as store:
        state = state_of(store.league(name), store.ranks)
        now = league_table(store, state)[0]

    assert (now.matches, now.draw_rate) == (then["matches"], then["draw_rate"])
    assert name == "decided" or now.scheduled == then["scheduled"]  # another rule decides today
    rows = {row.name: row for row in now.rows}
    for row in then["rows"]:
        own = rows[row["name"]]
        assert [own.wins, own.draws, own.losses] == [row["wins"], row["draws"], row["losses"]]
        assert (own.mu, own.sigma, own.faults, own.pardoned) == (
            row["mu"],
            row["sigma"],
            row["faults"],
            row["pardoned"],
        )
        assert list(own.score_by_seat) == row["score_by_seat"]
        assert (own.score and own.score.value) == row["score"]
        assert (own.margin and own.margin.value) == row["mean_margin"]


def test_every_match_of_layout_9_is_that_of_its_record(layout_9: Path) -> None:
    """But for luck, which no record has: its sums are those of the matches."""
    with reading(layout_9 / "results") as store:
        everything = dict.fromkeys([entry.match.split("-")[0] for entry in store.entries()], 1000)
        played = list(store.matches(everything))

        assert len(played) == store.head().size == 102
        for seats in (2, 3):
            own = [one.result for one in played if len(one.result.players) == seats]
            assert store.sums({one.key.pairing: 1000 for one in own}).facts() == sums_of(own).facts()
        assert store.integrity_errors() == []
    for one in played:
        bare = result_of(unpack(one.record))
        assert one.result == replace(bare, luck=one.result.luck, luck_version=one.result.luck_version)


def test_an_unreadable_summary_is_made_again_from_its_record(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The record is the truth, and one flipped bit must not shut a folder for good; the match is named."""
    league = tournament("ann", "bob", cycles=2)
    older(tmp_path / database.FILE_NAME, 4, "UPDATE match SET summary = '{' WHERE block = 1 AND rotation = 0")
    fill(tmp_path / "today", league)

    with reading(tmp_path) as store, reading(tmp_path / "today") as today:
        assert [one.ranks for one in store.results(counted(league))] == [
            one.ranks for one in today.results(counted(league))
        ]
    assert "-1-0: its summary could not be read" in caplog.text


@pytest.mark.parametrize(
    "damage",
    [
        ("UPDATE record SET digest = 'x' WHERE block = 1 AND rotation = 0",),
        ("DELETE FROM record WHERE block = 1 AND rotation = 0",),
    ],
)
def test_a_match_that_nobody_can_read_keeps_the_layout(tmp_path: Path, damage: tuple[str, ...]) -> None:
    """Neither its summary nor its record: it is named, and no byte of the database changes."""
    path = tmp_path / database.FILE_NAME
    older(path, 4, "UPDATE match SET summary = '{' WHERE block = 1 AND rotation = 0", *damage)
    before = path.read_bytes()

    with pytest.raises(DamagedStore, match=r"match \w+-1-0 cannot be brought to the new layout.*Nothing was changed"):
        database.open_for_writing(tmp_path)

    assert path.read_bytes() == before


KILLED = """
import os, signal, sys
from pathlib import Path
from arena.store import database, rows
insert, left = rows.insert, int(sys.argv[2])
def dies(*arguments):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return insert(*arguments)
rows.insert = dies
database.open_for_writing(Path(sys.argv[1])).close()
"""


@pytest.mark.process
@pytest.mark.parametrize("after", [0, 3])
def test_a_migration_that_is_killed_is_begun_again(tmp_path: Path, after: int) -> None:
    """Its transaction is undone, and the next one who opens the folder finds all matches."""
    older(tmp_path / database.FILE_NAME, 4)

    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(after)], check=False, timeout=60)

    assert done.returncode == -signal.SIGKILL
    with reading(tmp_path) as store:
        assert len(list(store.results(counted(tournament("ann", "bob", cycles=2))))) == 4
        assert store.integrity_errors() == []
