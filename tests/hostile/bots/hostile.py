"""A bot that plays nim, and at one moment does what its first argument says.

It needs nothing but the standard library. A behaviour is a function of the message at hand; those under `AT_REQUEST`
come with the first request, those under `AT_START` before the first line, those under `AT_END` with match_end or quit.
"""

import contextlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

Message = dict[str, Any]
LIMIT = 1 << 16


def say(text: str) -> None:
    """One line at once."""
    os.write(1, text.encode() + b"\n")


def answer(message: Message, **more: Any) -> None:
    say(json.dumps({"type": "action", "id": message["id"], "action": 0, **more}))


def for_ever() -> NoReturn:
    while True:
        time.sleep(60)


def spin(_: Message) -> None:
    while True:
        pass


def sleep(_: Message) -> None:
    for_ever()


def exit_ill(_: Message) -> None:
    os.write(2, b"Traceback: the table is empty\n")
    os._exit(3)


def forked(_: Message) -> None:
    """The bot is gone, but a child holds its pipes."""
    if os.fork():
        os._exit(5)
    for_ever()


def daemon(message: Message) -> None:
    """A grandchild in a session of its own, as every daemon does it."""
    grandchild(os.setsid)
    answer(message)


def orphan(message: Message) -> None:
    """A grandchild in the bot's own group whose parent is gone."""
    grandchild(lambda: None)
    answer(message)


def grandchild(prepare: Callable[[], object]) -> None:
    """Returns when it lives; it tells its id on stderr."""
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


def flood(_: Message) -> None:
    while True:
        os.write(1, b"thinking about it ...\n" * 3000)


def illegal(message: Message) -> None:
    """More counters than there are."""
    answer(message, action={"heap": 0, "count": 99})
    for_ever()


def longest_line(message: Message) -> None:
    """A good answer in as many bytes as a line may have, newline included."""
    text = json.dumps({"type": "action", "id": message["id"], "action": 0})
    data = text[:-1].encode() + b" " * (LIMIT - 1 - len(text)) + b"}\n"
    while data:
        data = data[os.write(1, data) :]


def twice(message: Message) -> None:
    answer(message)
    answer(message, note="no, this")


def early(message: Message, count: int = 20) -> None:
    """The answers of the whole match at once."""
    say("\n".join(json.dumps({"type": "action", "id": message["id"] + n, "action": 0}) for n in range(count)))


def early_many(message: Message) -> None:
    """More of them than a pipe holds: those left in it must not count for a later request either."""
    early(message, 3000)


def stray(message: Message) -> None:
    say("thinking about it ...")
    say("")
    answer(message)


def limits(message: Message) -> None:
    """Whatever it may do to its own limits is no affair of the referee."""
    for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_AS):
        resource.setrlimit(kind, (resource.getrlimit(kind)[1],) * 2)
    with contextlib.suppress(OSError):  # in the sandbox there is no such call
        os.nice(5)
    answer(message)


def close_stdin() -> NoReturn:
    os.close(0)
    for_ever()


def close_stdin_late() -> NoReturn:
    """While the referee waits for room in the pipe."""
    time.sleep(0.1)
    close_stdin()


AT_REQUEST: dict[str, Callable[[Message], None]] = {
    "spin": spin,
    "sleep": sleep,
    "exit-3": exit_ill,
    "forked": forked,
    "daemon": daemon,
    "orphan": orphan,
    "flood-lines": flood,
    "illegal": illegal,
    "line-at-limit": longest_line,
    "twice": twice,
    "early": early,
    "early-many": early_many,
    "stray": stray,
    "limits": limits,
    "honest": answer,
}
AT_START: dict[str, Callable[[], object]] = {
    "mute": for_ever,
    "exit-at-once": lambda: os._exit(0),
    "chatty": lambda: say("loading weights ...\n" * 5_000),
    "ignore-all": lambda: [signal.signal(number, signal.SIG_IGN) for number in (1, 2, 3, 13, 15)],
}
AT_READY: dict[str, Callable[[], object]] = {
    "close-stdin": close_stdin,
    "close-stdin-late": close_stdin_late,
    "deaf": for_ever,
}
AT_END: dict[str, dict[str, Callable[[], object]]] = {
    "exit-after-match": {"match_end": lambda: os._exit(4)},
    "ignore-all": {"quit": for_ever},
    "talk-at-quit": {"quit": lambda: say("bye\n" * 200_000)},
}


def main() -> None:
    mode = sys.argv[1]
    AT_START.get(mode, lambda: None)()
    act = AT_REQUEST.get(mode, answer)
    while line := sys.stdin.readline():
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            say(json.dumps({"type": "hello", "protocols": [1]}))
        elif kind == "match_start":
            say(json.dumps({"type": "ready", "match": message["match"]}))
            AT_READY.get(mode, lambda: None)()
        elif kind == "request":
            act, now = answer, act
            now(message)
        else:
            AT_END.get(mode, {}).get(kind, lambda: None)()
            if kind == "quit":
                return
    if mode == "ignore-all":
        for_ever()


if __name__ == "__main__":
    main()
