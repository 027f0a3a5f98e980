"""A match replayed in place in a terminal, by keys.

Rule: text of others is made printable before it is written, and the terminal is restored however the replay ends.
"""

import contextlib
import os
import re
import select
import shutil
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from typing import Final

import click

from arena.cli.options import wants_colours
from arena.games.looks import looks_of
from arena.text import printable

_COLOURS: Final = (4, 1, 2, 5, 3, 6, 13, 9, 12, 8)
"""The colour of each look of `arena.games.looks`, in the shades of the terminal: blue, red, green, ..."""
_ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[?7l"
"""The sequence for the second screen, without a cursor and without wrapped lines."""
_LEAVE: Final = "\x1b[?7h\x1b[?25h\x1b[?1049l"
_KEY: Final = re.compile(rb"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
_STEPS: Final = {b"A": -1, b"B": 1, b"C": 1, b"D": -1, b"H": -(10**9), b"1~": -(10**9), b"F": 10**9, b"4~": 10**9}
"""The steps that a key goes on, by the end of its sequence: arrows, Home and End."""
_PLAY_S: Final = 0.6
_LOOK_S: Final = 0.25
"""Seconds between looks at the size of the window."""


Scene = tuple[Sequence[str], Sequence[str]]
"""The lines of a position, and of the step that led to it."""


def is_interactive() -> bool:
    """Return True if a person sits at a terminal that can be drawn on."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def replay_in_terminal(scenes: Sequence[Scene], title: str, names: Sequence[str]) -> None:
    """Show one scene at a time, the first one first, until the person quits or the input ends.

    KeyboardInterrupt after Ctrl-C, SIGTERM or SIGHUP.
    """
    at, last, is_playing, drawn = 0, len(scenes) - 1, False, ""
    with _second_screen():
        while True:
            screen = _screen(scenes, at, title, names, "stops" if is_playing else "plays")
            if screen != drawn:
                click.echo(screen, nl=False)
            drawn = screen
            if not select.select([sys.stdin], [], [], _PLAY_S if is_playing else _LOOK_S)[0]:
                at, is_playing = min(at + is_playing, last), is_playing and at + 1 < last
            else:
                for key in _KEY.findall(os.read(sys.stdin.fileno(), 1024)) or [b"q"]:
                    if key == b"q":
                        return
                    is_playing = key == b" " and not is_playing
                    at = 0 if is_playing and at == last else min(max(at + _STEPS.get(key[2:], 0), 0), last)


@contextlib.contextmanager
def _second_screen() -> Iterator[None]:
    """Read keys one by one on the second screen of the terminal; restore all of it at the end."""
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        changed = termios.tcgetattr(sys.stdin)
        changed[6][termios.VSUSP] = changed[6][termios.VQUIT] = b"\0"  # both would leave the terminal as it is
        termios.tcsetattr(sys.stdin, termios.TCSANOW, changed)
        click.echo(_ENTER, nl=False)
        yield
    finally:
        with contextlib.suppress(OSError, termios.error):  # the terminal may have gone
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
            click.echo(_LEAVE, nl=False)


def _screen(scenes: Sequence[Scene], at: int, title: str, names: Sequence[str], space: str) -> str:
    """Return the text that draws scene `at`: position, the last steps as far as there is room, and the keys.

    Lines are cut to the window. `space` is the meaning of the space bar now.
    """
    columns, rows = shutil.get_terminal_size()
    position = scenes[at][0][: max(0, rows - 5)]
    steps = [line for _, lines in scenes[max(0, at - rows) : at + 1] for line in lines]
    body = [title, "", *position, "", *steps[-max(1, rows - 4 - len(position)) :]]
    keys = f"step {at} of {len(scenes) - 1}   arrows, Home, End: step   space: {space}   q: quits"
    lines = [printable(line)[:columns] for line in [*body, *[""] * rows][: rows - 1]]
    return "\x1b[H" + "".join(f"{_colour(line, names)}\x1b[K\n" for line in lines) + f"{keys[:columns]}\x1b[K"


def _colour(line: str, names: Sequence[str]) -> str:
    """Return the line with the names of players in their colours, if the environment wants colours."""
    looks = dict(zip(map(printable, names), looks_of(names), strict=True))
    words = "|".join(map(re.escape, sorted(looks, key=len, reverse=True)))
    if not wants_colours(os.environ):
        return line
    return re.sub(rf"(?<!\w)({words})(?!\w)", lambda name: click.style(name[0], fg=_COLOURS[looks[name[0]]]), line)
