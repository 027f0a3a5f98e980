"""Equal files of different authors, for the organiser of a class.

Rule: files are equal if they have the same words and signs, whatever their names, white space and identifiers are.
Files that come with arena are everybody's. A finding accuses nobody: a short file may be equal by chance.
"""

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Final

from arena.errors import SpecError
from arena.process.manifest import MANIFEST, bot_files
from arena.text import join_words

_SIZE_LIMIT: Final = 256 << 10
"""Bytes of a file whose words are compared; a larger one is compared as it is."""
_FEWEST_WORDS: Final = 40
_MOST_NAMED: Final = 4
"""Most files that a sentence names: a class may have the teacher's file in common."""


def find_equal_files(bots: Iterable[tuple[str, Path]], kits: Iterable[Path]) -> dict[str, list[str]]:
    """Return what equals what, by author: sentences about the files of their bots and those of other authors.

    `bots`: authors and places of bots. `kits`: folders of files that all may have. Files of fewer than 40 words are not
    compared; an author without equal files is left out.
    """
    common = {_normal_form(path.read_bytes()) for kit in kits for path in kit.rglob("*") if path.is_file()} | {""}
    places = defaultdict[str, set[tuple[str, str]]](set)
    for author, bot in bots:
        with contextlib.suppress(SpecError):  # a bot that cannot be read is refused elsewhere
            for name, content, _ in bot_files(bot):
                if name != MANIFEST:
                    places[_normal_form(content)].add((author, name))
    findings = defaultdict[str, list[str]](list)
    for files in (places[form] for form in places.keys() - common):
        for author, name in files:
            if others := sorted(f"{other_name} of {other}" for other, other_name in files if other != author):
                others[_MOST_NAMED:] = [f"{len(others) - _MOST_NAMED} more"] * (len(others) > _MOST_NAMED)
                findings[author].append(f"{name} equals {join_words(others)}")
    return {author: sorted(sentences) for author, sentences in findings.items()}


def _normal_form(content: bytes) -> str:
    """Return the hash of the words and signs of a file, with a number for each identifier; empty for a short file."""
    if len(content) > _SIZE_LIMIT:
        return sha256(content).hexdigest()
    numbers = defaultdict[str, int](count().__next__)
    words = re.findall(r"\w+|[^\w\s]", content.decode(errors="replace"))
    plain = [word if word[0].isdecimal() or not word.isidentifier() else f"_{numbers[word]}" for word in words]
    return sha256(" ".join(plain).encode()).hexdigest() if len(words) >= _FEWEST_WORDS else ""
