"""Checks of the sandbox: whether it holds, the limits of bots, and their languages.

Rule: the self-test runs under the very arguments that bots get. Languages are looked for, and never run.
"""

import getpass
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from arena.doctor.check_result import CheckResult, bad, note, ok, weak
from arena.errors import ArenaError
from arena.process.sandbox import bubblewrap, runtimes, self_test

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
"""Missed aloud; nobody expects the others."""
_OFTEN: Final = (
    # a toolchain before the proxies of rustup, which do not work without their settings
    *("~/.rustup/toolchains/*/bin", "~/.nvm/versions/node/*/bin", "~/.sdkman/candidates/*/current/bin"),
    *("/usr/local/go/bin", "/opt/*/bin", "~/.local/bin", "~/.bun/bin", "~/.deno/bin", "/snap/*/current/bin"),
)
"""Folders in which installers without root put languages, stable releases after nightly ones in the alphabet."""


def sandbox(attempt_escapes: Callable[[], self_test.Attempts]) -> list[CheckResult]:
    """Whether bots can be kept: all else is of interest only then."""
    try:
        tried = attempt_escapes()
        program = f"bubblewrap {bubblewrap.version()} ({bubblewrap.program()}) with a filter of system calls"
    except (ArenaError, OSError, LookupError, ValueError, AttributeError, ImportError) as error:
        reason, _, advice = str(error).partition("\n")
        return [bad("\n".join([reason or type(error).__name__, *(["what to do: " + advice] if advice else [])]))]
    if breaches := self_test.breaches(tried):
        return [bad("\n".join([f"{program} does not hold", *breaches, "please report this, with your system's name"]))]
    number = sum(map(len, tried.values()))
    return [ok(program), ok(f"a hostile program tried {number} ways out of it just now, none open:\n{_groups(tried)}")]


def _groups(tried: self_test.Attempts) -> str:
    """The number of attempts of each kind; groups of system calls together."""
    kinds: Counter[str] = Counter()
    for group, ways in tried.items():
        kinds[group.partition(":")[0]] += len(ways)
    return ", ".join(f"{kind} {number}" for kind, number in kinds.items())


def users(euid: int) -> list[CheckResult]:
    """The users of bots on this machine."""
    if euid == 0:
        return [ok("as root: each bot has a spare user of its own, so its files must be readable by all")]
    return [ok(f"bots run as you ({_name(euid)}), and see none of your files")]


def accounting(why_no_group: str) -> list[CheckResult]:
    """The accuracy of the memory and CPU time of bots; `why_no_group` has the reason and an advice, or is empty."""
    if not why_no_group:
        return [ok("each bot has a control group: the kernel counts its memory and CPU time, and ends it at its limit")]
    reason, _, advice = why_no_group.partition("; ")
    to_do = [f"what to do: {advice}"] if advice else []
    return [weak("\n".join([_WITHOUT_GROUP, f"why: {reason}", *to_do]))]


def cores_dumped(pattern: str) -> list[CheckResult]:
    """A kernel that hands crashes to a program does so for bots too, whatever their limits."""
    if not pattern.startswith("|"):
        return []
    words = pattern[1:].split(maxsplit=1)
    program = words[0] if words else "a program"
    return [note(f"crashes of bots are handed to {program}, outside of the sandbox: `sysctl kernel.core_pattern=core`")]


def promises() -> list[CheckResult]:
    """The limit of every sandbox on one kernel."""
    return [note("bots share the kernel with you: fine for a class or a club, not for strangers")]


def own_promises(why_no_group: str) -> list[CheckResult]:
    """Of this machine, where the sandbox holds. `why_no_group`: see `accounting`."""
    return [
        *users(os.geteuid()),
        *accounting(why_no_group),
        *cores_dumped(_CORE_PATTERN.read_text(encoding="utf-8")),
        *promises(),
    ]


def _name(euid: int) -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(euid)


def languages(path_inside: str, path_outside: str, home: Path) -> list[CheckResult]:
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
