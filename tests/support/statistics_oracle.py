"""The most likely skills by another road: mpmath with 30 digits, derivatives by differences, one parameter h for seats.

It shares no line with the package, and is far too slow for anything but a few players.
"""

from collections.abc import Sequence
from typing import Any

import mpmath  # type: ignore[import-untyped]

from arena.statistics.model import ProbitSettings
from support.statistics_leagues import Result

DIGITS = 30


def log_posterior(players: Sequence[str], results: Sequence[Result], chosen: ProbitSettings) -> Any:
    """A function of the skills of `players` and of h, the advantage of the first of two seats."""
    places = {player: place for place, player in enumerate(players)}
    s = mpmath.sqrt(2) * mpmath.mpf(chosen.beta)
    eps = mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(chosen.draw_probability)) * s

    def value(*parameters: Any) -> Any:
        *skills, h = parameters
        total = -(h**2) / (2 * mpmath.mpf(chosen.seat_sigma) ** 2)
        total -= sum((skill - chosen.mu) ** 2 for skill in skills) / (2 * mpmath.mpf(chosen.sigma) ** 2)
        for (one, other), (rank, other_rank) in results:
            d = skills[places[one]] - skills[places[other]] + h
            if rank == other_rank:
                total += mpmath.log(mpmath.ncdf((eps - d) / s) - mpmath.ncdf((-eps - d) / s))
            else:
                total += mpmath.log(mpmath.ncdf((d - eps if rank < other_rank else -d - eps) / s))
        return total

    return value


def most_likely(
    players: Sequence[str], results: Sequence[Result], chosen: ProbitSettings
) -> tuple[list[float], list[list[float]]]:
    """The maximum (skills by player, then h), and the covariance there."""
    with mpmath.workdps(DIGITS):
        value = log_posterior(players, results, chosen)
        size = len(players) + 1
        unit = [tuple(int(i == j) for j in range(size)) for i in range(size)]
        here = mpmath.matrix([mpmath.mpf(chosen.mu)] * len(players) + [mpmath.mpf(0)])
        for _ in range(12):
            slope = mpmath.matrix([mpmath.diff(value, tuple(here), unit[i]) for i in range(size)])
            bend = mpmath.matrix(size, size)
            for i in range(size):
                for j in range(i + 1):
                    orders = tuple(a + b for a, b in zip(unit[i], unit[j], strict=True))
                    bend[i, j] = bend[j, i] = -mpmath.diff(value, tuple(here), orders)
            step = mpmath.lu_solve(bend, slope)
            here += step
            if mpmath.norm(step) < mpmath.mpf(10) ** -12:
                break
        covariance = bend**-1
        return [float(x) for x in here], [[float(covariance[i, j]) for j in range(size)] for i in range(size)]
