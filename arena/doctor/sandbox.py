"""Checks of the sandbox, of the limits of bots, and of their languages.

Rule: the self-test runs under the very arguments that bots get. Languages are searched for, and never run.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from arena.doctor.machine import CheckResult, bad, note, ok, weak
from arena.errors import ArenaError
from arena.process.sandbox import bubblewrap, runtimes, scope, self_test

_WITHOUT_GROUP: Final = (
    "bots have no control group: memory is watched each 20 to 50 ms, and a bot may exceed its limit for that long;"
    " shared memory is refused; CPU time is that of the bot's first process, without what its children use"
)
_CORE_PATTERN: Final = Path("/proc/sys/kernel/core_pattern")
_PROGRAMS: Final = (
    *("python3", "node", "java", "javac", "perl", "bash", "awk", "ruby", "lua", "php", "cc", "c++", "make", "rustc"),
    *("cargo", "go", "ghc", "ocaml", "dotnet", "kotlinc", "scala", "julia", "R", "deno", "bun"),
)
_EXPECTED: Final = ("python3", "node", "java", "perl", "ruby", "lua", "php", "cc", "c++", "rustc", "go")
"""Programs to report if they are missing."""
_OFTEN: Final = (
    # a toolchain before the proxies of rustup, which do not work without their settings
    *("~/.rustup/toolchains/*/bin", "~/.nvm/versions/node/*/bin", "~/.sdkman/candidates/*/current/bin"),
    *("/usr/local/go/bin", "/opt/*/bin", "~/.local/bin", "~/.bun/bin", "~/.deno/bin", "/snap/*/current/bin"),
)
"""Folders in which installers without root put languages, stable releases after nightly ones in the alphabet."""


def sandbox(attempt_escapes: Callable[[], self_test.Attempts]) -> Iterator[CheckResult]:
    """Try the sandbox with a hostile program; report that it holds, or what does not and what to do.

    A sandbox that cannot be tried at all is a BAD result, not an error.
    """
    try:
        tried = attempt_escapes()
        program = f"bubblewrap {bubblewrap.version()} ({bubblewrap.program()}) with a filter of system calls"
    except (ArenaError, OSError, LookupError, ValueError, AttributeError, ImportError) as error:
        reason, _, advice = str(error).partition("\n")
        yield bad("\n".join([reason or type(error).__name__, *(["what to do: " + advice] if advice else [])]))
        return
    if breaches := self_test.breaches(tried):
        yield bad("\n".join([f"{program} does not hold", *breaches, "please report this, with your system's name"]))
        return
    numbers = ", ".join(f"{group} {len(ways)}" for group, ways in tried.items())
    yield ok(program)
    yield ok(f"a hostile program tried {sum(map(len, tried.values()))} ways out of it just now, none open:\n{numbers}")


def own_promises(why_no_group: str) -> Iterator[CheckResult]:
    """Report how bots are limited where the sandbox holds: users, memory and CPU time, crashes, the shared kernel.

    `why_no_group`: a reason and an advice, or empty.
    """
    yield from users(os.geteuid())
    yield from accounting(why_no_group)
    yield from cores_dumped(_CORE_PATTERN.read_text(encoding="utf-8"))
    yield note("bots share the kernel with you: fine for a class or a club, not for strangers")


def users(euid: int) -> Iterator[CheckResult]:
    """Report the users that bots run as on this machine."""
    if euid == 0:
        yield ok("as root: each bot has a spare user of its own, so its files must be readable by all")
    else:
        yield ok(f"bots run as you ({scope.user_name(euid)}), and see none of your files")


def accounting(why_no_group: str) -> Iterator[CheckResult]:
    """Report how memory and CPU time of bots are measured: weak if `why_no_group` names a reason."""
    if why_no_group:
        reason, _, advice = why_no_group.partition("; ")
        yield weak("\n".join([_WITHOUT_GROUP, f"why: {reason}", *([f"what to do: {advice}"] if advice else [])]))
    else:
        yield ok("each bot has a control group: the kernel counts its memory and CPU time, and ends it at its limit")


def cores_dumped(pattern: str) -> Iterator[CheckResult]:
    """Note a program to which the kernel hands crashes of bots, outside of the sandbox; yield nothing without one.

    `pattern` is the kernel's core_pattern.
    """
    if pattern.startswith("|"):
        program = (pattern[1:].split() or ["a program"])[0]
        yield note(
            f"crashes of bots are handed to {program}, outside of the sandbox: `sysctl kernel.core_pattern=core`"
        )


def languages(path_inside: str, path_outside: str, home: Path) -> Iterator[CheckResult]:
    """Report the programs on the PATH inside, the ones that could be lent with the setting for it, and missing ones."""
    inside = languages_in(path_inside)
    others = [name for name in _PROGRAMS if name not in inside]
    lendable = _lendable(others, path_outside, home)
    missing = [name for name in _EXPECTED if name not in inside and name not in lendable]
    missed = f"; not found: {', '.join(missing)}" if missing else ""
    yield ok(f"languages for bots: {', '.join(inside) or 'none'}{missed}")
    if lendable:
        folders = ":".join(dict.fromkeys(map(str, lendable.values())))
        names = ", ".join(lendable)
        yield note(f"{names}: not where bots see them; to lend them, set {runtimes.RUNTIMES}={folders}")


def languages_in(path: str) -> list[str]:
    """Return the programs of languages on that PATH."""
    return [name for name in _PROGRAMS if shutil.which(name, path=path)]


def _lendable(names: Iterable[str], path: str, home: Path) -> dict[str, Path]:
    """Return, for each program that is found, the folder to lend: from the usual folders of runtimes, then `path`."""
    roots = {"~": home, "": Path("/")}
    patterns = [(roots[root], pattern) for root, _, pattern in (folder.partition("/") for folder in _OFTEN)]
    often = [str(folder) for root, pattern in patterns for folder in sorted(root.glob(pattern), reverse=True)]
    programs = {name: shutil.which(name, path=":".join([*often, path])) for name in names}
    return {name: _runtime_of(Path(program), home) for name, program in programs.items() if program}


def _runtime_of(program: Path, home: Path) -> Path:
    """Return the folder to lend for a program: the one above its `bin`, else the program's own folder.

    Its own also if the one above is `/`, `~/.local`, the home or above it. Links are resolved.
    """
    folder = program.resolve().parent
    holds_more = folder.parent in {home, home / ".local", Path("/"), *home.parents}
    return folder.parent if folder.name == "bin" and not holds_more else folder
