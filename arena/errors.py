"""Everything that can go wrong, sorted by whose fault it is.

    ArenaError
    ├── SpecError             invalid configuration file, option or command line                   exit 2
    ├── BotFault              a bot lost its match; never leaves the referee
    │   ├── MalformedReply    not a line of arena/1, or not an action of this game
    │   ├── IllegalAction     an action of this game that the rules do not allow now
    │   ├── ProtocolViolation a valid message at a time when it makes no sense
    │   ├── OutOfTime         the move's budget, the bank or the wall-clock backstop is used up
    │   └── Crashed           the process ended, or closed its output, or never started
    ├── CheckFailed           a verification failed: of a bot, or of a stored match                exit 1
    │   └── DamagedStore      the file is no readable arena database                               exit 1
    ├── Interrupted           stopped by a person or by the system                                 exit 3
    └── HarnessFault          a fault of arena: the match is void and is played again              exit 4
        └── MachineFault      the machine lacks something: a program, a library, memory, room      exit 5
            └── Shortage      memory, processes or open files ran out: the match is played again alone

Rule: a message says what was found, what was expected, and where.
"""

from typing import ClassVar


class ArenaError(Exception):
    """Root of all errors raised on purpose; `exit_code` is the exit code of the command line."""

    exit_code: ClassVar[int] = 4


class SpecError(ArenaError):
    """A file, option or argument cannot be used as written."""

    exit_code = 2


class BotFault(ArenaError):
    """A fault of a bot. `code` is the termination of the match; `hint` tells the author how to mend the bot.

    `reason` is a word for programs, where a game has a list of them; empty elsewhere. `got` is the beginning of the
    line at fault. `cost` is what a refused question to a simulator takes from the budget of questions.
    """

    code: ClassVar[str]
    cost = 1

    def __init__(self, message: str, *, hint: str = "", got: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.got = got
        self.reason = reason


class MalformedReply(BotFault):
    """The line, or the action in it, does not have the form that was asked for."""

    code = "malformed_reply"


class IllegalAction(BotFault):
    """The action is well formed, but the rules forbid it in this position."""

    code = "illegal_action"


class ProtocolViolation(BotFault):
    """A well-formed message that is not allowed at this point of the dialogue."""

    code = "protocol_violation"


class OutOfTime(BotFault):
    """The bot used more time than it had. `is_by_load`: wall time ended the move while the bot waited for a core."""

    code = "timeout"
    is_by_load = False


class Crashed(BotFault):
    """The bot's process ended, closed its pipes, or could not be started."""

    code = "crash"


class CheckFailed(ArenaError):
    """A verification found something wrong."""

    exit_code = 1


class DamagedStore(CheckFailed):
    """The database file is not a readable arena database, or something is missing there; it is left untouched."""


class Interrupted(ArenaError):
    """Stopped from outside; everything finished so far is stored."""

    exit_code = 3


class HarnessFault(ArenaError):
    """The harness failed, not a bot: the match does not count and is played again."""


class MachineFault(HarnessFault):
    """The machine lacks something that arena needs: a program, a library, memory, room on a disk."""

    exit_code = 5


class Shortage(MachineFault):
    """Memory, processes or open files ran out in a match, which is void and is played again, alone on the machine."""
