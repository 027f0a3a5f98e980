"""The pages for bot authors, cut into what the tests look at: fenced blocks and sections."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PROTOCOL = ROOT / "protocol.md"
NIM, RULES, RIFFRAFF, FAULTS, LUCK, MANIFEST, PROCESS = (
    ROOT / "docs" / f"{name}.md" for name in ("nim", "shanghaien", "riffraff", "faults", "luck", "manifest", "process")
)
PAGES = [path for path in (PROTOCOL, ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if path.exists()]


class Block(NamedTuple):
    """A fenced block of a page: where it begins, the words behind the fence, its text."""

    place: str
    info: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\S[^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [
        Block(f"{page.name}:{text.count(chr(10), 0, each.start()) + 1}", each[1].strip(), each[2]) for each in found
    ]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def marked(info: str) -> list[Block]:
    return [block for block in BLOCKS if block.info == info]


def inline_actions(page: Path) -> list[dict[str, Any]]:
    """The actions of Shanghaien that a page shows within its text, as in `{"do": "roll"}`."""
    return [json.loads(text) for text in re.findall(r'`(\{"do"[^`]*\})`', page.read_text(encoding="utf-8"))]


def only(info: str) -> str:
    """The text of the first block with these words behind its fence; those of protocol.md come first."""
    return next(block.text for block in BLOCKS if block.info == info)


def section_of(heading: str, page: Path = PROTOCOL) -> str:
    """The text from a heading of a page to the next one of the same or a higher level."""
    text = page.read_text(encoding="utf-8")
    assert text.count(f"\n{heading}") == 1, heading
    rest = text.split(f"\n{heading}", 1)[1]
    level = heading.index(" ")
    return re.split(rf"^#{{2,{level}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]
