"""NEW against OLD: what a sequential test is fed with, and when it has had enough."""

from collections.abc import Iterable
from fractions import Fraction
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.golden import Golden

from arena.errors import CheckFailed
from arena.league.sprt import SequentialComparison
from arena.match.luck import MatchLuck
from arena.match.record import ActionStep, Forfeit, MatchRecord, SeatRecord, Termination, pack
from arena.match.results import LUCK_UNIT, MatchResult, result_of
from arena.match.settings import ClockSettings
from arena.statistics.control_variate import adjust_in_turn
from arena.statistics.pentanomial import Sample
from arena.statistics.sequential import SequentialSettings, Verdict

WINS = SequentialSettings(elo1=50.0)
MARGINS = SequentialSettings(elo1=50.0, model="student")
ADJUSTED = SequentialSettings(elo1=50.0, model="luck-adjusted")
Blocks = dict[int, tuple[MatchResult, ...]]


def record(scores: tuple[int, int] | None, *, steps: int = 1) -> MatchRecord:
    """Return a match with these scores by seat; without any, seat 0 forfeited. `steps` makes records differ."""
    shown = scores or (0, 1)
    ranks = (0, 0) if shown[0] == shown[1] else (0, 1) if shown[0] > shown[1] else (1, 0)
    seat = SeatRecord(player="p", bot="b", moves=1, cpu_ms=0.0, wall_ms=0.0, slowest_ms=0.0, ignored={})
    return MatchRecord(
        match="m", arena="0", game="nim", rules="1", options={}, seed="0", clock=ClockSettings().terms(),
        isolation="sandbox", seats=(seat, seat), steps=(ActionStep(seat=0, action=0),) * steps, ranks=ranks,
        scores=None if scores is None else tuple(map(Fraction, scores)),
        termination=Termination.NORMAL if scores else Termination.CRASH,
        fault=None if scores else Forfeit(0, "", "", "", "", ()),
    )  # fmt: skip


def block(number: int, *records: MatchRecord) -> Blocks:
    named = [msgspec.structs.replace(each, match=f"p-{number}-{rotation}") for rotation, each in enumerate(records)]
    return {number: tuple(msgspec.structs.replace(result_of(each), record=pack(each)) for each in named)}


def all_of(blocks: Iterable[Blocks]) -> Blocks:
    return {number: matches for each in blocks for number, matches in each.items()}


def won(number: int) -> Blocks:
    """Return a block in which player 0 of the pairing wins in both seats."""
    return block(number, record((3, 1)), record((1, 3)))


def lucky(number: int, luck: float, scores: tuple[int, int] = (3, 1)) -> Blocks:
    """Return a block with that luck of player 0, who wins both matches, or as `scores` in its seat say."""
    first, second = block(number, record(scores), record(scores[::-1]))[number]
    return {number: (with_luck(first, (luck, -luck)), with_luck(second, (-luck, luck)))}


def with_luck(one: MatchResult, luck: tuple[float, float]) -> MatchResult:
    return msgspec.structs.replace(one, luck=tuple(round(own * LUCK_UNIT) for own in luck), luck_version="2")


def test_luck_is_taken_off_with_what_earlier_blocks_say_of_it() -> None:
    """The first factor is 1; each later one is that of the blocks before it. Both seats' luck is NEW's."""
    rng = Random(3)
    drawn = [(round(rng.uniform(-0.5, 0.5), 6), rng.choice([(3, 1), (1, 3), (2, 2)])) for _ in range(16)]
    first, second = (SequentialComparison(ADJUSTED, new=new, luck_version="2") for new in (0, 1))
    for comparison in (first, second):
        comparison.add(all_of(lucky(number, *each) for number, each in enumerate(drawn)))
    scores = [(1.0 if own > other else 0.5 if own == other else 0.0) for _, (own, other) in drawn]
    expected = list(adjust_in_turn(zip(scores, [luck for luck, _ in drawn], strict=True), matches=2))

    assert isinstance(first.state.seen, Sample)
    assert first.state.seen.values == pytest.approx(tuple(expected))
    assert isinstance(second.state.seen, Sample)
    assert second.state.seen.values == pytest.approx(tuple(1.0 - each for each in expected))


