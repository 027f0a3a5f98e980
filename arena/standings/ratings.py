"""Results in schedule order -> a rating (mu, sigma) per player: TrueSkill, one pass, then recentred.

Rule: a rating table is a pure function of the settings and the results in the order of the schedule. Nothing is kept
from an earlier table, and nothing is updated in the order in which matches happened to end: order moves the numbers.

Two roads lead to the same numbers. `rate` uses the closed form where a match has two players, `rate_by_factor_graph`
the package's factor graph for every match; `arena verify` compares them.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Any, Final

import msgspec
import trueskill

from arena.errors import SpecError
from arena.validation import unknown

LEAST_DRAW_PROBABILITY: Final = 0.001
"""With no draws expected at all a draw cannot be rated: the package raises, or lets sigma grow."""
MOST_DRAW_PROBABILITY: Final = 0.5
WIDEST_RATIO: Final = 100.0
"""Of beta to sigma, either way: far beyond any use; further on, the two roads no longer agree to 1e-6."""

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
        """What the player is worth with near certainty: mu - 3 sigma."""
        return self.mu - 3.0 * self.sigma


Result = tuple[tuple[str, ...], tuple[int, ...]]
"""The players by seat, and their ranks by seat: lower is better, equal is a tie."""

Belief = tuple[float, float]
"""Mean and variance of a skill, before all are moved to their common level. What is folded, and kept to be resumed."""

_Update = Callable[[Sequence[Belief], Sequence[int]], Sequence[Belief]]


def validate(settings: RatingSettings, players: Iterable[str] | None = None) -> None:
    """SpecError if nobody can be rated with `settings`, or if the anchor is none of `players` (where given)."""
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
    return recentred(advance(newcomers(players, settings), results, settings), settings)


def rate_by_factor_graph(
    players: Iterable[str], results: Iterable[Result], settings: RatingSettings
) -> dict[str, Rating]:
    """Do what `rate` does by the package's own factor graph for every match: slow, and there to check it with."""
    beliefs = newcomers(players, settings)
    graph = _factor_graph(settings)
    for seats, ranks in results:
        _update(beliefs, seats, ranks, graph)
    return recentred(beliefs, settings)


def newcomers(players: Iterable[str], settings: RatingSettings) -> dict[str, Belief]:
    """What is believed of `players` before any match. SpecError for settings that cannot be used."""
    beliefs = dict.fromkeys(players, (settings.mu, settings.sigma**2))
    validate(settings, beliefs)
    return beliefs


def advance(beliefs: Mapping[str, Belief], results: Iterable[Result], settings: RatingSettings) -> dict[str, Belief]:
    """Fold `results`, in schedule order, into `beliefs`; the old ones are untouched.

    In parts or at once, the beliefs are equal to the last bit. Errors are those of `rate`. A match of two gets the same
    formulas without the graph: v and w of the TrueSkill paper, `push` and `shrink` before they are scaled.
    """
    # A million matches pass here: calls and global names would take a third of the time.
    now = dict(beliefs)
    graph = _factor_graph(settings)
    margin: float = trueskill.calc_draw_margin(settings.draw_probability, 2, _environment(settings, _STDLIB))
    noise, drift = 2.0 * settings.beta**2, settings.tau**2
    sqrt, exp, erfc, root_of_2, root_of_2_over_pi = math.sqrt, math.exp, math.erfc, _ROOT_OF_2, _ROOT_OF_2_OVER_PI
    for seats, ranks in results:
        if len(seats) != 2 or seats[0] == seats[1]:
            _update(now, seats, ranks, graph)
            continue
        (one, other), (first, second) = seats, ranks
        (mean, variance), (other_mean, other_variance) = now[one], now[other]
        variance += drift
        other_variance += drift
        square = noise + variance + other_variance
        scale = sqrt(square)
        gap = (mean - other_mean) / scale
        try:
            if first == second:
                push, shrink = _drawn(gap, margin / scale)
            else:
                x = (gap if first < second else -gap) - margin / scale
                push = root_of_2_over_pi * exp(-0.5 * x * x) / erfc(-x / root_of_2)
                shrink = push * (push + x)
        except _OUT_OF_DIGITS:
            shrink = math.nan
        if not 0.0 < shrink < 1.0:  # only rounding can make it so, and a variance would fall to 0 or grow
            _update(now, seats, ranks, graph)
            continue
        push = (-push if first > second else push) / scale
        shrink /= square
        now[one] = mean + variance * push, variance * (1.0 - variance * shrink)
        now[other] = other_mean - other_variance * push, other_variance * (1.0 - other_variance * shrink)
    return now


