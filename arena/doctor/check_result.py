"""The result of a check of this machine: a status and a sentence. Rule: a bad result says what to do about it."""

import textwrap
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, Literal, NamedTuple

_WIDTH: Final = 99
_INDENT: Final = " " * 8


class CheckResult(NamedTuple):
    """The result of one check.

    `ok`: as it should be; `note`: to be known, a league can be run; `WEAK`: less safe than it could be, a league can be
    run; `BAD`: bots cannot be run safely.
    """

    status: Literal["ok", "note", "WEAK", "BAD"]
    text: str

    def lines(self) -> list[str]:
        """For a terminal of a hundred columns; lines of the text stay lines."""
        wrapper = textwrap.TextWrapper(_WIDTH, f"  {self.status:<4}  ", _INDENT)
        wrapper.break_long_words = wrapper.break_on_hyphens = False
        lines: list[str] = []
        for part in self.text.splitlines():
            lines += wrapper.wrap(part)
            wrapper.initial_indent = _INDENT
        return lines


ok = partial(CheckResult, "ok")
note = partial(CheckResult, "note")
weak = partial(CheckResult, "WEAK")
bad = partial(CheckResult, "BAD")


def checked(title: str, check: Callable[[], Iterable[CheckResult]]) -> list[CheckResult]:
    """The results of `check`; its failure is a result too, because a person who asks a doctor has trouble already."""
    try:
        return list(check())
    except Exception as error:  # noqa: BLE001 - any trouble of this machine
        return [note(f"{title}: cannot be told here: {type(error).__name__}: {error}")]
