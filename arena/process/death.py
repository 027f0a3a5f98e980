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
    """The facts about a bot whose process has ended or closed its pipes.

    `ending`: the end in words. `violation`: the limit it exceeded, in words, or empty. `is_killed`: SIGKILL ended it,
    not sent by the harness. `is_wrapper_killed`: a signal ended the process around the bot's sandbox, which no bot can
    reach, not sent by the harness. `oom_kills`: processes that the OOM killer ended since the bot started: the bot's if
    its control group counts them, else any. `has_processes`: the bot may have processes besides its first.
    `is_crowded`: the machine refused a process or thread since the bot started, or has fewer left than the bot's limit.
    """

    ending: str
    violation: str = ""
    is_killed: bool = False
    is_wrapper_killed: bool = False
    oom_kills: int = 0
    has_processes: bool = False
    is_crowded: bool = False


def judge(evidence: Evidence, hint: str, *, is_last: bool = False) -> Crashed | Shortage:
    """Return Crashed if the bot is to blame, else Shortage; `is_last`: the match is played alone for the last time."""
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
