"""The audit of luck: a player who foresees draws is named, the others are not, at any table and at every look."""

from collections.abc import Callable, Sequence
from random import Random

import pytest
from msgspec.structs import replace
from support.league_luck import FIELDS, looked_at_always, shares, until_it_is_decided
from support.standings_made import forfeited, played, table

from arena.match.luck import LEAST
from arena.match.results import LUCK_UNIT, MatchResult, rotate
from arena.standings.luck_audit import LEVEL, PlayerLuck, audit_luck
from arena.standings.match_table import NO_PAIRINGS, match_table
from arena.standings.sums import sums_of
from arena.statistics.confidence_sequence import lower_bound, p_value

Luck = Callable[[Random, Sequence[str]], Sequence[float]]
"""The luck of a match by seat, given who sits there."""


def fair(rng: Random, seats: Sequence[str]) -> Sequence[float]:
    """Draw the luck of a match: mostly a little for the first seat, rarely much for all others."""
    others = len(seats) - 1
    first = 0.1 if rng.random() < 0.9 else -0.9
    return (first, *(-first / others,) * others)


def foreseen(rng: Random, seats: Sequence[str]) -> Sequence[float]:
    """Draw the luck of a match fairly, but give `ann` the better one of two draws."""
    luck = fair(rng, seats)
    if "ann" not in seats:
        return luck
    own, other = (rotate(one, seats.index("ann")) for one in (luck, fair(rng, seats)))
    better = max(own, other, key=lambda each: each[0])
    return rotate(better, -seats.index("ann") % len(seats))


def millionths(luck: Sequence[float]) -> tuple[int, ...]:
    return tuple(round(own * LUCK_UNIT) for own in luck)


def league(tables: Sequence[str], blocks: int, luck: Luck, *, seed: int = 1) -> list[MatchResult]:
    """Return so many blocks at each table, with luck that decides nothing."""
    rng, found = Random(seed), []
    for number in range(blocks):
        for pairing, letters in enumerate(tables):
            for rotation in range(len(letters)):
                one = played("".join(rotate(letters, rotation)), range(len(letters)), block=number, pairing=pairing)
                found.append(replace(one, luck=millionths(luck(rng, one.players)), luck_version="1"))
    return found


def lucks(results: Sequence[MatchResult]) -> dict[str, PlayerLuck]:
    """Return the audit of these matches; the same as in a table (`test_a_table_has_it`), and faster."""
    sums = sums_of(match_table(results))
    return audit_luck(sums, sums.table.pairings_of_player)


def named(results: Sequence[MatchResult]) -> list[str]:
    return sorted(name for name, luck in lucks(results).items() if luck.stands_out)


@pytest.mark.parametrize(
    ("tables", "blocks"),
    [(("ab", "ac", "ad", "bc", "bd", "cd"), 200), (("abc", "abd", "acd", "bcd"), 200), (("abcd",), 600)],
    ids=["two seats", "three seats", "four seats"],
)
def test_who_foresees_draws_is_named_and_nobody_else(tables: tuple[str, ...], blocks: int) -> None:
    """That holds at tables of any size; without the cheat nobody is named."""
    cheated, honest = league(tables, blocks, foreseen), league(tables, blocks, fair)

    luck = lucks(cheated)["ann"]
    assert named(cheated) == ["ann"]
    assert 0 < luck.least < luck.mean
    assert luck.p <= LEVEL
    assert named(honest) == []
    assert all(each.p > LEVEL for each in lucks(honest).values())


def test_the_numbers_by_hand() -> None:
    """The luck of a block's two matches is summed, in units of the most that a block can lose; means are by match."""
    results = [
        replace(played(seats, (1, 0), block=block), luck=millionths((luck, -luck)), luck_version="1")
        for block, lucks in enumerate([(0.5, 0.25), (0.1, -0.3), (0.4, 0.4)])
        for seats, luck in zip(("ab", "ba"), lucks, strict=True)
    ]
    total, squares = 0.25 + 0.4 + 0.0, 0.25**2 + 0.4**2
    unit = 2 * -LEAST

    found = lucks(results)

    assert (found["ann"].matches, found["ann"].stands_out) == (6, False)
    assert found["ann"].mean == pytest.approx(total / 6)
    assert found["ann"].least == pytest.approx(lower_bound(3, total / unit, squares / unit**2, error=LEVEL) * unit / 2)
    assert found["ann"].p == pytest.approx(min(1.0, 2 * p_value(total / unit, squares / unit**2)))
    assert set(found) == {"ann", "bob"}


