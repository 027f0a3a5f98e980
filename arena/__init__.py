"""A tournament and bot-competition harness: referee, leagues, ratings, and the store behind them.

The packages read as one sentence, and imports go only from right to left in it: games are spoken by a protocol, over
processes, in a match, counted in standings, in a league, kept in a store, shown in reports; operations are what a user
can ask for, and the command line, the library and the web pages are doors to them. ARCHITECTURE.md has the whole house.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if sys.platform != "linux":
    raise ImportError("arena works on Linux only: use WSL2, Docker or a virtual machine")

__version__ = "0.2.0"

if TYPE_CHECKING:
    from arena.library.comparison import compare
    from arena.library.game import game
    from arena.library.league import League, play
    from arena.library.match import load_match
    from arena.library.training import env, parallel_env

__all__ = ["League", "__version__", "compare", "env", "game", "load_match", "parallel_env", "play"]
_MODULES: Final = {
    "League": "league",
    "compare": "comparison",
    "env": "training",
    "game": "game",
    "load_match": "match",
    "parallel_env": "training",
    "play": "league",
}


def __getattr__(name: str) -> Any:
    """Import a part of the library when it is first used, so that `import arena` is fast."""
    if name in _MODULES:
        value = getattr(import_module(f"arena.library.{_MODULES[name]}"), name)
    elif not name.startswith("_") and name in (library := import_module("arena.library.use_cases")).USE_CASES:
        value = library.use_case(name)
    else:
        raise AttributeError(f"module 'arena' has no attribute {name!r}")
    globals()[name] = value
    return value
