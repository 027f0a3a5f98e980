"""Leagues from the outside: what a person sees of faults, of progress, of a second run, and in a pipe."""

from pathlib import Path

import pytest
from support.e2e_arena import DEADLINE_S, Place
from support.waiting import until

pytestmark = pytest.mark.process


def test_faulty_bots_are_counted_and_explained(tmp_path: Path) -> None:
    """A bot that crashes, one that hangs, one that cheats: exit 0, counted in the table, listed, and shown with why."""
    place = Place(tmp_path).write(
        "crashes", "hangs", "cheats", "random", cycles=1, clock={"move_ms": 100, "bank_ms": 0, "wall_ms": 700}
    )

    table, _ = place.league("--workers", "2")
    listed, _ = place.run("league", "matches", "test", "--faults")

    faults = {row["player"]: row["faults"] for row in place.rows()}
    assert set(faults["crashes"]) == {"crash"}
    assert set(faults["hangs"]) == {"timeout"}
    assert set(faults["cheats"]) == {"illegal_action"}
    assert faults["p3"] == {}
    assert "illegal" in table
    matches = [line for line in listed.splitlines() if not line.startswith(" ")]
    assert len(matches) == sum(sum(each.values()) for each in faults.values())
    explained = {
        "crashes": ["RuntimeError: no idea what to do", "exit code 1"],
        "hangs": ["no answer within 0.7 s of wall time"],
        "cheats": ["action 4711 is not an index in `legal`"],
    }
    for name, parts in explained.items():
        line = next(line for line in listed.splitlines() if line.endswith(f"by {name}"))
        shown, _ = place.run("show", line.split()[0])
        assert f"{name} forfeits" in shown
        assert all(part in shown for part in parts), shown


@pytest.mark.slow
def test_a_second_run_at_once_is_refused(tmp_path: Path) -> None:
    """While one program plays into a folder another is told so, exit code 2, and the first is not disturbed."""
    place = Place(tmp_path).write("sleeper", "random", cycles=5, options={"heaps": [1, 2]})
    process = place.start_league("--workers", "1")
    until(lambda: bool(place.bots_alive()), within_s=DEADLINE_S, what="the start of the league")

    _, err = place.league(exit_code=2)
    status, _ = place.run("league", "status")

    assert "another `arena` is playing into this folder" in err
    assert status.startswith("test: ")
    process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0
    assert len(place.matches()) == 10
