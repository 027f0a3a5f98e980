"""Lines <-> messages. Encoding to bots is plain; decoding from bots is strict.

Rule: whatever bytes a bot sends, decoding ends in a message or a `MalformedReply` with a sentence for its author; it
never raises anything else and never repairs.
"""

import json
from collections.abc import Iterable
from json import JSONDecoder
from typing import Any, Final, NoReturn

import msgspec

from arena.errors import HarnessFault, MalformedReply
from arena.protocol.messages import Answer, FromBot, Ready, ToBot
from arena.text import printable

LINE_TO_BOT_LIMIT: Final = 1 << 20
LINE_FROM_BOT_LIMIT: Final = 1 << 16
SAFE_INTEGER: Final = 2**53
DEEPEST: Final = 64
"""Levels of objects and lists in a line from a bot. A fixed number, for what the stack bears depends on the caller."""
SHOWN_BYTES: Final = 200
_SHOWN_CHARACTERS: Final = 300

_QUOTES_OF_SHORT_LINE: Final = 8
# A union, although only answers need to be fast: a decoder of one struct does not require its tag, one of two does.
_short_lines: Final[msgspec.json.Decoder[Answer | Ready]] = msgspec.json.Decoder(Answer | Ready)
_encoder: Final = msgspec.json.Encoder()


def encode(message: ToBot) -> bytes:
    """The line for `message`, newline included. HarnessFault if it is longer than bots were promised."""
    line = _encoder.encode_lines([message])  # given a tuple, msgspec 0.22.0 never frees its iterator
    if len(line) > LINE_TO_BOT_LIMIT:
        raise HarnessFault(f"a line to a bot of {len(line)} bytes, at most {LINE_TO_BOT_LIMIT} are allowed")
    return line


class Heading(msgspec.Struct):
    """Kind and request of a message. All other parts of the line are skipped, however long they are."""

    type: str
    id: int


_headings: Final = msgspec.json.Decoder(Heading)


def decode(line: bytes) -> FromBot:
    """The message in a line from a bot. MalformedReply says what is wrong with it."""
    return decode_short(line) or decode_strictly(line)


def read_heading(line: bytes) -> Heading | None:
    """The heading of a line from a bot; None if it has none that can be read so."""
    try:
        return _headings.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def decode_short(line: bytes) -> Answer | Ready | None:
    """The fast path for the answer most bots send: an id and an index, nothing else.

    msgspec keeps the last of two equal keys without a word. Three keys and one text value (`type`, `id`, `action`) need
    exactly 8 quotation marks, and so do two keys and two text values (`type`, `match`). So a line with 8 of them that
    decodes gives no key twice, and everything else takes the strict path.
    """
    if line.count(b'"') != _QUOTES_OF_SHORT_LINE:
        return None
    try:
        return _short_lines.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def decode_strictly(line: bytes) -> FromBot:
    """The message in a line, by all the strict rules."""
    raw = decode_object(line)
    try:
        message: FromBot = msgspec.convert(raw, type=FromBot)
    except msgspec.ValidationError as error:
        raise MalformedReply(f"not a message of arena/1: {_plain(error)}", hint=_hint(raw), got=excerpt(line)) from None
    return message


def decode_object(line: bytes) -> dict[str, Any]:
    """The JSON object in a line, by the strict rules of protocol.md."""
    try:
        text = line.decode("utf-8")
        raw = _decoder.decode(text)
        if "\\u" in text:
            json.dumps(raw, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedReply(f"the line is not UTF-8 at byte {error.start}", got=excerpt(line)) from None
    except UnicodeEncodeError:
        raise MalformedReply(
            "the line contains half of a surrogate pair (\\ud800 to \\udfff)", got=excerpt(line)
        ) from None
    except RecursionError:
        raise _too_deep(line) from None
    except ValueError as error:
        raise MalformedReply(f"the line is not one JSON object: {error}", hint=_LINE_HINT, got=excerpt(line)) from None
    if not isinstance(raw, dict):
        raise MalformedReply("the line is not a JSON object", hint=_LINE_HINT, got=excerpt(line))
    if _is_too_deep(raw, line):
        raise _too_deep(line)
    return raw


def excerpt(line: bytes) -> str:
    """The beginning of a line as printable text, for error messages and logs."""
    text = line[:SHOWN_BYTES].decode("utf-8", "backslashreplace")
    clean = printable(text)
    return clean if len(line) <= SHOWN_BYTES else f"{clean}... ({len(line)} bytes)"


_LINE_HINT: Final = "send one JSON object per line and nothing else on stdout; use stderr for debugging"
_FORMS: Final = {
    "hello": '{"type": "hello", "protocols": [1]}',
    "ready": '{"type": "ready", "match": "<match of match_start>"}',
    "action": '{"type": "action", "id": <id of the request>, "action": <the action or its index in legal>}',
    "simulate": '{"type": "simulate", "id": <id of the request>, "query": <a number of yours>, "what": {...}}',
}


def _hint(raw: dict[str, Any]) -> str:
    kind = raw.get("type")
    if isinstance(kind, str) and kind in _FORMS:
        return f"expected {_FORMS[kind]}"
    return f"expected one of {'; '.join(_FORMS.values())}"


def _plain(error: msgspec.ValidationError) -> str:
    text = str(error).replace("`", "").replace(" - at $.", ", at ").replace(" - at $", "")
    return printable(text[:_SHOWN_CHARACTERS])


def _too_deep(line: bytes) -> MalformedReply:
    return MalformedReply(
        f"the line is nested too deeply, more than {DEEPEST} levels", hint=_LINE_HINT, got=excerpt(line)
    )


def _is_too_deep(raw: dict[str, Any], line: bytes) -> bool:
    """Whether there are more than `DEEPEST` levels in `raw`, which was read from `line`."""
    if line.count(b"{") + line.count(b"[") <= DEEPEST:
        return False
    level: list[Any] = [raw]
    for _ in range(DEEPEST):
        level = [inner for value in level for inner in _inside(value)]
    return any(isinstance(value, dict | list) for value in level)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {json.dumps(twice[:60])} is given twice")
    return read


def _integer(digits: str) -> int:
    if len(digits) > 17 or not -SAFE_INTEGER <= int(digits) <= SAFE_INTEGER:
        raise ValueError(f"the integer {digits[:20]} is beyond 2^53")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_decoder: Final = JSONDecoder(
    object_pairs_hook=_unique, parse_int=_integer, parse_float=_number, parse_constant=_refuse_constant
)
