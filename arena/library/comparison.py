"""`arena.compare`: whether one bot is better than another, decided in a child process."""

import json
from pathlib import Path
from typing import Any

from arena.games import DEFAULT_GAME
from arena.library.child import OnCounts, request_of, run_in_child
from arena.library.league import absolute, listener
from arena.match.secret_luck import Secret
from arena.operations.compare_bots import CompareBots, compare_bots
from arena.operations.events import OnEvent
from arena.report.comparison import as_json


def compare(
    new: str | Path,
    old: str | Path,
    *,
    game: str = DEFAULT_GAME,
    workers: int | None = None,
    isolation: str = "sandbox",
    progress: OnCounts | bool = False,
    results: str | Path = "results",
    bots: str | Path = "bots",
    **settings: Any,
) -> dict[str, Any]:
    """Play bot `new` against bot `old` until a test has decided whether it is better: `arena compare --format json`.

    `settings` are the other options of that command, such as `elo1=10` or `model="luck-adjusted"`. `progress` is that
    of `League.run`. Blocks are stored: interrupted by Ctrl-C, the same call continues.
    """
    folders = {"results": absolute(results), "bots_folder": absolute(bots)}
    seed = settings.pop("seed", None)
    choices = {"game": game, "workers": workers, "isolation": isolation, "new": str(new), "old": str(old)} | settings
    choices |= {} if seed is None else {"secret": Secret.public(seed)}
    request = request_of(compare_bots, folders | choices)
    document: dict[str, Any] = run_in_child(comparison_document, request, on_counts=listener(progress))
    return document


def comparison_document(request: CompareBots, on: OnEvent) -> dict[str, Any]:
    """Return a comparison as `arena compare --format json` prints it."""
    result = compare_bots(request, on)
    document: dict[str, Any] = json.loads(as_json(result.result, (result.new, result.old), result.luck))
    return document
