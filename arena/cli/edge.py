"""The edge of the program: errors become a sentence and an exit code, signals a KeyboardInterrupt; closed streams.

Rule: exit code 4 and a traceback are for our own mistakes only. Errors caused by the machine, the disk, the terminal or
a file's name become a sentence; and a sentence that cannot be printed is no failure.

Ctrl-C, the SIGTERM of a service manager or a job queue and the SIGHUP of a terminal are the same KeyboardInterrupt,
raised once. A second one does not disturb the clean-up after the first; only if that takes too long it ends the program
on the spot, with the same exit code.
"""

import contextlib
import errno
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

import click

from arena.errors import ArenaError, Interrupted, MachineFault, SpecError
from arena.process.shortage import SHORTAGES, as_shortage
from arena.text import printable, shorten

if TYPE_CHECKING:
    from arena.operations.events import Event, OnEvent, Progress

_NO_LOCKS: Final = "a file system without locks: keep results on a disk of this machine"
_MACHINE_ERRNOS: Final = {
    errno.ENOSPC: "make room, and give the same command again",
    errno.EDQUOT: "your share of the disk is used up: make room, and give the same command again",
    errno.EFBIG: "no larger files are allowed here (`ulimit -f`)",
    errno.EIO: "the disk or the terminal behind it fails",
    errno.ENOSYS: "this system cannot do that",
    errno.ENOLCK: _NO_LOCKS,
    errno.EOPNOTSUPP: _NO_LOCKS,
    **SHORTAGES,
}
"""Errors that show a lack of the machine, by errno, and what to do about each."""
_OUR_ERRNOS: Final = {errno.EBADF, errno.EINVAL, errno.EFAULT, errno.ENOTTY, errno.ECHILD, errno.ESRCH}
"""Errors (errno) that are a mistake of ours unless they name a file."""


_LONGEST_LINE: Final = 2000
"""The most characters of a line of an error, which may quote a path, a key or a value of any length."""
_OTHERS_RIGHTS: Final = 0o077
_PYTHON_ERRORS: Final = (
    (EOFError, "the input ended before the command had all it needs", SpecError.exit_code),
    (
        UnicodeEncodeError,
        "the name of a file or folder on the way is not UTF-8, and arena keeps names as UTF-8: rename it",
        SpecError.exit_code,
    ),
    (UnicodeDecodeError, "a file on the way is not UTF-8 text: save it as UTF-8", SpecError.exit_code),
)
"""Errors of Python itself that are not our mistakes: the sentence, and the exit code."""


