"""The counter-proof: bots that get nowhere in the sandbox do get through without it, so the bait is worth a bite.

Only what does no harm to the machine is let loose: no bombs, no hogs, and writing is pointed at the test's own folder.
"""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_bait import is_soon
from hostile_grounds import EVIL, Grounds, grounds_in, said_in, seat_of
from hostile_league import honest_players, league_of, played, without
from hostile_zoo import ZOO, Animal

from arena.match.record import MatchRecord

pytestmark = pytest.mark.process

SAFE = {
    *("files-passwd", "files-secret", "files-home", "files-opponent", "files-environment", "files-process-list"),
    *("files-write-outside", "files-own-source"),
    *("network-tcp", "network-abstract-socket", "network-path-socket"),
    *("network-lock-channel", "network-record-lock-channel", "network-watch-channel"),
    *("network-directory-watch-channel", "kernel-kill-outside", "kernel-affinity"),
    *("memory-memfd", "memory-system-v", "tasks-fork", "tasks-spawn", "tasks-shell-out", "tasks-daemon"),
    *("time-wake-itself", "perl-fork", "native-own-table"),
}

IDLE = {"time-wake-itself"}


@pytest.fixture
def grounds(tmp_path: Path) -> Iterator[Grounds]:
    """Fresh for each bot, because it will be spoilt; what is left running is ended."""
    with grounds_in(tmp_path) as found:
        try:
            yield found
        finally:
            for pid in found.bait.left_processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def loose(animal: Animal, grounds: Grounds, results: Path) -> list[MatchRecord]:
    """Its matches without a sandbox."""
    honest = honest_players(grounds.honest, animal.rivals_think_ms)[:1]
    tournament = league_of((*honest, grounds.player(animal, everywhere=False)), animal.clock)
    return played(tournament, results, isolation="none")


@pytest.mark.parametrize("animal", [each for each in ZOO if each.id in SAFE - IDLE], ids=lambda animal: animal.id)
def test_a_bot_without_a_sandbox_gets_through(animal: Animal, grounds: Grounds, tmp_path: Path) -> None:
    """And says so where the other test looks for it, in one match at least."""
    gets_through(animal, grounds, tmp_path)


@pytest.mark.alone
@pytest.mark.parametrize("animal", [each for each in ZOO if each.id in IDLE], ids=lambda animal: animal.id)
def test_a_thief_of_time_gets_through(animal: Animal, grounds: Grounds, tmp_path: Path) -> None:
    """A busy machine has no time to steal."""
    gets_through(animal, grounds, tmp_path)


def gets_through(animal: Animal, grounds: Grounds, tmp_path: Path) -> None:
    records = loose(animal, grounds, tmp_path / "results")

    assert without(records, EVIL) == []
    assert any("BROKE" in said_in(record, seat_of(EVIL, record)) for record in records)


@pytest.mark.parametrize(
    ("habit", "trace"),
    [
        ("files-write-outside", "was left"),
        ("network-tcp", "somebody connected"),
        ("kernel-kill-outside", "the canary was killed"),
    ],
)
def test_what_was_touched_is_found(habit: str, trace: str, grounds: Grounds, tmp_path: Path) -> None:
    """The bait itself tells, whatever the bot says."""
    animal = next(each for each in ZOO if each.id == habit)
    before = grounds.bait.touched()
    loose(animal, grounds, tmp_path / "results")

    assert before == []
    assert is_soon(lambda: trace in "; ".join(grounds.bait.touched()) or trace in "; ".join(before))


def test_a_process_that_was_left_is_found(grounds: Grounds, tmp_path: Path) -> None:
    """By the mark in its command line."""
    animal = next(each for each in ZOO if each.id == "tasks-daemon")
    loose(animal, grounds, tmp_path / "results")

    assert grounds.bait.left_processes() != []
