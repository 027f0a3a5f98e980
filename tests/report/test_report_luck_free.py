"""Scores with their luck excluded: what is taken out, by which factor, and when nothing can be."""

import random

import msgspec
import pytest
from report_leagues import (
    FOUR,
    league,
    mirrored,
    odd_leagues,
    tournament,
)

from arena.errors import SpecError
from arena.report.luck_free import insist_on_value, scores_without_luck, stored_luck
from arena.report.profile import profile
from arena.report.profile_page import render


def test_luck_is_taken_out() -> None:
    """Where luck decides every match, what is left is an even score without any error."""
    rng = random.Random(1)
    sides = [rng.choice((-1, 1)) for _ in range(80)]
    results = [one for block, side in enumerate(sides) for one in mirrored(block, "ann", "bob", side, side)]
    ids = [f"{one.key.block}-{one.players[0]}" for one in results]
    luck = {match: 0.2 * sides[one.key.block] for one, match in zip(results, ids, strict=True)}

    free = scores_without_luck("ann", results, ids, luck)

    page = profile(tournament(), "ann", results, ids, free.get)
    assert [*free.values()] == pytest.approx([0.5] * 160)
    assert page.opponents[0].score_without_luck is not None
    assert page.opponents[0].score_without_luck.value == pytest.approx(0.5)
    assert "luck excluded" in render(page, format="table", width=100)


def test_luck_that_means_nothing_changes_little() -> None:
    """The factor is fitted by the other half of the blocks: it comes out near 0, and the mean stays."""
    rng = random.Random(2)
    results = league(dict(zip(FOUR, (24.0, 25.0, 26.0, 27.0), strict=True)), 100, 2)
    ids = [str(number) for number in range(len(results))]

    free = scores_without_luck("ann", results, ids, {match: rng.gauss(0.0, 0.5) for match in ids})

    page = profile(tournament(), "ann", results, ids, free.get)
    without = page.total.score_without_luck
    assert without is not None
    assert without.value == pytest.approx(page.total.score.value or 0.0, abs=0.01)
    assert without.error == pytest.approx(page.total.score.error or 0.0, rel=0.05)


def test_luck_counts_as_much_as_it_decides() -> None:
    """Against an equal it decides everything, against a weak player nothing: neither score keeps an error."""
    rng = random.Random(4)
    sides = [rng.choice((-1, 1)) for _ in range(160)]
    results = [
        one
        for block, side in enumerate(sides)
        for one in (mirrored(block, "ann", "bob", side, side) if block % 2 else mirrored(block, "ann", "cid", 9, 9))
    ]
    ids = [f"{one.key.block}-{one.players[0]}" for one in results]
    luck = {match: 0.3 * sides[one.key.block] for one, match in zip(results, ids, strict=True)}

    free = scores_without_luck("ann", results, ids, luck)

    expected = [0.5 if one.key.block % 2 else 1.0 for one in results]
    assert [free[match] for match in ids] == pytest.approx(expected)


def test_few_blocks_take_the_luck_as_it_is() -> None:
    """Nothing is fitted to nothing: the factor is 1."""
    results = mirrored(0, "ann", "bob", 1, -1)

    free = scores_without_luck("bob", results, ["a", "b"], {"a": -0.25, "b": 0.25})

    assert free == {"a": 0.25, "b": 0.75}


def test_stored_luck_is_all_or_nothing() -> None:
    """By the player's own seat; matches without luck, of another version or of three seats leave nothing."""
    change = msgspec.structs.replace
    one, other = (change(each, luck=(250_000, -250_000), luck_version="1") for each in mirrored(0, "ann", "bob", 1, -1))
    bare = mirrored(1, "bob", "cid", 1, 1)[0]
    three = change(odd_leagues()["three seats"][0], luck=(0, 0, 0), luck_version="1")

    assert stored_luck("ann", [one, other, bare], ["a", "b", "c"]) == {"a": 0.25, "b": -0.25}
    assert stored_luck("bob", [one, other, bare], ["a", "b", "c"]) == {}
    assert stored_luck("ann", [one, change(other, luck_version="2")], ["a", "b"]) == {}
    assert stored_luck("ann", [three], ["a"]) == {}
    assert stored_luck("ann", [], []) == {}


def test_a_game_without_a_value_has_no_luck() -> None:
    """Its name is told; nor have matches of three."""
    with pytest.raises(SpecError, match="nim has no value function"):
        insist_on_value(tournament(), [])
    with pytest.raises(SpecError, match="expected matches of 2 seats, found more"):
        insist_on_value(tournament(), odd_leagues()["three seats"])
