"""What the doctor finds: a verdict and a sentence. Rule: a finding that is bad says what to do about it."""

import textwrap
from collections.abc import Callable
from enum import Enum
from typing import Final

import msgspec

_WIDTH: Final = 99
_INDENT: Final = 8


class Verdict(Enum):
    """What a finding means for a league."""

    OK = "ok"
    NOTE = "note"
    WEAK = "WEAK"
    BAD = "BAD"


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at."""

    verdict: Verdict
    text: str

    def lines(self) -> list[str]:
        """For a terminal of a hundred columns; lines of the text stay lines."""
        lines: list[str] = []
        for number, part in enumerate(self.text.splitlines()):
            mark = f"  {self.verdict.value:<4}  " if number == 0 else " " * _INDENT
            lines += textwrap.wrap(
                part,
                _WIDTH,
                initial_indent=mark,
                subsequent_indent=" " * _INDENT,
                break_long_words=False,
                break_on_hyphens=False,
            )
        return lines


def ok(text: str) -> Finding:
    """As it should be."""
    return Finding(Verdict.OK, text)


def note(text: str) -> Finding:
    """To be known; a league can be run."""
    return Finding(Verdict.NOTE, text)


def weak(text: str) -> Finding:
    """Less safe than it could be; a league can be run."""
    return Finding(Verdict.WEAK, text)


def bad(text: str) -> Finding:
    """Bots cannot be run safely."""
    return Finding(Verdict.BAD, text)


def looked_at(what: str, look: Callable[[], list[Finding]]) -> list[Finding]:
    """What `look` finds; that it failed is a finding too, because who asks a doctor has trouble already."""
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - whatever is wrong with this machine
        return [note(f"{what}: cannot be told here: {type(error).__name__}: {error}")]
