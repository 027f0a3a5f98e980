"""The result of a check of this machine: a status and a sentence. Rule: a bad result says what to do about it."""

import textwrap
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Final

import msgspec

_WIDTH: Final = 99
_INDENT: Final = 8


class CheckStatus(Enum):
    """The meaning of a check result for a league."""

    OK = "ok"
    """As it should be."""
    NOTE = "note"
    """To be known; a league can be run."""
    WEAK = "WEAK"
    """Less safe than it could be; a league can be run."""
    BAD = "BAD"
    """Bots cannot be run safely."""


class CheckResult(msgspec.Struct, frozen=True):
    """The result of one check."""

    status: CheckStatus
    text: str

    def lines(self) -> list[str]:
        """For a terminal of a hundred columns; lines of the text stay lines."""
        lines: list[str] = []
        for part in self.text.splitlines():
            lines += textwrap.wrap(
                part,
                _WIDTH,
                initial_indent=" " * _INDENT if lines else f"  {self.status.value:<4}  ",
                subsequent_indent=" " * _INDENT,
                break_long_words=False,
                break_on_hyphens=False,
            )
        return lines


ok = partial(CheckResult, CheckStatus.OK)
note = partial(CheckResult, CheckStatus.NOTE)
weak = partial(CheckResult, CheckStatus.WEAK)
bad = partial(CheckResult, CheckStatus.BAD)


def checked(title: str, check: Callable[[], list[CheckResult]]) -> list[CheckResult]:
    """The results of `check`; its failure is a result too, because a person who asks a doctor has trouble already."""
    try:
        return check()
    except Exception as error:  # noqa: BLE001 - any trouble of this machine
        return [note(f"{title}: cannot be told here: {type(error).__name__}: {error}")]
