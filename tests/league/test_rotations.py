"""The rotations of a job, one after the other: which players sit down when, and what a void match costs."""

import random
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.bot_source import bot_script
from support.league_made import players_of
from support.made_matches import tournament
from support.threads import make_void, play_whole_job

from arena.errors import HarnessFault
from arena.league import worker
from arena.league.schedule import Fixture, Job, jobs
from arena.league.worker import ATTEMPTS, play_rotations
from arena.match.record import ActionStep, MatchRecord, unpack

MEMORY = bot_script(
    'seen.digest()[0] % len(m["legal"])',
    note="seen.hexdigest()",
    start="import hashlib; seen = hashlib.sha256()",
    each='m["type"] == "match_start" and seen.update(b"match")',
    asked='seen.update(json.dumps(m["legal"]).encode())',
)
"""A bot that plays by all that its process has met, and notes it."""


class Played(NamedTuple):
    """A match that was begun at a table, by its number."""

    table: int
    rotation: int
    block: int
    is_void: bool


class Hall:
    """A hall of tables in place of processes, of which one is open at a time; matches are void by `voids`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, voids: dict[tuple[int, int], int]) -> None:
        self.played: list[Played] = []
        self.sat_down, self.swept, self.open = 0, 0, set[int]()
        self._left = Counter(voids)
        monkeypatch.setattr(worker, "_make_bots", self._seat)
        monkeypatch.setattr(worker, "_play_at_table", self._play)

    def _seat(self, job: Job, **_: object) -> list["Sitting"]:
        assert not self.open, "others are still there"
        assert self.swept == self.sat_down, "what the former ones left is still there"
        self.sat_down += 1
        players = [Sitting(self, self.sat_down, place) for place in range(len(job.pairing.players))]
        self.open = {player.place for player in players}
        return players

    def _play(self, _: Job, fixture: Fixture, rotation: int, table: list["Sitting"]) -> tuple[Fixture, int]:
        assert {player.table for player in table} == {self.sat_down}
        assert self.open == {player.place for player in table}
        is_void = self._left[rotation, fixture.block] > 0
        self._left[rotation, fixture.block] -= 1
        self.played.append(Played(self.sat_down, rotation, fixture.block, is_void))
        if is_void:
            raise HarnessFault("all was quiet")
        return fixture, rotation

    def sweep(self) -> None:
        assert not self.open
        self.swept += 1


class Sitting(NamedTuple):
    """A player at a table."""

    hall: Hall
    table: int
    place: int

    def close(self, *, grace_s: float) -> None:
        assert grace_s >= 0.0
        self.hall.open.remove(self.place)


@pytest.mark.parametrize("seats", range(2, 11))
@pytest.mark.parametrize("chance", [0.0, 0.2])
def test_a_rotation_has_its_players_to_itself(monkeypatch: pytest.MonkeyPatch, seats: int, chance: float) -> None:
    """With 2 to 10 seats, also with void matches, each rotation has new players, and never two tables are open."""
    drawn = random.Random(seats)
    names = [f"p{number}" for number in range(seats)]
    (job,) = jobs(tournament(*names, seats=seats, cycles=6, chunk_blocks=6), {}, "none")
    places = [(rotation, block) for rotation in range(seats) for block in range(6)]
    hall = Hall(monkeypatch, {place: drawn.choice((1, 2, 3)) for place in places if drawn.random() < chance})
    lost: list[int] = []

    def lose(fixture: Fixture, _: HarnessFault) -> None:
        lost.append(fixture.block)

    matches: Iterable[Any] = play_rotations(job, on_lost=lose, sweep=hall.sweep)
    found = [(rotation, fixture.block) for fixture, rotation in matches]

    order = job.fixtures[0].draw.order
    voids = Counter(each.block for each in hall.played if each.is_void)
    assert [rotation for rotation, _ in groupby(hall.played, key=lambda each: each.rotation)] == list(order)
    assert set(lost) == {block for block, count in voids.items() if count >= ATTEMPTS}
    assert {*found} >= {place for place in places if place[1] not in lost}
    assert found == [(each.rotation, each.block) for each in hall.played if not each.is_void]
    assert hall.sat_down == hall.swept <= seats + voids.total()
    assert not hall.open
    for _, own in groupby(hall.played, key=lambda each: each.table):
        at_table = list(own)
        assert [each.block for each in at_table] == list(range(at_table[0].block, at_table[-1].block + 1))
        assert not any(each.is_void for each in at_table[:-1])
        assert at_table[-1].is_void or at_table[-1].block == 5


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Return five blocks between bots that play by all they have met."""
    league = tournament(players=players_of(tmp_path, MEMORY), cycles=5, options={"heaps": [3, 4, 5]}, chunk_blocks=5)
    (whole,) = jobs(league, {}, "none")
    return whole


def notes_of(record: MatchRecord) -> list[str]:
    """Return what the bots noted at each decision: all that led to it."""
    return [step.note for step in record.steps if isinstance(step, ActionStep)]


def courses(job: Job) -> dict[tuple[int, int], list[str]]:
    """Return the notes of each match, by rotation and block."""
    matches = [match for block in play_whole_job(job) for match in block.results]
    return {(match.key.rotation, match.key.block): notes_of(unpack(match.record)) for match in matches}


@pytest.mark.process
@pytest.mark.parametrize(("rotation", "times"), [(0, 3), (1, 1)])
def test_a_void_match_changes_nothing_in_other_rotations(
    monkeypatch: pytest.MonkeyPatch, job: Job, rotation: int, times: int
) -> None:
    """Nor in matches before it. After it new processes go on; a block that was void three times is left out."""
    undisturbed = courses(job)
    make_void(monkeypatch, job.fixtures[2].match_id(rotation), times)

    found = courses(job)

    kept = [place for place in undisturbed if (place[0] != rotation or place[1] < 2) and (place[1] != 2 or times < 3)]
    assert len(undisturbed) == 10
    assert {place: found[place] for place in kept} == {place: undisturbed[place] for place in kept}
    assert {block for _, block in found} == ({0, 1, 2, 3, 4} if times < ATTEMPTS else {0, 1, 3, 4})
    assert found[rotation, 4] != undisturbed[rotation, 4]
