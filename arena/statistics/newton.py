"""A probit fit: the maximum of the posterior by Newton's method.

Rule: this is the only place that knows the likelihood. It works on arrays: R rows (two players in their seats), P
parameters (a skill per player, then an effect per seat).

Everything is kept in logarithms: a chance may be 1e-1000 without anything becoming 0, infinite or undefined. Sums run
in a fixed order and without BLAS, so that equal tables give equal bytes whatever the number of threads.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

CONVERGED: Final = 1e-10
"""The squared Newton decrement at the end: the last step is 1e-5 standard deviations, the error about its square."""
MOST_STEPS: Final = 200
_NEVER: Final = -700.0
"""The log of a chance that is nearly too small for a float."""
_LOG_ROOT_OF_2_PI: Final = 0.5 * math.log(2.0 * math.pi)
_ASYMPTOTIC: Final = -30.0
"""From here on down the series for Phi is exact to 1e-13, and above it erfc is far from underflow."""


@dataclass(frozen=True)
class Design:
    """The structure of the rows of a fit.

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

    def differences(self, parameters: Floats) -> Floats:
        """Return the difference d of each row."""
        differences: Floats = (parameters[self.columns] * self.signs).sum(axis=1)
        return differences

    @cached_property
    def cells(self) -> list[tuple[float, Indices]]:
        """The product of the signs of each two columns, and the cells of the information (P, P) that rows add to there.

        The cells are those of one triangle; the diagonal is halved.
        """
        size, columns = len(self.centre), self.columns.T
        return [
            (self.signs[i] * self.signs[j] / (2.0 if i == j else 1.0), columns[i] * size + columns[j])
            for i, j in combinations_with_replacement(range(len(columns)), 2)
        ]


class Optimum(NamedTuple):
    """The parameters (P,) at the maximum, and the information (P, P) of the counts alone, without the prior."""

    parameters: Floats
    information: Floats


class _State(NamedTuple):
    """The log posterior at some parameters, its gradient, and the information of the counts."""

    value: float
    gradient: Floats
    information: Floats


def maximise(design: Design, counts: Floats, start: Floats | None = None) -> Optimum:
    """Find the maximum for these `counts` (R, 3): wins, draws, losses, which need not be whole numbers.

    The posterior is strictly concave, so there is one maximum; steps that overshoot are halved. ArithmeticError if the
    maximum is not reached, which no counts are known to cause.
    """
    here = design.centre if start is None else start
    state = _evaluate(design, counts, here)
    prior = np.diag(design.precision)
    for _ in range(MOST_STEPS):
        step = solve(state.information + prior, state.gradient[:, None])[:, 0]
        decrement = float((step * state.gradient).sum())
        floor = state.value - 1e-10 * (1.0 + abs(state.value))
        while (state := _evaluate(design, counts, here + step)).value < floor:
            step = step / 2.0
        here = here + step
        if decrement < CONVERGED:
            return Optimum(here, state.information)
    raise ArithmeticError(f"no maximum after {MOST_STEPS} steps; the last decrement was {decrement}")


def solve(matrix: Floats, right: Floats) -> Floats:
    """Solve matrix * x = right, for a positive definite `matrix` (P, P) and Q `right` sides (P, Q); return x (P, Q).

    Plain elimination: LAPACK uses threads, whose number changes the last digits, and which take a hundred times as long
    where all processors are busy, as they are when a league is played.
    """
    size = len(matrix)
    work = np.concatenate((matrix, right), axis=1)
    for k in range(size):
        work[k + 1 :, k + 1 :] -= (work[k + 1 :, k] / work[k, k])[:, None] * work[k, k + 1 :]
    solution = np.empty_like(right)
    for k in reversed(range(size)):
        solved = (work[k, k + 1 : size, None] * solution[k + 1 :]).sum(axis=0)
        solution[k] = (work[k, size:] - solved) / work[k, k]
    return solution


