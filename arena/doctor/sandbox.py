"""What the doctor finds of the sandbox: whether it holds, what it keeps from bots, and what it cannot.

Rule: the canary runs under the very arguments that bots get, so what is said here is what is so.
"""

import getpass
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

from arena.doctor.check_result import Finding, bad, note, ok, weak
from arena.errors import ArenaError
from arena.process.sandbox import bubblewrap, probe

_WITHOUT_GROUP: Final = (
    "bots have no control group: memory is watched each 20 to 50 ms, and a bot may exceed its limit for that long;"
    " shared memory is refused; CPU time is that of the bot's first process, without what its children use"
)
_CORE_PATTERN: Final = Path("/proc/sys/kernel/core_pattern")


def sandbox(try_to_break_out: Callable[[], probe.Tried]) -> list[Finding]:
    """Whether bots can be kept: all else is of interest only then."""
    try:
        tried = try_to_break_out()
        program = f"bubblewrap {bubblewrap.version()} ({bubblewrap.program()}) with a filter of system calls"
    except (ArenaError, OSError, LookupError, ValueError, AttributeError, ImportError) as error:
        reason, _, advice = str(error).partition("\n")
        return [bad("\n".join([reason or type(error).__name__, *(["what to do: " + advice] if advice else [])]))]
    if breaches := probe.told(tried):
        return [bad("\n".join([f"{program} does not hold", *breaches, "please report this, with your system's name"]))]
    return [
        ok(program),
        ok(f"a hostile program tried {_number(tried)} ways out of it just now, none open:\n{_groups(tried)}"),
    ]


def _number(tried: probe.Tried) -> int:
    return sum(map(len, tried.values()))


def _groups(tried: probe.Tried) -> str:
    """What was tried, with how many ways of each kind; groups of system calls together."""
    kinds: Counter[str] = Counter()
    for group, ways in tried.items():
        kinds[group.partition(":")[0]] += len(ways)
    return ", ".join(f"{kind} {number}" for kind, number in kinds.items())


def users(euid: int) -> list[Finding]:
    """Who bots are on this machine."""
    if euid == 0:
        return [ok("as root: each bot has a spare user of its own, so its files must be readable by all")]
    return [ok(f"bots run as you ({_name(euid)}), and see none of your files")]


def accounting(why_no_group: str) -> list[Finding]:
    """How exactly memory and CPU time of bots are counted; `why_no_group` has the reason and an advice, or is empty."""
    if not why_no_group:
        return [ok("each bot has a control group: the kernel counts its memory and CPU time, and ends it at its limit")]
    reason, _, advice = why_no_group.partition("; ")
    to_do = [f"what to do: {advice}"] if advice else []
    return [weak("\n".join([_WITHOUT_GROUP, f"why: {reason}", *to_do]))]


def cores_dumped(pattern: str) -> list[Finding]:
    """Where the kernel hands crashes to a program, it does so for bots too, whatever their limits."""
    if not pattern.startswith("|"):
        return []
    words = pattern[1:].split(maxsplit=1)
    program = words[0] if words else "a program"
    return [note(f"crashes of bots are handed to {program}, outside of the sandbox: `sysctl kernel.core_pattern=core`")]


def promises() -> list[Finding]:
    """What no sandbox on one kernel gives."""
    return [note("bots share the kernel with you: fine for a class or a club, not for strangers")]


def own_promises(why_no_group: str) -> list[Finding]:
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
