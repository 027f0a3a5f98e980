"""What the doctor finds of languages: those that bots have in the sandbox, and those that are only outside.

Rule: it looks, and never runs what it finds.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from arena.doctor.check_result import Finding, note, ok
from arena.process.sandbox import runtimes

_PROGRAMS: Final = (
    *("python3", "node", "java", "javac", "perl", "bash", "awk", "ruby", "lua", "php"),
    *(
        "cc",
        "c++",
        "make",
        "rustc",
        "cargo",
        "go",
        "ghc",
        "ocaml",
        "dotnet",
        "kotlinc",
        "scala",
        "julia",
        "R",
        "deno",
        "bun",
    ),
)
_EXPECTED: Final = ("python3", "node", "java", "perl", "ruby", "lua", "php", "cc", "c++", "rustc", "go")
"""Missed aloud; nobody expects the others."""
_OFTEN: Final = (
    # a toolchain before the proxies of rustup, which do not work without their settings
    *("~/.rustup/toolchains/*/bin", "~/.nvm/versions/node/*/bin", "~/.sdkman/candidates/*/current/bin"),
    *("/usr/local/go/bin", "/opt/*/bin", "~/.local/bin", "~/.bun/bin", "~/.deno/bin", "/snap/*/current/bin"),
)
"""Where installers without root put languages, stable releases after nightly ones in the alphabet."""


def languages(path_inside: str, path_outside: str, home: Path) -> list[Finding]:
    """Programs on the PATH inside; those that could be lent, with the words that lend them; and the rest."""
    inside = [name for name in _PROGRAMS if shutil.which(name, path=path_inside)]
    others = [name for name in _PROGRAMS if name not in inside]
    lendable = _lendable(others, path_outside, home)
    missing = [name for name in _EXPECTED if name not in inside and name not in lendable]
    found = [ok(f"languages for bots: {', '.join(inside) or 'none'}")]
    if missing:
        found[0] = ok(f"{found[0].text}; not found: {', '.join(missing)}")
    if lendable:
        folders = ":".join(dict.fromkeys(map(str, lendable.values())))
        names = ", ".join(lendable)
        found.append(note(f"{names}: not where bots see them; to lend them, set {runtimes.RUNTIMES}={folders}"))
    return found


def _lendable(names: Iterable[str], path: str, home: Path) -> dict[str, Path]:
    """The folder to lend for each program that is somewhere on this machine, but not where bots see it."""
    often = [folder for pattern in _OFTEN for folder in reversed(_matches(pattern, home))]
    places = ":".join([*map(str, often), path])
    found = {name: shutil.which(name, path=places) for name in names}
    return {name: _runtime_of(Path(program), home) for name, program in found.items() if program}


def _matches(pattern: str, home: Path) -> list[Path]:
    root = home if pattern.startswith("~/") else Path("/")
    return sorted(root.glob(pattern.removeprefix("~/").removeprefix("/")))


def _runtime_of(program: Path, home: Path) -> Path:
    """The folder that holds all of a language: above `bin`, but never one that holds more than the language."""
    folder = program.resolve().parent
    above = folder.parent
    holds_more = above in {home, home / ".local", Path("/"), *home.parents}
    return above if folder.name == "bin" and not holds_more else folder
