"""How long work is stopped: by Ctrl-C, by the SIGTERM of a service manager or a job queue, by the SIGHUP of a terminal.

Rule: all are the same KeyboardInterrupt, raised once. A second one does not disturb the clean-up after the first; only
if that takes too long it ends the program on the spot, with the same exit code.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Final

from arena.errors import Interrupted

_STOPS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_CLEAN_UP_S: Final = 5.0
"""How long after a stop another one is taken for impatience; a clean-up takes less than a second of its own time."""


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt inside; what the shell had ignored (`nohup`) stays ignored.

    After a stop they keep this meaning, because the program is about to end and impatience may come until it has.
    """
    last_s = float("-inf")

    def stop(_number: int, _frame: object) -> None:
        nonlocal last_s
        if last_s < 0:
            last_s = time.monotonic()
            raise KeyboardInterrupt
        if time.monotonic() - last_s > _CLEAN_UP_S:
            # No second exception: it would come out anywhere, and where nobody expects it. Workers leave with us.
            with contextlib.suppress(OSError):
                sys.stderr.write("interrupted again, before the end of the clean-up\n")
            os._exit(Interrupted.exit_code)

    former = {number: signal.getsignal(number) for number in _STOPS}
    heard = [number for number, handler in former.items() if handler is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, stop)
    try:
        yield
    finally:
        if last_s < 0:
            for number in heard:
                signal.signal(number, former[number])


def ignore_impatience() -> None:
    """For the very last moments, when Python itself would fall back to dying of the signal."""
    for number in _STOPS:
        signal.signal(number, signal.SIG_IGN)
