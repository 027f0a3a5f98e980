"""A site of made leagues with hostile names, and a reader of its pages."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from arena.league.tournament import Player
from arena.site.build import MatchChoice, write_site
from support.made_matches import bot
from support.store_made import fill, reading, tournament

NAMES: Final = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7*7 }}{% raw %}",
    "$\\frac`code`",
    "gn\u0440.exe",
    "cheat",
)
"""Of players; `cheat` loses by an illegal action."""
LONGEST_S: Final = 60
VOID: Final = {"meta", "link", "br", "img", "input", "hr"}


def made_site(folder: Path, *names: str, which: MatchChoice = "chosen", cycles: int = 2) -> Path:
    """The site of a league of nim between these players, or those of `NAMES`."""
    players = tuple(Player(name, bot(f"bot{number}")) for number, name in enumerate(names or NAMES))
    league = tournament(players=players, name="../evil & <b>", cycles=cycles)
    fill(folder / "results", league)
    with reading(folder / "results") as store:
        write_site(store, (), folder / "out", which)
    return folder / "out"


@contextmanager
def serving(results: Path, *options: str) -> Iterator[str]:
    """The address of a server of these results; it ends by Ctrl-C, as interrupted."""
    command = [sys.executable, "-m", "arena", "site", "serve", "--port", "0", "--results", str(results), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield process.stderr.readline().split()[-1]
        finally:
            process.send_signal(signal.SIGINT)
            rest = process.communicate(timeout=LONGEST_S)[1]
    assert "Traceback" not in rest, rest


class Read(HTMLParser):
    """A page: its elements with their attributes, its text, and whether every element is closed in order."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.page = page
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))
        assert not self.open, f"{page}: not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"{self.page}: </{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        """The attributes of each element of that kind."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def targets(self) -> list[str]:
        """What the page leads to or loads, without parts of pages."""
        found = [own[name] for _, own in self.elements for name in ("href", "src") if name in own]
        return [re.sub("#.*", "", each) for each in found if not each.startswith(("#", "data:"))]


def pages_of(site: Path) -> list[Read]:
    """Every page of a site."""
    return [Read(path) for path in sorted(site.rglob("*.html"))]
