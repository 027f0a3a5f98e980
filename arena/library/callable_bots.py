"""Players that are functions or objects of the caller: a bot's process that hands each line on, and who answers here.

The process is `bridge.py`, started like any other bot and without a sandbox. It copies lines to a socket beside the
results and back. So the referee, the protocol and the record know nothing special of such a player; and the function
runs where the caller called, in the same thread.
"""

import contextlib
import fcntl
import json
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, Final, Self

import msgspec
import yaml

from arena.errors import SpecError
from arena.process.manifest import Name
from arena.store import files
from arena.validation import first_mistake

CALLABLES: Final = "callables"
BRIDGE: Final = '''"""Lines of the referee to the process that holds the player, and its lines back."""
import os, pathlib, select, socket, sys
here = next(each for each in pathlib.Path(__file__).resolve().parents if (each / "callables").is_dir())
os.chdir(here / "callables")
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
while True:
    for ready in select.select([0, line], [], [])[0]:
        data = os.read(0, 1 << 16) if ready == 0 else line.recv(1 << 16)
        if not data:
            sys.exit()
        line.sendall(data) if ready == 0 else os.write(1, data)
'''
_PIECE: Final = 1 << 16


class CallableBot:
    """A bot that is a function `choose(view, legal) -> action` of the caller, or an object with a method `act`.

    `act(request)` returns an action or its index in `legal`; `start(match)` and `end(result)` are optional.
    """

    def __init__(self, name: str, player: Any) -> None:
        is_playable = callable(player) or hasattr(player, "act")
        if not is_playable or isinstance(player, type) or iscoroutinefunction(player):
            expected = "a bot's name, a path, a function, or an object with `act` (no class, no `async def`)"
            raise SpecError(f"player {name}: expected {expected}, found {player!r:.80}")
        self.name = name
        self._act = getattr(player, "act", None) or self._wrap_choose(player)
        self._start, self._end = getattr(player, "start", None), getattr(player, "end", None)

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Call the player for a message of the protocol; return the answer to send, None if none is due.

        Errors of the player pass. TypeError if an action has no JSON form.
        """
        match message["type"]:
            case "hello":
                return {"type": "hello", "protocols": [1], "name": self.name}
            case "match_start":
                if self._start:
                    self._start(message)
                return {"type": "ready", "match": message["match"]}
            case "request":
                return {"type": "action", "id": message["id"], "action": self._to_json(self._act(message))}
            case "match_end" if self._end:
                self._end(message)
        return None

    def _wrap_choose(self, choose: Callable[[Any, Any], Any]) -> Callable[[Mapping[str, Any]], Any]:
        """Return `act` for a plain function; a listed action is sent by its index."""

        def act(request: Mapping[str, Any]) -> Any:
            """Choose by the function; return the index of a listed action, or else the action as JSON."""
            legal = request["legal"]
            action = self._to_json(choose(request["view"], legal))
            return legal.index(action) if legal is not None and action in legal else action

        return act

    def _to_json(self, action: Any) -> Any:
        """Return the action as plain JSON values; TypeError if it has no JSON form."""
        try:
            return msgspec.json.decode(msgspec.json.encode(action, enc_hook=_plain_number))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise TypeError(f"player {self.name}: {action!r:.80} is no action: {error}") from None


class Switchboard:
    """The sockets of a results folder, one for each callable player, by which bots' processes reach the players.

    It listens inside `with`, which raises SpecError while another run has callable players in this folder.
    """

    def __init__(self, results: Path, bots: Mapping[str, CallableBot]) -> None:
        self._folder = results / CALLABLES
        self._bots = bots
        self._stack = contextlib.ExitStack()
        self.listening: dict[socket.socket, CallableBot] = {}
        self._lines: dict[socket.socket, tuple[CallableBot, bytearray]] = {}

    def __enter__(self) -> Self:
        if self._bots:
            files.make_folder(self._folder.parent, CALLABLES)
            self._stack.enter_context(_lock_run(self._folder.parent))
        for name, bot in self._bots.items():
            self.listening[self._stack.enter_context(_listen(self._folder / f"{name}.socket"))] = bot
        return self

    def __exit__(self, *_: object) -> None:
        for line in self._lines:
            line.close()
        self._stack.close()

    @property
    def sockets(self) -> list[socket.socket]:
        """The sockets on which something may arrive."""
        return [*self.listening, *self._lines]

    def serve(self, ready: socket.socket) -> None:
        """Accept a connection of a process, answer its lines, or close it at its end. Errors of players pass."""
        if ready in self.listening:
            self._lines[ready.accept()[0]] = (self.listening[ready], bytearray())
            return
        bot, held = self._lines[ready]
        data = b""
        with contextlib.suppress(ConnectionError):
            data = ready.recv(_PIECE)
        held += data
        *lines, unfinished = held.split(b"\n")
        held[:] = unfinished
        for line in filter(None, lines):  # no `map`: a StopIteration of the player would be its end
            answer = bot.answer(json.loads(line))
            with contextlib.suppress(ConnectionError):  # the bot's process is gone: the next look sees its end
                ready.sendall(msgspec.json.encode(answer) + b"\n" if answer else b"")
        if not data:
            del self._lines[ready]
            ready.close()


def _plain_number(value: Any) -> Any:
    """Return a number of numpy or torch as Python's own; TypeError for any other value."""
    if getattr(value, "ndim", 0):
        raise TypeError(f"an array of shape {tuple(value.shape)}, where one number could be an index in `legal`")
    if not hasattr(value, "item"):
        raise TypeError(f"a {type(value).__name__} has no JSON form")
    return value.item()


@contextlib.contextmanager
def _lock_run(results: Path) -> Iterator[None]:
    """Hold the lock of callable players in a results folder; SpecError if another run holds it (and their sockets)."""
    with os.fdopen(files.open_file(results, f"{CALLABLES}/lock", os.O_RDWR | os.O_CREAT), "rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SpecError(f"another run of a league with functions plays into {results}; wait for its end") from None
        yield


@contextlib.contextmanager
def _listen(path: Path) -> Iterator[socket.socket]:
    """Listen on a socket at `path`, which may be longer than a socket's path can be: bind through its folder.

    The file is removed before and after.
    """
    path.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"/proc/self/fd/{folder}/{path.name}")
            listener.listen()
            yield listener
    finally:
        path.unlink(missing_ok=True)
        os.close(folder)


def require_name(name: object) -> str:
    """Return the name if a player, and so a file, may have it; SpecError for any other value."""
    try:
        return msgspec.convert(name, Name)
    except msgspec.ValidationError:
        raise SpecError(first_mistake(name, Name, place="players: name")) from None


def bridge_folder(results: Path, name: str, version: str) -> Path:
    """Write the bot that passes lines on; return its folder. Its identity depends on name and version alone."""
    folder = f"{CALLABLES}/{name}.bot"
    files.make_folder(results, folder)
    files.write_plain(results, f"{folder}/bridge.py", BRIDGE)
    manifest = {
        "name": name,
        "version": version,
        "command": ["python3", "bridge.py", f"{name}.socket"],
        "processes": True,  # the time of the caller's process is none of the bot's, so wall time decides
        "description": "a function of the caller, in whose process it runs",
    }
    files.write_plain(results, f"{folder}/bot.yaml", yaml.safe_dump(manifest))
    return results / folder
