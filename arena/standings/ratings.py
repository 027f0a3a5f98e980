"""Results in schedule order -> a rating (mu, sigma) per player: TrueSkill, one pass, then recentred.

Rule: a rating table is a pure function of the settings and the results in the order of the schedule. Nothing is kept
from an earlier table, and nothing is updated in the order in which matches happened to end: order moves the numbers.

Two ways lead to the same numbers. `rate` uses the closed form where a match has two players, `rate_by_factor_graph`
the package's factor graph for every match; `arena verify` compares them.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec
import trueskill

from arena.errors import SpecError
from arena.statistics.distributions import NORMAL, normal_cdf
from arena.text import unknown

LEAST_DRAW_PROBABILITY: Final = 0.001
"""The least chance of a draw: without any, a draw cannot be rated (the package raises, or lets sigma grow)."""
MOST_DRAW_PROBABILITY: Final = 0.5
WIDEST_RATIO: Final = 100.0
"""The largest ratio of beta to sigma, or back, beyond any use; further on, the two ways no longer agree to 1e-6."""

_TAIL: Final = 30.0
"""Standard deviations beyond which densities are only compared: floats end at 38."""
_NARROW: Final = 5e-4
_EVEN: Final = 0.025
"""Over a draw margin below both (the second divided by the gap) the density is nearly even."""
_ROOT_OF_2: Final = math.sqrt(2.0)
_ROOT_OF_2_PI: Final = math.sqrt(2.0 * math.pi)
_ROOT_OF_2_OVER_PI: Final = math.sqrt(2.0 / math.pi)


class RatingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The constants of a league's ratings.

    `tau` is 0 because bots do not learn between matches: any drift makes the table depend on the order of play.
    `draw_probability` is fixed per league, best from the draws of a pilot run.
    `anchor` names the player whose mu is kept at `mu`; without one, the mean of all players is.
    """

    mu: float = 25.0
    sigma: float = 25.0 / 3.0
    beta: float = 25.0 / 6.0
    tau: float = 0.0
    draw_probability: float = 0.04
    anchor: str | None = None


class Rating(msgspec.Struct, frozen=True, gc=False):
    """A belief about a player's skill: normal, with this mean and standard deviation."""

    mu: float
    sigma: float

    @property
    def exposure(self) -> float:
        """The strength that the player has with near certainty: mu - 3 sigma."""
        return self.mu - 3.0 * self.sigma


Result = tuple[tuple[str, ...], tuple[int, ...]]
"""The players by seat, and their ranks by seat: lower is better, equal is a tie."""

Belief = tuple[float, float]
"""Mean and variance of a skill, before all are moved to their common level."""

_Update = Callable[[Sequence[Belief], Sequence[int]], Sequence[Belief]]


def validate(settings: RatingSettings, players: Iterable[str] | None = None) -> None:
    """Raise SpecError if no player can be rated with `settings`, or if the anchor is none of `players` (if given)."""
    for name in ("mu", "sigma", "beta", "tau", "draw_probability"):
        value = getattr(settings, name)
        if not math.isfinite(value):
            raise SpecError(f"rating.{name}: expected a finite number, found {value}")
    if settings.sigma <= 0.0:
        raise SpecError(f"rating.sigma: expected a number above 0, found {settings.sigma}")
    if not 1.0 / WIDEST_RATIO <= settings.beta / settings.sigma <= WIDEST_RATIO:
        bounds = f"{settings.sigma / WIDEST_RATIO:g} to {settings.sigma * WIDEST_RATIO:g}"
        raise SpecError(f"rating.beta: expected {bounds} beside a sigma of {settings.sigma:g}, found {settings.beta}")
    if settings.tau < 0.0:
        raise SpecError(f"rating.tau: expected 0 or more, found {settings.tau}")
    if not LEAST_DRAW_PROBABILITY <= settings.draw_probability <= MOST_DRAW_PROBABILITY:
        bounds = f"{LEAST_DRAW_PROBABILITY} to {MOST_DRAW_PROBABILITY}"
        raise SpecError(f"rating.draw_probability: expected {bounds}, found {settings.draw_probability}")
    if players is not None and settings.anchor is not None:
        names = list(players)
        if settings.anchor not in names:
            raise SpecError(f"rating.anchor: {unknown('player', settings.anchor, names)}")


