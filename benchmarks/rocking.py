"""`python benchmarks/rocking.py`: how often careful bots drop something in Riff Raff, by ship and sea.

Three careful players sit at a table: look-ahead, tidy, and a look-ahead that knows its own noise. Each row is another
ship: its ball, how far and how easily its yards tip, how the sea grows. An avalanche is a placement in which at least
three pieces fall. Every ship meets the same matches; the shares have the standard error of independent placements.
"""

import math
import time
from collections.abc import Iterable
from typing import Final

import click
import msgspec
from riffraff_players import CAREFUL, Match, Placement, play
from tables import Figure, Table

from arena.games.riffraff import engine, model, physics, table

AVALANCHE: Final = 3
"""The least number of pieces that fall in one placement of an avalanche."""
_SEA_GROWS: Final = table.SEA_GROWS


class Rocking(msgspec.Struct, frozen=True):
    """A ship and a sea to try."""

    rig: model.Rig = model.Rig()
    sea_grows: float = _SEA_GROWS


def _tried(sea_grows: float = _SEA_GROWS, **changes: float) -> Rocking:
    return Rocking(msgspec.structs.replace(model.Rig(), **changes), sea_grows)


_RIGID: Final = 0.01
"""Degrees to the stop of a yard that hardly tips."""
SHIPS: Final[dict[str, Rocking]] = {
    "as it is": Rocking(),
    "version 1": _tried(0.0, ball_kg=0.45, yard_stop_deg=_RIGID),
    "rigid yards": _tried(yard_stop_deg=_RIGID),
    "stop at 8": _tried(yard_stop_deg=8.0),
    "stop at 15": _tried(yard_stop_deg=15.0),
    "half the friction": _tried(yard_friction_n_m=0.002),
    "twice the friction": _tried(yard_friction_n_m=0.008),
    "ball 0.45": _tried(ball_kg=0.45),
    "ball 0.36": _tried(ball_kg=0.36),
    "even sea": _tried(0.0),
    "sea times 3": _tried(2.0),
}


def rig_ship(tried: Rocking) -> None:
    """Set the ship and the sea for all later matches in this process."""
    setattr(model, "RIG", tried.rig)  # noqa: B010 - constants for everybody else
    setattr(table, "SEA_GROWS", tried.sea_grows)  # noqa: B010
    for kept in (engine._compile, engine._idle_descents, physics._intended_pose):  # noqa: SLF001
        kept.cache_clear()


def matches_of(seed: str, count: int) -> list[Match]:
    """Play `count` matches of the careful players, each way in each seat in turn."""
    return [play(CAREFUL[number % 3 :] + CAREFUL[: number % 3], f"{seed}/{number}") for number in range(count)]


def share_with_fall(placements: Iterable[Placement]) -> tuple[float, float]:
    """Return the share of placements in which anything fell, and its standard error."""
    falls = [placement.fallen > 0 for placement in placements]
    share = sum(falls) / len(falls)
    return share, math.sqrt(share * (1 - share) / len(falls))


def avalanches(matches: Iterable[Match]) -> int:
    """Count the placements in which at least `AVALANCHE` pieces fell."""
    return sum(placement.fallen >= AVALANCHE for match in matches for placement in match.placements)


def _row(name: str, count: int) -> tuple[str | Figure, ...]:
    rig_ship(SHIPS[name])
    start_s = time.process_time()
    matches = matches_of("rocking", count)
    cpu_s = time.process_time() - start_s
    placements = [placement for match in matches for placement in match.placements]
    shares = [share_with_fall(load for load in placements if load.way in ways) for ways in (CAREFUL, *zip(CAREFUL))]
    many = avalanches(matches)
    return (
        name,
        *(Figure(100 * share, 1, error=196 * error) for share, error in shares),
        Figure(many / count, 2, error=1.96 * math.sqrt(many) / count),
        Figure(len(placements) / count, 1),
        Figure(sum(match.passes for match in matches) / count, 2),
        Figure(cpu_s / count, 1),
    )


@click.command()
@click.option("--only", type=click.Choice(list(SHIPS)), multiple=True, help="Only this ship; may be repeated.")
@click.option("--matches", default=30, show_default=True, help="Matches of each ship, about 6 s of CPU time each.")
def main(*, only: tuple[str, ...], matches: int) -> None:
    """Print a row for each ship."""
    headers = (
        "ship and sea",
        "fall in\n% of loads",
        *CAREFUL,
        "avalanches\na match",
        "loads",
        "passes",
        "CPU s\na match",
    )
    rows = tuple(_row(name, matches) for name in only or SHIPS)
    notes = (f"{matches} matches of three; +- 95 %; an avalanche: at least {AVALANCHE} pieces fall in one placement",)
    print(Table(title="Riff Raff: what careful bots drop", headers=headers, rows=rows, notes=notes).text())


if __name__ == "__main__":
    main()
