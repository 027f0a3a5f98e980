"""The picture of the first page, drawn anew: `python docs/picture.py` writes docs/picture.svg, in some minutes.

Its left half is the game's own picture of a position of Riff Raff, from the front: the position that heels most in a
match under a public seed. A new version of the bot plays another match. Its right half is the leaderboard of the league
`first` under its published secret.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from arena.library.match import Match, load_match
from arena.report.columns import LEADERBOARD, Definition
from arena.report.formats import PLAIN

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "picture.svg"
SHIP = """
name: ship
game: riffraff
seed: 7
players:
  - {bot: shipmate, name: lookahead, arguments: [lookahead]}
  - {bot: shipmate, name: tidy, arguments: [tidy]}
cycles: 1
"""
SVG = "{http://www.w3.org/2000/svg}"
FRONT = "url(#riffraff-front)"
VIEW = "24 84 480 464"
"""The visible part of the game's picture: the ship above the water, from the front."""
WORDLESS = (110, 530)
"""Heights between which captions stay: above stands the name of the view, below are the yards."""
WIDTH, HEIGHT, SHIP_WIDTH = 1150, 380, 414
INK, FADED, LINE, PAPER, BAR = "#2b2a26", "#6f6a5e", "#d8ccb4", "#fbf6ea", "#3f97ab"
PLACES = (446, 500, 712, 800, 934, 1052, 1120)
"""Pixels where the texts of the leaderboard's default columns end; the first two begin there."""


def main() -> None:
    """Play both leagues in a temporary folder and write the picture."""
    with tempfile.TemporaryDirectory(prefix="arena-picture-") as folder:
        tournament = Path(folder, "ship.yaml")
        tournament.write_text(SHIP, encoding="utf-8")
        arena("league", "run", str(tournament), "--results", folder)
        first = arena("league", "matches", "ship", "--results", folder).split()[0]
        ship = most_tilted(load_match(first, results=folder))
        secret = str(ROOT / "tournaments" / "first.secret")
        league = ("league", "run", str(ROOT / "tournaments" / "first.yaml"), "--secret-file", secret)
        table = json.loads(arena(*league, "--format", "json", "--results", f"{folder}/first"))["standings"]
        PICTURE.write_text(draw(ship, table), encoding="utf-8")


def arena(*words: str) -> str:
    """Run a command of arena; return what it prints."""
    program = Path(sys.executable).with_name("arena")
    return subprocess.run([program, *words], check=True, capture_output=True, text=True, cwd=ROOT).stdout


def most_tilted(match: Match) -> str:
    """Return the picture of the step after which the ship heels most, the last one of equals."""

    def heel(step: int) -> tuple[float, int]:
        return float(re.findall(r"heel ([\d.]+)", match.picture(step))[0]), step

    return match.picture(max(range(len(match.steps()) + 1), key=heel))


def draw(ship: str, table: dict[str, Any]) -> str:
    """Return the whole document."""
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    box = f'x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="10" fill="{PAPER}" stroke="{LINE}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="DejaVu Sans, Verdana, sans-serif">',
        "<title>A loaded ship of Riff Raff, and the leaderboard of a first league</title>",
        f"<rect {box}/>",
        f'<svg x="1" y="1" width="{SHIP_WIDTH}" height="{HEIGHT - 2}" viewBox="{VIEW}"',
        'preserveAspectRatio="xMidYMid slice">',
        *front_view(ship),
        "</svg>",
        *leaderboard(table),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def front_view(ship: str) -> Iterator[str]:
    """Yield the definitions of the game's picture, and the view from the front."""
    ET.register_namespace("", SVG.strip("{}"))
    root = ET.fromstring(ship)
    for part in root:
        if part.tag == f"{SVG}defs" or part.get("clip-path") == FRONT:
            for caption in part.findall(f"{SVG}text"):
                if not WORDLESS[0] <= float(caption.get("y", "")) <= WORDLESS[1]:
                    part.remove(caption)
            yield ET.tostring(part, encoding="unicode").replace(' xmlns="http://www.w3.org/2000/svg"', "")


def leaderboard(table: dict[str, Any]) -> Iterator[str]:
    """Yield the heads, a line with a bar for each player, and the sentences below."""
    yield text(446, 44, "first", 20, "font-weight='bold'")
    yield text(500, 44, "a league of three bots at Shanghaien", 14, colour=FADED)
    rows = table["rows"]
    for column, at in zip(LEADERBOARD, PLACES, strict=False):
        yield text(at, 92, column.header.replace("\n", " "), 12, anchor(column), colour=FADED)
        for number, cell in enumerate(column.cells(rows, PLAIN)):
            yield text(at, 130 + 52 * number, re.sub("(?<=-) +", "", " ".join(cell.split())), 16, anchor(column))
    for number, row in enumerate(rows):
        yield from bar(row, 140 + 52 * number)
    luck, games = table["luck"]["commitments"][0], f"{table['matches']} of {table['scheduled']} matches"
    notes = (
        f"{games}, each luck played twice with the seats swapped",
        "bar: the score, dark line: its 95 % interval; rating: TrueSkill's model fitted to all matches at once",
        f"luck drawn in secret, commitment {luck[:16]}…",
    )
    for number, note in enumerate(notes):
        yield text(446, 306 + 22 * number, note, 13, colour=FADED)


def bar(row: dict[str, Any], y: int) -> Iterator[str]:
    """Yield the score of a player as a bar with its interval."""
    left, width = PLACES[1], 620
    low, score, high = (left + width * row[key] for key in ("score_low", "score", "score_high"))
    yield f'<rect x="{left}" y="{y}" width="{width}" height="6" rx="3" fill="{LINE}" fill-opacity="0.5"/>'
    yield f'<rect x="{left}" y="{y}" width="{score - left:.1f}" height="6" rx="3" fill="{BAR}"/>'
    yield f'<rect x="{low:.1f}" y="{y + 2}" width="{high - low:.1f}" height="2" fill="{INK}"/>'


def anchor(column: Definition) -> str:
    """Return the attribute that aligns the texts of a column."""
    return "" if column.is_key else 'text-anchor="end"'


def text(x: int, y: int, words: str, size: int, more: str = "", colour: str = INK) -> str:
    """Return words at a place as an SVG element."""
    escaped = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}" {more}>{escaped}</text>'


if __name__ == "__main__":
    main()
