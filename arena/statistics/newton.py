"""Many probit fits at once: the maximum of the posterior by Newton's method, over a batch of tables.

Rule: this is the only place that knows the likelihood. It works on arrays: B tables that share their rows (who met whom
from which seat) and differ in the counts, R rows, P parameters (a skill per player, then an effect per seat).

Everything is kept in logarithms: a chance may be 1e-1000 without anything becoming 0, infinite or undefined. Sums run
in a fixed order and without BLAS, so that equal tables give equal bytes whatever the number of threads.
"""

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

CONVERGED: Final = 1e-16
"""Of the squared Newton decrement: the step before the last is 1e-8 standard deviations, the last one its square."""
MOST_STEPS: Final = 200
_NEVER: Final = -700.0
"""The log of a chance that is nearly too small for a float."""
_LOG_ROOT_OF_2_PI: Final = 0.5 * math.log(2.0 * math.pi)
_ASYMPTOTIC: Final = -30.0
"""From here on down the series for Phi is exact to 1e-13, and above it erfc is far from underflow."""


@dataclass(frozen=True, slots=True)
class Design:
    """The structure that the tables of a batch share.

    `columns` (R, K) are the parameters of each row, `signs` (K,) how they enter its difference d. `precision` (P,) and
    `centre` (P,) are of the prior, `scale` and `margin` in units of skill, `weight` is that of one comparison.
    """

    columns: Indices
    signs: Floats
    centre: Floats
    precision: Floats
    scale: float
    margin: float
    weight: float


class Optimum(NamedTuple):
    """By table: the parameters (B, P) and what the counts alone, without the prior, tell of them (B, P, P)."""

    parameters: Floats
    information: Floats


class _State(NamedTuple):
    value: Floats
    gradient: Floats
    information: Floats


def maximise(design: Design, counts: Floats, start: Floats | None = None) -> Optimum:
    """Find the maximum for each table of `counts` (B, R, 3): wins, draws, losses, which need not be whole numbers.

    The posterior is strictly concave, so there is one maximum; steps that overshoot are halved, as from far out on its
    flat side. Raises ArithmeticError if the maximum is not reached, which no counts are known to cause.
    """
    here = np.tile(design.centre if start is None else start, (len(counts), 1))
    state = _evaluate(design, counts, here)
    prior = np.diag(design.precision)
    for _ in range(MOST_STEPS):
        step = solve(state.information + prior, state.gradient[..., None])[..., 0]
        decrement = (step * state.gradient).sum(axis=1)
        here, state = _climb(design, counts, here, state, step)
        if np.all(decrement < CONVERGED):
            return Optimum(here, state.information)
    raise ArithmeticError(f"no maximum after {MOST_STEPS} steps; the last decrement was {float(np.max(decrement))}")


def solve(matrices: Floats, right: Floats) -> Floats:
    """Solve each of the positive definite `matrices` (B, P, P) for its `right` sides (B, P, Q).

    Plain elimination, all tables at once. LAPACK does the same with threads, whose number changes the last digits, and
    which take a hundred times as long where all processors are busy already: as they are when a league is played.
    """
    size = matrices.shape[-1]
    work = np.concatenate((matrices, right), axis=2)
    for k in range(size):
        factors = work[:, k + 1 :, k] / work[:, k, k, None]
        work[:, k + 1 :, k + 1 :] -= factors[:, :, None] * work[:, k, None, k + 1 :]
    found = np.empty_like(right)
    for k in reversed(range(size)):
        known = (work[:, k, k + 1 : size, None] * found[:, k + 1 :]).sum(axis=1)
        found[:, k] = (work[:, k, size:] - known) / work[:, k, k, None]
    return found


def _climb(design: Design, counts: Floats, here: Floats, state: _State, step: Floats) -> tuple[Floats, _State]:
    """Take the step, or half of it, or a quarter ..., for each table on its own."""
    floor = state.value - 1e-10 * (1.0 + np.abs(state.value))
    there = here + step
    new = _evaluate(design, counts, there)
    while np.any(down := new.value < floor):
        step = np.where(down[:, None], step / 2.0, step).astype(np.float64)
        there = here + step
        new = _evaluate(design, counts, there)
    return there, new