def recentred(beliefs: Mapping[str, Belief], settings: RatingSettings) -> dict[str, Rating]:
    """Move all by one amount: results tell differences only, and the level is an accident of the first matches."""
    if not beliefs:
        return {}
    if settings.anchor is None:
        level = math.fsum(mean for mean, _ in beliefs.values()) / len(beliefs)
    else:
        level, _ = beliefs[settings.anchor]
    shift = settings.mu - level
    return {player: Rating(mean + shift, math.sqrt(variance)) for player, (mean, variance) in beliefs.items()}


def _update(beliefs: dict[str, Belief], seats: Sequence[str], ranks: Sequence[int], update: _Update) -> None:
    if len(seats) < 2 or len(set(seats)) != len(seats):
        raise ValueError(f"a result needs two or more different players, found {seats}")
    beliefs.update(zip(seats, update([beliefs[player] for player in seats], ranks), strict=True))


def _drawn(gap: float, margin: float) -> tuple[float, float]:
    """Update terms of a draw: v and w."""
    away = abs(gap)
    low, high = -margin - away, margin - away
    chance = _cdf(high) - _cdf(low)
    v = (_pdf(low) - _pdf(high)) / chance
    w = v * v + (high * _pdf(high) - low * _pdf(low)) / chance
    return (-v if gap < 0.0 else v), w


def _factor_graph(settings: RatingSettings) -> _Update:
    """Make the package's own update, for any number of players.

    Tied players of equal rating get slightly different results, by their place in the list (a known limit of the
    package). They stand in seat order here: seats rotate within a block, so that the difference evens out.
    """
    env = _environment(settings, _STDLIB)

    def update(old: Sequence[Belief], ranks: Sequence[int]) -> Sequence[Belief]:
        groups = [(env.create_rating(mean, math.sqrt(variance)),) for mean, variance in old]
        try:
            new = env.rate(groups, ranks)
        except _OUT_OF_DIGITS:
            new = _rate_with_many_digits(settings, groups, ranks)
        return [(rating.mu, rating.sigma**2) for (rating,) in new]

    return update


def _rate_with_many_digits(settings: RatingSettings, groups: Sequence[Any], ranks: Sequence[int]) -> Any:
    """Do the same update where floats underflow: at a gap of over 38 standard deviations of the difference."""
    import mpmath  # type: ignore[import-untyped]  # noqa: PLC0415 - 30 ms that nearly no run needs

    with mpmath.workdps(60):
        return _environment(settings, "mpmath").rate(groups, ranks)


def _environment(settings: RatingSettings, backend: object) -> Any:
    """Make an environment of our own: the package's module-level functions share a global one."""
    return trueskill.TrueSkill(
        mu=settings.mu,
        sigma=settings.sigma,
        beta=settings.beta,
        tau=settings.tau,
        draw_probability=settings.draw_probability,
        backend=backend,
    )


def _cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / _ROOT_OF_2)


def _pdf(x: float) -> float:
    return math.exp(-x * x / 2.0) / _ROOT_OF_2_PI


# What the package's arithmetic raises when it has lost all digits: its own error, and those of 1 / 0 and sqrt(-1).
_OUT_OF_DIGITS: Final = (FloatingPointError, ZeroDivisionError, ValueError)
# The package's default is a polynomial with errors up to 6e-7; these are exact to 1e-11 and as fast.
_STDLIB: Final = (_cdf, _pdf, NormalDist().inv_cdf)
