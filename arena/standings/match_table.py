"""The match table: all matches of a league as columns, from which every page of standings is computed.

Rule: exact values only. A table is the same whether its blocks were read from a store or made from results.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final

import msgspec
import numpy as np

from arena.match.columns import NUMBERS, MatchSummary, PlayedBlock, pack_blocks, read_ends, width_of
from arena.match.results import MatchResult, PairingRanks
from arena.statistics.pairs import MISSING

Array = np.ndarray[Any, Any]
BATCH: Final = 1 << 12
"""The number of blocks unpacked at once, which bounds memory."""
PlayerPairings = tuple[Array, Array]
"""The numbers of the pairings of a player, and their place in each."""
NO_PAIRINGS: Final[PlayerPairings] = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True)
class MatchTable:
    """The matches of P pairings of n places: B blocks, those of a pairing one after the other.

    By pairing: its key, and its players by place. By block (B,): the number of its pairing, and its own number `block`.
    By block and rotation (B, n): `end`, a number among `ends`, -1 for a match that is not there. By block, rotation and
    place (B, n, n): `ranks`, as digits; and each of `NUMBERS`, see `column`.
    """

    keys: tuple[str, ...]
    players: tuple[tuple[str, ...], ...]
    pairing: Array
    block: Array
    ends: tuple[MatchSummary, ...]
    end: Array
    ranks: Array
    numbers: tuple[Array, ...]

    @property
    def seats(self) -> int:
        """The number of seats at a table; 0 without a pairing."""
        return len(self.players[0]) if self.players else 0

    @property
    def present(self) -> Array:
        """The mask, by block and rotation, of the matches that are there."""
        return self.end >= 0

    @cached_property
    def starts(self) -> Array:
        """The number of the first block of each pairing."""
        return np.flatnonzero(np.diff(self.pairing, prepend=-1))

    @cached_property
    def points(self) -> Array:
        """The points by block, rotation and place: 2 for each player beaten, 1 for each tied; 0 without a match."""
        points = np.zeros(self.ranks.shape, dtype=np.int8)
        for place in range(self.ranks.shape[2]):
            rank = self.ranks[:, :, place, None]
            points[:, :, place] = np.einsum("brp->br", np.int8(2) * (rank < self.ranks) + (rank == self.ranks)) - 1
        return points * self.present[:, :, None]

    @cached_property
    def pairing_ranks(self) -> tuple[PairingRanks, ...]:
        """The ranks of each pairing, block by block."""
        seats = self.ranks.shape[2]
        _, seated = _seats_and_places(seats)
        text = self.ranks[:, np.arange(seats)[:, None], seated].tobytes().decode("ascii")
        edges = [*self.starts.tolist(), len(self.block)]
        return tuple(
            [
                PairingRanks(names, self.block[start:end].tolist(), text[start * seats * seats : end * seats * seats])
                for names, start, end in zip(self.players, edges, edges[1:], strict=False)
            ]
        )

    @property
    def pairings_of_player(self) -> dict[str, PlayerPairings]:
        """The pairings of each player by name, and the player's place in each; made anew at every access."""
        number: dict[str, int] = {}
        numbers = np.array([number.setdefault(name, len(number)) for names in self.players for name in names], np.int64)
        order = np.argsort(numbers, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(numbers, minlength=1))[:-1])
        return {name: divmod(parts[place], self.seats) for name, place in number.items()}

    def column(self, name: str) -> Array:
        """Return the values of that name by block, rotation and place, in the smallest type that holds them.

        Scores count in parts of 1 / `score_unit`.
        """
        return self.numbers[NUMBERS.index(name)]

    def map_ends(self, values: Sequence[Any], dtype: Any = None) -> Array:
        """Return, by block and rotation, the value for the end of the match; an arbitrary one without a match."""
        return np.array([*values, None] if dtype is object else [*values, 0], dtype=dtype)[self.end]

    def sum_pairings(self, by_block: Array) -> Array:
        """Add up the blocks of each pairing: the first axis is B before, and P after."""
        sums: Array = np.add.reduceat(by_block, self.starts, axis=0)
        return sums

    def of_player(self, player: str) -> "MatchTable":
        """Return the part of the table with the pairings of a player, numbered anew; empty without a match."""
        which = [number for number, names in enumerate(self.players) if player in names]
        rows = np.isin(self.pairing, which)
        return replace(
            self,
            keys=tuple([self.keys[number] for number in which]),
            players=tuple([self.players[number] for number in which]),
            pairing=np.searchsorted(which, self.pairing[rows]),
            **{name: getattr(self, name)[rows] for name in ("block", "end", "ranks")},
            numbers=tuple([column[rows] for column in self.numbers]),
        )


