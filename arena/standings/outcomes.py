"""Who came where in a match -> one byte, and bytes of many matches -> results in schedule order.

Rule: a byte holds all that ratings and scores need of a match: the order of its seats, ties included. 0 is no match;
the codes from 1 number the possible orders of the seats. Four seats have 75 of them, five would have 541: too many.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, product
from typing import Final

from arena.standings.ratings import Result

MOST_SEATS: Final = 4
NOT_PLAYED: Final = 0

Course = tuple[int, ...]
"""How one block went: the codes of its matches by rotation."""


@cache
def orders(seats: int) -> tuple[tuple[int, ...], ...]:
    """All orders of that many seats, as ranks by seat: how many came out better. The code of the first one is 1."""
    if not 2 <= seats <= MOST_SEATS:
        raise ValueError(f"expected 2 to {MOST_SEATS} seats, found {seats}")
    return tuple(sorted({_canonical(ranks) for ranks in product(range(seats), repeat=seats)}))


@lru_cache(maxsize=4096)
def code_of(ranks: tuple[int, ...]) -> int:
    """The code of these ranks by seat, of which only the order counts."""
    return 1 + orders(len(ranks)).index(_canonical(ranks))


@cache
def points(seats: int) -> tuple[tuple[int, ...], ...]:
    """Points by code and seat, in whole numbers: 2 for each seat beaten, 1 for each one tied. Code 0 has none."""
    won = [tuple(2 * (seats - 1 - rank) - (ranks.count(rank) - 1) for rank in ranks) for ranks in orders(seats)]
    return ((0,) * seats, *won)


def full_score(seats: int) -> int:
    """The points of a win over all others, which is a score of 1."""
    return 2 * (seats - 1)


def by_seat(places: Sequence[str], rotation: int) -> tuple[str, ...]:
    """The players of a pairing as they sit: seat s belongs to place (s + rotation) mod n."""
    return (*places[rotation:], *places[:rotation])


Played = tuple[tuple[str, ...], bytes]
"""The players of a pairing by place, and the codes of its matches: block by block, in each by rotation."""


def in_schedule_order(
    pairings: Iterable[Played], *, from_block: int = 0, to_block: int | None = None
) -> Iterator[Result]:
    """All results of those blocks: by block, pairing, rotation. `pairings` come in the order of the schedule."""
    field = [(places, codes[from_block * len(places) :]) for places, codes in pairings]
    length = blocks_in(field) if to_block is None else to_block - from_block
    columns = (
        map(_results(places, rotation).__getitem__, padded(codes[rotation :: len(places)], length))
        for places, codes in field
        for rotation in range(len(places))
    )
    # No Python code runs for a match here: a million of them pass in a tenth of a second.
    return filter(None, chain.from_iterable(zip(*columns, strict=True)))


def blocks_in(pairings: Iterable[Played]) -> int:
    """How many blocks there are up to the last one that was played in any pairing."""
    return max((-(-len(codes) // len(places)) for places, codes in pairings), default=0)


def padded(codes: bytes, length: int) -> bytes:
    """Exactly so many codes: cut, or with matches that have not been played at the end."""
    return codes[:length].ljust(length, b"\0")


def _results(places: tuple[str, ...], rotation: int) -> tuple[Result | None, ...]:
    """The results by code of the matches with that rotation."""
    seats = by_seat(places, rotation)
    return (None, *((seats, ranks) for ranks in orders(len(places))))


def _canonical(ranks: Sequence[int]) -> tuple[int, ...]:
    return tuple(sum(other < own for other in ranks) for own in ranks)
