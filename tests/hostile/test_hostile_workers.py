"""Hostile bots against each other and against honest ones, in worker processes, and the audit of what was stored."""

import contextlib
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from support.hostile_bots import BY_ID
from support.hostile_grounds import Grounds, grounds_in, said_in
from support.hostile_league import PATIENT, course, honest_players, league_of, played
from support.waiting import eventually

from arena.league.driver import LocalBackend
from arena.match.record import MatchRecord
from arena.store import database
from arena.store.bots import BotStore
from arena.store.matches import MatchStore
from arena.verify.audit import audit

pytestmark = pytest.mark.process

CROWD = (
    *("tasks-daemon", "tasks-fork-bomb", "tasks-vanish", "memory-memfd", "kernel-kill-outside", "files-environment"),
    *("lines-flood-of-text", "dialogue-quit-between-matches", "dialogue-escapes-in-stderr", "dialogue-kill-itself"),
)


@pytest.fixture
def grounds(tmp_path: Path) -> Iterator[Grounds]:
    with grounds_in(tmp_path) as found:
        yield found


def findings(results: Path) -> list[str]:
    """What the audit takes for a problem; that nobody submitted these bots is none here."""
    with contextlib.closing(database.open_for_writing(results)) as connection:
        store = MatchStore(connection, results)
        found = [text for is_problem, text in audit(store, BotStore(results, results), ("hostile",)) if is_problem]
    return [text for text in found if "no longer has its hash" not in text]


def of_these(records: list[MatchRecord], players: set[str]) -> list[MatchRecord]:
    return [record for record in records if {seat.player for seat in record.seats} <= players]


@pytest.mark.slow
def test_a_league_full_of_hostile_bots_is_played_to_its_end(grounds: Grounds, tmp_path: Path) -> None:
    """By two workers that survive it; the honest ones play as among themselves, the audit finds nothing wrong."""
    evil = tuple(grounds.player(BY_ID[name], everywhere=True, name=name) for name in CROWD)
    alone = grounds.alone(0)

    records = played(
        league_of((*honest_players(grounds.honest), *evil), PATIENT), tmp_path / "r", backend=LocalBackend(2)
    )

    names = {"anna", "bert"}
    assert len(records) == 2 * len(list(combinations((*CROWD, *names), 2)))
    assert course(of_these(records, names)) == course(alone)
    assert findings(tmp_path / "r") == []
    assert not any("BROKE" in said_in(record, seat) for record in records for seat in (0, 1))
    assert eventually(lambda: not grounds.decoys.left_processes() and not grounds.decoys.running())
    assert grounds.decoys.touched() == []