@pytest.mark.parametrize("settings", [WINS, ADJUSTED], ids=["wins", "luck"])
@given(order=st.permutations(range(24)), cut=st.integers(0, 23))
def test_the_order_of_arrival_changes_nothing(settings: SequentialSettings, order: list[int], cut: int) -> None:
    """Nor does the number of parts: a block of luck waits for the blocks before it."""
    blocks = [lucky(number, (-1) ** number * number / 50, (3, number % 5)) for number in range(24)]
    whole, piecewise = (SequentialComparison(settings, new=0, luck_version="2") for _ in range(2))
    whole.add(all_of(blocks))
    piecewise.add(all_of(blocks[number] for number in order[:cut]))
    for number in order[cut:]:
        piecewise.add(blocks[number])

    assert piecewise.state == whole.state
    assert piecewise.summary == whole.summary


def test_luck_of_another_value_is_measured_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """So is luck that was not measured: a comparison by another model can be continued."""
    monkeypatch.setattr("arena.league.sprt.luck_of", lambda _: MatchLuck("3", (0.25, -0.25), ()))
    comparison = SequentialComparison(ADJUSTED, new=0, luck_version="3")

    comparison.add(all_of([lucky(0, 0.1), won(1)] + [lucky(number, 0.1) for number in range(2, 8)]))

    assert isinstance(comparison.state.seen, Sample)
    assert comparison.state.seen.values[0] == 1.0  # seats are swapped and the luck of a seat is the same: none in all


def test_only_blocks_that_count_are_shown() -> None:
    """No number includes blocks beyond the deciding one."""
    comparison = SequentialComparison(WINS, new=0)
    lost = all_of(block(number, record((1, 3)), record((2, 2))) for number in range(24, 40))
    comparison.add(all_of(won(number) for number in range(24)) | lost)

    found = comparison.summary

    assert comparison.state.verdict is Verdict.H1
    assert (found.wins, found.draws, found.losses) == (2 * comparison.state.blocks, 0, 0)
    assert found.counts.numbers == (0, 0, 0, 0, comparison.state.blocks)
    assert len(comparison._scores) == 40


def test_wins_draws_and_losses_of_matches() -> None:
    """A win and a loss in a block, and two draws, are the same block and other matches."""
    comparison = SequentialComparison(WINS, new=0)
    blocks = [block(0, record((3, 1)), record((3, 1))), block(1, record((2, 2)), record((2, 2)))]
    comparison.add(all_of(blocks + [won(number) for number in range(2, 8)]))

    found = comparison.summary

    assert (found.wins, found.draws, found.losses) == (13, 2, 1)
    assert found.counts.numbers == (0, 0, 2, 0, 6)


def test_who_sits_where_is_known() -> None:
    """In the second match of a block the seats are swapped; NEW may be either player of the pairing."""
    first, second = SequentialComparison(WINS, new=0), SequentialComparison(WINS, new=1)
    for comparison in (first, second):
        comparison.add(all_of(won(number) for number in range(24)))

    assert (first.state.verdict, second.state.verdict) == (Verdict.H1, Verdict.H0)


def test_margins_add_up_from_the_side_of_new() -> None:
    """The margin of a block is the mean of both matches."""
    comparison = SequentialComparison(MARGINS, new=0)

    comparison.add(all_of(block(number, record((3, 1)), record((5, 9))) for number in range(8)))

    assert comparison.state.blocks == 8
    assert getattr(comparison.state.seen, "mean", None) == 3.0


def test_a_forfeit_has_no_margin(golden: Golden) -> None:
    """The comparison raises an error."""
    with golden.raises(CheckFailed):
        SequentialComparison(MARGINS, new=0).add(block(0, record(None), record((1, 3))))


def test_a_forfeit_is_a_loss_of_wins() -> None:
    """Player 0 forfeits in seat 0 of the first match."""
    comparison = SequentialComparison(WINS, new=0)

    comparison.add(all_of(block(number, record(None), record((1, 3))) for number in range(8)))

    assert getattr(comparison.state.seen, "numbers", None) == (0, 0, 8, 0, 0)


@pytest.mark.parametrize(("steps", "verdict"), [(1, Verdict.IDENTICAL), (2, Verdict.UNDECIDED)])
def test_identical_bots_are_recognised(steps: int, verdict: Verdict) -> None:
    """They have even blocks whose matches went the same way, step by step; a win each is not the same play."""
    comparison = SequentialComparison(WINS, new=0)

    comparison.add(all_of(block(number, record((3, 1)), record((3, 1), steps=steps)) for number in range(16)))

    assert comparison.state.verdict is verdict


def test_nothing_is_handed_out_once_it_is_decided() -> None:
    """The jobs end there."""
    comparison = SequentialComparison(WINS, new=0)
    handed = comparison.needed(iter([None, None]))  # type: ignore[list-item]

    first = next(handed, "nothing")
    comparison.add(all_of(won(number) for number in range(24)))

    assert first is None
    assert next(handed, "nothing") == "nothing"
