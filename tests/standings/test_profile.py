"""A player's page from columns: equal to the one that a slow reference computes, and cases by hand."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.profile_made import NAMES, Part, Reference, error_of, leagues, made, mean_score, page_of

from arena.match.record import FAULTS, PARDONABLE
from arena.match.results import MOST_SCORE, MatchResult
from arena.standings.profile import MOST_MATCH_IDS, ProfileLine


def assert_line(line: ProfileLine, player: str, parts: Sequence[Part]) -> None:
    """The line has the numbers of the reference."""
    normal = [(part, part.margin) for part in parts if part.margin is not None]
    assert line.score is not None
    assert line.matches == len(parts)
    assert line.score.value == pytest.approx(mean_score(parts))
    assert line.score.blocks == len({part.place[:2] for part in parts})
    assert line.score.standard_error == pytest.approx(error_of([(part, part.score) for part in parts]), abs=1e-9)
    assert line.forfeits == sum(part.match.at_fault == part.match.players.index(player) for part in parts)
    assert (line.margin is None) == (not normal)
    if line.margin is not None:
        assert line.margin.value == pytest.approx(float(sum(margin for _, margin in normal) / len(normal)))
        assert line.margin.standard_error == pytest.approx(error_of(normal), abs=1e-9)


@settings(max_examples=40)
@given(leagues(), st.sampled_from(NAMES))
def test_columns_give_the_page_of_the_reference(results: list[MatchResult], player: str) -> None:
    """Tables of 2 to 4, forfeits, pardons, ties, incomplete blocks, hostile names: line by line, id by id."""
    page, slow = page_of(player, results), Reference(player, results)

    sections: tuple[tuple[Sequence[ProfileLine], Mapping[str, list[Part]]], ...] = (
        (page.opponents, slow.opponents()),
        (page.seats, slow.seats()),
        (page.tenths, slow.tenths()),
    )
    for lines, expected in sections:
        assert {line.name for line in lines} == set(expected)
        for line in lines:
            assert_line(line, player, expected[line.name])
        assert all(line.wins + line.draws + line.losses == line.matches for line in lines)
    assert [line.name for line in page.opponents] == sorted(
        slow.opponents(), key=lambda name: (round(mean_score(slow.opponents()[name]), 9), name)
    )
    assert [int(line.name) for line in page.tenths] == sorted(int(line.name) for line in page.tenths)
    for name in ("wins", "draws", "losses") if page.tenths else ():
        assert sum(getattr(line, name) for line in page.tenths) == sum(getattr(line, name) for line in page.seats)
    assert {fault.kind: [*map(str, fault.first)] for fault in page.faults} == {
        kind.value: slow.faults(kind.value) for kind in FAULTS if slow.faults(kind.value)
    }
    assert {(one.kind, one.faults, *map(str, one.first)) for one in page.pardons} == {
        (kind.value, sum(count for _, count in found), *(match for match, _ in found))
        for kind in PARDONABLE
        if (found := slow.pardons(kind.value))
    }
    assert [(str(one.match), one.margin) for one in page.wins] == slow.extremes(1)
    assert [(str(one.match), one.margin) for one in page.losses] == slow.extremes(-1)
    assert [(str(one.match), one.margin) for one in page.closest] == slow.closest()
    means, slowest = page.times.means_ms, page.times.slowest_decisions_ms
    of_means = slow.percentiles(lambda one, seat: one.time_us[seat] / one.moves[seat])
    of_slowest = slow.percentiles(lambda one, seat: one.slowest_us[seat])
    assert (means.p50, means.p99, slowest.p50, slowest.p99) == approximately(*of_means, *of_slowest)


def approximately(*us: float | None) -> object:
    return tuple(None if one is None else pytest.approx(one / 1e3) for one in us)


def mirrored(block: int, *margins: int, players: tuple[str, str] = ("ann", "bob")) -> list[MatchResult]:
    """The two matches of a block; by how much the first of `players` wins each."""
    first, second = margins
    key = "".join(players)
    return [
        made(key, block, 0, players, scores=(10 + first, 10)),
        made(key, block, 1, players, scores=(10, 10 + second)),
    ]


def test_tenths_follow_the_schedule() -> None:
    """Tenths go by block, then by pairing; losing everything in the last fifth of the blocks is detected."""
    results = [
        one
        for block in range(25)
        for key in (("ann", "bob"), ("ann", "cid"))
        for one in mirrored(block, *((1, -1), (-1, -1))[block >= 20], players=key)
    ]

    page = page_of("ann", results)

    assert [line.name for line in page.tenths] == [str(number) for number in range(1, 11)]
    assert [line.score and line.score.value for line in page.tenths] == [0.5] * 8 + [0.0] * 2
    assert {line.matches for line in page.tenths} == {10}
    assert page.drift is not None
    assert page.drift.change.high < -0.2


def test_many_faults_keep_their_count_and_their_first_ids() -> None:
    """Ids are in the order of the schedule, though pairings come one after the other."""
    results = [
        made(key, block, rotation, (key, "ann"), at_fault=1 - rotation)
        for key in ("bob", "cid")
        for block in range(400)
        for rotation in (0, 1)
    ]

    (timeouts,) = page_of("ann", results).faults

    assert (timeouts.kind, timeouts.faults, timeouts.matches, len(timeouts.first)) == (
        "timeout",
        1600,
        1600,
        MOST_MATCH_IDS,
    )
    assert [*map(str, timeouts.first[:5])] == ["bob-0-0", "bob-0-1", "cid-0-0", "cid-0-1", "bob-1-0"]
    assert str(timeouts.first[-1]) == "cid-249-1"


def test_without_a_match_there_is_nothing() -> None:
    """The profile has no line, no drift and no times."""
    page = page_of("dan", mirrored(0, 1, 1))

    assert (page.opponents, page.seats, page.tenths, page.drift) == ((), (), (), None)
    assert (page.times.matches, page.times.means_ms.p50, page.times.slowest_match) == (0, None, None)


def test_the_first_of_equally_slow_matches_is_named() -> None:
    """The schedule decides: block 0 of the second pairing comes before block 1 of the first."""
    results = [
        made("k", 1, 0, ("ann", "bob"), slowest_us=(9, 1)),
        made("l", 0, 0, ("ann", "cid"), slowest_us=(9, 1)),
        made("k", 0, 0, ("ann", "bob"), slowest_us=(8, 99)),
    ]

    assert str(page_of("ann", results).times.slowest_match) == "l-0-0"


def test_percentiles_of_time_are_over_matches() -> None:
    """For 200 matches with means of 1 to 200 ms, p50 is 100 and p99 is 198; the slowest match is named."""
    results = [
        made("k", b, 0, ("ann", "bob"), moves=(2, 1), time_us=(2000 * (b + 1), 0), slowest_us=(5000 + 1000 * b, 0))
        for b in range(200)
    ]

    times = page_of("ann", results).times

    assert (times.matches, times.means_ms.p50, times.means_ms.p99) == (200, 100.0, 198.0)
    assert (times.slowest_decisions_ms.p50, times.slowest_decisions_ms.p99) == (104.0, 202.0)
    assert str(times.slowest_match) == "k-199-0"


@pytest.mark.parametrize("unit", [1, 3])
def test_no_score_is_too_large(unit: int) -> None:
    """64 bits hold each score, and neither the margins of a block nor their squares."""
    most = Fraction(MOST_SCORE // unit * unit, unit)
    results = [
        made("k", block, rotation, ("ann", "bob"), scores=scores)
        for block in range(3)
        for rotation, scores in enumerate([(most, -most), (-most, most - block)])
    ]
    results += [made("l", 0, 0, ("ann", "cid"), scores=(Fraction(1, 7), Fraction(0)))]

    page, slow = page_of("ann", results), Reference("ann", results)

    for line in page.opponents:
        assert_line(line, "ann", slow.opponents()[line.name])
    assert [one.margin for one in page.wins] == [2 * most, 2 * most, 2 * most]
    assert page.wins[0].scores == (most, -most)
