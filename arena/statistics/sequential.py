"""Is NEW better than OLD? The sequential test: blocks in schedule order -> a verdict as soon as they allow one.

Rule: a verdict is a pure function of the settings and the blocks in schedule order. Blocks are taken in whole batches
from the gapless start of the schedule, however early a later one may have been finished, and the test is made after
each batch: so no worker's speed has a say. Once decided it stays so, and later blocks are not looked at.

H0: NEW is stronger by `elo0`; H1: by `elo1`. Truth at H0 or below passes with a chance of `alpha` at most, truth at H1
or above fails with one of `beta`. The models read blocks and bounds differently:

    normalised      scores, counted by result; normalised Elo (the default: its number of blocks is known beforehand)
    logistic        scores, counted by result; logistic Elo, that is a mean score
    luck-adjusted   scores less the luck in them, of any value; logistic Elo
    student         real values (margins, 3 and more players); normalised Elo of these values
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, get_args

from arena.errors import SpecError
from arena.statistics.elo import block_deviations, expected_score
from arena.statistics.likelihood import logistic_llr, normalised_llr, sample_llr, student_llr
from arena.statistics.pentanomial import Counts, Moments, Sample

LEAST_BLOCKS_COUNTED: Final = 16
"""The fewest blocks at which counts satisfy the theory, and at which bots are found to be identical."""
LEAST_BLOCKS_STUDENT: Final = 30
"""The fewest blocks at which a standard deviation is certain enough to divide by."""
WIDEST_ELO: Final = 200.0
"""The largest bound: larger ones make no sense for versions of a bot, and the likelihood may be incomputable."""
_ROUNDING: Final = 1e-9
"""The rounding error of luck that cancels in a block."""
_LOGISTIC: Final = ("logistic", "luck-adjusted")
NARROWEST_ELO: Final = 0.01
"""The least distance of the bounds: closer ones need over 10^9 blocks."""

Model = Literal["normalised", "logistic", "luck-adjusted", "student"]
"""The statistic of the test, as listed at the top."""


class Verdict(StrEnum):
    """The decision of the blocks so far; all but UNDECIDED are final."""

    UNDECIDED = "undecided"
    H1 = "accept H1"
    H0 = "accept H0"
    INCONCLUSIVE = "inconclusive"
    IDENTICAL = "identical"


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialSettings:
    """The hypotheses, the allowed errors, and the most blocks of a sequential test.

    `matches` is the number in a block: 1 or 2 for the models that count results. `blocks` is the most of a test, by
    default twice the expected duration at the midpoint, in whole batches of `batch` blocks. SpecError for settings that
    cannot be tested.
    """

    elo0: float = 0.0
    elo1: float = 20.0
    model: Model = "normalised"
    alpha: float = 0.05
    beta: float = 0.05
    matches: int = 2
    batch: int = 8
    blocks: int | None = None

    def __post_init__(self) -> None:
        """Refuse settings that cannot be tested, with a message for the person who wrote them."""
        _check_bounds(self)
        _check_amounts(self)

    @property
    def bounds(self) -> tuple[float, float]:
        """The LLR at or below which H0 is accepted, and at or above which H1 is."""
        lower = math.log(self.beta) - math.log1p(-self.alpha)
        return lower, math.log1p(-self.beta) - math.log(self.alpha)

    @property
    def least(self) -> int:
        """The number of blocks before which neither hypothesis is accepted."""
        return LEAST_BLOCKS_STUDENT if self.model == "student" else LEAST_BLOCKS_COUNTED

    @property
    def expected(self) -> float:
        """The expected number of blocks midway between H0 and H1, where it is largest."""
        lower, upper = self.bounds
        return steps_to_exit(-lower, upper, 0.0, self.distance * self.distance)

    @property
    def distance(self) -> float:
        """The distance of H0 and H1, in standard deviations of a block.

        For logistic Elo it depends on the blocks; this is the value for independent matches without draws.
        """
        if self.model in _LOGISTIC:
            return (expected_score(self.elo1) - expected_score(self.elo0)) * 2.0 * math.sqrt(self.matches)
        return block_deviations(self.elo1 - self.elo0, self.matches)

    @property
    def last(self) -> int:
        """The number of blocks at which an undecided test ends as inconclusive."""
        if self.blocks is not None:
            return self.blocks
        batches = math.ceil(max(2.0 * self.expected, self.least) / self.batch)
        return batches * self.batch


@dataclass(frozen=True, slots=True)
class State:
    """The state of a test after a batch. `is_same_so_far`: in no block yet did NEW and OLD play differently."""

    settings: SequentialSettings
    seen: Counts | Sample | Moments
    llr: float = 0.0
    verdict: Verdict = Verdict.UNDECIDED
    is_same_so_far: bool = True

    @property
    def blocks(self) -> int:
        """The number of blocks seen."""
        return self.seen.blocks

    @property
    def blocks_to_go(self) -> int:
        """The expected number of further blocks, if they are like those so far; 0 when decided."""
        if self.verdict is not Verdict.UNDECIDED:
            return 0
        lower, upper = self.settings.bounds
        remaining = self.settings.last - self.blocks
        if not lower < self.llr < upper:  # beyond a bound, but too early to say so
            return max(1, min(remaining, self.settings.least - self.blocks))
        drift = self.llr / self.blocks if self.blocks else 0.0
        steps = steps_to_exit(self.llr - lower, upper - self.llr, drift, _observed_distance(self) ** 2)
        return max(1, math.ceil(min(remaining, max(steps, self.settings.least - self.blocks))))


def steps_to_exit(down: float, up: float, drift: float, variance: float) -> float:
    """Return the expected number of steps until a walk has gone `down` or `up` (both above 0), by a step's moments."""
    if drift < 0.0:
        return steps_to_exit(up, down, -drift, variance)
    pull = 2.0 * drift / variance
    if pull * (down + up) < 1e-6:  # too little to divide by: the limit without drift
        return down * up / variance
    ends_up = math.expm1(-pull * down) / math.expm1(-pull * (down + up))
    return (ends_up * (down + up) - down) / drift


