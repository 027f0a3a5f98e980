"""NEW against OLD until it is decided: blocks in, the state of the sequential test out.

Rule: the verdict depends on the blocks in schedule order and on nothing else: not on which worker was faster, not on
how often the run was stopped. Blocks beyond the deciding one are stored, and do not count, in no number that is shown.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, takewhile

import msgspec

from arena.errors import CheckFailed
from arena.league.schedule import Job
from arena.league.tournament import DEFAULT_SEATS
from arena.match.luck import luck_of
from arena.match.record import MatchRecord, unpack
from arena.match.results import LUCK_UNIT, MatchResult
from arena.standings.ranks import full_score
from arena.standings.scores import mean_of, shares_of
from arena.statistics.control_variate import adjust_in_turn
from arena.statistics.elo import Estimate, MarginEstimate, estimate, estimate_margin
from arena.statistics.interval import Interval, interval
from arena.statistics.pentanomial import Counts, Moments, Sample, block_score
from arena.statistics.sequential import SequentialSettings, State, Verdict, begin, state_after


class ComparisonSummary(msgspec.Struct, frozen=True):
    """The numbers of all blocks that count, from NEW's side.

    `counts` are blocks by result, the next three are matches. `score` is the mean of wins and draws, as in the
    leaderboard. `estimate` is of what is tested: margins or luck-adjusted scores with these models, else scores. Both
    are None without a block.
    """

    state: State
    counts: Counts
    wins: int
    draws: int
    losses: int
    score: Interval | None
    estimate: Estimate | MarginEstimate | None


class SequentialComparison:
    """A sequential test that is fed with finished blocks in any order. `new` is NEW's place in the pairing, 0 or 1.

    `luck_version` is that of the game's value, for luck-adjusted scores. Luck that was not measured with it when a
    match was played is measured now.
    """

    def __init__(self, settings: SequentialSettings, new: int, *, luck_version: str = "") -> None:
        self._new, self._luck_version = new, luck_version
        self._scores: dict[int, tuple[float, ...]] = {}
        self._luck: dict[int, float] = {}
        self._values: dict[int, float] = {}
        self._identical: set[int] = set()
        in_turn = ((block_score(self._scores[number]), self._luck[number]) for number in count())
        self._adjusted = adjust_in_turn(in_turn, matches=settings.matches)
        self.state: State = begin(settings)

    @property
    def is_decided(self) -> bool:
        """True if no further block is needed."""
        return self.state.verdict is not Verdict.UNDECIDED

    @property
    def summary(self) -> ComparisonSummary:
        """The numbers of the blocks that count."""
        matches = self.state.settings.matches
        counted = [self._scores[number] for number in range(self.state.blocks)]
        counts = Counts.of(map(block_score, counted), matches=matches)
        scores = [score for block in counted for score in block]
        score = _mean_score(counts) if counted else None
        tested = self._estimate(counts, score) if score else None
        wins, draws, losses = (scores.count(value) for value in (1.0, 0.5, 0.0))
        return ComparisonSummary(self.state, counts, wins, draws, losses, score, tested)

    def _estimate(self, counts: Counts, score: Interval) -> Estimate | MarginEstimate:
        """Return the estimate of what is tested: margins, luck-adjusted scores, or scores."""
        match self.state.seen:
            case Sample() as seen:
                return estimate(seen, _adjusted_score(seen))
            case Moments() as seen:
                return estimate_margin(seen, matches=self.state.settings.matches)
        return estimate(counts, score)

    def add(self, blocks: Mapping[int, Sequence[MatchResult]]) -> None:
        """Take in finished blocks by number: their matches by rotation.

        CheckFailed if margins are compared and a match has none.
        """
        for number, matches in blocks.items():
            self._store_block(number, matches)
            if self._is_even(number) and _are_identical([unpack(match.record) for match in matches]):
                self._identical.add(number)
        while self.state.settings.model == "luck-adjusted" and len(self._values) in self._luck:
            self._values[len(self._values)] = next(self._adjusted)
        settings = self.state.settings
        self.state = state_after(self._values, settings, identical=self._identical, after=self.state)

    def needed(self, jobs: Iterator[Job]) -> Iterator[Job]:
        """Yield the jobs one by one until the test is decided; that is looked up before each."""
        return takewhile(lambda _: not self.is_decided, jobs)

    def _store_block(self, number: int, matches: Sequence[MatchResult]) -> None:
        """Store NEW's scores in a block, and its score, luck or margin of the block: the mean of the matches."""
        self._scores[number] = tuple(map(self._score_of_new, matches))
        model = self.state.settings.model
        if model == "luck-adjusted":
            self._luck[number] = math.fsum(map(self._luck_of_new, matches)) / len(matches)
        elif model == "student":
            self._values[number] = sum(map(self._margin_of_new, matches)) / len(matches)
        else:
            self._values[number] = block_score(self._scores[number])

    def _score_of_new(self, match: MatchResult) -> float:
        """Return NEW's score in a match: 1 a win, 1/2 a draw, 0 a loss."""
        return match.points[self._seat_of_new(match)] / full_score(DEFAULT_SEATS)

    def _luck_of_new(self, match: MatchResult) -> float:
        """Return NEW's luck in a match, in payoff; measure it if it is not stored under this value of the game."""
        if match.luck_version == self._luck_version:
            return match.luck[self._seat_of_new(match)] / LUCK_UNIT
        return round(luck_of(unpack(match.record)).by_seat[self._seat_of_new(match)] * LUCK_UNIT) / LUCK_UNIT

    def _margin_of_new(self, match: MatchResult) -> float:
        """Return NEW's margin in a match. CheckFailed after a forfeit."""
        if match.margins is None:
            raise CheckFailed(
                f"a match ended with a forfeit ({match.termination}), which has no margin: compare by wins instead,"
                " or mend the bot; `arena league matches NAME --faults` tells which"
            )
        return float(match.margins[self._seat_of_new(match)])

    def _seat_of_new(self, match: MatchResult) -> int:
        """Return the seat of NEW: in rotation r, seat s belongs to player (s + r) mod 2 of the pairing."""
        return (self._new - match.key.rotation) % DEFAULT_SEATS

    def _is_even(self, number: int) -> bool:
        """Return True if neither player is ahead in the block."""
        if self.state.settings.model == "student":
            return self._values[number] == 0.0
        return block_score(self._scores[number]) == 0.5


def _mean_score(counts: Counts) -> Interval:
    """Return the mean score of matches with its interval, by the function of the leaderboard."""
    blocks = {(counts.matches, points): times for points, times in enumerate(counts.numbers) if times}
    mean = mean_of(shares_of([blocks]), unit=2, lowest=0.0, highest=1.0)
    assert mean is not None, "there is a block"
    return mean.interval


def _adjusted_score(seen: Sample) -> Interval:
    """Return the mean of luck-adjusted scores of blocks, with its interval.

    Such a score may lie beyond 0 and 1; what it estimates does not.
    """
    mean, variance = seen.moments
    degrees = seen.blocks - 1
    error = math.sqrt(variance / degrees) if degrees else 0.0
    possible = min(max(mean, 0.0), 1.0)
    return interval(possible, error, degrees=degrees, blocks=seen.blocks, lowest=0.0, highest=1.0)


def _are_identical(records: list[MatchRecord]) -> bool:
    """Return True if the matches of a block went the same way, step by step, whoever sat where."""
    return all(record.steps == records[0].steps and record.scores == records[0].scores for record in records)