def match_table(results: Iterable[MatchResult]) -> MatchTable:
    """Make the table of these matches. ValueError as from `pack_blocks`, and for unequal numbers of seats."""
    return table_of_blocks(pack_blocks(results))


def table_of_blocks(blocks: Iterable[PlayedBlock]) -> MatchTable:
    """Make the table of these blocks; the blocks of a pairing have to come one after the other.

    ValueError for invalid blocks, and for unequal numbers of seats.
    """
    players: dict[str, tuple[str, ...]] = {}
    numbers: dict[str, int] = {}
    ends: dict[bytes, tuple[int, MatchSummary]] = {}
    codes: dict[str, list[int]] = {}
    parts, left = [], iter(blocks)
    while batch := [*islice(left, BATCH)]:
        for block in batch:
            if block.pairing not in numbers:
                numbers[block.pairing], players[block.pairing] = len(numbers), block.players
            if block.ends not in codes:
                codes[block.ends] = [_number_of_end(end, ends) for end in read_ends(block.ends)]
        sizes = sorted({*map(len, players.values())})
        if len(sizes) > 1:
            raise ValueError(f"matches of {' and of '.join(map(str, sizes))} players cannot share one table")
        pairing = np.array([numbers[block.pairing] for block in batch], dtype=np.int64)
        end = np.array([codes[block.ends] for block in batch], dtype=np.int64)
        parts.append((pairing, np.array([block.block for block in batch], np.int64), end, *_unpack(batch, sizes[0])))
        if not np.array_equal(end >= 0, parts[-1][3][:, :, 0] != ord(MISSING)):
            raise ValueError("its ranks do not fit its ends")
    if not parts:
        square = np.zeros((0, 2, 2), dtype=np.int64)
        parts.append((square[:, 0, 0], square[:, 0, 0], square[:, 0], square, *[square] * len(NUMBERS)))
    known = tuple([end for _, end in ends.values()])
    pairing, number, end, ranks, *columns = map(np.concatenate, zip(*parts, strict=True))
    return MatchTable(tuple(numbers), tuple(players.values()), pairing, number, known, end, ranks, tuple(columns))


def sum_matches(values: Array) -> Array:
    """Add up the matches of each block: `values` are by block, rotation and place."""
    totals: Array = np.einsum("brp->bp", values, dtype=object if values.dtype == object else np.int64)
    return totals


def _number_of_end(end: MatchSummary | None, ends: dict[bytes, tuple[int, MatchSummary]]) -> int:
    """Return the number of an end, and add it to `ends` if it is new; -1 without a match."""
    return -1 if end is None else ends.setdefault(msgspec.json.encode(end), (len(ends), end))[0]


def _unpack(batch: Sequence[PlayedBlock], seats: int) -> Iterator[Array]:
    """Yield the ranks by block, rotation and place, then each column of numbers in the smallest type that holds it."""
    text = "".join([block.ranks for block in batch]).encode("ascii")
    widths = [width_of(block.numbers, seats) for block in batch]
    widest = max(widths)
    kind = f"<i{widest}"
    content = b"".join(
        [
            block.numbers if width == widest else np.frombuffer(block.numbers, f"<i{width}").astype(kind).tobytes()
            for block, width in zip(batch, widths, strict=True)
        ]
    )
    ranks = np.frombuffer(text, dtype=np.uint8).reshape(len(batch), seats, seats)
    columns = np.frombuffer(content, dtype=kind).reshape(len(batch), len(NUMBERS), seats, seats)
    rotations = np.arange(seats)[:, None]
    seat_of, _ = _seats_and_places(seats)
    yield ranks[:, rotations, seat_of]
    for column in np.moveaxis(columns, 1, 0):
        ends = [np.min_scalar_type(int(end)) for end in (column.min(), column.max())]
        yield column[:, rotations, seat_of].astype(np.result_type(*ends) if widest < np.int64().itemsize else np.int64)


def _seats_and_places(seats: int) -> tuple[Array, Array]:
    """Return the seat of each place, and the place of each seat, by rotation."""
    rotations = np.arange(seats)[:, None]
    return (np.arange(seats) - rotations) % seats, (np.arange(seats) + rotations) % seats
