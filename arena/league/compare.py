"""NEW against OLD until it is decided: blocks in, the state of the sequential test out.

Rule: the verdict depends on the blocks in schedule order and on nothing else: not on which worker was faster, not on
how often the run was stopped. Blocks beyond the deciding one are stored, and do not count.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from arena.errors import CheckFailed
from arena.league.results import MatchSummary, PlayedMatch
from arena.league.schedule import Chunk
from arena.match.record import MatchRecord, unpack
from arena.statistics.pentanomial import block_score
from arena.statistics.sequential import SequentialSettings, State, Verdict, begin, verdict

_BY_RANK = {(0, 1): 1.0, (1, 0): 0.0}


class Comparison:
    """A sequential test that is fed with finished blocks in any order. `new` is NEW's place in the pairing, 0 or 1."""

    def __init__(self, settings: SequentialSettings, new: int) -> None:
        self._new = new
        self._values: dict[int, float] = {}
        self._identical: set[int] = set()
        self.state: State = begin(settings)

    @property
    def is_decided(self) -> bool:
        """Whether no further block is needed."""
        return self.state.verdict is not Verdict.UNDECIDED

    @property
    def blocks(self) -> int:
        """Blocks fed so far, counted or not."""
        return len(self._values)

    def add(self, blocks: Mapping[int, Sequence[PlayedMatch]]) -> None:
        """Take in finished blocks by number: their matches by rotation.

        CheckFailed if margins are compared and a match has none.
        """
        for number, matches in blocks.items():
            self._values[number] = self._value([match.summary for match in matches])
            if self._is_even(number) and _are_the_same([unpack(match.record) for match in matches]):
                self._identical.add(number)
        settings = self.state.settings
        self.state = verdict(self._values, settings, identical=self._identical, after=self.state)

    def needed(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Those of `chunks` that are handed out before the test is decided."""
        while not self.is_decided and (following := list(islice(chunks, 1))):
            yield from following

    def _value(self, summaries: list[MatchSummary]) -> float:
        """What NEW got in a block: the mean of win 1, draw 1/2, loss 0; or the mean of its margins."""
        if self.state.settings.model == "student":
            return sum(self._margin(one, rotation) for rotation, one in enumerate(summaries)) / len(summaries)
        return block_score([self._score(one, rotation) for rotation, one in enumerate(summaries)])

    def _score(self, summary: MatchSummary, rotation: int) -> float:
        seat = self._seat(rotation)
        return _BY_RANK.get((summary.ranks[seat], summary.ranks[1 - seat]), 0.5)

    def _margin(self, summary: MatchSummary, rotation: int) -> float:
        if summary.scores is None:
            raise CheckFailed(
                f"a match ended with a forfeit ({summary.termination}), which has no margin: compare by wins instead,"
                " or mend the bot; `arena league matches NAME --faults` tells which"
            )
        seat = self._seat(rotation)
        return float(summary.scores[seat] - summary.scores[1 - seat])

    def _seat(self, rotation: int) -> int:
        """Where NEW sat: in rotation r, seat s belongs to player (s + r) mod 2 of the pairing."""
        return (self._new - rotation) % 2

    def _is_even(self, number: int) -> bool:
        return self._values[number] == (0.0 if self.state.settings.model == "student" else 0.5)


def _are_the_same(records: list[MatchRecord]) -> bool:
    """Whether the matches of a block went the same way, step by step, whoever sat where."""
    return all(record.steps == records[0].steps and record.scores == records[0].scores for record in records)
