"""An order of players -> bands of players that cannot be told apart. Rule: only neighbours are compared."""

from collections.abc import Callable, Iterable

SURE = 0.95
"""How likely better one must be than the next to end a band."""


def bands(
    order: Iterable[str], likelihood_better: Callable[[str, str], float | None], *, sure: float = SURE
) -> tuple[tuple[str, ...], ...]:
    """Split `order`, best first, wherever a player is surely better than the next.

    An undefined likelihood tells nobody apart. A long band may have a first and a last that differ clearly: what it
    says is that there is no clear step within it.
    """
    found: list[list[str]] = []
    for player in order:
        better = likelihood_better(found[-1][-1], player) if found else None
        if not found or (better is not None and better >= sure):
            found.append([player])
        else:
            found[-1].append(player)
    return tuple(map(tuple, found))
