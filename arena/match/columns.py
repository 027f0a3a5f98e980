"""The finished matches of a block, packed: so they travel from a worker, and so they are stored.

Rule: a block is packed where it is played, so that nobody who stores it has to compute. Values that follow from others
(points, margins) are left out. Values that no match can have are a ValueError or TypeError for the reader.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from arena.match.record import FAULTS, Termination
from arena.match.results import MatchKey, MatchResult, rotate, score_unit
from arena.statistics.pairs import MISSING

NUMBERS: Final = ("scores", "luck", "moves", "time_us", "slowest_us", "startup_us", "idle_us", "timeouts_by_load")
"""The values of a seat, in their order in a block."""
_WIDTHS: Final = {4: "i", 8: "q"}
"""Bytes of a packed number, and its format."""


class Machine(NamedTuple):
    """The machine of a cluster's worker, by the name that it has for its organiser.

    `speed` is that of `arena.doctor.machine.speed`, to a tenth.
    """

    name: str
    speed: float


class MatchSummary(NamedTuple):
    """The values of a match that are not counted by seat; scores are whole multiples of 1 / `score_unit`."""

    termination: Termination
    at_fault: int | None
    isolation: str
    luck_version: str
    score_unit: int
    pardoned: tuple[dict[str, int], ...] = ()


class PlayedBlock(msgspec.Struct, frozen=True):
    """The finished matches of a block; none if it was void each time, for the reason in `void`. `players` by place.

    `ranks` has n n characters for n players: by rotation and by seat, a digit for each rank; hyphens for a match that
    is not there. `ends` is JSON: a `MatchSummary` by rotation, or null. `numbers` are the `NUMBERS` by rotation and
    seat, little-endian in 4 or 8 bytes each; 0 for a value that is not known. `records` are packed, by rotation, empty
    for a match that is not there; there are none where only results are asked for.

    `machine` is that on which all of them were played, None for the driver's own.
    """

    pairing: str
    block: int
    players: tuple[str, ...] = ()
    ranks: str = ""
    ends: str = "[]"
    numbers: bytes = b""
    records: tuple[bytes, ...] = ()
    void: str = ""
    machine: Machine | None = None

    @property
    def results(self) -> tuple[MatchResult, ...]:
        """The matches by rotation, computed each time. ValueError or TypeError if the values are of no block."""
        seats, ends = len(self.players), read_ends(self.ends)
        if self.void:
            return ()
        if len(ends) != seats or len(self.ranks) != seats * seats:
            raise ValueError(f"expected {seats} matches of {seats} seats")
        width = width_of(self.numbers, seats)
        numbers = struct.unpack(f"<{len(self.numbers) // width}{_WIDTHS[width]}", self.numbers)
        results = []
        for rotation, end in enumerate(ends):
            if end is not None:
                span = slice(rotation * seats, (rotation + 1) * seats)
                columns = [numbers[start:][span] for start in range(0, len(numbers), seats * seats)]
                key = MatchKey(self.pairing, self.block, rotation)
                record = self.records[rotation] if self.records else b""
                results.append(
                    _rebuild_result(key, rotate(self.players, rotation), self.ranks[span], end, columns, record)
                )
        return tuple(results)

    @property
    def matches(self) -> int:
        """The number of matches that are there."""
        return (len(self.ranks) - self.ranks.count(MISSING)) // max(1, len(self.players))

    @property
    def forfeits(self) -> int:
        """The number of matches that ended with a forfeit."""
        return sum([end is not None and end.at_fault is not None for end in read_ends(self.ends)])


def pack_blocks(results: Iterable[MatchResult]) -> Iterator[PlayedBlock]:
    """Yield results packed by pairing, in the order of first mention, and by block.

    ValueError for a match that is there twice, or whose players are no rotation of its pairing's.
    """
    pairings: dict[str, tuple[tuple[str, ...], dict[int, dict[int, MatchResult]]]] = {}
    for result in results:
        players, blocks = pairings.setdefault(result.key.pairing, (result.places, {}))
        matches = blocks.setdefault(result.key.block, {})
        if result.places != players:
            seated, expected = ", ".join(result.players), ", ".join(players)
            raise ValueError(f"match {result.key}: {seated} do not sit in a rotation of {expected}")
        if result.key.rotation in matches or not 0 <= result.key.rotation < len(players):
            seated = ", ".join(result.players)
            raise ValueError(f"match {result.key} of {seated} is there twice, or no rotation of theirs")
        matches[result.key.rotation] = result
    for pairing, (players, blocks) in pairings.items():
        for block, matches in sorted(blocks.items()):
            yield _pack_block(pairing, block, players, [matches.get(rotation) for rotation in range(len(players))])


@lru_cache(maxsize=256)
def read_ends(text: str) -> tuple[MatchSummary | None, ...]:
    """Read the summaries of a block's matches from JSON, by rotation. ValueError for any other text."""
    ends = msgspec.json.decode(text, type=tuple[MatchSummary | None, ...])
    for end in ends:
        if end is not None and not _is_consistent(end, len(ends)):
            raise ValueError(f"its end cannot be: {end}")
    return ends


