"""`arena show` in a terminal: keys, the size of the window, a terminal that is restored, and text of strangers."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal

pytestmark = pytest.mark.process
RIGHT, LEFT, HOME, END = b"\x1b[C", b"\x1bOD", b"\x1b[H", b"\x1b[4~"
ESCAPE = "\\x1b]0;pwn\\x07\\x9b2J\\u202e"
ENTER, LEAVE = "\x1b[?1049h\x1b[?25l\x1b[?7l", "\x1b[?7h\x1b[?25h\x1b[?1049l"
COLOURED = re.compile(r"\x1b\[[\d;]*m")
BROKEN = "import arena.cli.terminal as t, arena.__main__ as m; t._colour = lambda *_: 1 / 0; m.main()"


class Window:
    """A pseudo-terminal with `arena show` in it."""

    def __init__(self, *words: str, program: tuple[str, ...] = ("-m", "arena"), term: str = "xterm") -> None:
        self._master, self._slave = pty.openpty()
        self.resize(30, 100)
        self.before = termios.tcgetattr(self._slave)
        self.process = subprocess.Popen(
            [sys.executable, *program, "show", *words],
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            env=os.environ | {"TERM": term, "LINES": "", "COLUMNS": ""},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no thread here
        )
        self.text = ""

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def press(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def until(self, words: str, rows: int = 0) -> list[str]:
        """Return the lines on the screen, without colours, once these words are on it, and it has so many rows."""
        end_s = time.monotonic() + 30
        while True:
            screen = COLOURED.sub("", self.text.rpartition("\x1b[H")[2])
            if words in screen and rows in {0, screen.count("\n") + 1}:
                return [line.rstrip() for line in screen.replace("\x1b[K", "").split("\r\n")]
            assert time.monotonic() < end_s, self.text
            self._read(0.1)

    def end(self) -> int:
        """Return the exit code of the program, with all that it wrote in `text`."""
        code = self.process.wait(timeout=30)
        self._read(0)
        return code

    @property
    def is_restored(self) -> bool:
        return termios.tcgetattr(self._slave) == self.before and self.text.count(ENTER) == self.text.count(LEAVE) == 1

    def _read(self, seconds: float) -> None:
        while select.select([self._master], [], [], seconds)[0]:
            self.text += os.read(self._master, 1 << 16).decode()
            seconds = 0

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)
        os.close(self._slave)


@pytest.fixture
def match(terminal: Terminal) -> str:
    """A match of nim whose first player writes escapes into its notes and to stderr."""
    Path("mine.py").write_text(bot_script(note=f"'{ESCAPE}'", asked=f"print('{ESCAPE}', file=sys.stderr)"))
    terminal.played("./mine.py", "random", players=[{"bot": "./mine.py"}, {"bot": "random"}], stderr="keep")
    return terminal.first_match()


def test_keys_lead_through_a_match(match: str) -> None:
    """Arrows step, Home and End jump, space plays to the end, q quits; the pipe has the same steps."""
    with contextlib.closing(Window(match)) as window:
        start = window.until("step 0 of ")
        last = int(re.findall(r"step 0 of (\d+)", start[-1])[0])
        window.press(RIGHT + RIGHT + LEFT)
        first = window.until("step 1 of ")
        window.press(END)
        end = window.until(f"step {last} of ")
        window.press(RIGHT + HOME + LEFT)
        window.until("step 0 of ")
        window.press(b" ")
        window.until("space: stops")
        window.until(f"step {last} of {last} ")
        window.press(b"q")

        assert window.end() == 0
        assert window.is_restored

    assert "\x1b[38;5;4mmine\x1b[0m v \x1b[38;5;1mrandom\x1b[0m" in window.text
    assert len(start) == len(end) == 30
    assert start[0].split()[:2] == [match, "nim"]
    assert sum(line.startswith("   1  seat 0 ") for line in first) == 1
    assert any(" wins: 1 to 0" in line for line in end)


def test_text_of_a_bot_is_not_obeyed(match: str) -> None:
    """No control character but those that draw the screen reaches the terminal."""
    with contextlib.closing(Window(match)) as window:
        window.until("step 0 of ")
        window.press(END)
        screen = window.until(" wins: ")
        window.press(b"q")
        window.end()
        text = window.text

    assert any("\\x1b]0;pwn\\x07" in line for line in screen)
    for sequence in (ENTER, LEAVE, "\x1b[H", "\x1b[K", "\r\n"):
        text = text.replace(sequence, "")
    assert COLOURED.sub("", text).isprintable()


@pytest.mark.parametrize("size", [(12, 40), (1, 1), (200, 300)])
def test_a_window_of_another_size_is_drawn_anew(
    match: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many lines as it has, none longer; the last line names the keys. NO_COLOR turns colours off."""
    monkeypatch.setenv("NO_COLOR", "1")
    with contextlib.closing(Window(match)) as window:
        window.until("step 0 of ")
        window.press(END)
        window.until(" wins: ")
        window.resize(*size)
        screen = window.until("s" if size[1] == 1 else "arrows", rows=size[0])
        window.press(b"q")
        assert window.end() == 0

    assert COLOURED.search(window.text) is None
    assert len(screen) == size[0]
    assert max(map(len, screen)) <= size[1]


@pytest.mark.parametrize("stop", ["Ctrl-C", "SIGTERM", "SIGHUP"])
def test_the_terminal_is_restored_after_a_stop(match: str, stop: str) -> None:
    """The exit code is that of a stop; Ctrl-Z and Ctrl-\\ do nothing."""
    with contextlib.closing(Window(match)) as window:
        window.until("step 0 of ")
        window.press(b"\x1a\x1c" + RIGHT)
        window.until("step 1 of ")
        if stop == "Ctrl-C":
            window.press(b"\x03")
        else:
            window.process.send_signal(signal.Signals[stop])

        assert window.end() == 3
        assert window.is_restored
        assert window.text.endswith("interrupted\r\n")


def test_the_terminal_is_restored_after_an_error(match: str) -> None:
    """The traceback of a mistake stands on the first screen."""
    with contextlib.closing(Window(match, program=("-c", BROKEN))) as window:
        assert window.end() == 4
        assert window.is_restored
        assert "ZeroDivisionError" in window.text.rpartition(LEAVE)[2]


@pytest.mark.parametrize(("words", "term"), [((), "dumb"), (("--states",), "xterm"), (("--times",), "xterm")])
def test_a_terminal_that_cannot_draw_and_other_pages_get_text(
    terminal: Terminal, match: str, words: tuple[str, ...], term: str
) -> None:
    """It is what a pipe gets."""
    with contextlib.closing(Window(match, *words, term=term)) as window:
        assert window.end() == 0
        text = window.text

    assert text.replace("\r\n", "\n") == terminal.arena(f"show {match}", *words).out
