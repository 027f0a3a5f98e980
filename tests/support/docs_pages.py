"""The pages for readers, cut into fenced blocks and links."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = (*sorted(ROOT.glob("*.md")), ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").glob("*.md")))
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
FENCED = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: its page, its language, the words behind it, its text."""

    page: str
    language: str
    words: tuple[str, ...]
    text: str

    @property
    def file(self) -> str:
        """The file that readers save the block to; "" for none."""
        return next((word for word in self.words if "." in word), "")

    @property
    def needs(self) -> list[str]:
        """Programs without which the block cannot run."""
        return [word.removeprefix("needs-") for word in self.words if word.startswith("needs-")]


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Block(page, found[1], tuple(found[2].split()), found[3]) for found in FENCED.finditer(text)]


BLOCKS = [block for page in NAMES for block in blocks(page)]


def prose(page: str) -> str:
    """The text of a page without its fenced blocks."""
    return FENCED.sub("", (ROOT / page).read_text(encoding="utf-8"))


def links(page: str) -> list[str]:
    """The targets within the project, such as `docs/bots.md#check-it`."""
    found = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    return [target for target in found if "://" not in target]


def anchors(page: Path) -> set[str]:
    """The anchors that a forge and the site give to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