def _is_consistent(end: MatchSummary, seats: int) -> bool:
    """Return True if the values fit together at a table of `seats`."""
    if end.termination is Termination.NORMAL:
        is_fit = end.at_fault is None
    else:
        is_fit = end.termination in FAULTS and end.at_fault in range(seats)
    return is_fit and end.score_unit > 0 and len(end.pardoned) in {0, seats}


def width_of(numbers: bytes, seats: int) -> int:
    """Return the bytes of one of the `numbers` of a block. ValueError for too few numbers, or too many."""
    width, remainder = divmod(len(numbers), len(NUMBERS) * seats * seats)
    if remainder or width not in _WIDTHS:
        raise ValueError("its numbers are not those of its seats")
    return width


def _pack_block(
    pairing: str, block: int, players: tuple[str, ...], matches: Sequence[MatchResult | None]
) -> PlayedBlock:
    """Pack a block of which some matches may be None."""
    units = [score_unit(match.scores or ()) if match else 1 for match in matches]
    ends = [match and _summary_of(match, unit) for match, unit in zip(matches, units, strict=True)]
    nothing = (0,) * len(players)
    numbers = [
        [int(value * unit) if name == "scores" else value for value in (match and getattr(match, name)) or nothing]
        for name in NUMBERS
        for match, unit in zip(matches, units, strict=True)
    ]
    flat = [value for seats in numbers for value in seats]
    width = 4 if max(map(abs, flat)) < 1 << 31 else 8
    records = tuple([match.record if match else b"" for match in matches])
    return PlayedBlock(
        pairing,
        block,
        players,
        "".join(["".join(map(str, match.ranks)) if match else MISSING * len(players) for match in matches]),
        msgspec.json.encode(ends).decode(),
        struct.pack(f"<{len(flat)}{_WIDTHS[width]}", *flat),
        records if any(records) else (),
    )


def _summary_of(match: MatchResult, unit: int) -> MatchSummary:
    """Return the values of a match that are not counted by seat; `unit` is that of its scores."""
    return MatchSummary(match.termination, match.at_fault, match.isolation, match.luck_version, unit, match.pardoned)


def _rebuild_result(
    key: MatchKey,
    players: tuple[str, ...],
    ranks: str,
    end: MatchSummary,
    columns: Sequence[tuple[int, ...]],
    record: bytes,
) -> MatchResult:
    """Rebuild a result from its packed values; `columns` are the `NUMBERS`. ValueError if they fit no match."""
    scores, luck, *counts = columns
    if min(map(min, counts)) < 0:
        raise ValueError("a count or a time is below 0")
    # The fields of a result have the order of the columns.
    fields: tuple[Any, ...] = (
        *(key, players, tuple(map(int, ranks))),
        tuple([_fraction(part, end.score_unit) for part in scores]) if end.at_fault is None else None,
        *(end.termination, end.at_fault, end.isolation, *counts),
        *(luck if end.luck_version else (), end.luck_version, end.pardoned, record),
    )
    return MatchResult(*fields)


_fraction = lru_cache(maxsize=1 << 14)(Fraction)
