"""The state of a league: its tournament and its stored matches, computed once and handed to all who ask.

Rule: nobody else runs the schedule. A state is a function of the tournament and of the stored matches. A
`ScheduleRunner` goes on from there with every block that is committed, and asks the store only about the pairings of a
round that begins.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import msgspec

from arena.errors import DamagedStore
from arena.league.schedule import Pairing, Planner, Round, generator_of, is_open_ended, match_count
from arena.league.schedules import Plan
from arena.league.tournament import Tournament, wall_time_news
from arena.match.columns import PlayedBlock
from arena.match.results import PairingRanks
from arena.statistics.pairs import MISSING

RanksReader = Callable[[Mapping[str, int]], Mapping[str, PairingRanks]]
"""Gets a number of blocks for each of some pairings, by key; returns the ranks of the stored ones below that number."""


class PairingProgress(msgspec.Struct, frozen=True, gc=False):
    """A pairing of a league: the league has its blocks 0 to `blocks` - 1, and those with `ranks` are stored."""

    pairing: Pairing
    blocks: int
    ranks: PairingRanks


class LeagueState(msgspec.Struct, frozen=True, dict=True):
    """The state of a league: its tournament and its stored matches.

    `rounds` are those known by now: all that are stored completely, and the first one that is not. `spans` are the
    pairings of these rounds in the order in which they first met, which is the order of the schedule. `news` are the
    sentences of the schedule about its rounds, and one on wall time. `is_complete`: every round is known, and every
    match of it stored.
    """

    tournament: Tournament
    rounds: tuple[Round, ...]
    spans: tuple[PairingProgress, ...]
    news: tuple[str, ...]
    is_complete: bool

    @cached_property
    def blocks(self) -> dict[str, int]:
        """The number of blocks of each pairing that belong to the league, by its key, in the order of the schedule.

        Queries to a store take it.
        """
        return {span.pairing.key: span.blocks for span in self.spans}

    @cached_property
    def ranks(self) -> dict[str, PairingRanks]:
        """The ranks of the stored matches of each pairing, by its key."""
        return {span.pairing.key: span.ranks for span in self.spans}

    @cached_property
    def finished(self) -> dict[str, frozenset[int]]:
        """The stored blocks of each pairing, by its key."""
        return {span.pairing.key: frozenset(span.ranks.blocks) for span in self.spans}

    @cached_property
    def torn(self) -> tuple[tuple[Pairing, int], ...]:
        """The blocks of which some matches are stored and others are not: damage, for a block is stored as a whole."""
        return tuple(
            (span.pairing, block)
            for span in self.spans
            for block, ranks in zip(span.ranks.blocks, span.ranks.block_ranks, strict=True)
            if MISSING in ranks
        )

    @cached_property
    def stored(self) -> int:
        """The number of stored matches."""
        return sum([span.ranks.matches for span in self.spans])

    @cached_property
    def scheduled(self) -> int:
        """The number of matches of the whole tournament; where results decide it, of the rounds known by now."""
        if is_open_ended(self.tournament) or not self.rounds[-1].is_awaited:
            return sum(planned.matches for planned in self.rounds)
        return match_count(self.tournament)


def state_of(tournament: Tournament, read_ranks: RanksReader) -> LeagueState:
    """Return the state of the tournament's league, with the matches whose ranks `read_ranks` returns.

    DamagedStore if a pairing is stored as that of other players.
    """
    return ScheduleRunner(tournament, read_ranks).state


class ScheduleRunner:
    """A schedule, run against what is stored up to its first open round, and on with every block that is committed."""

    def __init__(self, tournament: Tournament, read_ranks: RanksReader) -> None:
        self.tournament = tournament
        self._read_ranks = read_ranks
        self._generator = generator_of(tournament)
        self._planner = Planner(tournament)
        self._rounds: list[Round] = []
        self._news = wall_time_news(tournament)
        self._spans: dict[str, PairingProgress] = {}
        self._committed: defaultdict[str, dict[int, str]] = defaultdict(dict)
        self._matches_left = 0
        self._is_complete = False
        self._begin_round(next(self._generator))
        self._run_schedule()

    @property
    def state(self) -> LeagueState:
        """The state of the league by now."""
        self._add_committed()
        rounds, spans, news = tuple(self._rounds), tuple(self._spans.values()), tuple(self._news)
        return LeagueState(self.tournament, rounds, spans, news, self._is_complete)

    def add(self, blocks: Iterable[PlayedBlock]) -> None:
        """Add newly stored blocks of the open round; after the last one begin the next round."""
        for block in blocks:
            self._committed[block.pairing][block.block] = sys.intern(block.ranks)  # few differ, and there are millions
            self._matches_left -= block.matches
        self._run_schedule()

    def _run_schedule(self) -> None:
        """Run the schedule on as long as the last round is stored completely."""
        while self._matches_left <= 0 and not self._is_complete:
            self._add_committed()
            try:
                plan = self._generator.send(self._ranks_of_round(self._rounds[-1]))
            except StopIteration as end:
                self._news += end.value
                self._is_complete = True
            else:
                self._begin_round(plan)

    def _begin_round(self, plan: Plan) -> None:
        """Add the next round, with all that is stored of it."""
        planned = self._planner.add_round(plan)
        self._rounds.append(planned)
        self._news += planned.news
        ends = {pairing.key: first + planned.blocks for pairing, first in planned.parts}
        stored = self._read_ranks(ends)
        for pairing in planned.pairings:
            key = pairing.key
            self._spans[key] = PairingProgress(pairing, ends[key], _ranks_of_pairing(pairing, stored.get(key)))
        self._matches_left = planned.matches - sum([ranks.matches for ranks in self._ranks_of_round(planned)])

    def _ranks_of_round(self, planned: Round) -> list[PairingRanks]:
        """Return the stored ranks of a round, in the order of its pairings."""
        return [
            self._spans[pairing.key].ranks.between(first, first + planned.blocks) for pairing, first in planned.parts
        ]

    def _add_committed(self) -> None:
        """Add the committed blocks to those that were stored before."""
        for key, block_ranks in self._committed.items():
            pairing, end, former = msgspec.structs.astuple(self._spans[key])
            blocks = sorted(block_ranks)
            new = PairingRanks(former.players, blocks, "".join(block_ranks[block] for block in blocks))
            self._spans[key] = PairingProgress(pairing, end, former + new)
        self._committed.clear()


def _ranks_of_pairing(pairing: Pairing, ranks: PairingRanks | None) -> PairingRanks:
    """Return the stored ranks of a pairing, empty if there are none. DamagedStore if they are of other players."""
    if ranks is None:
        return PairingRanks(pairing.names, (), "")
    if ranks.players != pairing.names:
        key, stored, expected = pairing.key, ", ".join(ranks.players), ", ".join(pairing.names)
        raise DamagedStore(f"pairing {key} is stored as that of {stored}, it is that of {expected}; run `arena verify`")
    return ranks
