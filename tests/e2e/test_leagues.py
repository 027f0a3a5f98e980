"""Leagues from the outside: what a person sees of faults, of progress, of a second run, and in a pipe."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli_arena import ROOT
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


@pytest.mark.slow
def test_nothing_left_to_play_starts_no_worker(tmp_path: Path) -> None:
    """The same command again prints the same table; no process is started for it."""
    place = Place(tmp_path).write("random", "random", cycles=2)
    first, _ = place.league("--workers", "2")
    before = place.matches()

    trace = tmp_path / "python"
    trace.write_text(
        f"#!{sys.executable}\nimport sys, multiprocessing.popen_forkserver as p\n"
        "p.Popen = None\nfrom arena.cli import execute\nsys.exit(execute(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, str(trace), "league", "run", str(place.tournament)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "ARENA_RESULTS": str(place.results)},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == first
    assert place.matches() == before


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    """A terminal gets one line that is drawn over and over; a pipe gets nothing but the table."""
    place = Place(tmp_path).write("sleeper", "random", cycles=3, options={"heaps": [1, 2]})
    try:
        main, terminal = pty.openpty()
    except OSError:
        pytest.skip("no terminals on this machine: is /dev/pts mounted?")
    process = place.start_league(stderr=terminal)
    os.close(terminal)
    shown = _all_from(main)
    out, _ = process.communicate(timeout=DEADLINE_S)

    assert "\r[" in shown
    assert "6/6 matches" in shown
    assert shown.endswith("\r\n")
    assert out.split()[:2] == ["rank", "player"]
    place.write("sleeper", "random", cycles=4, options={"heaps": [1, 2]})
    assert place.league()[1] == ""


def _all_from(terminal: int) -> str:
    found = b""
    while True:
        try:
            found += os.read(terminal, 4096)
        except OSError:  # what Linux says at the end of a terminal
            os.close(terminal)
            return found.decode()


@pytest.mark.slow
@pytest.mark.parametrize("command", [["leaderboard"], ["league", "matches", "test"]])
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, command: list[str]) -> None:
    """`arena ... | head`: quiet, exit code 0."""
    place = Place(tmp_path).write("random", "random", cycles=1)
    place.league()
    process = place.start(*command)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()

    with process.stderr:
        err = process.stderr.read()

    assert (process.wait(DEADLINE_S), err) == (0, "")
