"""Blame for the end of a bot's process: the bot's, or the machine's.

    the bot used more than its limit                                           the bot's
    the match is the last repeat, alone and with room for all limits           the bot's
    a signal ended the process around the sandbox                              the machine's
    the kernel ended a process for want of memory, and SIGKILL ended the bot   the machine's
    the machine refused a process, or has fewer left than the bot may have     the machine's
    all else: an exit code, another signal, SIGKILL by itself, closed pipes    the bot's

Rule: one function judges, from evidence alone; the first line of this table that is true decides. A bot can bring about
no line that is the machine's while its limits have room, and the last repeat is played only then.
"""

import msgspec

from arena.errors import Crashed, Shortage


class Evidence(msgspec.Struct, frozen=True):
    """The facts about a bot whose process has ended, or does not talk any more.

    `ending` in words. `violation`: how it used more than its limit, in words, or empty. `is_killed`: SIGKILL ended it,
    and not by us. `is_wrapper_killed`: a signal ended the process around the bot's sandbox, which no bot can reach, and
    not by us. `oom_kills`: processes that the kernel ended for want of memory since the bot started, of the bot where
    its group counts them, else of any. `has_processes`: whether the bot may have lost a process that was not its first.
    `is_crowded`: whether the machine refused a process or thread since the bot started, or has fewer left than the bot
    may have.
    """

    ending: str
    violation: str = ""
    is_killed: bool = False
    is_wrapper_killed: bool = False
    oom_kills: int = 0
    has_processes: bool = False
    is_crowded: bool = False


def judge(evidence: Evidence, hint: str, *, is_last: bool = False) -> Crashed | Shortage:
    """Return the bot's fault, or the machine's; `is_last` in a match that is played alone for the last time."""
    fault = Crashed(f"the bot {evidence.ending}", hint=hint)
    if evidence.violation:
        return Crashed(f"the bot was killed: {evidence.violation}", hint=hint)
    if is_last:
        return fault
    if evidence.is_wrapper_killed:
        return Shortage(f"the bot {evidence.ending}, which was sent from outside its sandbox")
    if evidence.oom_kills and (evidence.is_killed or evidence.has_processes):
        return Shortage(f"the bot {evidence.ending}: the machine ran out of memory, and the bot was within its limit")
    if evidence.is_crowded:
        return Shortage(f"the bot {evidence.ending}, and the machine has no processes left for its limit of tasks")
    return fault
