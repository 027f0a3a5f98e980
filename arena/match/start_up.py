"""The start-up of a bot: a process that says `hello`, and `ready` for each match, in one time for both.

Rule: real time counts without the machine's own delays; and the bot's CPU time, where CPU time decides. A bot that
failed START_ATTEMPTS times in a row is not started again: one that never says a word would cost its league the whole
start-up time in every match.
"""

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Final

from arena.errors import BotFault, Crashed, OutOfTime
from arena.match.clock_account import ClockAccount
from arena.match.dialogue import Dialogue
from arena.match.line_recorder import HELLO, READY
from arena.match.record import Said
from arena.process.channel import Channel
from arena.process.clock import MoveClock
from arena.protocol import messages as m

START_ATTEMPTS: Final = 2
_NAMED_S: Final = 0.05
"""Seconds from which on the message of a timeout names the time that went to `hello`."""


class StartUp:
    """The starts of one bot. `hello` greets a new process, whose lines at that are `said_hello`.

    `is_new`: the process was started for this match.
    """

    def __init__(
        self, open_channel: Callable[[], Channel], hello: m.Hello, startup_s: float, account: ClockAccount
    ) -> None:
        self.hello = hello
        self.is_new = False
        self.said_hello: Said | None = None
        self._open_channel, self._startup_s, self._account = open_channel, startup_s, account
        self._failures: list[BotFault] = []

    @contextlib.contextmanager
    def attempt(self) -> Iterator[None]:
        """Count a start-up, done inside the `with`, as failed or not. Raises the last fault after too many."""
        self.is_new = False
        if len(self._failures) >= START_ATTEMPTS:
            raise self._failures[-1]
        try:
            yield
        except BotFault as fault:
            self._failures.append(fault)
            raise
        self._failures.clear()

    def open(self) -> Channel:
        """Start a new process and return its channel. Raises BotFault."""
        self.said_hello, self.is_new = None, True
        self._account.begin_process()
        return self._open_channel()

    def greet(self, talk: Dialogue) -> None:
        """Ask a new process for its `hello`. Raises BotFault."""
        self._exchange_greetings(talk, self.hello, HELLO, m.BotHello)
        self.said_hello = talk.recorder.said.get(HELLO)

    def announce(self, talk: Dialogue, start: m.MatchStart) -> None:
        """Announce a match and wait for `ready`. Raises BotFault."""
        self._exchange_greetings(
            talk, start, READY, m.Ready, "; one process plays many matches: after match_end it must read on"
        )

    def _exchange_greetings(
        self,
        talk: Dialogue,
        message: m.Hello | m.MatchStart,
        number: int,
        owed: type[m.BotHello | m.Ready],
        crash_hint: str = "",
    ) -> None:
        """Send a message and wait for its answer in what is left of the time for both, then stop the bot.

        `number` is that of its lines in the record. Raises BotFault, with the bot's start in words.
        """
        account, channel, word = self._account, talk.channel, owed.__struct_config__.tag
        spent_s = account.startup_us / 1e6
        left_s = self._startup_s - spent_s
        clock = MoveClock(
            cpu=channel.cpu,
            wall=account.wall,
            budget_s=left_s if account.decides_cpu else math.inf,
            wall_s=left_s,
            decides_cpu=True,
            delayed=channel.delayed_s,
            cpu_since=account.cpu_since,
            suspended=account.suspended,
        )
        talk.recorder.open(number)
        try:
            cpu_reading = talk.shake_hands(message, owed, clock)
        except OutOfTime:
            more = self._explain_silence(talk, spent_s, clock.cpu_s)
            hint = f'answer {message.__struct_config__.tag} with "{word}", and flush stdout'
            raise OutOfTime(f'no "{word}" within {self._startup_s:.1f} s{more}', hint=hint) from None
        except Crashed as crash:
            started = f'before its "{word}"; it was started as {channel.origin}'
            raise Crashed(f"{crash.message} {started}", hint=crash.hint + crash_hint) from None
        finally:
            talk.recorder.close()
        account.start_up(clock.charged_s if account.decides_cpu else clock.elapsed_s, cpu_reading)

    def _explain_silence(self, talk: Dialogue, spent_s: float, cpu_s: float) -> str:
        """Return where the time of a start-up went: `hello` before it, CPU time, lines that are no answer."""
        before = f' ({spent_s:.1f} s went to "hello")' if spent_s >= _NAMED_S else ""
        is_busy = self._account.decides_cpu and cpu_s > self._startup_s - spent_s
        used = f"; its threads used {cpu_s:.1f} s of CPU time" if is_busy else ""
        strays = talk.discarded.describe_strays()
        return f"{before} from {talk.channel.origin}{used}{strays and '; ' + strays}"
