"""The recorder of a bot's lines in one match: a checksum of all, and the text of those that the steps do not give.

Rule: a bot that says much fills no memory. An answer by index in the bot's usual form follows from its step; all other
lines are kept as they came, up to KEPT_BYTES.
"""

import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import UNSET, UnsetType

from arena.errors import BotFault
from arena.match.record import KEPT_BYTES, Discarded, ReportedFault, Said, StderrText
from arena.process.channel import BoundedLog
from arena.protocol.messages import FIELDS_OF_BOTS
from arena.text import counted, cut, printable, unknown

HELLO: Final = -1
READY: Final = 0
"""Numbers of the two lines before the first request."""
_OVERHEAD: Final = 8
"""Bytes that an empty line costs."""
_INDEX_FORM: Final = re.compile(rb"([^0-9]*)[0-9]+([^0-9]*)[0-9]+([^0-9]*)")
_LONGEST_FORM: Final = 200
_ALL_BITS: Final = 0xFFFFFFFF
UNKNOWN_FIELD: Final = "unknown field "
"""The kind of an ignored field, before its name."""
_FIELDS_KEPT: Final = 3
"""Names of unknown fields that a match keeps for a seat; others count under `...`."""


class LineRecorder:
    """A recorder of the lines of a match, in the order of time. `number` is that of the open request.

    `form` may be that of an earlier match: the text before, between and after the numbers of an answer. `stderr` gets
    what the bot writes there, if the match keeps it.
    """

    def __init__(self, form: tuple[str, ...] = (), stderr: BoundedLog | None = None) -> None:
        self.number = READY
        self.stderr = stderr
        self._stderr_ends: list[tuple[int, int]] = []
        self.sent_in_all = self._sent_before = 0
        self.checksum = 0
        self.form = form
        self.left_out = 0
        self.lost_at = 0
        self.said: dict[int, Said] = {}
        self.faults: list[ReportedFault] = []
        self._discarded: Counter[tuple[int, str]] = Counter()
        self._room = KEPT_BYTES
        self._is_cut = self._is_open = False
        self._lines: list[bytes] = []
        self._early: list[bytes] = []
        self._last = b""
        self._count = 0
        self._plain: bytes | None = None

    @property
    def discarded(self) -> tuple[Discarded, ...]:
        """The numbers of lines that counted for nothing, by request and kind."""
        return tuple(Discarded(number, kind, count) for (number, kind), count in self._discarded.items())

    @property
    def stderr_texts(self) -> tuple[StderrText, ...] | UnsetType:
        """The kept text on stderr by request, without those of which nothing is kept."""
        if self.stderr is None:
            return UNSET
        ends, start, texts = (*self._stderr_ends, (self.number + 1, self.stderr.total)), 0, list[StderrText]()
        for number, end in ends:
            if text := self.stderr.text(start, end) if end > start else "":
                texts.append(StderrText(number, text))
            start = end
        return tuple(texts)

    def open(self, number: int) -> None:
        """Begin a request: lines from now on belong to it."""
        self.number, self._sent_before = number, self.sent_in_all
        self._lines, self._early = [], []
        self._count = 0
        self._is_cut = False
        self._is_open = True
        self._plain = None

    def to_bot(self, line: bytes) -> None:
        """Count a line of the referee, and add it to the checksum."""
        self.checksum = zlib.crc32(line, self.checksum)
        self.sent_in_all += 1

    def from_bot(self, line: bytes, *, is_early: bool = False) -> None:
        """Add a line of the bot to the checksum; keep it if there is room, else count it as left out."""
        self.checksum = zlib.crc32(line, self.checksum ^ _ALL_BITS)
        self._last = line
        self._count += 1
        size = len(line) + _OVERHEAD
        if self._room < size:
            self._is_cut = True
            self.left_out += 1
        else:
            self._room -= size
            (self._early if is_early else self._lines).append(line)

    def discard(self, kind: str) -> bool:
        """Count the last line as useless, by kind; return True if it is the first of its kind in this match."""
        is_first = all(kind != former for _, former in self._discarded)
        self._discarded[self.number, kind] += 1
        return is_first

    def ignore_fields(self, names: Sequence[str]) -> None:
        """Count the first few fields of the last line that arena/1 does not have; further names become `...`."""
        for name in names[:_FIELDS_KEPT]:
            kind = f"{UNKNOWN_FIELD}{printable(cut(name))}"
            kinds = {former for _, former in self._discarded if former.startswith(UNKNOWN_FIELD)}
            self.discard(kind if kind in kinds or len(kinds) < _FIELDS_KEPT else f"{UNKNOWN_FIELD}...")

    def lose(self) -> None:
        """Note that the bot's process could not take the last line."""
        self.lost_at = self.sent_in_all

    def close(self, request_id: int = 0, action: object = None) -> None:
        """End the open request; keep its lines, unless the only one is an answer by index in the usual form.

        `action` is that of its answer, if it got one.
        """
        self._is_open = False
        if self.stderr is not None:
            self._stderr_ends.append((self.number, self.stderr.total))
        is_index = self._count == 1 and type(action) is int
        if is_index and not self.form:
            self.form = _form_of(self._last)
        if is_index and self._last == answer_in_form(self.form, request_id, action):
            self._plain = self._last
            if self._is_cut:
                self.left_out -= 1
            else:
                self._room += len(self._last) + _OVERHEAD
        elif not self._is_cut:
            self.said[self.number] = Said(
                self.number, tuple(map(text_of, self._lines)), tuple(map(text_of, self._early))
            )

    def keep_answer(self) -> None:
        """Keep the answer to the last request, which no step will contain."""
        if self._plain is not None:
            self.said[self.number] = Said(self.number, (text_of(self._plain),))

    def fault(self, fault: BotFault, *, is_fatal: bool) -> None:
        """Add a fault of the bot to `faults`, in the words in which it is reported; close the request."""
        if self._is_open:
            self.close()
        self.keep_answer()
        report = ReportedFault(
            request=self.number,
            code=fault.code,
            message=fault.message,
            hint=fault.hint,
            got=fault.got,
            reason=fault.reason,
            sent=self.sent_in_all - self._sent_before,
            is_fatal=is_fatal,
        )
        self.faults.append(report)


