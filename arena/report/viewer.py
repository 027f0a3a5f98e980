"""A match as pictures: an SVG file for each step that changed what is to be seen, and a page to go through them.

Rule: the page is one file that asks nothing of a network or of other files; the pictures in it are compressed, for a
match has a hundred and more of them. Names and notes of bots are
text in it, never markup, and pictures are shown as pictures: no script in them runs.
"""

import gzip
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Final

import msgspec

from arena.errors import SpecError
from arena.games import load_game
from arena.match.record import MatchRecord
from arena.match.replay import replay
from arena.report.transcript import result_line, step_line

VIEWER_PAGE: Final = "index.html"
_LEAST_DIGITS: Final = 3


class ViewerStep(msgspec.Struct, frozen=True):
    """A step by its number, 0 for the start: what happened, and the picture of what it led to."""

    step: int
    line: str
    svg: str


def viewer_steps(record: MatchRecord) -> Iterator[ViewerStep]:
    """The start and every step. CheckFailed if the record cannot be replayed."""
    game = load_game(record.game)
    yield ViewerStep(0, "the start", game.picture(game.setup(record.options, len(record.seats))))
    for number, moment in enumerate(replay(record), start=1):
        state = moment.after if moment.is_complete else moment.before
        yield ViewerStep(number, step_line(record, moment), game.picture(state))


def write_viewer(record: MatchRecord, folder: Path, luck: str = "") -> int:
    """Write pictures and page into a new or empty folder; how many pictures. `luck` is told below the result."""
    steps = list(viewer_steps(record))
    digits = max(_LEAST_DIGITS, len(str(len(steps) - 1)))
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SpecError(f"{folder}: found files, expected a new or empty folder: matches must not be mixed")
    pictures = _pictures(steps)
    for first, *_ in pictures:
        (folder / f"step-{first.step:0{digits}}.svg").write_text(first.svg, encoding="utf-8")
    (folder / VIEWER_PAGE).write_text(page(record, steps, luck), encoding="utf-8")
    return len(pictures)


def page(record: MatchRecord, steps: list[ViewerStep], luck: str = "") -> str:
    """The page of these steps as HTML. Steps that look the same share a picture, which is compressed, in base64."""
    pictures = _pictures(steps)
    title = f"{record.game}: match {record.match}"
    match = {
        "title": title,
        "players": [f"seat {seat}: {entry.player} ({entry.bot[:8]})" for seat, entry in enumerate(record.seats)],
        "result": "; ".join(filter(None, [result_line(record), luck])),
        "steps": [{"line": step.line, "picture": place} for place, same in enumerate(pictures) for step in same],
        "pictures": [gzip.compress(first.svg.encode(), mtime=0) for first, *_ in pictures],
    }
    # Inside a script element only `<` could end it.
    data = msgspec.json.encode(match).decode().replace("<", "\\u003c")
    template = (files("arena.report") / "viewer.html").read_text(encoding="utf-8")
    return template.replace("{{title}}", escape(title)).replace("{{match}}", data)


def _pictures(steps: list[ViewerStep]) -> list[list[ViewerStep]]:
    """The steps by picture: each changed what is to be seen, or follows the one that did."""
    return [list(same) for _, same in groupby(steps, key=lambda step: step.svg)]
