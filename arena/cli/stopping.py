"""How long work is stopped: by Ctrl-C, or by the SIGTERM of a service manager or a job queue.

Rule: both are the same KeyboardInterrupt, and a second one does not disturb the clean-up after the first.
"""

import contextlib
import signal
import time
from collections.abc import Iterator
from typing import Final

_CLEAN_UP_S: Final = 1.0
"""How long after a stop another one is taken for impatience."""


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """SIGINT and SIGTERM raise KeyboardInterrupt inside; what the shell had ignored (`nohup`) stays ignored.

    After a stop they keep this meaning, because the program is about to end and impatience may come until it has.
    """
    last_s = float("-inf")

    def stop(_number: int, _frame: object) -> None:
        nonlocal last_s
        if time.monotonic() - last_s > _CLEAN_UP_S:
            last_s = time.monotonic()
            raise KeyboardInterrupt

    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
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
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