def rate(players: Iterable[str], results: Iterable[Result], settings: RatingSettings) -> dict[str, Rating]:
    """Rate each of `players` after `results`, which come in schedule order.

    Raises SpecError for settings that cannot be used, ValueError for a result without two different players, and
    KeyError for a result of somebody who is none of `players`.
    """
    return recentre(advance(newcomers(players, settings), results, settings), settings)


def rate_by_factor_graph(
    players: Iterable[str], results: Iterable[Result], settings: RatingSettings
) -> dict[str, Rating]:
    """Rate as `rate` does, by the package's own factor graph for every match: slow, and there to check `rate`."""
    beliefs = newcomers(players, settings)
    graph = _factor_graph(settings)
    for seats, ranks in results:
        _rate_match(beliefs, seats, ranks, graph)
    return recentre(beliefs, settings)


def newcomers(players: Iterable[str], settings: RatingSettings) -> dict[str, Belief]:
    """Return the beliefs (mu, sigma squared) about `players` before any match. SpecError for unusable settings."""
    beliefs = dict.fromkeys(players, (settings.mu, settings.sigma**2))
    validate(settings, beliefs)
    return beliefs


def advance(beliefs: Mapping[str, Belief], results: Iterable[Result], settings: RatingSettings) -> dict[str, Belief]:
    """Update `beliefs` by `results`, in schedule order; return new beliefs and leave the old ones as they are.

    In parts or at once, the beliefs are equal to the last bit. Errors are those of `rate`. A match of two gets the same
    formulas without the graph: v and w of the TrueSkill paper, `push` and `shrink` before they are scaled.
    """
    # A million matches pass here: calls and global names would take a third of the time.
    now = dict(beliefs)
    graph = _factor_graph(settings)
    margin: float = trueskill.calc_draw_margin(settings.draw_probability, 2, _environment(settings))
    noise, drift = 2.0 * settings.beta**2, settings.tau**2
    sqrt, exp, erfc, root_of_2, root_of_2_over_pi = math.sqrt, math.exp, math.erfc, _ROOT_OF_2, _ROOT_OF_2_OVER_PI
    for seats, ranks in results:
        if len(seats) != 2 or seats[0] == seats[1]:
            _rate_match(now, seats, ranks, graph)
            continue
        (one, other), (first, second) = seats, ranks
        (mean, variance), (other_mean, other_variance) = now[one], now[other]
        variance += drift
        other_variance += drift
        square = noise + variance + other_variance
        scale = sqrt(square)
        gap = (mean - other_mean) / scale
        if first == second:
            push, shrink = _draw_terms(gap, margin / scale)
        else:
            x = (gap if first < second else -gap) - margin / scale
            if x < -_TAIL:
                push, shrink = _win_terms(x)
            else:
                push = root_of_2_over_pi * exp(-0.5 * x * x) / erfc(-x / root_of_2)
                shrink = push * (push + x)
        push = (-push if first > second else push) / scale
        shrink /= square
        now[one] = mean + variance * push, variance * (1.0 - variance * shrink)
        now[other] = other_mean - other_variance * push, other_variance * (1.0 - other_variance * shrink)
    return now


def recentre(beliefs: Mapping[str, Belief], settings: RatingSettings) -> dict[str, Rating]:
    """Return ratings from beliefs, shifted by one amount: results determine only differences.

    After it the anchor, or the mean of all players, is at `settings.mu`. A sigma is the root of the variance.
    """
    if not beliefs:
        return {}
    if settings.anchor is None:
        level = math.fsum(mean for mean, _ in beliefs.values()) / len(beliefs)
    else:
        level, _ = beliefs[settings.anchor]
    shift = settings.mu - level
    return {player: Rating(mean + shift, math.sqrt(variance)) for player, (mean, variance) in beliefs.items()}


