"""An operation in a child process: request in, events and value out as msgpack. Only this module starts processes.

Rule: the child is in a session of its own, so that Ctrl-C reaches the caller only, which then ends it. It notices
the end of its caller when it next reports progress. Progress is dropped while the caller is busy; nothing else is.

`python -m arena.library.child` is that child. Frames have their length in four bytes in front of them.
"""

import contextlib
import logging
import os
import select
import selectors
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any, Final

import msgspec

from arena import errors
from arena.errors import ArenaError, HarnessFault, Interrupted, MachineFault, SpecError
from arena.match.secret_luck import Secret

if TYPE_CHECKING:
    from arena.library.callable_bots import Switchboard

OnCounts = Callable[[int, int], object]
"""A listener: gets, about twice a second, the number of matches done and of all matches."""
OnFrame = Callable[[Mapping[str, Any]], object]
"""A listener: gets the fields of an event; `type` is its name."""
log: Final = logging.getLogger("arena.library")
_POLL_S: Final = 0.5
_END_WITHIN_S: Final = 10.0
_LENGTH: Final = 4


def run_in_child(
    operation: Callable[..., Any],
    request: Any,
    *,
    players: "Switchboard | None" = None,
    on_counts: OnCounts | None = None,
    on: OnFrame = lambda _: None,
) -> Any:
    """Run an operation in a new process; return its value as dicts, lists and plain values, or raise its error.

    `players` answer in this process meanwhile. An exception of a player, `on_counts` or `on`, or Ctrl-C, first ends the
    child and its bots. HarnessFault if the child ends without a value or an error.
    """
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb", buffering=0) as pipe:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "arena.library.child", str(write_end)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(write_end,),
            start_new_session=True,
        )
        os.close(write_end)
        caller = _Caller(pipe, on_counts, on)
        try:
            assert child.stdin is not None, "it is a pipe"
            with contextlib.suppress(BrokenPipeError), child.stdin as stdin:
                stdin.write(_encode([operation.__module__, operation.__name__, request]))
            caller.listen(child, players)
            child.wait()
        except BaseException:
            _end_child(child)
            raise
    if caller.outcome is None:
        raise HarnessFault(f"the process of {operation.__name__} ended with exit code {child.returncode}")
    if "error" in caller.outcome:
        raise error_of(caller.outcome)
    return caller.outcome["value"]


def error_of(failure: Mapping[str, str]) -> ArenaError:
    """Return the error that a child has sent."""
    error: ArenaError = getattr(errors, failure["error"])(failure["text"])
    return error


class _Caller:
    """The caller's end of the pipe."""

    def __init__(self, pipe: IO[bytes], on_counts: OnCounts | None, on: OnFrame) -> None:
        self.outcome: dict[str, Any] | None = None
        self._pipe, self._on_counts, self._on = pipe, on_counts, on
        self._buffer = bytearray()

    def listen(self, child: "subprocess.Popen[bytes]", players: "Switchboard | None") -> None:
        """Receive frames and serve the players until the child closes its end, or has exited and no frame is left."""
        is_gone = False
        while True:
            with selectors.DefaultSelector() as selector:
                for file in (self._pipe, *(players.sockets if players else ())):
                    selector.register(file, selectors.EVENT_READ)
                for key, _ in selector.select(0 if is_gone else _POLL_S):
                    if key.fileobj is not self._pipe:
                        assert players is not None, "only players have sockets"
                        players.serve(key.fileobj)  # type: ignore[arg-type]
                    elif not self._read_frames():
                        return
            if is_gone:
                return
            is_gone = child.poll() is not None

    def _read_frames(self) -> bool:
        """Pass on the events that have arrived, of progress the latest; keep the outcome; return False at the end.

        A Logged event becomes a Python warning; a Warned one is logged, too.
        """
        data = os.read(self._pipe.fileno(), 1 << 16)
        self._buffer += data
        counts: Mapping[str, Any] | None = None
        while len(self._buffer) >= _LENGTH:
            end = _LENGTH + int.from_bytes(self._buffer[:_LENGTH])
            if len(self._buffer) < end:
                break
            frame = msgspec.msgpack.decode(bytes(self._buffer[_LENGTH:end]))
            del self._buffer[:end]
            if "event" not in frame:
                self.outcome = frame
            elif "done" in frame["event"]:
                counts = frame["event"]
            elif frame["event"]["type"] == "Logged":
                warnings.warn(frame["event"]["sentence"], stacklevel=2)
            else:
                if frame["event"]["type"] == "Warned":
                    log.info("%s", frame["event"]["sentence"])
                self._on(frame["event"])
        if counts is not None:
            self._on(counts)
            if self._on_counts is not None:
                self._on_counts(counts["done"], counts["total"])
        return bool(data)


