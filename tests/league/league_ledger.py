"""A league in memory: what is committed is kept once, and rounds are asked for as a store would be."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain

from league_made import FakeBackend

from arena.league.results import MatchSummary, PlayedBlock, PlayedMatch, result_of, rotate
from arena.league.run import run
from arena.league.schedule import Chunk, Pairing, chunks
from arena.league.state import LeagueState, Replay, state_of
from arena.league.tournament import Tournament
from arena.match.record import PackedRecord
from arena.match.results import PairingRanks
from arena.standings.table import MatchResult

Play = Callable[[Chunk], list[PlayedBlock]]


class Ledger:
    """Blocks by pairing key and number; the first that comes stays."""

    def __init__(self) -> None:
        self.blocks: dict[tuple[str, int], PlayedBlock] = {}
        self.commits: list[tuple[str, int]] = []

    def commit(self, blocks: list[PlayedBlock]) -> None:
        for block in blocks:
            key = (block.fixture.pairing, block.fixture.block)
            self.commits.append(key)
            self.blocks.setdefault(key, block)

    def ranks(self, blocks: Mapping[str, int]) -> dict[str, PairingRanks]:
        """The ranks of these pairings, as a store has them."""
        return {key: self._ranks(key, end) for key, end in blocks.items()}

    def _ranks(self, key: str, end: int) -> PairingRanks:
        there = sorted(block for pairing, block in self.blocks if pairing == key and block < end)
        matches = [match for block in there for match in self.blocks[key, block].matches]
        return PairingRanks((), there, "".join(str(rank) for match in matches for rank in match.summary.ranks))

    def state(self, league: Tournament) -> LeagueState:
        """The league with what there is of it."""
        return state_of(league, self.ranks)

    def results(self, league: Tournament) -> list[MatchResult]:
        """What there is of the league, in schedule order."""
        spans = self.state(league).spans
        return self._results([span.pairing for span in spans], [(span.pairing, 0, span.blocks) for span in spans])

    def play(self, league: Tournament, play: Play, *, slots: int = 3, most_chunks: int | None = None) -> LeagueState:
        """Play what is left, as `league run` does; the state at the end. KeyboardInterrupt after `most_chunks`."""
        replay = Replay(league, self.ranks)
        left = most_chunks

        def then() -> Iterator[Chunk] | None:
            state = replay.state
            more = chunks(league, state.finished, of=state.rounds[-1])
            first = next(more, None)
            return None if first is None else chain((first,), more)

        def commit(blocks: list[PlayedBlock]) -> None:
            nonlocal left
            if left is not None and left == 0:
                raise KeyboardInterrupt
            left = None if left is None else left - 1
            self.commit(blocks)
            replay.add(blocks)

        run(iter(()), FakeBackend(play, slots=slots), commit=commit, then=then)
        return replay.state

    def _results(self, known: Sequence[Pairing], parts: Iterable[tuple[Pairing, int, int]]) -> list[MatchResult]:
        found = [
            (number, known.index(pairing), match.rotation, match.summary)
            for pairing, start, stop in parts
            for number in range(start, stop)
            if (pairing.key, number) in self.blocks
            for match in self.blocks[pairing.key, number].matches
        ]
        return [
            result_of(summary, known, order=order, block=number, rotation=rotation)
            for number, order, rotation, summary in sorted(found, key=lambda one: one[:3])
        ]


def by_luck(chunk: Chunk) -> list[PlayedBlock]:
    """The chunk as if it had been played: who wins depends on the seed and the players alone."""
    return [_block(chunk, number) for number in range(len(chunk.fixtures))]


def _block(chunk: Chunk, number: int) -> PlayedBlock:
    fixture = chunk.fixtures[number]
    matches = []
    for rotation in range(len(chunk.pairing.players)):
        seats = [player.name for player in rotate(chunk.pairing.players, rotation)]
        luck = [sha256(f"{fixture.draw.luck}{name}{rotation}".encode()).digest()[0] // 64 for name in seats]
        scores = tuple(value + (name < "c") for value, name in zip(luck, seats, strict=True))
        count = len(seats)
        summary = MatchSummary(
            ranks=tuple(sum(other > own for other in scores) for own in scores),
            scores=scores,
            termination="normal",
            at_fault=-1,
            moves=(1,) * count,
            time_ms=(1.0,) * count,
            slowest_ms=(1.0,) * count,
        )
        matches.append(PlayedMatch(rotation, summary, PackedRecord(codec="none", digest="", body=b"")))
    return PlayedBlock(fixture=fixture, matches=tuple(matches))
