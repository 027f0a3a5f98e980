"""The picture of the first page, drawn anew: `python docs/picture.py` writes docs/picture.svg, in some seconds.

It is a recording of `arena show` in a terminal: the first round of a match under a public seed, and its end. A new
version of a bot plays another match.
"""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from arena.games.looks import LOOKS

PICTURE: Final = Path(__file__).resolve().parent / "picture.svg"
MATCH: Final = ("match", "sensible", "greedy", "--seed", "5", "--isolation", "none")
ROWS, COLUMNS = 27, 80
KEYS: Final = (*[b"\x1b[C"] * 24, b"\x1b[F")
FRAME_S: Final = 0.8
END_FRAMES: Final = 6
"""Frames that the end stays."""
LETTER_PX, LINE_PX, SIZE_PX, LEFT, TOP = 8.0, 17, 13.3, 14, 44
FONT: Final = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
PAPER, INK, FADED = "#14171b", "#e6ebf0", "#a4b0bc"
COLOURS: Final = {"38;5;4": LOOKS[0].dark, "38;5;1": LOOKS[1].dark, "0": INK}
"""The colour of each code that the terminal gets."""


class Run(NamedTuple):
    """A line of the terminal that stays in its row from one frame to before another."""

    row: int
    line: str
    start: int
    end: int


def main() -> None:
    """Play the match in a temporary folder, record it, and write the picture."""
    with tempfile.TemporaryDirectory(prefix="arena-picture-") as folder:
        environment = os.environ | {"XDG_STATE_HOME": folder, "TERM": "xterm", "NO_COLOR": ""}
        program = Path(sys.executable).with_name("arena")
        played = subprocess.run([program, *MATCH], check=True, capture_output=True, text=True, env=environment)
        match = re.findall(r"arena show (\S+)", played.stdout + played.stderr)[0]
        PICTURE.write_text(draw(record([str(program), "show", match], environment), f"arena show {match}"), "utf-8")


def record(command: list[str], environment: dict[str, str]) -> list[list[str]]:
    """Return the lines of the terminal at the start and after each of the keys."""
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("4H", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(command, stdin=inside, stdout=inside, env=environment)
    frames = [read_frame(terminal, 30)]
    for key in KEYS:
        os.write(terminal, key)
        frames.append(read_frame(terminal, 5))
    os.write(terminal, b"q")
    process.wait()
    return frames


def read_frame(terminal: int, wait_s: float) -> list[str]:
    """Return the lines of the last frame that the terminal gets, the first of it within `wait_s`."""
    text = ""
    while select.select([terminal], [], [], 0.2 if "\x1b[H" in text else wait_s)[0]:
        text += os.read(terminal, 1 << 16).decode()
    return text.rpartition("\x1b[H")[2].replace("\x1b[K", "").split("\r\n")


def draw(frames: list[list[str]], title: str) -> str:
    """Return the whole document: a line is drawn once for all frames in which it stays."""
    shown = [*frames, *[frames[-1]] * (END_FRAMES - 1)]
    runs = [run for row in range(ROWS) for run in runs_of(row, [frame[row] for frame in shown]) if run.line.strip()]
    width, height = 2 * LEFT + LETTER_PX * COLUMNS, TOP + LINE_PX * ROWS + 4
    size = f'width="{width:g}" height="{height}" viewBox="0 0 {width:g} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}" font-size="{SIZE_PX}">',
        f"<title>{escape(title)}</title>",
        f"<style>{style({run[2:] for run in runs}, len(shown))}</style>",
        f'<rect width="{width:g}" height="{height}" rx="10" fill="{PAPER}"/>',
        *(f'<circle cx="{22 + 18 * at}" cy="18" r="5.5" fill="{FADED}" fill-opacity="0.5"/>' for at in range(3)),
        f'<text x="{width / 2:g}" y="22" text-anchor="middle" fill="{FADED}">{escape(title)}</text>',
        *(draw_line(run, len(shown)) for run in runs),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def runs_of(row: int, lines: list[str]) -> list[Run]:
    """Return the runs of equal lines in a row."""
    runs, start = [], 0
    for line, equal in groupby(lines):
        end = start + len([*equal])
        runs.append(Run(row, line, start, end))
        start = end
    return runs


def style(spans: set[tuple[int, int]], count: int) -> str:
    """Return the rules by which lines come and go; with reduced motion, the last frame alone is visible."""
    rules = ["text{white-space:pre}.r{visibility:hidden}.z{visibility:visible}"]
    moving = [f".r{{animation:{count * FRAME_S:g}s step-end infinite}}"]
    for start, end in sorted(spans):
        on, off = 100 * start / count, 100 * end / count
        first = "0%{visibility:hidden}" if start else ""
        last = f"{off:.2f}%{{visibility:hidden}}" if end < count else ""
        rules.append(f"@keyframes f{start}-{end}{{{first}{on:.2f}%{{visibility:visible}}{last}}}")
        moving.append(f".f{start}-{end}{{animation-name:f{start}-{end}}}")
    return "".join([*rules, "@media(prefers-reduced-motion:no-preference){", *moving, "}"])


def draw_line(run: Run, count: int) -> str:
    """Return the line as a text with the colours of its parts, in the class of its frames."""
    spans, colour = [], INK
    for part in re.split(r"(\x1b\[[\d;]*m)", run.line):
        if code := re.fullmatch(r"\x1b\[([\d;]*)m", part):
            colour = COLOURS[code[1]]
        elif part:
            spans.append(escape(part) if colour == INK else f'<tspan fill="{colour}">{escape(part)}</tspan>')
    classes = f"r f{run.start}-{run.end}" + (" z" if run.end == count else "")
    y = TOP + LINE_PX * (run.row + 0.7)
    return f'<text class="{classes}" x="{LEFT}" y="{y:g}" fill="{INK}">{"".join(spans)}</text>'


if __name__ == "__main__":
    main()
