"""What a pairing's stored matches add up to: the value that standings are made of, instead of the matches.

Rule: whole numbers only, and tallies add up: the tally of many blocks is the sum of theirs, in any order and in any
portions. So standings are the same bytes however many matches were played at once and whichever ended first, and the
store can keep one tally up to date instead of reading a million matches.

A pairing's players are known by place (their order in the pairing) and never by name, for the store knows no names.
A tally has the course of every block (see `outcomes`), from which all that depends on who won is counted; the sums
hold what does not follow from that. Two tallies may be added only if no block is in both.

Luck is measured once, when a match is played: its sums are here, and `luck_adjustment` says what is made of them.
"""

import operator
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache, reduce
from hashlib import sha256
from typing import Final, Protocol, Self, TypeVar

import msgspec

from arena.match.record import FAULTS, Termination
from arena.standings.luck_sums import LuckAdding, Lucks, lucks_added
from arena.standings.outcomes import NOT_PLAYED, Course, code_of, orders

N = TypeVar("N", int, float)
_MODULUS: Final = 1 << 256
_US_PER_MS: Final = 1000
_encode: Final = msgspec.json.Encoder().encode


class Facts(Protocol):
    """What a tally takes from one match, by seat: the part that summaries and results have in common."""

    @property
    def ranks(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def scores(self) -> tuple[int, ...] | None: ...  # noqa: D102
    @property
    def termination(self) -> str: ...  # noqa: D102
    @property
    def at_fault(self) -> int: ...  # noqa: D102
    @property
    def moves(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def time_ms(self) -> tuple[float, ...]: ...  # noqa: D102
    @property
    def slowest_ms(self) -> tuple[float, ...]: ...  # noqa: D102
    @property
    def isolation(self) -> str: ...  # noqa: D102
    @property
    def luck(self) -> tuple[float, ...]: ...  # noqa: D102
    @property
    def luck_version(self) -> str: ...  # noqa: D102
    @property
    def pardoned(self) -> tuple[dict[str, int], ...]: ...  # noqa: D102
    @property
    def startup_ms(self) -> tuple[float, ...]: ...  # noqa: D102
    @property
    def idle_ms(self) -> tuple[float, ...]: ...  # noqa: D102
    @property
    def timeouts_by_load(self) -> tuple[int, ...]: ...  # noqa: D102


class Spans(msgspec.Struct, frozen=True, gc=False):
    """Sums over blocks of what a block counts for: its matches m, and by place its total y.

    `matches` is the sum of m, `matches2` that of m m, `total`, `total2` and `product` those of y, y y and m y. They
    give the squares of y - r m for any mean r. Blocks with m = 0 are not counted.
    """

    blocks: int
    matches: int
    matches2: int
    total: tuple[int, ...]
    total2: tuple[int, ...]
    product: tuple[int, ...]

    def __add__(self, other: Self) -> "Spans":
        return Spans(
            self.blocks + other.blocks,
            self.matches + other.matches,
            self.matches2 + other.matches2,
            _added(self.total, other.total),
            _added(self.total2, other.total2),
            _added(self.product, other.product),
        )


class Sums(msgspec.Struct, frozen=True):
    """What does not follow from the courses. Tuples are by place; times are in whole microseconds.

    `margins` are over matches without a forfeit. `digest` is the sum modulo 2^256 of the SHA-256 of every match's facts
    without times, in hexadecimal: equal for equal results in any order. `luck_versions` counts the matches that have
    luck, by the version of the value; `luck` are the sums of the even and of the odd blocks, if there is any.
    `faults` are those that ended a match, `pardoned` those after which the game went on, both by their code. The last
    three are empty where they are 0 for all.
    """

    margins: Spans
    faults: dict[str, tuple[int, ...]]
    isolation: dict[str, int]
    moves: tuple[int, ...]
    spent_us: tuple[int, ...]
    slowest_us: tuple[int, ...]
    digest: str
    luck_versions: dict[str, int] = {}
    luck: tuple[Lucks, ...] = ()
    pardoned: dict[str, tuple[int, ...]] = {}
    startup_us: tuple[int, ...] = ()
    idle_us: tuple[int, ...] = ()
    timeouts_by_load: tuple[int, ...] = ()

    def __add__(self, other: Self) -> "Sums":
        return Sums(
            margins=self.margins + other.margins,
            faults=_by_code_added(self.faults, other.faults),
            isolation=_counts_added(self.isolation, other.isolation),
            moves=_added(self.moves, other.moves),
            spent_us=_added(self.spent_us, other.spent_us),
            slowest_us=tuple(map(max, self.slowest_us, other.slowest_us)),
            digest=_hex(int(self.digest, 16) + int(other.digest, 16)),
            luck_versions=_counts_added(self.luck_versions, other.luck_versions),
            luck=lucks_added(self.luck, other.luck),
            pardoned=_by_code_added(self.pardoned, other.pardoned),
            startup_us=_any_added(self.startup_us, other.startup_us),
            idle_us=_any_added(self.idle_us, other.idle_us),
            timeouts_by_load=_any_added(self.timeouts_by_load, other.timeouts_by_load),
        )


class Tally(msgspec.Struct, frozen=True):
    """All of a pairing: `outcomes` holds a code for each match, block by block from block 0, in each by rotation."""

    seats: int
    outcomes: bytes
    sums: Sums

    def __add__(self, other: Self) -> "Tally":
        if self.seats != other.seats:
            raise ValueError(f"tallies of {self.seats} and of {other.seats} seats cannot be added")
        return Tally(self.seats, _overlaid(self.outcomes, other.outcomes), self.sums + other.sums)

    @property
    def matches(self) -> int:
        """How many matches are in it."""
        return matches_in(self.outcomes)

    def courses(self) -> Counter[Course]:
        """How often each course of a block occurred."""
        found = Counter(zip(*[iter(self.outcomes)] * self.seats, strict=True))
        del found[(NOT_PLAYED,) * self.seats]
        return found


class Tallied(msgspec.Struct, frozen=True):
    """The tally of a pairing with its players, by place."""

    players: tuple[str, ...]
    tally: Tally

    @property
    def courses(self) -> dict[str, int]:
        """How often each course of a block occurred, as text: see `arena.statistics.pairs.Pairing`."""
        seats = self.tally.seats
        digits = ["-" * seats, *("".join(map(str, ranks)) for ranks in orders(seats))]
        return {"".join([digits[code] for code in course]): n for course, n in self.tally.courses().items()}


def nothing(seats: int) -> Tally:
    """The tally of no match: adding it changes nothing."""
    none = (0,) * seats
    spans = Spans(0, 0, 0, none, none, none)
    return Tally(seats, b"", Sums(spans, {}, {}, none, none, none, _hex(0)))


def tally_of(key: str, seats: int, blocks: Mapping[int, Mapping[int, Facts]], *, first_block: int = 0) -> Tally:
    """The tally of these blocks (by number) of the pairing with that key; of each its matches, by rotation.

    Codes begin with those of `first_block`, before which no block may be. ValueError for a match that never counts,
    such as a void one.
    """
    adding = _Adding(key, seats)
    outcomes = bytearray(seats * (1 + max(blocks, default=first_block - 1) - first_block))
    for block, matches in sorted(blocks.items()):
        for rotation, one in matches.items():
            if len(one.ranks) != seats or not 0 <= rotation < seats or block < first_block:
                found = f"block {block}, rotation {rotation}, {len(one.ranks)} players"
                raise ValueError(f"{found}: no match among those of {seats} from block {first_block} on")
            outcomes[(block - first_block) * seats + rotation] = code_of(one.ranks)
            adding.match(block, rotation, one)
        adding.margins_of(matches)
        adding.luck.block(block, matches)
    return Tally(seats, bytes(outcomes), adding.sums())


def matches_in(outcomes: bytes) -> int:
    """How many of these codes are of a match."""
    return len(outcomes) - outcomes.count(NOT_PLAYED)


def digest_of(tallies: Iterable[Tally]) -> str:
    """The digest of all results in `tallies`."""
    return _hex(sum(int(one.sums.digest, 16) for one in tallies))


class _Adding:
    """Sums while they are added up, match after match: there may be a million, so nothing is made anew for each."""

    def __init__(self, key: str, seats: int) -> None:
        self._key = key
        self._faults: dict[str, list[int]] = {}
        self._pardoned: dict[str, list[int]] = {}
        self._isolation: Counter[str] = Counter()
        self._luck_versions: Counter[str] = Counter()
        self.luck = LuckAdding(seats)
        self._moves, self._spent_us, self._slowest_us = ([0] * seats for _ in range(3))
        self._startup_us, self._idle_us, self._timeouts_by_load = ([0] * seats for _ in range(3))
        self._total, self._total2, self._product = ([0] * seats for _ in range(3))
        self._margins: Counter[int] = Counter()
        """Blocks by how many of their matches have a margin."""
        self._digest = 0

    def match(self, block: int, rotation: int, one: Facts) -> None:
        """Add all of a match but its margin and its luck."""
        _check(one.termination, is_fault=one.at_fault >= 0)
        seats = len(one.ranks)
        for seat in range(seats):
            if one.moves[seat]:  # who never had to decide spent no time that counts
                place = (seat + rotation) % seats
                self._moves[place] += one.moves[seat]
                self._spent_us[place] += round(one.time_ms[seat] * _US_PER_MS)
                self._slowest_us[place] = max(self._slowest_us[place], round(one.slowest_ms[seat] * _US_PER_MS))
        self._add_waiting(rotation, one)
        if one.at_fault >= 0:
            guilty = self._faults.setdefault(one.termination, [0] * seats)
            guilty[(one.at_fault + rotation) % seats] += 1
        self._isolation[one.isolation] += 1
        if one.luck_version:
            self._luck_versions[one.luck_version] += 1
        for seat, counts in enumerate(one.pardoned):
            for code, count in counts.items():
                self._pardoned.setdefault(code, [0] * seats)[(seat + rotation) % seats] += count
        self._digest += int.from_bytes(sha256(_facts(self._key, block, rotation, one)).digest(), "big")

    def _add_waiting(self, rotation: int, one: Facts) -> None:
        """Add the time in which nobody computed a move, of those seats that have any."""
        for seat in range(len(one.ranks)):
            place = (seat + rotation) % len(one.ranks)
            self._startup_us[place] += round(at_place(one.startup_ms, seat) * _US_PER_MS)
            self._idle_us[place] += round(at_place(one.idle_ms, seat) * _US_PER_MS)
            self._timeouts_by_load[place] += at_place(one.timeouts_by_load, seat)

    def margins_of(self, matches: Mapping[int, Facts]) -> None:
        """Add the margins of the matches of one block."""
        total = [0] * len(self._total)
        count = 0
        for rotation, one in matches.items():
            if one.scores is not None:
                count += 1
                for seat, margin in enumerate(_margins(one.scores)):
                    total[(seat + rotation) % len(total)] += margin
        self._margins[count] += 1
        for place, own in enumerate(total):
            self._total[place] += own
            self._total2[place] += own * own
            self._product[place] += own * count

    def sums(self) -> Sums:
        """What has been added up so far."""
        return Sums(
            margins=Spans(
                blocks=sum(times for count, times in self._margins.items() if count),
                matches=sum(count * times for count, times in self._margins.items()),
                matches2=sum(count * count * times for count, times in self._margins.items()),
                total=tuple(self._total),
                total2=tuple(self._total2),
                product=tuple(self._product),
            ),
            faults={kind: tuple(self._faults[kind]) for kind in sorted(self._faults)},
            isolation={kind: self._isolation[kind] for kind in sorted(self._isolation)},
            moves=tuple(self._moves),
            spent_us=tuple(self._spent_us),
            slowest_us=tuple(self._slowest_us),
            digest=_hex(self._digest),
            luck_versions={version: self._luck_versions[version] for version in sorted(self._luck_versions)},
            luck=self.luck.sums(),
            pardoned={code: tuple(self._pardoned[code]) for code in sorted(self._pardoned)},
            startup_us=_unless_all_0(self._startup_us),
            idle_us=_unless_all_0(self._idle_us),
            timeouts_by_load=_unless_all_0(self._timeouts_by_load),
        )


def _facts(key: str, block: int, rotation: int, one: Facts) -> bytes:
    """What is digested of a match; pardoned faults only where there are any, so older digests stay what they were."""
    facts = (key, block, rotation, one.ranks, one.scores, one.termination, one.at_fault, one.moves)
    return _encode((*facts, [sorted(counts.items()) for counts in one.pardoned]) if one.pardoned else facts)


@lru_cache(maxsize=4096)
def _margins(scores: tuple[int, ...]) -> tuple[int, ...]:
    """By seat: the own score minus the best of the others."""
    second, best = sorted(scores)[-2:]
    return tuple(own - (second if own == best else best) for own in scores)


def _check(termination: str, *, is_fault: bool) -> None:
    if termination not in (FAULTS if is_fault else (Termination.NORMAL,)):
        raise ValueError(f"a result {'with' if is_fault else 'without'} a seat at fault ended as {termination!r}")


def _hex(value: int) -> str:
    return f"{value % _MODULUS:064x}"


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([a + b for a, b in zip(one, other, strict=True)])


def _any_added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Add what may be empty, which is as good as zeros."""
    return _added(one, other) if one and other else one or other


def _unless_all_0(values: list[int]) -> tuple[int, ...]:
    return tuple(values) if any(values) else ()


def at_place(values: tuple[N, ...], place: int) -> N | int:
    """The value of a place or seat; 0 where there is none for anybody."""
    return values[place] if values else 0


def _by_code_added(
    one: Mapping[str, tuple[int, ...]], other: Mapping[str, tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    return {
        code: reduce(_added, [each[code] for each in (one, other) if code in each]) for code in sorted({*one, *other})
    }


def _counts_added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {kind: one.get(kind, 0) + other.get(kind, 0) for kind in sorted({*one, *other})}


def _overlaid(one: bytes, other: bytes) -> bytes:
    """Put the codes of different matches into one; ValueError if a match is in both."""
    if any(map(operator.and_, map(bool, one), map(bool, other))):
        raise ValueError("a match is in both of the tallies that are added")
    total = int.from_bytes(one, "little") | int.from_bytes(other, "little")
    return total.to_bytes(max(len(one), len(other)), "little")