def secure_streams() -> None:
    """Open standard streams that the caller closed (`>&-`), so that no file gets their number; report closed stdout.

    Names that cannot be written in the stream's encoding are shown with their bytes.
    """
    closed = []
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            assert os.open(os.devnull, os.O_RDWR) == number, "the lowest free number is taken"
            closed.append(number)
    sys.stdin = sys.stdin or _open_stream(0, "r")
    sys.stdout = sys.stdout or _open_stream(1, "w")
    sys.stderr = sys.stderr or _open_stream(2, "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if 1 in closed:
        print_error("stdout is closed: what this command prints is lost")


def close_streams(exit_code: int) -> int:
    """Flush stdout; return the exit code, or that of the error, which is printed, if it cannot be flushed.

    A reader who has gone (`| head`) is no error. After either, stdout is /dev/null.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _silence()  # the reader has gone (`| head`): nothing is wrong with that
    except OSError as error:
        text, exit_code = explain(error)
        _silence()
        print_error(text)
    return exit_code


def keep_owner_rights() -> None:
    """Set the umask so that the owner has all rights on new files and folders, whatever the umask was."""
    os.umask(os.umask(_OTHERS_RIGHTS) & _OTHERS_RIGHTS)


def print_text(text: str) -> None:
    """Print text that may have come from others; characters that a terminal obeys are escaped."""
    click.echo(printable(text, keep="\n\t"))


def print_error(text: str) -> None:
    """Print text on stderr if possible; the middle of very long lines is left out."""
    with contextlib.suppress(OSError, ValueError):
        click.echo("\n".join(shorten(line, _LONGEST_LINE) for line in text.split("\n")), err=True)


def explain(error: BaseException) -> tuple[str, int]:
    """Return the text for a person and the exit code; an unexpected error is our fault (4), never a failed check."""
    if isinstance(error, click.exceptions.Abort) and isinstance(error.__cause__, EOFError):
        error = error.__cause__  # click raises Abort for an end of input and for Ctrl-C
    match error:
        case click.exceptions.Abort() | KeyboardInterrupt():
            return "interrupted", Interrupted.exit_code
        case Interrupted():
            return str(error), error.exit_code
        case ArenaError():
            return f"error: {error}", error.exit_code
        case OSError() if error.filename is not None or error.errno not in _OUR_ERRNOS:
            return _explain_os_error(error)
    for kind, text, exit_code in _PYTHON_ERRORS:
        if isinstance(error, kind):
            return f"error: {text}", exit_code
    return _explain_unexpected(error)


def _explain_unexpected(error: BaseException) -> tuple[str, int]:
    """Explain an unexpected error: a shortage of the machine, a failure of a plug-in's code, or a mistake of ours."""
    from arena.plugins import describe_error, place_of_failure  # noqa: PLC0415 - only for this message

    if (shortage := as_shortage(error)) is not None:
        return f"error: {shortage}", shortage.exit_code
    if place := place_of_failure(error):
        return f"error: {place} broke the contract of a game: {describe_error(error)}", SpecError.exit_code
    return f"{''.join(traceback.format_exception(error))}error: a mistake in arena itself, please report it", 4


def _explain_os_error(error: OSError) -> tuple[str, int]:
    """Explain an OSError: its place, and what to do if the machine lacks something."""
    place = os.fsdecode(error.filename) if isinstance(error.filename, bytes) else error.filename
    frames = traceback.extract_tb(error.__traceback__)
    if not place and any(frame.name in {"echo", "close_streams"} for frame in frames):
        place = "stdout"
    if error.errno == errno.ENOENT and not Path(place or "").is_absolute() and not _has_working_folder():
        return "error: the folder in which this command was typed does not exist any more", SpecError.exit_code
    is_of_folder = isinstance(error, shutil.Error) and isinstance(error.args[0], list)
    reason = error.args[0][0][-1] if is_of_folder else error.strerror or error or type(error).__name__
    what = f"error: {f'{place}: ' if place else ''}{reason}"
    if error.errno in _MACHINE_ERRNOS:
        return f"{what}; {_MACHINE_ERRNOS[error.errno]}", MachineFault.exit_code
    return what, SpecError.exit_code if place else MachineFault.exit_code


def _has_working_folder() -> bool:
    """Return False if the working folder has been removed."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _silence() -> None:
    """Redirect stdout to /dev/null: Python flushes it again when it ends."""
    with contextlib.suppress(OSError):
        number = os.open(os.devnull, os.O_WRONLY)
        os.dup2(number, 1)
        os.close(number)


def _open_stream(number: int, mode: str) -> TextIO:
    """Open a file descriptor as a text stream that keeps it open."""
    return os.fdopen(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False)  # type: ignore[return-value]


LINE_EVERY_S: Final = 30.0
"""Seconds between two lines of progress where stderr is no terminal."""
_DRAW_EVERY_S: Final = 0.2
_WIDEST_BAR: Final = 30
_NARROWEST_BAR: Final = 8
_STOPS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_CLEAN_UP_S: Final = 5.0
"""Seconds after a stop in which another one is ignored; a clean-up takes less than a second."""


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Raise KeyboardInterrupt inside on SIGINT, SIGTERM and SIGHUP; leave signals that the shell ignores (`nohup`).

    After a stop the handlers stay: they ignore signals for 5 s of clean-up, then end the process at once (os._exit).
    """
    last_s = float("-inf")

    def stop(_number: int, _frame: object) -> None:
        """Raise KeyboardInterrupt at the first signal; end the program at one that comes over 5 s later."""
        nonlocal last_s
        if last_s < 0:
            last_s = time.monotonic()
            raise KeyboardInterrupt
        if time.monotonic() - last_s > _CLEAN_UP_S:
            # no second exception, which could be raised anywhere; workers end with this process
            with contextlib.suppress(OSError):
                sys.stderr.write("interrupted again, before the end of the clean-up\n")
            os._exit(Interrupted.exit_code)

    former = {number: signal.getsignal(number) for number in _STOPS}
    handled = [number for number, handler in former.items() if handler is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, stop)
    try:
        yield
    finally:
        if last_s < 0:
            for number in handled:
                signal.signal(number, former[number])


def ignore_signals() -> None:
    """Ignore all stop signals, for the very last moments of the program.

    Without this, Python could die of the signal. It also does so after a caught interrupt that came during `exec` (as
    when a dataclass is made): `python -m` notes the interrupt and checks at its end. An empty `exec` resets the note.
    """
    for number in _STOPS:
        signal.signal(number, signal.SIG_IGN)
    exec("")  # noqa: S102


class TerminalLine:
    """A progress line on stderr: redrawn in place on a terminal, elsewhere a new line every half minute.

    It shows the `words` of the latest step, behind a bar.
    """

    def __init__(self, words: Callable[[Any], str], clock: Callable[[], float] = time.monotonic) -> None:
        self._words, self._clock = words, clock
        self._step: Progress | None = None
        self._drawn_s = self._line_s = clock()
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()

    def show(self, step: "Progress") -> None:
        """Draw a step, at most five times a second."""
        self._step = step
        if self._clock() - self._drawn_s >= _DRAW_EVERY_S:
            self._drawn_s = self._clock()
            self._draw(step)

    def end(self) -> None:
        """Draw the line a last time and leave it standing."""
        if self._step is not None:
            self._draw(self._step)
            self._write("\n")

    def wipe(self) -> None:
        """Clear the line for other output."""
        if self._step is not None:
            self._write("\r\x1b[K")

    def _draw(self, step: "Progress") -> None:
        """Draw a step on a terminal; elsewhere print it as a line every half minute."""
        if self._is_shown:
            self._write(f"\r{self._text(step)}\x1b[K")
        elif self._clock() - self._line_s >= LINE_EVERY_S:
            self._line_s = self._clock()
            print_error(self._words(step))

    def _text(self, step: "Progress") -> str:
        """Return the words behind a bar, cut to the terminal's width: a wrapped line cannot be redrawn."""
        words, columns = self._words(step), shutil.get_terminal_size().columns - 1
        width = min(_WIDEST_BAR, columns - len(words) - len("[] "))
        if not step.total or width < _NARROWEST_BAR:
            return words[:columns]
        return f"[{('#' * (step.done * width // step.total)).ljust(width, '.')}] {words}"

    def _write(self, text: str) -> None:
        """Write to the terminal; stop drawing once that fails."""
        if self._is_shown:
            try:
                sys.stderr.write(text)
                sys.stderr.flush()
            except OSError:
                self._is_shown = False


def print_warning(event: "Event") -> None:
    """Print the sentence of a warning on stderr; drop other events."""
    from arena.operations.events import Warned  # noqa: PLC0415 - `--help` needs none

    if isinstance(event, Warned):
        print_error(event.sentence)


@contextlib.contextmanager
def show_events(
    other: "Callable[[Event], object]" = lambda _: None,
    words: Callable[[Any], str] = lambda step: f"{step.task}: {step.done} of {step.total}",
    *,
    is_left: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> "Iterator[OnEvent]":
    """Yield a function for the events of an operation: draws progress, prints warnings; `other` gets all others.

    The line has the `words` of the latest progress; at the end it is wiped, unless it `is_left` standing.
    """
    from arena.operations.events import Progress  # noqa: PLC0415 - `--help` needs none

    line = TerminalLine(words, clock)

    def on(event: "Event") -> None:
        """Draw progress; for other events wipe the line, print warnings, and call `other`."""
        if isinstance(event, Progress):
            line.show(event)
        else:
            line.wipe()
            print_warning(event)
            other(event)

    try:
        yield on
    finally:
        line.end() if is_left else line.wipe()
