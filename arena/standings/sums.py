"""The sums of pairings over their blocks: the columns that standings are made of, instead of the matches.

Rule: exact values only, added in no order. So standings are the same bytes however many matches were played at once and
whichever ended first, and it does not matter whether SQLite has added (`MatchStore.sums`) or `sums_of`.

Columns are arrays over P pairings of n places each: whole numbers of 64 bits where these hold them, and otherwise
Python's numbers (dtype object). Players are known by place, their order in the pairing.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from arena.match.record import fraction_written
from arena.match.results import MatchResult, PairingRanks, rotate
from arena.standings.ranks import by_pairing, ranks_of
from arena.statistics.pairs import MISSING

Array = np.ndarray[Any, Any]
ExactNumber = int | Fraction
HALVES: Final = 2
LARGEST_WHOLE: Final = 1 << 62
"""Whole numbers below that are kept in 64 bits."""

Met = tuple[Array, Array]
"""The numbers of the pairings of a player, and its place in each."""
NOT_MET: Final[Met] = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


class BlockSums(NamedTuple):
    """Sums over blocks: with m the matches of a block that count and, by place, y the total of their values.

    By pairing (P,): `matches` is the sum of m, `matches2` that of m m. By place (P, n): `total`, `total2` and `product`
    are those of y, y y and m y. They give the squares of y - r m for any mean r. Blocks with m = 0 are not counted.
    """

    blocks: Array
    matches: Array
    matches2: Array
    total: Array
    total2: Array
    product: Array


class LuckSums(NamedTuple):
    """Sums over the blocks of a half, of the matches with luck only.

    With m those of a block and, by place, y their points and l their luck in millionths: `matches` (P,) is the sum of m
    and `matches2` that of m m; the others (P, n) are those of y, y y, m y, l, l l, m l and y l.
    """

    blocks: Array
    matches: Array
    matches2: Array
    points: Array
    points2: Array
    points_product: Array
    luck: Array
    luck2: Array
    luck_product: Array
    both: Array


class TimeSums(NamedTuple):
    """The use of time (P, n), in microseconds; a seat that never had to decide spent nothing that counts."""

    moves: Array
    spent_us: Array
    slowest_us: Array
    startup_us: Array
    idle_us: Array
    timeouts_by_load: Array


class PairingSums(NamedTuple):
    """All matches of P pairings of n places; each pairing has at least one.

    `margins` are over matches without a forfeit. `luck` are the sums of the even and of the odd blocks;
    `luck_versions` counts the matches (P,) that have luck by the version of the value. `faults` (P, n) are those that
    ended a match, `pardoned` those after which the game went on, both by code. `isolation` counts matches (P,).
    """

    keys: tuple[str, ...]
    ranks: tuple[PairingRanks, ...]
    margins: BlockSums
    luck: tuple[LuckSums, ...]
    luck_versions: dict[str, Array]
    faults: dict[str, Array]
    pardoned: dict[str, Array]
    isolation: dict[str, Array]
    time: TimeSums

    @property
    def players(self) -> list[tuple[str, ...]]:
        """By place, of each pairing."""
        return [one.players for one in self.ranks]

    @property
    def seats(self) -> int:
        """The number of seats at a table; 0 without a pairing."""
        return len(self.ranks[0].players) if self.ranks else 0

    @property
    def matches(self) -> Array:
        """The number of matches of each pairing."""
        return sum(self.isolation.values(), np.zeros(len(self.keys), dtype=np.int64))

    def at(self, numbers: Sequence[int]) -> "PairingSums":
        """The pairings of these numbers, in that order."""
        found: PairingSums = _mapped(
            lambda column: column[np.array(numbers, dtype=np.int64)], self._replace(keys=(), ranks=())
        )
        ranks = tuple([self.ranks[number] for number in numbers])
        return found._replace(keys=tuple([self.keys[number] for number in numbers]), ranks=ranks)

    def facts(self) -> dict[str, Any]:
        """All values as plain ones, in the order of the keys: equal for equal matches."""
        found = self.at(sorted(range(len(self.keys)), key=self.keys.__getitem__))
        ranks = [(one.players, list(one.blocks), one.ranks) for one in found.ranks]
        plain: PairingSums = _mapped(np.ndarray.tolist, found._replace(keys=(), ranks=()))
        return plain._asdict() | {"keys": found.keys, "ranks": ranks}


def _mapped(of: Callable[[Array], Any], one: Any) -> Any:
    """The same tuples and dicts, with the result of `of` in the place of each array."""
    if isinstance(one, dict):
        return {name: _mapped(of, value) for name, value in one.items()}
    if isinstance(one, tuple):
        values = [_mapped(of, value) for value in one]
        return one._make(values) if hasattr(one, "_make") else tuple(values)
    return of(one)


def joined(parts: Sequence[PairingSums]) -> PairingSums:
    """The pairings of all parts, one after the other; there is a part, and all have as many seats."""

    def columns(own: Sequence[Any]) -> Any:
        return type(own[0])._make([np.concatenate(each) for each in zip(*own, strict=True)])

    def by_code(own: Iterable[dict[str, Array]], empty: Sequence[Array]) -> dict[str, Array]:
        counted = list(zip(own, empty, strict=True))
        names = sorted({name for each, _ in counted for name in each})
        return {
            name: np.concatenate([each.get(name, np.zeros_like(nothing)) for each, nothing in counted])
            for name in names
        }

    by_pairing, by_place = [one.margins.blocks for one in parts], [one.time.moves for one in parts]
    return PairingSums(
        keys=tuple(chain.from_iterable(one.keys for one in parts)),
        ranks=tuple(chain.from_iterable(one.ranks for one in parts)),
        margins=columns([one.margins for one in parts]),
        luck=tuple(columns([one.luck[half] for one in parts]) for half in range(HALVES)),
        luck_versions=by_code((one.luck_versions for one in parts), by_pairing),
        faults=by_code((one.faults for one in parts), by_place),
        pardoned=by_code((one.pardoned for one in parts), by_place),
        isolation=by_code((one.isolation for one in parts), by_pairing),
        time=columns([one.time for one in parts]),
    )


def met(sums: PairingSums) -> dict[str, Met]:
    """The pairings of each player, and its place in each."""
    number: dict[str, int] = {}
    own = np.array([number.setdefault(name, len(number)) for names in sums.players for name in names], dtype=np.int64)
    order = np.argsort(own, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(own, minlength=1))[:-1])
    return {name: divmod(parts[each], sums.seats) for name, each in number.items()}


def total(column: Array) -> Any:
    """The exact sum of a column, however large."""
    return sum(column.tolist())


class Courses:
    """The blocks of some pairings of n places as arrays: B blocks, those of a pairing one after the other.

    By block, rotation and place: `ranks` (B, n, n). Whether the match is there: `present` (B, n). `numbers` (B,) are
    those of the blocks, `seats_of` (n, n) the seat of each rotation and place. Each pairing has a block.
    """

    def __init__(self, pairings: Sequence[PairingRanks]) -> None:
        seats = len(pairings[0].players) if pairings else 1
        text = "".join([one.ranks for one in pairings]).encode("ascii")
        by_seat = np.frombuffer(text, dtype=np.uint8).reshape(-1, seats, seats)
        rotations = np.arange(seats)[:, None]
        self.seats_of = (np.arange(seats) - rotations) % seats
        self.present = by_seat[:, :, 0] != ord(MISSING)
        self.ranks = by_seat[:, rotations, self.seats_of]
        self.numbers = np.fromiter(chain.from_iterable([one.blocks for one in pairings]), dtype=np.int64)
        sizes = [len(one.blocks) for one in pairings]
        self.starts = np.cumsum([0, *sizes[:-1]]) if sizes else np.zeros(0, dtype=np.int64)

    @cached_property
    def points(self) -> Array:
        """By block, rotation and place; 0 where there is no match."""
        found = np.zeros(self.ranks.shape, dtype=np.int64)
        for place in range(self.ranks.shape[2]):
            own = self.ranks[:, :, place, None]
            found[:, :, place] = np.einsum("brp->br", 2 * (own < self.ranks) + (own == self.ranks)) - 1
        found *= self.present[:, :, None]
        return found

    def added(self, by_block: Array) -> Array:
        """Add up the blocks of each pairing."""
        found: Array = np.add.reduceat(by_block, self.starts, axis=0)
        return found

    def margins(self, values: Array, has: Array) -> BlockSums:
        """The sums of margins by block, rotation and place; 0 where `has`, by block and rotation, is False."""
        m, y = has.sum(axis=1), np.einsum("brp->bp", values)
        return BlockSums(*map(self.added, (*_counts(m), y, y * y, y * m[:, None])))

    def luck(self, values: Array, has: Array) -> tuple[LuckSums, ...]:
        """The sums of luck, in the same form, of each half of the blocks."""
        m, luck = has.sum(axis=1), np.einsum("brp->bp", values)
        y = np.einsum("brp->bp", self.points * has[:, :, None])
        by_place = (y, y * y, y * m[:, None], luck, luck * luck, luck * m[:, None], y * luck)
        own = [(self.numbers % HALVES == half).astype(np.int64) for half in range(HALVES)]
        return tuple(
            LuckSums(
                *(self.added(each * is_own) for each in _counts(m)),
                *(self.added(each * is_own[:, None]) for each in by_place),
            )
            for is_own in own
        )


def _counts(m: Array) -> tuple[Array, Array, Array]:
    """By block with m matches: what blocks, matches and their squares are the sums of."""
    return (m > 0).astype(np.int64), m, m * m


def sums_of(results: Iterable[MatchResult]) -> PairingSums:
    """The sums of these matches, pairing by pairing in the order of first mention.

    ValueError as for `by_pairing`, and for matches with unequal numbers of seats.
    """
    played = list(results)
    known = by_pairing(played)
    ranks = tuple([ranks_of(*own) for own in known.values()])
    sizes = sorted({len(one.players) for one in played})
    if len(sizes) > 1:
        raise ValueError(f"matches of {' and of '.join(map(str, sizes))} players cannot share one table")
    seats = sizes[0] if sizes else 2
    numbered = [
        (number, one)
        for number, (_, blocks) in enumerate(known.values())
        for own in blocks.values()
        for one in own.values()
    ]
    ended = [
        (one.termination.value, number, _place(one, one.at_fault), 1)
        for number, one in numbered
        if one.at_fault is not None
    ]
    pardoned = [
        (code, number, _place(one, seat), count)
        for number, one in numbered
        for seat, counts in enumerate(one.pardoned)
        for code, count in counts.items()
    ]
    courses = Courses(ranks)
    whole = [own for _, blocks in known.values() for _, own in sorted(blocks.items())]
    matches = [own.get(rotation) for own in whole for rotation in range(seats)]
    found: PairingSums = _mapped(
        _narrowed,
        PairingSums(
            keys=(),
            ranks=(),
            margins=courses.margins(*_by_place(matches, courses, attrgetter("margins"))),
            luck=courses.luck(*_by_place(matches, courses, lambda one: one.luck or None)),
            luck_versions=by_code([(one.luck_version, n, 1) for n, one in numbered if one.luck_version], (len(known),)),
            faults=by_code(ended, (len(known), seats)),
            pardoned=by_code(pardoned, (len(known), seats)),
            isolation=by_code([(one.isolation, n, 1) for n, one in numbered], (len(known),)),
            time=_times(matches, courses),
        ),
    )
    return found._replace(keys=tuple(known), ranks=ranks)


def _by_place(
    matches: Sequence[MatchResult | None], courses: Courses, of: Callable[[MatchResult], Sequence[ExactNumber] | None]
) -> tuple[Array, Array]:
    """By block, rotation and place the values of each match, 0 where it has none; by block and rotation whether it has.

    `of` gives them by seat.
    """
    shape = courses.ranks.shape
    nothing = (0,) * shape[2]
    rows, has = [], []
    for one in matches:
        own = None if one is None else of(one)
        rows.append(nothing if one is None or own is None else rotate(own, -one.key.rotation % shape[2]))
        has.append(own is not None)
    return np.array(rows, dtype=object).reshape(shape), np.array(has, dtype=bool).reshape(shape[:2])


def _times(matches: Sequence[MatchResult | None], courses: Courses) -> TimeSums:
    names = ("moves", "time_us", "slowest_us", "startup_us", "idle_us", "timeouts_by_load")
    moves, spent, slowest, *others = (_by_place(matches, courses, attrgetter(name))[0] for name in names)
    decides = moves != 0
    return TimeSums(
        courses.added(moves.sum(axis=1)),
        courses.added((spent * decides).sum(axis=1)),
        np.maximum.reduceat((slowest * decides).max(axis=1), courses.starts, axis=0),
        *(courses.added(each.sum(axis=1)) for each in others),
    )


def sums_digest(sums: PairingSums) -> str:
    """SHA-256 of all ranks block by block and of the sums without times, whatever the order of the pairings."""
    found = sorted(zip(sums.keys, sums.ranks, range(len(sums.keys)), strict=True), key=itemgetter(0))
    order = np.array([number for *_, number in found], dtype=np.int64)
    digest = sha256(msgspec.json.encode([(key, *ranks.players, ranks.ranks) for key, ranks, _ in found]))
    blocks = [ranks.blocks for _, ranks, _ in found]
    for numbers in (map(len, blocks), chain.from_iterable(blocks)):
        digest.update(np.fromiter(numbers, dtype=np.int64).tobytes())

    def take_in(column: Array) -> None:
        own = _narrowed(column[order])
        text = msgspec.json.encode(own.tolist(), enc_hook=fraction_written) if own.dtype == object else b""
        digest.update(text or own.astype("<i8").tobytes())

    for name in PairingSums._fields[2:-1]:
        own = getattr(sums, name)
        digest.update(msgspec.json.encode([name, sorted(own) if isinstance(own, dict) else []]))
        _mapped(take_in, dict(sorted(own.items())) if isinstance(own, dict) else own)
    return digest.hexdigest()


def _narrowed(column: Array) -> Array:
    """The same in 64 bits, if these hold all of it; else whole numbers as ints."""
    if column.dtype != object:
        return column
    values = [int(value) if value.denominator == 1 else value for value in column.ravel().tolist()]
    is_small = all(type(value) is int and abs(value) < LARGEST_WHOLE for value in values)
    return np.array(values, dtype=np.int64 if is_small else object).reshape(column.shape)


def by_code(counted: Iterable[tuple[Any, ...]], shape: tuple[int, ...]) -> dict[str, Array]:
    """Counts by code, each at its place in a column of that shape, added up."""
    found: defaultdict[str, Array] = defaultdict(lambda: np.zeros(shape, dtype=np.int64))
    for code, *place, count in counted:
        found[code][tuple(place)] += count
    return dict(found)


def _place(one: MatchResult, seat: int) -> int:
    return (seat + one.key.rotation) % len(one.players)