def _end_child(child: "subprocess.Popen[bytes]") -> None:
    """Ask the child to end, which ends its bots; kill it if it does not within ten seconds."""
    child.send_signal(signal.SIGTERM)
    try:
        child.wait(_END_WITHIN_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _encode(value: Any) -> bytes:
    """Encode a request, an event or a value as msgpack."""
    return msgspec.msgpack.encode(value, enc_hook=_encode_other)


def _encode_other(value: Any) -> Any:
    """Return plain values for a secret and an ArenaError, and text for all else that msgpack does not know."""
    match value:
        case Secret():
            return [value.reveal(), value.seed]
        case ArenaError():
            return _error_fields(value)
    return str(value)


def _decode_other(kind: type, value: Any) -> Any:
    """Return a value of a request in the type of its field."""
    if kind is Secret:
        return Secret(bytes.fromhex(value[0]), value[1])
    return Path(value) if issubclass(kind, Path) else value


def request_of(operation: Callable[..., Any], choices: Mapping[str, Any]) -> Any:
    """Return the request of an operation with these choices. SpecError for unknown or impossible choices."""
    kind = next(iter(operation.__annotations__.values()))
    unknown = choices.keys() - set(kind.__struct_fields__)
    if unknown:
        raise SpecError(f"{kind.__name__} has no {', '.join(sorted(unknown))}; {', '.join(kind.__struct_fields__)}")
    try:
        return msgspec.convert(msgspec.msgpack.decode(_encode(choices)), kind, dec_hook=_decode_other)
    except msgspec.ValidationError as error:
        raise SpecError(str(error)) from None


class _Child:
    """The child's side: it reads the request, runs the operation with signals, umask and logs set, and sends frames."""

    def __init__(self, number: int) -> None:
        self._descriptor = number
        self._unsent: Any = None
        self._ending = contextlib.ExitStack()

    def run(self) -> None:
        """Run the operation given on stdin, and send its value or its error."""
        signal.signal(signal.SIGTERM, _stop_once)
        os.umask(os.umask(0o077) & 0o077)
        logging.getLogger().addHandler(_Warnings(self._send))
        try:
            module, name, choices = msgspec.msgpack.decode(sys.stdin.buffer.read())
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.set_inheritable(self._descriptor, False)
            operation = getattr(import_module(module), name)
            request = request_of(operation, choices)
            with self._ending:
                listener = [lambda event: self._forward(request, event)] if "on" in operation.__annotations__ else []
                outcome = {"value": operation(request, *listener)}
        except BaseException as error:  # noqa: BLE001 - whatever happens is the caller's to know
            outcome = _error_fields(error)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self._unsent is not None:
            self._send({"event": self._unsent})
        self._send(outcome)

    def _forward(self, request: Any, event: Any) -> None:
        """Send an event; progress only if the pipe has room, else the latest is sent at the end.

        When a league begins, its log is opened, too.
        """
        from arena.operations.run_league import LeagueBegins  # noqa: PLC0415 - most operations begin none
        from arena.store.league_log import logging_to  # noqa: PLC0415 - see above

        if isinstance(event, LeagueBegins):
            self._ending.enter_context(logging_to(request.results, event.league, log.warning))
        if hasattr(event, "done"):
            self._unsent = {"type": type(event).__name__, "task": event.task, "done": event.done, "total": event.total}
            if select.select([], [self._descriptor], [], 0)[1]:  # a frame this small fits
                self._send({"event": self._unsent})
                self._unsent = None
        else:
            self._send({"event": event})

    def _send(self, frame: Any) -> None:
        """Write a frame to the pipe; end this process, as by SIGTERM, if the caller is gone."""
        data = _encode(frame)
        try:
            written = memoryview(len(data).to_bytes(_LENGTH) + data)
            while written:
                written = written[os.write(self._descriptor, written) :]
        except BrokenPipeError:  # the caller is gone
            os.kill(os.getpid(), signal.SIGTERM)


class _Warnings(logging.Handler):
    """A log handler that sends the child's warnings to its caller."""

    def __init__(self, send: Callable[[Any], None]) -> None:
        super().__init__(logging.WARNING)
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        self._send({"event": {"type": "Logged", "sentence": record.getMessage()}})


def _stop_once(_signal: int, _frame: object) -> None:
    """End the operation as Ctrl-C does; later signals are ignored."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _error_fields(error: BaseException) -> dict[str, str]:
    """Return an error by the name of its class in `arena.errors`, and its text.

    Other exceptions become one of these: KeyboardInterrupt Interrupted, an OSError with a file or a shortage
    MachineFault, all else HarnessFault with the traceback as its text.
    """
    from arena.process.shortage import as_shortage  # noqa: PLC0415 - only for this message

    if isinstance(error, KeyboardInterrupt):
        error = Interrupted("interrupted")
    elif isinstance(error, OSError) and error.filename is not None:
        error = MachineFault(f"{error.filename}: {error.strerror}")
    elif isinstance(error, Exception) and not isinstance(error, ArenaError):
        error = as_shortage(error) or HarnessFault("".join(traceback.format_exception(error)))
    names: ModuleType = errors
    name = next((kind.__name__ for kind in type(error).__mro__ if hasattr(names, kind.__name__)), "HarnessFault")
    return {"error": name, "text": str(error)}


if __name__ == "__main__":
    _Child(int(sys.argv[1])).run()
