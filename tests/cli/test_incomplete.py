"""`arena league run` when a block stays void, and when wall time decides on a busy machine: what it says and does."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.cli_arena import ROOT, Terminal
from support.golden import Golden
from support.tampering import delete_match
from support.threads import play_in_threads

from arena.doctor.machine import doubt_of_wall_time
from arena.errors import HarnessFault
from arena.league import worker
from arena.match import referee
from arena.match.participant import Participant
from arena.match.record import MatchRecord
from arena.match.settings import MatchSpec

RUN = "league run league.yaml"


@pytest.fixture
def terminal(terminal: Terminal) -> Terminal:
    content = {"name": "test", "game": "nim", "seed": 1, "cycles": 3, "chunk_blocks": 3}
    players = [{"bot": "random", "name": name} for name in ("ann", "bob")]
    Path("league.yaml").write_text(yaml.safe_dump({**content, "players": players}))
    return terminal


def suspended_in(block: int) -> object:
    """The referee, which is suspended in every match of the block with that number."""

    def play(spec: MatchSpec, participants: Sequence[Participant], **meter: Any) -> MatchRecord:
        if spec.match.split("-")[1] == str(block):
            raise HarnessFault("the referee was suspended for 9.0 s")
        return referee.play_match(spec, participants, **meter)

    return play


@pytest.mark.slow
@pytest.mark.process
def test_a_block_that_stays_void_is_named_and_tried_again_by_the_next_run(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """League, block, players and reason; all others are played and ranked in a table that says so; exit code 4."""
    play_in_threads(monkeypatch)
    monkeypatch.setattr(worker, "play_match", suspended_in(1))
    incomplete = terminal.arena(RUN)
    monkeypatch.undo()
    monkeypatch.chdir(terminal.folder)
    monkeypatch.setenv("ARENA_BOTS", str(Path(__file__).parents[2] / "bots"))
    whole = terminal.arena(RUN)

    assert incomplete.code == 4
    assert "4 of 6 matches, incomplete" in incomplete.out
    assert "1 block could not be played, league test, " in incomplete.err
    assert (
        " block 1 (ann v bob): void 3 times, the last time because the referee was suspended for 9.0 s"
        in incomplete.err
    )
    assert "the same command tries them again" in incomplete.err
    assert "Traceback" not in incomplete.err
    assert whole.code == 0
    assert "6 of 6 matches; ranks by rating" in whole.out


@pytest.mark.process
def test_a_block_that_lacks_a_match_is_damage(terminal: Terminal, golden: Golden) -> None:
    """A block that lacks a match in a league with nothing left to play is named, with exit code 1."""
    assert terminal.arena(RUN).code == 0
    delete_match(terminal.results, lambda match: match.key[1:] == (1, 1))

    said, status = terminal.arena(RUN), terminal.arena("league status")

    assert said.code == 1
    golden(said.out)
    golden(said.err)
    assert "arena verify" in said.err
    assert terminal.arena("verify").code == 1
    golden(status.out)


@pytest.mark.parametrize(
    ("cores", "load", "matches", "is_doubtful"),
    [(4, 0.3, 4, False), (4, 0.0, 5, True), (4, 2.6, 2, True), (4, 1.9, 2, False)],
)
def test_wall_time_on_a_busy_machine_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, cores: int, load: float, matches: int, is_doubtful: bool
) -> None:
    """More matches at once than cores, or other work: named with the players, and with what to do."""
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))

    said = doubt_of_wall_time(["ann", "bob"], matches)

    assert bool(said) == is_doubtful
    assert not said or said.startswith("WARNING: wall time decides for ann, bob, and this machine has too much to do")
    assert doubt_of_wall_time([], matches) == ""


@pytest.mark.process
def test_a_league_by_wall_time_says_so_before_it_begins(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """On stderr, once, and below the standings; not where CPU time decides, but for bots with processes."""
    monkeypatch.setattr(os, "getloadavg", lambda: (99.0, 0.0, 0.0))

    by_wall = terminal.league(clock={"decides": "wall"}, cycles=1)
    by_cpu = terminal.league(name="other", cycles=1)
    shutil.copytree(ROOT / "bots" / "random", "forking")
    Path("forking", "bot.yaml").write_text("{name: forking, command: [python3, bot.py], processes: true}")
    mixed = terminal.league("random", "./forking", name="mixed", cycles=1)

    assert by_wall.err.startswith("WARNING: wall time decides for p0, p1, and this machine has too much to do")
    assert "load 99.0" in by_wall.err
    assert by_cpu.err == ""
    assert "wall time decides" not in by_cpu.out
    assert "\nwall time decides for all, so that the load of the machine counts\n" in by_wall.out
    assert "\nwall time decides for p1, so that the load of the machine counts\n" in mixed.out


@pytest.mark.process
@pytest.mark.parametrize(("failures", "code"), [(2, 0), (3, 4)])
def test_a_void_match_outside_of_leagues_is_played_again(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, failures: int, code: int
) -> None:
    """`arena match`: the third time it gives up, with the reason; what was played before stands there."""
    calls = 0

    def play(spec: MatchSpec, participants: Sequence[Participant], **meter: Any) -> MatchRecord:
        nonlocal calls
        calls += 1
        if 1 < calls <= 1 + failures:
            raise HarnessFault("the referee was suspended for 9.0 s")
        return referee.play_match(spec, participants, **meter)

    monkeypatch.setattr(worker, "play_match", play)

    said = terminal.arena("match random random --game nim")

    assert (said.code, calls) == (code, 2 + failures if code == 0 else 1 + failures)
    assert ("the referee was suspended for 9.0 s" in said.err) == bool(code)
    assert "Traceback" not in said.err
