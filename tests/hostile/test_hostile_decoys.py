"""The counter-proof: bots that get nowhere in the sandbox do get through without it, so the decoys is worth a bite.

Only what does no harm to the machine is let loose: no bombs, no hogs, and writing is pointed at the test's own folder.
"""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.hostile_bots import BY_ID, HostileBot
from support.hostile_grounds import EVIL, Grounds, grounds_in, said_in, seat_of
from support.hostile_league import honest_players, league_of, played, without
from support.waiting import eventually

from arena.match.record import MatchRecord

pytestmark = pytest.mark.process

SAFE = {
    *("files-passwd", "files-secret", "files-home", "files-opponent", "files-environment", "files-process-list"),
    *("files-write-outside", "files-own-source"),
    *("network-tcp", "network-abstract-socket", "network-path-socket"),
    *("network-lock-channel", "network-record-lock-channel", "network-watch-channel"),
    *("network-directory-watch-channel", "kernel-kill-outside", "kernel-affinity"),
    *("memory-memfd", "memory-system-v", "tasks-fork", "tasks-spawn", "tasks-shell-out", "tasks-daemon"),
    *("perl-fork", "native-own-table"),
}


@pytest.fixture
def grounds(tmp_path: Path) -> Iterator[Grounds]:
    """Fresh for each bot, because it will be spoilt; what is left running is ended."""
    with grounds_in(tmp_path) as found:
        try:
            yield found
        finally:
            for pid in found.decoys.left_processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def loose(rogue: HostileBot, grounds: Grounds, results: Path) -> list[MatchRecord]:
    """Its matches without a sandbox."""
    honest = honest_players(grounds.honest, rogue.rivals_think_ms)[:1]
    tournament = league_of((*honest, grounds.player(rogue, everywhere=False)), rogue.clock)
    return played(tournament, results, isolation="none")


@pytest.mark.slow
@pytest.mark.parametrize("rogue", [pytest.param(BY_ID[name], id=name) for name in sorted(SAFE)])
def test_a_bot_without_a_sandbox_gets_through(rogue: HostileBot, grounds: Grounds, tmp_path: Path) -> None:
    """And says so where the other test looks for it, in one match at least."""
    gets_through(rogue, grounds, tmp_path)


@pytest.mark.slow
def test_a_thief_of_time_gets_through(grounds: Grounds, tmp_path: Path) -> None:
    """Sooner or later: a busy machine has little time to steal."""
    gets_through(BY_ID["time-wake-itself"], grounds, tmp_path, tries=10)


def gets_through(rogue: HostileBot, grounds: Grounds, tmp_path: Path, tries: int = 1) -> None:
    for number in range(tries):
        records = loose(rogue, grounds, tmp_path / f"results-{number}")
        assert without(records, EVIL) == []
        if any("BROKE" in said_in(record, seat_of(EVIL, record)) for record in records):
            return
    pytest.fail(f"{rogue.id} was kept without a sandbox")


@pytest.mark.parametrize(
    ("behaviour", "trace"),
    [
        ("files-write-outside", "was left"),
        ("network-tcp", "somebody connected"),
        ("kernel-kill-outside", "the victim was killed"),
    ],
)
def test_what_was_touched_is_found(behaviour: str, trace: str, grounds: Grounds, tmp_path: Path) -> None:
    """The decoys itself tells, whatever the bot says."""
    before = grounds.decoys.touched()
    loose(BY_ID[behaviour], grounds, tmp_path / "results")

    assert before == []
    assert eventually(lambda: trace in "; ".join(grounds.decoys.touched()) or trace in "; ".join(before))


def test_a_process_that_was_left_is_found(grounds: Grounds, tmp_path: Path) -> None:
    """By the mark in its command line."""
    loose(BY_ID["tasks-daemon"], grounds, tmp_path / "results")

    assert grounds.decoys.left_processes() != []