def answer_in_form(form: tuple[str, ...], request_id: int, action: object) -> bytes:
    """Write the answer by index in that form, with its request id; empty without a form."""
    if not form:
        return b""
    before, between, after = form
    first, second = (request_id, action) if '"action"' in between else (action, request_id)
    return f"{before}{first}{between}{second}{after}".encode()


def text_of(line: bytes) -> str:
    """Decode a line to text from which `line_of` makes the same bytes again."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = ""
    return text if text.encode() == line and not text.startswith("\0") else "\0" + line.decode("latin-1")


def line_of(text: str) -> bytes:
    """Encode the line that is kept as that text."""
    return text[1:].encode("latin-1") if text.startswith("\0") else text.encode()


def _form_of(line: bytes) -> tuple[str, ...]:
    """Return the text before, between and after the two numbers of an answer; empty if it has another form."""
    matched = _INDEX_FORM.fullmatch(line) if len(line) <= _LONGEST_FORM else None
    try:
        return () if matched is None else tuple(part.decode() for part in matched.groups())
    except UnicodeDecodeError:
        return ()


def split_ignored(ignored: Mapping[str, int]) -> tuple[dict[str, int], list[str]]:
    """Split what was ignored: lines by kind, and a sentence for each unknown field, which says what may be meant."""
    lines = {kind: count for kind, count in ignored.items() if not kind.startswith(UNKNOWN_FIELD)}
    sentences = [
        f"ignored {counted(count, 'time')}: {unknown('field', kind.removeprefix(UNKNOWN_FIELD), FIELDS_OF_BOTS)}"
        for kind, count in ignored.items()
        if kind not in lines
    ]
    return lines, sentences