def _rate_match(beliefs: dict[str, Belief], seats: Sequence[str], ranks: Sequence[int], update: _Update) -> None:
    """Replace the beliefs about the players of a match by those of `update`.

    ValueError unless they are two or more, all different.
    """
    if len(seats) < 2 or len(set(seats)) != len(seats):
        raise ValueError(f"a result needs two or more different players, found {seats}")
    beliefs.update(zip(seats, update([beliefs[player] for player in seats], ranks), strict=True))


def _win_terms(x: float) -> tuple[float, float]:
    """Compute the update terms of a win by more than the margin: v and w of the TrueSkill paper at x = gap - margin."""
    if x < -_TAIL:
        excess = _tail_excess(-x)
        return excess - x, (excess - x) * excess
    v = _pdf(x) / normal_cdf(x)
    return v, v * (v + x)


def _draw_terms(gap: float, margin: float) -> tuple[float, float]:
    """Compute the update terms of a draw: v and w, which is 1 - the variance that the draw leaves."""
    near, far = abs(gap) - margin, abs(gap) + margin
    if margin < _NARROW and margin * far < _EVEN:
        v, w = -abs(gap) * (1.0 - margin * margin / 3.0), 1.0 - margin * margin / 3.0
    elif near > _TAIL:  # densities and chances as multiples of the density at `near`
        fall = math.exp(-2.0 * margin * abs(gap))
        more, less, width = _tail_excess(near), _tail_excess(far), 2.0 * margin
        high, low = near + more, far + less
        chance = 1.0 / high - fall / low
        v = math.expm1(-2.0 * margin * abs(gap)) / chance
        both = fall * ((width + less) / low + (more - width) / high)
        w = (more / high + fall * fall * less / low - both) / (chance * chance)
    else:
        chance = normal_cdf(-near) - normal_cdf(-far)
        v = (_pdf(far) - _pdf(near)) / chance
        w = v * v + (far * _pdf(far) - near * _pdf(near)) / chance
    return (-v if gap < 0.0 else v), w


def _tail_excess(t: float) -> float:
    """Compute `pdf(t) / cdf(-t) - t` for large t, by the continued fraction of Laplace."""
    fraction = t
    for term in range(20, 1, -1):
        fraction = t + term / fraction
    return 1.0 / fraction


def _factor_graph(settings: RatingSettings) -> _Update:
    """Return the package's own update of beliefs by a match, for any number of players.

    Tied players of equal rating get slightly different results, by their place in the list (a known limit of the
    package). They stand in seat order here: seats rotate within a block, so that the difference evens out.
    """
    env = _environment(settings)

    def update(old: Sequence[Belief], ranks: Sequence[int]) -> Sequence[Belief]:
        groups = [(env.create_rating(mean, math.sqrt(variance)),) for mean, variance in old]
        return [(rating.mu, rating.sigma**2) for (rating,) in env.rate(groups, ranks)]

    return update


class _Environment(trueskill.TrueSkill):  # type: ignore[misc]  # the package has no types
    """The package's environment; its v and w lose no digits at gaps of over 38 standard deviations."""

    def v_win(self, diff: float, margin: float) -> float:
        return _win_terms(diff - margin)[0]

    def w_win(self, diff: float, margin: float) -> float:
        return _win_terms(diff - margin)[1]

    def v_draw(self, diff: float, margin: float) -> float:
        return _draw_terms(diff, margin)[0]

    def w_draw(self, diff: float, margin: float) -> float:
        return _draw_terms(diff, margin)[1]


def _environment(settings: RatingSettings) -> _Environment:
    """Make an environment of our own: the package's module-level functions share a global one."""
    return _Environment(
        mu=settings.mu,
        sigma=settings.sigma,
        beta=settings.beta,
        tau=settings.tau,
        draw_probability=settings.draw_probability,
        backend=_STDLIB,
    )


def _pdf(x: float) -> float:
    return math.exp(-x * x / 2.0) / _ROOT_OF_2_PI


# The package's default is a polynomial with errors up to 6e-7; these are exact to 1e-11 and as fast.
_STDLIB: Final = (normal_cdf, _pdf, NORMAL.inv_cdf)
