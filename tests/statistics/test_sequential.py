"""The sequential test: when it decides, what it looks at and what it refuses."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from support.golden import Golden
from support.statistics_duels import expected_blocks

from arena.errors import SpecError
from arena.statistics.sequential import (
    Model,
    SequentialSettings,
    State,
    Verdict,
    begin,
    state_after,
    steps_to_exit,
)

patiently = hypothesis_settings(max_examples=60)
WIDE = SequentialSettings(elo0=-50.0, elo1=50.0)
pair_scores = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


def course(scores: list[float], settings: SequentialSettings) -> list[State]:
    """Return the states after each batch."""
    return [
        state_after(in_order(scores[:end]), settings) for end in range(settings.batch, len(scores) + 1, settings.batch)
    ]


def in_order(scores: list[float]) -> dict[int, float]:
    return dict(enumerate(scores))


@pytest.mark.parametrize("settings", [WIDE, SequentialSettings(model="logistic"), SequentialSettings(model="student")])
def test_before_any_block(settings: SequentialSettings) -> None:
    """Without blocks the test is undecided, and the blocks to go are those that the settings expect."""
    state = state_after({}, settings)

    assert state == begin(settings)
    assert (state.blocks, state.llr, state.verdict) == (0, 0.0, Verdict.UNDECIDED)
    assert state.blocks_to_go == math.ceil(settings.expected)


def test_bounds() -> None:
    """At 5 % and 5 % the bounds are -2.944439 and 2.944439; unequal errors shift them."""
    assert SequentialSettings().bounds == pytest.approx((-2.944439, 2.944439), abs=5e-7)
    assert SequentialSettings(alpha=0.01, beta=0.1).bounds == pytest.approx(
        (math.log(0.1 / 0.99), math.log(0.9 / 0.01))
    )


@pytest.mark.parametrize(
    ("width", "at_ends", "at_midpoint"), [(5, 12_800, 20_900), (10, 3_200, 5_230), (20, 800, 1_310), (50, 128, 209)]
)
def test_expected_blocks(width: int, at_ends: int, at_midpoint: int) -> None:
    """The expected number of pairs depends on the distance of the bounds only; the cap is twice its largest value."""
    settings = SequentialSettings(elo0=-3.0, elo1=width - 3.0, batch=1)

    assert expected_blocks(settings, elo=settings.elo0) == pytest.approx(at_ends, rel=2e-3)
    assert expected_blocks(settings, elo=settings.elo1) == pytest.approx(at_ends, rel=2e-3)
    assert settings.expected == pytest.approx(at_midpoint, rel=2e-3)
    assert settings.last == math.ceil(2.0 * settings.expected)


def test_the_cap_is_in_whole_batches() -> None:
    """The default cap is a number of whole batches; a given cap need not be."""
    assert SequentialSettings(elo1=50.0, batch=8).last == 424
    assert SequentialSettings(elo1=50.0, batch=8, blocks=100).last == 100


def test_nothing_is_accepted_before_sixteen_blocks() -> None:
    """No test decides before 16 blocks (30 with real values), and the blocks to go contain them."""
    clear = SequentialSettings(elo0=-200.0, elo1=200.0, batch=1)
    student = SequentialSettings(elo0=-200.0, elo1=200.0, batch=1, model="student")

    early = state_after(in_order([0.75, 1.0] * 5), clear)

    assert (early.verdict, early.blocks_to_go) == (Verdict.UNDECIDED, 6)
    assert state_after(in_order([0.75, 1.0] * 50), clear).blocks == 16
    assert state_after(in_order([1.0, 2.0] * 50), student).blocks == 30


def test_only_whole_batches_count() -> None:
    """Between batches the state is that after the last whole batch."""
    scores = in_order([0.5, 0.75] * 20)

    states = [state_after({number: scores[number] for number in range(count)}, WIDE) for count in range(8, 17)]

    assert [state.blocks for state in states] == [8] * 8 + [16]


def test_a_gap_ends_what_counts() -> None:
    """Blocks behind a missing one are not read, so that not even an invalid score there is an error."""
    scores = {number: 0.5 for number in range(40) if number != 17} | {39: math.nan}

    assert state_after(scores, WIDE).blocks == 16


def test_undecided_at_the_cap_is_inconclusive() -> None:
    """A test that reaches the cap between the bounds is inconclusive for ever."""
    settings = SequentialSettings(elo1=20.0, blocks=100)

    state = state_after(in_order([0.5, 0.75, 0.25, 0.5, 0.75] * 40), settings)

    assert (state.verdict, state.blocks, state.blocks_to_go) == (Verdict.INCONCLUSIVE, 100, 0)


@pytest.mark.parametrize(
    ("model", "even"), [("normalised", 0.5), ("logistic", 0.5), ("luck-adjusted", 0.5 + 1e-16), ("student", 0.0)]
)
def test_identical_bots_are_called_so(model: Model, even: float) -> None:
    """Sixteen even blocks with the same moves are found to be a bot that plays itself."""
    settings = SequentialSettings(model=model)

    state = state_after(in_order([even] * 40), settings, identical=range(40))

    assert (state.verdict, state.blocks) == (Verdict.IDENTICAL, 16)


@pytest.mark.parametrize(
    ("scores", "identical"),
    [([0.5] * 40, ()), ([0.5] * 40, range(1, 40)), ([0.5] * 12 + [0.75, 0.25] + [0.5] * 26, range(40))],
)
def test_any_difference_is_no_identity(scores: list[float], identical: tuple[int, ...]) -> None:
    """Even blocks with other moves, or one block that is not even, are not identical bots."""
    state = state_after(in_order(scores), WIDE, identical=identical)

    assert state.verdict is not Verdict.IDENTICAL


def test_even_blocks_without_spread_end_with_h0() -> None:
    """Even blocks with different moves have a finite LLR, and accept H0 in the end."""
    state = state_after(in_order([0.5] * 3000), SequentialSettings(elo1=20.0))

    assert (state.verdict, state.blocks) == (Verdict.H0, 448)


@patiently
@given(scores=st.lists(pair_scores, min_size=32, max_size=200))
def test_new_and_old_exchanged(scores: list[float]) -> None:
    """With NEW and OLD exchanged and mirrored bounds, the test ends at the same block with the other verdict."""
    settings = SequentialSettings(elo0=-10.0, elo1=60.0)
    other = SequentialSettings(elo0=-60.0, elo1=10.0)
    opposite = {Verdict.H1: Verdict.H0, Verdict.H0: Verdict.H1}

    found = state_after(in_order(scores), settings)
    mirrored = state_after(in_order([1.0 - score for score in scores]), other)

    assert mirrored.blocks == found.blocks
    assert mirrored.verdict is opposite.get(found.verdict, found.verdict)
    assert mirrored.llr == pytest.approx(-found.llr, abs=1e-5)


@patiently
@given(scores=st.lists(pair_scores, max_size=60), model=st.sampled_from(["normalised", "logistic", "luck-adjusted"]))
def test_the_display_always_has_numbers(scores: list[float], model: Model) -> None:
    """The blocks to go are at least 1 until the verdict and never beyond the cap."""
    settings = SequentialSettings(elo1=30.0, model=model)

    for state in course(scores, settings):
        assert math.isfinite(state.llr)
        assert (state.blocks_to_go == 0) == (state.verdict is not Verdict.UNDECIDED)
        assert state.blocks + state.blocks_to_go <= settings.last


def test_a_state_of_another_test_is_no_start(golden: Golden) -> None:
    """A state of other settings raises ValueError."""
    with golden.raises(ValueError):
        state_after({}, WIDE, after=begin(SequentialSettings()))


@pytest.mark.parametrize(
    ("model", "score"),
    [("normalised", math.nan), ("logistic", 0.3), ("luck-adjusted", math.nan), ("student", math.inf)],
)
def test_a_bad_score_is_named_with_its_block(model: Model, score: float) -> None:
    """The error of an invalid score names the block and the score."""
    scores = in_order([0.5] * 8) | {5: score}

    with pytest.raises(ValueError, match=rf"^block 5: expected .*, found {score}$"):
        state_after(scores, SequentialSettings(model=model))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"elo0": 20.0, "elo1": 10.0}, "elo1: expected at least 0.01 more than elo0, which is 20, found 10"),
        ({"elo0": math.nan}, "elo0: expected -200 to 200, found nan"),
        ({"alpha": 0.0}, "alpha: expected a chance of error above 0 and below 0.5, found 0"),
        ({"model": "bayes"}, "model: expected normalised, logistic, luck-adjusted, student, found 'bayes'"),
        ({"matches": 3}, "matches: expected 1 or 2 with the model normalised, found 3"),
        ({"matches": 0, "model": "student"}, "matches: expected 1 or more, found 0"),
        ({"batch": 0}, "batch: expected 1 block or more, found 0"),
        ({"blocks": 15}, "blocks: expected 16 or more, found 15"),
    ],
)
def test_settings_that_nobody_can_test(wrong: dict[str, Any], message: str) -> None:
    """Settings that cannot be tested raise SpecError with the expected and the given value."""
    with pytest.raises(SpecError) as refusal:
        SequentialSettings(**wrong)

    assert str(refusal.value) == message


def test_a_walk_between_two_bounds() -> None:
    """Without drift a walk takes down * up steps, with a strong drift distance / drift; it is symmetric."""
    assert steps_to_exit(3.0, 4.0, 0.0, 1.0) == 12.0
    assert steps_to_exit(3.0, 4.0, 1e-4, 1.0) == pytest.approx(12.0, rel=1e-3)
    assert steps_to_exit(3.0, 4.0, 100.0, 1.0) == pytest.approx(0.04)
    assert steps_to_exit(3.0, 4.0, -1.0, 1.0) == pytest.approx(steps_to_exit(4.0, 3.0, 1.0, 1.0))


def test_no_more_blocks_are_expected_than_the_cap_leaves() -> None:
    """The blocks to go are at most those up to the cap."""
    state = state_after(in_order([0.5, 0.75, 0.25, 0.5] * 10), SequentialSettings(elo1=20.0, blocks=100))

    assert (state.blocks, state.blocks_to_go) == (40, 60)
