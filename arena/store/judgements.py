"""Judgements of matches, kept beside the results in `results/coach/<judge>/<match>.json`.

Rule: a cache. Deleting it loses time and nothing else, and nothing in the results follows from it. A file that is
damaged, or that belongs to another record of the match, counts as missing.
"""

import contextlib
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from arena.errors import DamagedStore
from arena.match.judgement import Judgement
from arena.match.record import split_packed
from arena.match.results import MatchResult
from arena.store import files

_FOLDER: Final = "coach"
_MOST_BYTES: Final = 16 << 20


class JudgementCache:
    """The cache of a results folder. A `judge` is the hexadecimal digest of all that its judgements depend on."""

    def __init__(self, results: Path) -> None:
        self._results = results

    def read(self, match: MatchResult, judge: str) -> Judgement | None:
        """Return what the judge thinks of a match that has its record with it; None if that is not known."""
        with contextlib.suppress(OSError, DamagedStore, UnicodeDecodeError, msgspec.MsgspecError):
            content = files.read_plain(self._results, _path(match, judge), _MOST_BYTES)
            heading, _, body = content.partition(b"\n")
            if heading == _heading(match, body):
                return msgspec.json.decode(body, type=Judgement)
        return None

    def keep(self, match: MatchResult, judge: str, judgement: Judgement) -> None:
        """Keep a judgement. OSError, or DamagedStore, if it cannot be written."""
        files.make_folder(self._results, f"{_FOLDER}/{judge}")
        body = msgspec.json.encode(judgement)
        files.replace_plain(self._results, _path(match, judge), f"{_heading(match, body).decode()}\n{body.decode()}")

    def judges(self) -> list[str]:
        """Return the judges of whom judgements are kept, the latest first."""
        judges: list[Path] = []
        with contextlib.suppress(OSError, DamagedStore), files.open_folder(self._results, _FOLDER):
            folders = (self._results / _FOLDER).iterdir()
            judges = sorted(folders, key=lambda folder: (-folder.lstat().st_mtime_ns, folder.name))
        return [judge.name for judge in judges]

    def read_all(self, match: MatchResult) -> list[Judgement]:
        """Return what all judges think of a match, the latest judge first."""
        return [known for judge in self.judges() if (known := self.read(match, judge)) is not None]


def _path(match: MatchResult, judge: str) -> str:
    """Return the path of a judgement below the results folder."""
    return f"{_FOLDER}/{judge}/{match.key}.json"


def _heading(match: MatchResult, body: bytes) -> bytes:
    """Return the first line of a file: the digest of the record and that of the judgement."""
    return f"{split_packed(match.record)[1]} {sha256(body).hexdigest()}".encode()
