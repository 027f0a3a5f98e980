"""A league in memory: what is committed is kept once, and rounds are asked for as a store would be."""

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any

import pytest

from arena.league.driver import play_jobs
from arena.league.schedule import Job, jobs
from arena.league.schedules.settings import Gauntlet, Knockout, RoundRobin, Schedule, Swiss
from arena.league.state import LeagueState, ScheduleRunner, state_of
from arena.league.tournament import Tournament
from arena.match.columns import PlayedBlock, pack_blocks
from arena.match.results import MatchKey, MatchResult, PairingRanks, rotate
from support.league_made import FakeBackend, match
from support.made_matches import ranks_by_pairing, tournament

Play = Callable[[Job], list[PlayedBlock]]
NAMES = ("ann", "bob", "cid", "dot", "eve", "fay")
UNTIL: dict[str, Any] = {"until": "decided", "likelihood": 0.9, "step_blocks": 3, "cap_blocks": 11}
SCHEDULES: dict[str, tuple[Schedule, int]] = {
    "cycles": (RoundRobin(), 3),
    "gauntlet": (Gauntlet(challengers=("fay", "bob")), 3),
    "decided": (RoundRobin(**UNTIL), 2),
    "gauntlet decided": (Gauntlet(challengers=("cid",), **UNTIL), 2),
    "swiss": (Swiss(rounds=4), 0),
    "knockout": (Knockout(blocks_per_tie=1, cap_blocks=4), 0),
}
every_schedule = pytest.mark.parametrize("kind", SCHEDULES)


def league_of(kind: str, *names: str, **changes: Any) -> Tournament:
    """A league by that schedule, between the players of `NAMES` unless others are named."""
    schedule, cycles = SCHEDULES[kind]
    return tournament(*(names or NAMES), schedule=schedule, cycles=cycles, **changes)


class Ledger:
    """Blocks by pairing key and number; the first that comes stays."""

    def __init__(self) -> None:
        self.blocks: dict[tuple[str, int], PlayedBlock] = {}
        self.commits: list[tuple[str, int]] = []

    def commit(self, blocks: list[PlayedBlock]) -> None:
        for block in blocks:
            key = (block.pairing, block.block)
            self.commits.append(key)
            self.blocks.setdefault(key, block)

    def ranks(self, blocks: Mapping[str, int]) -> dict[str, PairingRanks]:
        """The ranks of these pairings, as a store has them."""
        found = ranks_by_pairing(
            each for (key, _), block in self.blocks.items() if key in blocks for each in block.results
        )
        return {key: found[key].between(0, end) for key, end in blocks.items() if key in found}

    def state(self, league: Tournament) -> LeagueState:
        """The league with what there is of it."""
        return state_of(league, self.ranks)

    def results(self, league: Tournament) -> list[MatchResult]:
        """What there is of the league, in schedule order."""
        found = [
            (number, order, each.key.rotation, each)
            for order, (key, end) in enumerate(self.state(league).blocks.items())
            for number in range(end)
            if (key, number) in self.blocks
            for each in self.blocks[key, number].results
        ]
        return [result for *_, result in sorted(found, key=lambda one: one[:3])]

    def play(self, league: Tournament, play: Play, *, slots: int = 3, most_chunks: int | None = None) -> LeagueState:
        """Play what is left, as `league run` does; the state at the end. KeyboardInterrupt after `most_chunks`."""
        runner = ScheduleRunner(league, self.ranks)
        left = most_chunks

        def rounds() -> Iterator[Iterator[Job]]:
            while not (state := runner.state).is_complete:
                yield jobs(league, state.finished, round_=state.rounds[-1])

        def commit(blocks: list[PlayedBlock]) -> None:
            nonlocal left
            if left is not None and left == 0:
                raise KeyboardInterrupt
            left = None if left is None else left - 1
            self.commit(blocks)
            runner.add(blocks)

        play_jobs(rounds(), FakeBackend(play, slots=slots), commit=commit)
        return runner.state


def by_luck(job: Job) -> list[PlayedBlock]:
    """The job as if it had been played: who wins depends on the seed and the players alone."""
    return [_block(job, number) for number in range(len(job.fixtures))]


def _block(job: Job, number: int) -> PlayedBlock:
    fixture = job.fixtures[number]
    matches = []
    for rotation in range(len(job.pairing.players)):
        seats = [player.name for player in rotate(job.pairing.players, rotation)]
        luck = [sha256(f"{fixture.draw.luck}{name}{rotation}".encode()).digest()[0] // 64 for name in seats]
        scores = tuple(value + (name < "c") for value, name in zip(luck, seats, strict=True))
        matches.append(match(MatchKey(fixture.pairing, fixture.block, rotation), job.pairing.names, scores))
    return next(pack_blocks(matches))
