"""The behaviours that tests of single matches ask for: those of the other files, and some that only they need."""

import atexit
import contextlib
import json
import os
import resource
import signal
import time
from collections.abc import Callable

import bot_dialogue  # noqa: F401 - it registers its behaviours, as those below do
import bot_lines  # noqa: F401
import bot_tasks  # noqa: F401
import bot_time  # noqa: F401
from bot_player import Message, answer, for_ever, instead_of, play, reply, send, start

LIMIT = 1 << 16


def at_first(behaviour: Callable[[Message], object]) -> Callable[..., object]:
    """Instead of the answer to the first request."""
    left = [behaviour]

    def act(message: Message) -> None:
        (left.pop() if left else answer)(message)

    instead_of("request", behaviour.__name__)(act)
    return behaviour


@at_first
def grandchild_in_a_session(message: Message) -> None:
    """One of its own, as every daemon does it."""
    make_grandchild(os.setsid)
    answer(message)


@at_first
def orphan(message: Message) -> None:
    """A grandchild in the bot's own group whose parent is gone."""
    make_grandchild(lambda: None)
    answer(message)


def make_grandchild(prepare: Callable[[], object]) -> None:
    """Return when it lives; it tells its id on stderr."""
    reading, writing = os.pipe()
    if not os.fork():
        prepare()
        if not os.fork():
            os.write(2, f"grandchild {os.getpid()}\n".encode())
            os.close(writing)
            for_ever()
        os._exit(0)
    os.close(writing)
    os.wait()
    os.read(reading, 1)


@at_first
def line_at_limit(message: Message) -> None:
    """A good answer in as many bytes as a line may have, newline included."""
    text = json.dumps({"type": "action", "id": message["id"], "action": 0})
    send(text[:-1].encode() + b" " * (LIMIT - 1 - len(text)) + b"}\n")


@at_first
def early(message: Message, count: int = 20) -> None:
    """The answers of the whole match at once."""
    lines = [json.dumps({"type": "action", "id": message["id"] + number, "action": 0}) for number in range(count)]
    send("\n".join([*lines, ""]).encode())


@at_first
def early_many(message: Message) -> None:
    """More of them than a pipe holds: those left in it must not count for a later request either."""
    early(message, 3000)


@at_first
def limits(message: Message) -> None:
    """Whatever it may do to its own limits is no affair of the referee."""
    for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_AS):
        resource.setrlimit(kind, (resource.getrlimit(kind)[1],) * 2)
    with contextlib.suppress(OSError):  # in the sandbox there is no such call
        os.nice(5)
    answer(message)


@start
def chatty() -> None:
    """Many lines before the first one."""
    send(b"loading weights ...\n" * 5_000)


@start
def ignore_all() -> None:
    """Signals, and what asks it to go: quit, or the end of its input."""
    for number in (1, 2, 3, 13, 15):
        signal.signal(number, signal.SIG_IGN)
    atexit.register(for_ever)


@instead_of("match_start")
def close_stdin_when_ready(message: Message) -> None:
    """Hear nothing of the match."""
    reply(message)
    os.close(0)
    for_ever()


@instead_of("match_start")
def close_stdin_late(message: Message) -> None:
    """While the referee waits for room in the pipe."""
    reply(message)
    time.sleep(0.1)
    os.close(0)
    for_ever()


if __name__ == "__main__":
    play()
