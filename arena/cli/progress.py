"""How far a league is, on one line of a terminal; silent in a pipe.

Rule: progress goes to stderr and counts what is stored, so that what it has shown is never lost.
"""

import sys
import time
from typing import Final

from arena.text import counted

_WIDTH: Final = 30


class Progress:
    """A line that is drawn over and over. `total` and `done` count matches, `forfeits` those of them lost that way."""

    def __init__(self, *, total: int, done: int = 0, forfeits: int = 0) -> None:
        self.total = total
        self.done = done
        self._before = done
        self._forfeits = forfeits
        self._start_s = time.monotonic()
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()

    @property
    def left(self) -> int:
        """Matches still to be played."""
        return self.total - self.done

    def add(self, matches: int, forfeits: int) -> None:
        """More matches are stored."""
        self.done += matches
        self._forfeits += forfeits

    def draw(self) -> None:
        """Draw the line anew."""
        self._write(f"\r{self.line()}\x1b[K")

    def end(self) -> None:
        """Leave the line standing."""
        self.draw()
        self._write("\n")

    def _write(self, text: str) -> None:
        """To the terminal, until that is gone."""
        if self._is_shown:
            try:
                sys.stderr.write(text)
                sys.stderr.flush()
            except OSError:
                self._is_shown = False

    def line(self) -> str:
        """The line: a bar and the words."""
        share = self.done / self.total if self.total else 1.0
        bar = ("#" * int(share * _WIDTH)).ljust(_WIDTH, ".")
        return f"[{bar}] {self.words()}"

    def words(self) -> str:
        """Matches, rate, time left, forfeits."""
        elapsed_s = max(time.monotonic() - self._start_s, 1e-9)
        rate = (self.done - self._before) / elapsed_s
        left_s = (self.total - self.done) / rate if rate else 0.0
        forfeits = f", {counted(self._forfeits, 'forfeit')}" if self._forfeits else ""
        left = f", {_duration(left_s)} left" if 0 < self.done < self.total else ""
        return f"{self.done}/{self.total} matches, {rate:.{0 if rate >= 10 else 1}f}/s{left}{forfeits}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