def begin(settings: SequentialSettings) -> State:
    """Return the state before any block."""
    if settings.model == "student":
        return State(settings, Moments())
    is_adjusted = settings.model == "luck-adjusted"
    return State(settings, Sample(settings.matches) if is_adjusted else Counts.none(settings.matches))


def state_after(
    scores: Mapping[int, float],
    settings: SequentialSettings,
    *,
    identical: Collection[int] = (),
    after: State | None = None,
) -> State:
    """Return the state after the last whole batch of `scores`, by block number from 0, or after the deciding batch.

    `identical` names the blocks whose matches had the same moves with the seats exchanged. `after`, an earlier result
    for the same settings and fewer blocks, only saves time; ValueError if its settings differ. ValueError for a bad
    score. A block missing from `scores` ends the last whole batch.
    """
    state = begin(settings) if after is None else after
    if state.settings != settings:
        raise ValueError(f"expected a state of the same settings to go on from, found one of {state.settings}")
    while state.verdict is Verdict.UNDECIDED:
        batch = range(state.blocks, min(state.blocks + settings.batch, settings.last))
        if not all(number in scores for number in batch):
            break
        state = _add_batch(state, batch, scores, identical)
    return state


def _add_batch(state: State, batch: range, scores: Mapping[int, float], identical: Collection[int]) -> State:
    """Return the state with a batch more, tested once at its end. ValueError names the block of a bad score."""
    settings, results = state.settings, state.seen
    even = 0.0 if settings.model == "student" else 0.5
    is_same = state.is_same_so_far
    for number in batch:
        try:
            results = results.plus(scores[number])
        except ValueError as error:
            raise ValueError(f"block {number}: {error}") from None
        is_same = is_same and abs(scores[number] - even) <= _ROUNDING and number in identical
    llr = _log_likelihood_ratio(results, settings)
    return State(settings, results, llr, _verdict_of(results.blocks, llr, settings, is_same=is_same), is_same)


def _log_likelihood_ratio(results: Counts | Sample | Moments, settings: SequentialSettings) -> float:
    """Return the log-likelihood ratio of H1 against H0, by the model of the settings."""
    if isinstance(results, Moments):
        return student_llr(results, settings.elo0, settings.elo1, matches=settings.matches)
    if isinstance(results, Sample):
        return sample_llr(results.values, settings.elo0, settings.elo1)
    llr = logistic_llr if settings.model == "logistic" else normalised_llr
    return llr(results, settings.elo0, settings.elo1)


def _verdict_of(blocks: int, llr: float, settings: SequentialSettings, *, is_same: bool) -> Verdict:
    """Return the verdict after so many blocks with this log-likelihood ratio.

    `is_same` says that all blocks were played alike by both versions.
    """
    lower, upper = settings.bounds
    if is_same and blocks >= LEAST_BLOCKS_COUNTED:
        return Verdict.IDENTICAL
    if blocks >= settings.least and not lower < llr < upper:
        return Verdict.H1 if llr >= upper else Verdict.H0
    return Verdict.INCONCLUSIVE if blocks >= settings.last else Verdict.UNDECIDED


def _observed_distance(state: State) -> float:
    """Return the distance of H0 and H1 in standard deviations of a block: for logistic Elo of the blocks seen."""
    settings, results = state.settings, state.seen
    if settings.model in _LOGISTIC and not isinstance(results, Moments) and results.blocks:
        _, variance = results.floored_moments
        return (expected_score(settings.elo1) - expected_score(settings.elo0)) / math.sqrt(variance)
    return settings.distance


def _check_bounds(settings: SequentialSettings) -> None:
    """Raise SpecError for an unknown model, or for hypotheses or error chances out of range."""
    if settings.model not in get_args(Model):
        raise SpecError(f"model: expected {', '.join(get_args(Model))}, found {settings.model!r}")
    for name in ("elo0", "elo1"):
        value = getattr(settings, name)
        if not -WIDEST_ELO <= value <= WIDEST_ELO:
            raise SpecError(f"{name}: expected {-WIDEST_ELO:g} to {WIDEST_ELO:g}, found {value:g}")
    if settings.elo1 < settings.elo0 + NARROWEST_ELO:
        expected = f"at least {NARROWEST_ELO:g} more than elo0, which is {settings.elo0:g}"
        raise SpecError(f"elo1: expected {expected}, found {settings.elo1:g}")
    for name in ("alpha", "beta"):
        value = getattr(settings, name)
        if not 0.0 < value < 0.5:
            raise SpecError(f"{name}: expected a chance of error above 0 and below 0.5, found {value:g}")


def _check_amounts(settings: SequentialSettings) -> None:
    """Raise SpecError for a size of blocks, of batches or of the whole test that cannot be used."""
    if settings.matches < 1 or (settings.model != "student" and settings.matches > 2):
        expected = "1 or more" if settings.model == "student" else f"1 or 2 with the model {settings.model}"
        raise SpecError(f"matches: expected {expected}, found {settings.matches}")
    if settings.batch < 1:
        raise SpecError(f"batch: expected 1 block or more, found {settings.batch}")
    if settings.blocks is not None and settings.blocks < settings.least:
        raise SpecError(f"blocks: expected {settings.least} or more, found {settings.blocks}")