def test_a_table_has_it() -> None:
    """The rows of players who have played contain it."""
    results = league(["ab", "bc"], 5, foreseen)

    assert {each.name: each.luck for each in table(*results).rows} == {**lucks(results), "dot": None}


def test_bad_luck_is_no_offence() -> None:
    """A player who loses all that another one wins by luck is not named."""
    against_bob = league(["ab"], 300, foreseen)

    assert named(against_bob) == ["ann"]
    assert lucks(against_bob)["bob"].p == 1.0


def test_blocks_with_forfeits_count_as_far_as_they_went() -> None:
    """A forfeit ends the luck of its match, not of its block; the cheat is named among them all the same."""
    rng = Random(3)
    results = [
        forfeited("".join(name[0] for name in one.players), "crash", rng.randrange(2), block=one.key.block)
        if rng.random() < 0.5
        else one
        for one in league(["ab"], 600, foreseen)
    ]
    lucky = [
        replace(one, luck=tuple(luck // (1 + (one.at_fault is not None)) for luck in first.luck), luck_version="1")
        for one, first in zip(results, league(["ab"], 600, foreseen), strict=True)
    ]

    assert any(one.at_fault is not None for one in lucky)
    assert named(lucky) == ["ann"]


def test_only_matches_with_luck_are_tested() -> None:
    """The version of the value does not matter; without luck no player is tested."""
    results = league(["ab"], 50, fair)
    mixed = [
        replace(one, **({"luck": (), "luck_version": ""} if place % 4 == 0 else {"luck_version": str(place % 3)}))
        for place, one in enumerate(results)
    ]
    none = [replace(one, luck=(), luck_version="") for one in results]

    assert lucks(mixed)["ann"].matches == 75
    assert lucks(none) == lucks([]) == {}


def test_no_order_and_no_rank_has_a_part_in_it() -> None:
    """Equal results in any order, and with other winners, give the same numbers."""
    results = league(["ab", "bc", "ac"], 40, foreseen)
    shuffled = Random(2).sample(results, len(results))
    turned = [replace(one, ranks=one.ranks[::-1], scores=(one.scores or ())[::-1]) for one in results]

    assert lucks(results) == lucks(shuffled) == lucks(turned)


@pytest.mark.parametrize("field", ["four unequals", "ten equals"])
def test_nobody_is_named_by_looking_again_and_again(field: str) -> None:
    """The promise is 1 league in 100; 3 or more of 60 leagues with 60 analyses each occur in 1 of 200 runs."""
    audit, _ = shares(looked_at_always(FIELDS[field], 60, Random(place)) for place in range(60))

    assert audit <= 2 / 60


def test_nobody_is_named_where_results_decide_how_long_is_played() -> None:
    """`until: decided` stops by results, which are only luck here; the program `league_luck` has more leagues."""
    audit, _ = shares(until_it_is_decided(FIELDS["four equals"], Random(place)) for place in range(10))

    assert audit <= 1 / 10


def test_players_who_have_not_played_count_from_the_first_look_on() -> None:
    """Holm's number of players must not grow with later players, or every analysis begins a new test."""
    sums = sums_of(match_table(league(["ab"], 120, foreseen)))
    silent = {f"silent-{number}": NO_PAIRINGS for number in range(8)}

    two, ten = audit_luck(sums, sums.table.pairings_of_player), audit_luck(sums, sums.table.pairings_of_player | silent)

    assert sorted(two) == sorted(ten)
    assert two["ann"].p < 0.2
    assert ten["ann"].p == pytest.approx(5 * two["ann"].p)