def _evaluate(design: Design, counts: Floats, parameters: Floats) -> _State:
    """Sum up log posterior (without its constant), gradient, and the information of the counts."""
    batch, size = parameters.shape
    difference = np.zeros((batch, len(design.columns)))
    for column, sign in zip(design.columns.T, design.signs, strict=True):
        difference += sign * parameters[:, column]
    value, slope, curvature = log_likelihood(difference, counts, design.scale, design.margin)
    away = parameters - design.centre
    width = design.columns.shape[1]
    offsets = np.arange(batch, dtype=np.int64)[:, None, None]
    pull = design.weight * slope[:, :, None] * design.signs
    gradient = _sums(offsets * size + design.columns, pull, batch * size).reshape(batch, size)
    crossed = (design.columns[:, :, None] * size + design.columns[:, None, :]).reshape(-1, width * width)
    crossed_signs = np.outer(design.signs, design.signs).ravel()
    grip = design.weight * curvature[:, :, None] * crossed_signs
    information = _sums(offsets * (size * size) + crossed, grip, batch * size * size).reshape(batch, size, size)
    return _State(
        value=design.weight * value.sum(axis=1) - 0.5 * (design.precision * away * away).sum(axis=1),
        gradient=gradient - design.precision * away,
        information=information,
    )


def _sums(places: Indices, values: Floats, size: int) -> Floats:
    """Add up `values` by place, in order."""
    return np.bincount(places.ravel(), weights=values.ravel(), minlength=size).astype(np.float64)


def log_likelihood(d: Floats, counts: Floats, scale: float, margin: float) -> tuple[Floats, Floats, Floats]:
    """By row: the log likelihood, its slope in the difference `d`, and its curvature with the sign turned."""
    wins, draws, losses = counts[..., 0], counts[..., 1], counts[..., 2]
    up, down = (d - margin) / scale, (-d - margin) / scale
    log_win, log_no_win = _log_cdf_both_ways(up)
    log_loss, log_no_loss = _log_cdf_both_ways(down)
    win_pull, loss_pull = np.exp(_log_pdf(up) - log_win), np.exp(_log_pdf(down) - log_loss)
    value = wins * log_win + losses * log_loss
    slope = wins * win_pull - losses * loss_pull
    curvature = wins * win_pull * (win_pull + up) + losses * loss_pull * (loss_pull + down)
    if np.any(draws):
        log_draw = _log_draw(d, (log_win, log_no_win), (log_loss, log_no_loss))
        high, low = np.exp(_log_pdf(up) - log_draw), np.exp(_log_pdf(down) - log_draw)
        draw_pull = low - high
        value = value + draws * log_draw
        slope = slope + draws * draw_pull
        curvature = curvature + draws * (draw_pull * draw_pull - up * high - down * low)
    return value, slope / scale, curvature / (scale * scale)


def outcomes(d: Floats, scale: float, margin: float) -> tuple[Floats, Floats]:
    """Chances of a win, a draw and a loss at each difference `d`, and the slope of the log of each: (..., 3)."""
    up, down = (d - margin) / scale, (-d - margin) / scale
    win, loss = _log_cdf_both_ways(up), _log_cdf_both_ways(down)
    log_draw = np.maximum(_log_draw(d, win, loss), _NEVER)
    draw_pull = np.exp(_log_pdf(down) - log_draw) - np.exp(_log_pdf(up) - log_draw)
    chances = np.exp(np.stack((win[0], log_draw, loss[0]), axis=-1))
    pulls = (np.exp(_log_pdf(up) - win[0]), draw_pull, -np.exp(_log_pdf(down) - loss[0]))
    return chances, np.stack(pulls, axis=-1) / scale


def _log_draw(d: Floats, win: tuple[Floats, Floats], loss: tuple[Floats, Floats]) -> Floats:
    """The chance of a draw as a difference of two lower tails, on the side where these are small."""
    more = np.where(d >= 0.0, win[1], loss[1])
    less = np.where(d >= 0.0, loss[0], win[0])
    share = -np.expm1(less - more)
    found: Floats = more + np.log(share, out=np.full_like(share, _NEVER), where=share > 0.0)
    return found


def _log_pdf(x: Floats) -> Floats:
    return -0.5 * x * x - _LOG_ROOT_OF_2_PI


def _log_cdf_both_ways(x: Floats) -> tuple[Floats, Floats]:
    """Both log Phi(x) and log Phi(-x)."""
    away = np.abs(x)
    tail = 0.5 * np.fromiter(map(math.erfc, (away / math.sqrt(2.0)).ravel().tolist()), np.float64, x.size)
    tail = tail.reshape(x.shape)
    is_far = away > -_ASYMPTOTIC
    small = np.log(np.where(is_far, 1.0, tail))
    if np.any(is_far):
        small = np.where(is_far, _log_far_tail(np.maximum(away, -_ASYMPTOTIC)), small)
    large = np.log1p(-tail)
    return np.where(x < 0.0, small, large), np.where(x < 0.0, large, small)


def _log_far_tail(away: Floats) -> Floats:
    """The log of Phi(-away) by the asymptotic series (Abramowitz and Stegun 26.2.12)."""
    y = 1.0 / (away * away)
    series = y * (-1.0 + y * (3.0 + y * (-15.0 + y * (105.0 - y * 945.0))))
    return _log_pdf(away) - np.log(away) + np.log1p(series)
