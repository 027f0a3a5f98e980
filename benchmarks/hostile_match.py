"""One match against the hostile bot: how it ended, when, and what it cost the referee.

Rule: time counts from the line that the bot failed to answer, as the referee's own transcript has it, to the end of
`play_match`, with the bot's process killed and reaped. Memory is the growth of this process's resident set at its peak.
"""

import re
import time
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import msgspec
from benchbots import own_bot
from matches import SHANGHAIEN, match_of, seated

from arena.match.participant import TranscriptLine
from arena.match.referee import play_match
from arena.match.settings import ClockSettings

_ASKING: Final = (b'{"type":"hello"', b'{"type":"match_start"', b'{"type":"request"')
_KEPT_LINES: Final = 20


class Ending(msgspec.Struct, frozen=True):
    """How a match with a hostile bot ended: seconds since the fatal line, CPU seconds, megabytes."""

    termination: str
    elapsed_s: float
    bot_cpu_s: float
    referee_cpu_s: float
    grown_mb: float


class _Transcript(deque[TranscriptLine]):
    """A transcript that keeps the time of the last request to the bot, however many lines follow."""

    asked_s = 0.0

    def append(self, line: TranscriptLine, /) -> None:
        """Append a line; note the time of a request to the bot."""
        if line[1] == ">" and line[2].startswith(_ASKING):
            self.asked_s = line[0]
        super().append(line)


def ending(manner: str, clock: ClockSettings) -> Ending:
    """Play a match of the bot with this manner against an instant one; return how it ended."""
    bots = (own_bot("ill_mannered.py"), own_bot("instant.py"))  # the second one ignores the argument
    with seated(SHANGHAIEN, bots, clock, (manner,)) as bot_players:
        bot_players[0].transcript = transcript = _Transcript(maxlen=_KEPT_LINES)
        before_mb, before_s = _resident_mb("VmRSS"), time.process_time()
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts again from here
        record = play_match(match_of(SHANGHAIEN, clock), bot_players)
        now_s = time.monotonic()
        return Ending(
            termination=record.termination.value,
            elapsed_s=now_s - transcript.asked_s,
            bot_cpu_s=record.seats[0].cpu_ms / 1000,
            referee_cpu_s=time.process_time() - before_s,
            grown_mb=max(0.0, _resident_mb("VmHWM") - before_mb),
        )


def ending_in_fresh_process(manner: str, clock: ClockSettings) -> Ending:
    """Play the match as `ending` does, in a new process: memory freed earlier could hide its growth."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        return executor.submit(_after_one_match, manner, clock).result(timeout=120)


def _after_one_match(manner: str, clock: ClockSettings) -> Ending:
    """Play a normal match first, which takes the memory that every process needs once; then `ending`."""
    instant = own_bot("instant.py")
    with seated(SHANGHAIEN, (instant, instant)) as bot_players:
        play_match(match_of(SHANGHAIEN), bot_players)
    return ending(manner, clock)


def _resident_mb(field: str) -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    entry = re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)
    assert entry is not None, f"no {field} in /proc/self/status"
    return int(entry[1]) / 1024
