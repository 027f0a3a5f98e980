"""Packages of other people with games in them, written into a folder as an installer leaves them there."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Final

from arena import plugins

NIM: Final = """
from arena.games.nim import Nim

class Other(Nim):
    name = "{name}"
    rules_version = "7"
"""
"""A module with a game that plays like nim."""


def install(site: Path, module: str, code: str, *, entries: dict[str, str]) -> Path:
    """The file of a package `module`, with the entry points `entries` in the group of games."""
    package = site / module
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(code)
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    points = "".join(f"{key} = {value}\n" for key, value in entries.items())
    (info / "entry_points.txt").write_text(f"[arena.games]\n{points}")
    (info / "top_level.txt").write_text(f"{module}\n")
    return package / "__init__.py"


@contextmanager
def bundled(name: str, place: str) -> Iterator[None]:
    """Within, the game at `module:NAME` is one of arena's."""
    entries = plugins.own_entry_points()
    entries[name] = EntryPoint(name, place, plugins.GROUP)
    try:
        yield
    finally:
        del entries[name]
