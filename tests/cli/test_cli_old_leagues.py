"""Leagues that an older arena stored: still readable, never mixed with new luck, and open where a new rule opens them.

tests/store/arena-0.1.0.tar.gz holds results made by arena 0.1.0: a league of nim, `old-nim`, and one of Shanghaien by
its rules 1, `old-dice`, both with the seed 2026, which bots can guess. arena-layout-9.tar.gz holds a league with
`until: decided` of the time when its pairs were decided by LOS, with the leaderboards that were printed then.
"""

import json
import tarfile
from pathlib import Path

import pytest
import yaml
from cli_arena import ROOT, Terminal

PUBLIC = "luck from a public seed: bots can predict the luck (seed: 2026)"


@pytest.fixture(params=["arena-0.1.0"])
def terminal(terminal: Terminal, request: pytest.FixtureRequest) -> Terminal:
    with tarfile.open(ROOT / "tests" / "store" / f"{request.param}.tar.gz") as archive:
        archive.extractall(terminal.folder, filter="data")
    return terminal


def test_an_old_league_is_shown(terminal: Terminal) -> None:
    """Its table, its matches and each of them; its luck is called what it was."""
    status = terminal.arena("league status").out
    board = terminal.arena("leaderboard old-nim --no-timing").out
    match = terminal.arena("league matches old-nim").out.split()[0]
    shown = terminal.arena(f"show {match}").out

    assert "old-dice: 2 of 2 matches" in status
    assert "old-nim: 12 of 12 matches" in status
    assert "12 of 12 matches; ranks by rating" in board
    assert PUBLIC in board
    assert "luck from a public seed: bots can predict the luck (arena 0.1.0)" in shown
    assert terminal.arena("league reveal old-nim").code == 2
    asked = terminal.arena(f"dialogue {match} 0 --step 2")
    assert (asked.code, "its record does not tell which request led to which step" in asked.err) == (1, True)


def test_an_old_league_is_verified(terminal: Terminal) -> None:
    """By the recipe of its time; where the rules have changed since, it is said and no problem."""
    said = terminal.arena("verify")

    assert said.code == 0, said.out
    assert "old-nim: 12 of 12 matches replayed" in said.out
    assert "old-nim: the luck of 12 matches compared with the secret or the public seed" in said.out
    assert "old-dice: not comparable: 2 matches played by rules 1" in said.out
    again = terminal.arena("verify old-nim --replay 1 --isolation none")
    assert (again.code, "again: its luck follows the recipe of arena 0.1.0" in again.out) == (0, True)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("seed", [None, 2026])
def test_an_old_league_is_not_continued_silently(terminal: Terminal, seed: int | None) -> None:
    """The recipe of luck is another one: a change that leaves stored matches behind, and is said."""
    Path("taker.py").write_bytes(next(Path("results/bots").glob("*/source/taker.py")).read_bytes())
    content = {
        "name": "old-nim",
        "game": "nim",
        "options": {"heaps": [2, 3]},
        "players": [{"bot": "./taker.py", "name": name} for name in ("ann", "bob", "cid")],
        "cycles": 2,
    }
    Path("nim.yaml").write_text(yaml.safe_dump(content | ({} if seed is None else {"seed": seed})))

    refused = terminal.arena("league run nim.yaml --workers 1")
    said = terminal.arena("league run nim.yaml --workers 1 --update --yes")
    verified = terminal.arena("verify")

    luck = "a secret" if seed is None else "public seed 2026"
    assert (refused.code, said.code) == (2, 0)
    for each in (refused, said):
        assert f"the recipe of luck changed from that of arena 0.1.0 (seed 2026) to {luck}" in each.err
    assert "12 of 12 stored matches are dropped" in said.err
    assert verified.code == 0, verified.out
    assert "no league: 12 matches of no current league replayed" in verified.out


@pytest.mark.parametrize("terminal", ["arena-layout-9"], indirect=True)
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
