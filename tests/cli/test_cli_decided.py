"""A league with `until: decided` that was begun when its pairs were decided by LOS: what is stored of it stays usable.

tests/store/arena-layout-9.tar.gz holds results of that time, with the leaderboards that were printed then.
"""

import json
import tarfile
from pathlib import Path

import pytest
from cli_arena import ROOT, Terminal

BEGUN = ROOT / "tests" / "store" / "arena-layout-9.tar.gz"


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    with tarfile.open(BEGUN) as archive:
        archive.extractall(tmp_path, filter="data")
    return Terminal(tmp_path, monkeypatch, capsys)


def test_a_begun_league_keeps_its_matches_and_asks_for_more(terminal: Terminal) -> None:
    """It was complete by the old rule, and its next round is open by the new one; all its matches count."""
    before = json.loads(Path("decided.json").read_text(encoding="utf-8"))["standings"]

    status = terminal.arena("league status decided").out
    after = json.loads(terminal.arena("leaderboard decided --format json").out)["standings"]

    assert (before["is_complete"], after["is_complete"]) == (True, False)
    assert "decided: 48 of at most 72 matches, round 3: 2 undecided pairs of neighbours" in status
    assert before["matches"] == after["matches"] == 48
    assert {row["player"]: row["matches"] for row in after["rows"]} == {
        row["name"]: row["matches"] for row in before["rows"]
    }
