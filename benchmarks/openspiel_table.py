"""The table of docs/openspiel.md: every registered game of OpenSpiel is tried, as a tournament would.

`nice python benchmarks/openspiel_table.py > table.md` takes some minutes; names after it are tried alone.
"""

import sys
from collections.abc import Iterator, Sequence

import pyspiel

from arena.errors import ArenaError
from arena.games import load_game
from arena.text import describe_range


def rows(names: Sequence[str]) -> Iterator[str]:
    """Yield a row in Markdown for each kind of game, then for each reason of a refusal, with the names of its games."""
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    games: dict[str, list[str]] = {}
    for name in names:
        seats, kind = _cells(name, kinds[name])
        games.setdefault(kind, []).append(f"`{name}`{f' ({seats})' * (seats not in ('', '2'))}")
    for kind in sorted(games):
        yield f"| {kind} | {', '.join(games[kind])} |"


def _cells(name: str, kind: pyspiel.GameType) -> tuple[str, str]:
    try:
        game = load_game(f"openspiel:{name}")
    except ArenaError as error:
        reason = str(error).removeprefix(f"openspiel:{name}: ").partition("; its parameters")[0]
        return "", f"refused: {reason}"
    acts = "at once" if kind.dynamics.name == "SIMULTANEOUS" else "in turn"
    hides = {"PERFECT_INFORMATION": "open", "ONE_SHOT": "one decision"}.get(kind.information.name, "hidden information")
    luck = ", luck" if kind.chance_mode.name == "EXPLICIT_STOCHASTIC" else ""
    return describe_range(game.seat_counts), f"{acts}, {hides}{luck}"


if __name__ == "__main__":
    print("| kind | games |\n|---|---|")
    print("\n".join(rows(sys.argv[1:] or sorted(pyspiel.registered_names()))))