def _evaluate(design: Design, counts: Floats, parameters: Floats) -> _State:
    """Compute the log posterior (without its constant), its gradient, and the information of the counts."""
    size = len(parameters)
    value, slope, curvature = log_likelihood(design.differences(parameters), counts, design.scale, design.margin)
    away = parameters - design.centre
    gradient, information = np.zeros(size), np.zeros(size * size)
    for column, sign in zip(design.columns.T, design.signs, strict=True):
        gradient += sign * np.bincount(column, slope, size)
    for sign, cells in design.cells:
        information += sign * np.bincount(cells, curvature, size * size)
    half = information.reshape(size, size)
    return _State(
        value=float(design.weight * value.sum() - 0.5 * (design.precision * away * away).sum()),
        gradient=design.weight * gradient - design.precision * away,
        information=design.weight * (half + half.T),
    )


def log_likelihood(d: Floats, counts: Floats, scale: float, margin: float) -> tuple[Floats, Floats, Floats]:
    """Return, by row, the log likelihood, its slope in the difference `d`, and the negative of its curvature."""
    wins, draws, losses = counts[..., 0], counts[..., 1], counts[..., 2]
    value, slope, curvature = np.zeros((3, *d.shape))
    for sign, number in ((1.0, wins), (-1.0, losses)):
        is_counted = number > 0.0
        counted, x = number[is_counted], (sign * d[is_counted] - margin) / scale
        log_win, _ = _log_tails(x)
        pull = np.exp(_log_pdf(x) - log_win)
        value[is_counted] += counted * log_win
        slope[is_counted] += sign * counted * pull
        curvature[is_counted] += counted * pull * (pull + x)
    is_counted = draws > 0.0
    counted, up, down = draws[is_counted], (d[is_counted] - margin) / scale, (-d[is_counted] - margin) / scale
    log_draw = _log_draw(d[is_counted], _log_tails(up), _log_tails(down))
    high, low = np.exp(_log_pdf(up) - log_draw), np.exp(_log_pdf(down) - log_draw)
    value[is_counted] += counted * log_draw
    slope[is_counted] += counted * (low - high)
    curvature[is_counted] += counted * ((low - high) ** 2 - up * high - down * low)
    return value, slope / scale, curvature / (scale * scale)


def outcomes(d: Floats, scale: float, margin: float) -> tuple[Floats, Floats]:
    """Return the chances of a win, a draw and a loss at each difference `d`, and the slope of their logs: (..., 3)."""
    up, down = (d - margin) / scale, (-d - margin) / scale
    win, loss = _log_tails(up), _log_tails(down)
    log_draw = np.maximum(_log_draw(d, win, loss), _NEVER)
    draw_pull = np.exp(_log_pdf(down) - log_draw) - np.exp(_log_pdf(up) - log_draw)
    chances = np.exp(np.stack((win[0], log_draw, loss[0]), axis=-1))
    pulls = (np.exp(_log_pdf(up) - win[0]), draw_pull, -np.exp(_log_pdf(down) - loss[0]))
    return chances, np.stack(pulls, axis=-1) / scale


def _log_draw(d: Floats, win: tuple[Floats, Floats], loss: tuple[Floats, Floats]) -> Floats:
    """Return the log of the chance of a draw, as a difference of two lower tails, on the side where these are small."""
    larger = np.where(d >= 0.0, win[1], loss[1])
    smaller = np.where(d >= 0.0, loss[0], win[0])
    share = -np.expm1(smaller - larger)
    chance: Floats = larger + np.log(share, out=np.full_like(share, _NEVER), where=share > 0.0)
    return chance


def _log_pdf(x: Floats) -> Floats:
    return -0.5 * x * x - _LOG_ROOT_OF_2_PI


def _log_tails(x: Floats) -> tuple[Floats, Floats]:
    """Return log Phi(x) and log Phi(-x)."""
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
    """Return log Phi(-away) by the asymptotic series (Abramowitz and Stegun 26.2.12)."""
    y = 1.0 / (away * away)
    series = y * (-1.0 + y * (3.0 + y * (-15.0 + y * (105.0 - y * 945.0))))
    return _log_pdf(away) - np.log(away) + np.log1p(series)
