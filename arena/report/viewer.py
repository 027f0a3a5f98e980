"""A match as pictures: an SVG file for each step that changed what is to be seen, and a page to go through them.

Rule: the page is one file that asks nothing of a network or of other files; the pictures in it are compressed, for a
match has a hundred and more of them. Names and notes of bots are
text in it, never markup, and pictures are shown as pictures: no script in them runs.
"""

import gzip
from collections.abc import Iterator
from html import escape
from importlib.resources import files
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


class _Shown(msgspec.Struct, frozen=True):
    """A step on the page; `picture` is an index there, the same for steps that look the same."""

    line: str
    picture: int


class _Page(msgspec.Struct, frozen=True):
    """The data of the page; pictures are compressed by gzip, and come out of JSON in base64."""

    title: str
    players: tuple[str, ...]
    result: str
    steps: tuple[_Shown, ...]
    pictures: tuple[bytes, ...]


def slides(record: MatchRecord) -> Iterator[ViewerStep]:
    """The start and every step. CheckFailed if the record cannot be replayed."""
    game = load_game(record.game)
    yield ViewerStep(0, "the start", game.picture(game.setup(record.options, len(record.seats))))
    for number, moment in enumerate(replay(record), start=1):
        yield ViewerStep(
            number, step_line(record, moment), game.picture(moment.after if moment.is_complete else moment.before)
        )


def write_viewer(record: MatchRecord, folder: Path, luck: str = "") -> int:
    """Write pictures and page into a new or empty folder; how many pictures. `luck` is told below the result."""
    shown = list(slides(record))
    digits = max(_LEAST_DIGITS, len(str(len(shown) - 1)))
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SpecError(f"{folder}: found files, expected a new or empty folder: matches must not be mixed")
    changed = _changed(shown)
    for slide in changed:
        (folder / f"step-{slide.step:0{digits}}.svg").write_text(slide.svg, encoding="utf-8")
    (folder / VIEWER_PAGE).write_text(page(record, shown, luck), encoding="utf-8")
    return len(changed)


def page(record: MatchRecord, shown: list[ViewerStep], luck: str = "") -> str:
    """The page of these slides as HTML."""
    pictures = [slide.svg for slide in _changed(shown)]
    place, steps = -1, []
    for slide in shown:
        if place < 0 or slide.svg != pictures[place]:
            place += 1
        steps.append(_Shown(slide.line, place))
    title = f"{record.game}: match {record.match}"
    told = _Page(
        title=title,
        players=tuple(f"seat {seat}: {entry.player} ({entry.bot[:8]})" for seat, entry in enumerate(record.seats)),
        result="; ".join(filter(None, [result_line(record), luck])),
        steps=tuple(steps),
        pictures=tuple(gzip.compress(svg.encode(), mtime=0) for svg in pictures),
    )
    # Inside a script element only `<` could end it.
    data = msgspec.json.encode(told).decode().replace("<", "\\u003c")
    template = (files("arena.report") / "viewer.html").read_text(encoding="utf-8")
    return template.replace("{{title}}", escape(title)).replace("{{match}}", data)


def _changed(shown: list[ViewerStep]) -> list[ViewerStep]:
    """Those whose picture is another than that of the step before."""
    return [slide for number, slide in enumerate(shown) if number == 0 or slide.svg != shown[number - 1].svg]
