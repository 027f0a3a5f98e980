"""The check, by random plays, that a game keeps the contract for every number of seats."""

from typing import Any

import msgspec

from arena.conformance.game import CheckedPart, check_game, difference_elsewhere
from arena.games import load_game, plugin_place
from arena.games.api import require_simulator, simulator_of
from arena.operations.playing import naming_option
from arena.operations.request import Request


class CheckGame(Request, frozen=True, kw_only=True):
    """A check of the game `name`, or `MODULE:CLASS`, with these options."""

    name: str
    options: dict[str, Any] = msgspec.field(default_factory=dict)


class CheckedGame(msgspec.Struct, frozen=True):
    """A game, the version of its rules, its numbers of players, its place, and the promises that were checked."""

    name: str
    rules: str
    seat_counts: tuple[int, ...]
    place: str
    parts: tuple[CheckedPart, ...]


def check_one_game(request: CheckGame) -> CheckedGame:
    """Check each promise of a game; what breaks one is a finding in the result, not an error.

    SpecError if there is no such game, if it has no such options, or if its engine is missing.
    """
    name, options = request.name, request.options
    game = load_game(name)
    if options:
        with naming_option("--options"):
            game.setup(options, game.seat_counts[0])
    require_simulator(game)
    parts = [part._replace(title=f"{part.seats} seats: {part.title}") for part in check_game(game, options=options)]
    if simulator_of(game) is None and not any(part.findings for part in parts):
        difference = difference_elsewhere(name, options)
        parts.append(CheckedPart("a play is the same in every process", 0, (difference,) if difference else ()))
    place = plugin_place(name) or "arena"
    return CheckedGame(name, game.rules_version, tuple(game.seat_counts), place, tuple(parts))
