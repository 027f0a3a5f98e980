"""The sums of a pairing's matches over its blocks: the value that standings are made of, instead of the matches.

Rule: exact values only, added in no order. So standings are the same bytes however many matches were played at once and
whichever ended first, and it does not matter whether SQLite has added (`MatchStore.sums`) or `sums_of`.

Players are known by place, their order in the pairing. All that depends on who won follows from the courses of the
blocks; the other sums hold what does not.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from typing import Final

import msgspec

from arena.match.record import fraction_written
from arena.match.results import MatchResult, PairingRanks, rotate

Number = int | Fraction
HALVES: Final = 2
MISSING: Final = "-"
"""Stands for each rank of a match that is not there."""

Ranking = tuple[tuple[str, ...], tuple[int, ...]]
"""The players of a match by seat, and their ranks by seat."""


class BlockSums(msgspec.Struct, frozen=True, gc=False):
    """Sums over blocks: with m the matches of a block that count and, by place, y the total of their values.

    `matches` is the sum of m, `matches2` that of m m, `total`, `total2` and `product` those of y, y y and m y. They
    give the squares of y - r m for any mean r. Blocks with m = 0 are not counted.
    """

    blocks: int
    matches: int
    matches2: int
    total: tuple[Number, ...]
    total2: tuple[Number, ...]
    product: tuple[Number, ...]


class LuckSums(msgspec.Struct, frozen=True, gc=False):
    """Sums over the blocks of a half, of the matches with luck only.

    With m those of a block and, by place, y their points and l their luck in millionths: `matches` is the
    sum of m and `matches2` that of m m; the others are those of y, y y, m y, l, l l, m l and y l.
    """

    blocks: int
    matches: int
    matches2: int
    points: tuple[int, ...]
    points2: tuple[int, ...]
    points_product: tuple[int, ...]
    luck: tuple[int, ...]
    luck2: tuple[int, ...]
    luck_product: tuple[int, ...]
    both: tuple[int, ...]


class TimeSums(msgspec.Struct, frozen=True, gc=False):
    """The use of time by place, in microseconds; a seat that never had to decide spent nothing that counts."""

    moves: tuple[int, ...]
    spent_us: tuple[int, ...]
    slowest_us: tuple[int, ...]
    startup_us: tuple[int, ...]
    idle_us: tuple[int, ...]
    timeouts_by_load: tuple[int, ...]


class PairingSums(msgspec.Struct, frozen=True):
    """All matches of a pairing; there is at least one.

    `courses`: how often each course of a block occurred, a text as in `PairingRanks.ranks`. `margins` are over matches
    without a forfeit. `luck` are the sums of the even and of the odd blocks, empty if no match has luck;
    `luck_versions` counts the matches that have luck by the version of the value. `faults` are those that ended a
    match, `pardoned` those after which the game went on, both by code and place. `isolation` counts matches.
    """

    key: str
    players: tuple[str, ...]
    courses: dict[str, int]
    margins: BlockSums
    luck: tuple[LuckSums, ...]
    luck_versions: dict[str, int]
    faults: dict[str, tuple[int, ...]]
    pardoned: dict[str, tuple[int, ...]]
    isolation: dict[str, int]
    time: TimeSums

    @property
    def seats(self) -> int:
        """How many sit at the table."""
        return len(self.players)

    @property
    def matches(self) -> int:
        """How many matches there are."""
        return sum(self.isolation.values())


@lru_cache(maxsize=4096)
def matches_of(course: str, seats: int) -> tuple[tuple[int, ...] | None, ...]:
    """The ranks of the matches of a block, by rotation; None for one that is not there."""
    parts = [course[start : start + seats] for start in range(0, len(course), seats)]
    return tuple([None if part[0] == MISSING else tuple(map(int, part)) for part in parts])


def full_score(seats: int) -> int:
    """The points of a win over all others, which is a score of 1."""
    return 2 * (seats - 1)


def courses_of(ranks: PairingRanks) -> dict[str, int]:
    """How often each course occurred."""
    size = len(ranks.players) ** 2
    return dict(Counter([ranks.ranks[start : start + size] for start in range(0, len(ranks.ranks), size)]))


def in_schedule_order(pairings: Iterable[PairingRanks]) -> Iterator[Ranking]:
    """All matches by block, pairing, rotation; `pairings` come in the order of the schedule."""
    by_block: defaultdict[int, list[tuple[Ranking, ...]]] = defaultdict(list)
    for one in pairings:
        size = len(one.players) ** 2
        known: dict[str, tuple[Ranking, ...]] = {}
        starts = range(0, len(one.ranks), size)
        for block, start in zip(one.blocks, starts, strict=True):
            course = one.ranks[start : start + size]
            if course not in known:
                known[course] = tuple(_rankings(one.players, course))
            by_block[block].append(known[course])
    return chain.from_iterable(chain.from_iterable(by_block[block] for block in sorted(by_block)))


def _rankings(players: tuple[str, ...], course: str) -> Iterator[Ranking]:
    for rotation, ranks in enumerate(matches_of(course, len(players))):
        if ranks is not None:
            yield rotate(players, rotation), ranks


def ranks_of(results: Iterable[MatchResult]) -> dict[str, PairingRanks]:
    """The ranks of these matches by the key of the pairing, in the order of first mention.

    ValueError for a match that is there twice, or whose players are no rotation of its pairing's.
    """
    found: dict[str, PairingRanks] = {}
    for key, (players, blocks) in _by_pairing(results).items():
        nothing = MISSING * len(players)
        courses = (
            "".join(
                "".join(map(str, blocks[block][rotation].ranks)) if rotation in blocks[block] else nothing
                for rotation in range(len(players))
            )
            for block in sorted(blocks)
        )
        found[key] = PairingRanks(players, sorted(blocks), "".join(courses))
    return found


def sums_of(results: Iterable[MatchResult]) -> tuple[PairingSums, ...]:
    """The sums of these matches, pairing by pairing in the order of first mention. ValueError as for `ranks_of`."""
    played = list(results)
    ranks = ranks_of(played)
    return tuple(
        _sums_of_pairing(key, players, courses_of(ranks[key]), blocks)
        for key, (players, blocks) in _by_pairing(played).items()
    )


def digest_of(sums: Iterable[PairingSums], ranks: Mapping[str, PairingRanks]) -> str:
    """SHA-256 of all ranks block by block and of the sums without times, whatever the order of the pairings."""
    digest = sha256()
    for one in sorted(sums, key=lambda one: one.key):
        own = ranks[one.key]
        facts = {name: getattr(one, name) for name in one.__struct_fields__ if name not in {"courses", "time"}}
        text = msgspec.json.encode(
            (facts, list(own.blocks), own.ranks), enc_hook=fraction_written, order="deterministic"
        )
        digest.update(sha256(text).digest())
    return digest.hexdigest()


_Blocks = dict[int, dict[int, MatchResult]]
"""The matches of a pairing by block and rotation."""


def _by_pairing(results: Iterable[MatchResult]) -> dict[str, tuple[tuple[str, ...], _Blocks]]:
    found: dict[str, tuple[tuple[str, ...], _Blocks]] = {}
    for one in results:
        players, blocks = found.setdefault(one.key.pairing, (one.places, {}))
        if one.places != players:
            seated, due = ", ".join(one.players), ", ".join(players)
            raise ValueError(f"match {one.key}: {seated} do not sit in a rotation of {due}")
        matches = blocks.setdefault(one.key.block, {})
        if one.key.rotation in matches or not 0 <= one.key.rotation < len(players):
            raise ValueError(f"match {one.key} of {', '.join(one.players)} is there twice, or no rotation of theirs")
        matches[one.key.rotation] = one
    return found


def _sums_of_pairing(key: str, players: tuple[str, ...], courses: dict[str, int], blocks: _Blocks) -> PairingSums:
    matches = [one for own in blocks.values() for one in own.values()]
    guilty = [(one.termination.value, _place(one, one.at_fault), 1) for one in matches if one.at_fault is not None]
    pardoned = [
        (code, _place(one, seat), count)
        for one in matches
        for seat, counts in enumerate(one.pardoned)
        for code, count in counts.items()
    ]
    return PairingSums(
        key=key,
        players=players,
        courses=courses,
        margins=_margins(blocks.values(), len(players)),
        luck=_luck(blocks, len(players)),
        luck_versions=dict(Counter(one.luck_version for one in matches if one.luck_version)),
        faults=by_code(guilty, len(players)),
        pardoned=by_code(pardoned, len(players)),
        isolation=dict(Counter(one.isolation for one in matches)),
        time=_times(matches, len(players)),
    )


def by_code(counted: Iterable[tuple[str, int, int]], seats: int) -> dict[str, tuple[int, ...]]:
    """Counts by code and place, added up."""
    found: defaultdict[str, list[int]] = defaultdict(lambda: [0] * seats)
    for code, place, count in counted:
        found[code][place] += count
    return {code: tuple(counts) for code, counts in found.items()}


def _place(one: MatchResult, seat: int) -> int:
    return (seat + one.key.rotation) % len(one.players)


def _at_places(one: MatchResult, by_seat: Sequence[Number]) -> tuple[Number, ...]:
    """Values by seat -> by place."""
    return rotate(by_seat, -one.key.rotation % len(one.players))


def _margins(blocks: Iterable[Mapping[int, MatchResult]], seats: int) -> BlockSums:
    values = [
        [_at_places(one, margins) for one in own.values() if (margins := one.margins) is not None] for own in blocks
    ]
    own = [(len(block), _columns(block, seats)) for block in values if block]
    return BlockSums(
        blocks=len(own),
        matches=sum(m for m, _ in own),
        matches2=sum(m * m for m, _ in own),
        total=_over_blocks([y for _, y in own], seats),
        total2=_over_blocks([[one * one for one in y] for _, y in own], seats),
        product=_over_blocks([[m * one for one in y] for m, y in own], seats),
    )


def _luck(blocks: _Blocks, seats: int) -> tuple[LuckSums, ...]:
    """Of the even and of the odd blocks."""
    if not any(one.luck for own in blocks.values() for one in own.values()):
        return ()
    return tuple(
        _luck_of_half([list(own.values()) for number, own in blocks.items() if number % HALVES == half], seats)
        for half in range(HALVES)
    )


def _luck_of_half(blocks: Iterable[list[MatchResult]], seats: int) -> LuckSums:
    own = []
    for block in blocks:
        lucky = [one for one in block if one.luck]
        if lucky:
            points = _columns([_at_places(one, one.points) for one in lucky], seats)
            own.append((len(lucky), points, _columns([_at_places(one, one.luck) for one in lucky], seats)))
    products = [
        [y for _, y, _ in own],
        [[a * a for a in y] for _, y, _ in own],
        [[m * a for a in y] for m, y, _ in own],
        [luck for *_, luck in own],
        [[a * a for a in luck] for *_, luck in own],
        [[m * a for a in luck] for m, _, luck in own],
        [[a * b for a, b in zip(y, luck, strict=True)] for _, y, luck in own],
    ]
    by_place = [tuple(map(int, _over_blocks(each, seats))) for each in products]
    return LuckSums(len(own), sum(m for m, *_ in own), sum(m * m for m, *_ in own), *by_place)


def _columns(values: Iterable[Sequence[Number]], seats: int) -> list[Number]:
    """Add up what several matches have by place."""
    totals: list[Number] = [0] * seats
    for own in values:
        for place, value in enumerate(own):
            totals[place] += value
    return totals


def _over_blocks(values: Iterable[Sequence[Number]], seats: int) -> tuple[Number, ...]:
    return tuple(_columns(values, seats))


def _times(matches: Sequence[MatchResult], seats: int) -> TimeSums:
    def added(name: str) -> tuple[int, ...]:
        return tuple(map(int, _columns([_at_places(one, getattr(one, name)) for one in matches], seats)))

    deciding = [
        [(_place(one, seat), spent, one.slowest_us[seat]) for seat, spent in enumerate(one.time_us) if one.moves[seat]]
        for one in matches
    ]
    spent, slowest = [0] * seats, [0] * seats
    for own in deciding:
        for place, took, worst in own:
            spent[place] += took
            slowest[place] = max(slowest[place], worst)
    return TimeSums(
        moves=added("moves"),
        spent_us=tuple(spent),
        slowest_us=tuple(slowest),
        startup_us=added("startup_us"),
        idle_us=added("idle_us"),
        timeouts_by_load=added("timeouts_by_load"),
    )
