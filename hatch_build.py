"""A build hook for hatchling: the wheel with the rules and the value of Shanghaien compiled by mypyc, on request.

    HATCH_BUILD_HOOK_ENABLE_CUSTOM=true python -m pip wheel . --no-deps --wheel-dir dist

Rule: compiled files go into that wheel only, beside the same `.py` files, never into the checkout. Without the variable
the wheel is the one for every platform.
"""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULES: Final = (
    "arena/games/luck.py",
    "arena/games/shanghaien/cards.py",
    "arena/games/shanghaien/state.py",
    "arena/games/shanghaien/turns.py",
    "arena/games/shanghaien/rules.py",
    "arena/games/shanghaien/expansions/crazy_captain.py",
    "arena/games/shanghaien/expansions/doubles.py",
    "arena/games/shanghaien/expansions/no_shanghai.py",
    "arena/games/shanghaien/expansions/sharks.py",
    "arena/games/shanghaien/value/placed.py",
    "arena/games/shanghaien/value/position.py",
    "arena/games/shanghaien/value/stakes.py",
)
"""Modules of functions and plain classes: mypyc drops the options of a msgspec Struct, so Structs stand apart."""


class Compilation(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles `MODULES` in a folder of its own."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the compiled modules to a wheel that is no editable one, and name its platform."""
        if version != "standard":
            return
        self._folder = TemporaryDirectory(prefix="arena-compiled-")
        folder = Path(self._folder.name)
        for made in compiled(Path(self.root), folder):
            build_data["force_include"][str(made)] = str(made.relative_to(folder / "out"))
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, _build_data: dict[str, Any], _artifact_path: str) -> None:
        """Remove what was compiled; it is in the wheel now."""
        if version == "standard":
            self._folder.cleanup()


def compiled(root: Path, folder: Path) -> list[Path]:
    """The extension modules of `MODULES`, below `folder`/out."""
    from mypyc.build import mypycify  # noqa: PLC0415 - only the build that compiles has it
    from setuptools import Distribution  # noqa: PLC0415 - the same

    shutil.copytree(root / "arena", folder / "arena", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(root / "pyproject.toml", folder)  # the settings of mypy
    before = Path.cwd()
    os.chdir(folder)  # mypyc and setuptools take paths from here
    try:
        extensions = mypycify([*MODULES], opt_level="3", group_name="arena_compiled")
        for each in extensions:
            each.extra_compile_args.append("-ffp-contract=off")  # the luck has the same bits on every machine
        command = Distribution({"name": "arena", "ext_modules": extensions}).get_command_obj("build_ext")
        command.build_lib, command.build_temp = "out", "temp"
        command.ensure_finalized()
        command.run()
    finally:
        os.chdir(before)
    return sorted((folder / "out").rglob("*.so"))
