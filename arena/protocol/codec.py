"""Lines <-> messages. Encoding to bots is plain; decoding from bots is strict.

Rule: whatever bytes a bot sends, decoding ends in a message or a `MalformedReply` with a sentence for its author; it
never raises anything else and never repairs.
"""

import json
from collections import Counter
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
"""The most levels of objects and lists in a line from a bot: fixed, as the room on the stack depends on the caller."""
SHOWN_BYTES: Final = 200
_SHOWN_CHARACTERS: Final = 300

_QUOTES_OF_SHORT_LINE: Final = 8
# A union, although only answers need to be fast: a decoder of one struct does not require its tag, one of two does.
_short_lines: Final[msgspec.json.Decoder[Answer | Ready]] = msgspec.json.Decoder(Answer | Ready)
_encoder: Final = msgspec.json.Encoder()


def encode(message: ToBot) -> bytes:
    """Encode `message` as a line with its newline. HarnessFault if it is longer than bots were promised."""
    line = _encoder.encode_lines([message])  # given a tuple, msgspec 0.22.0 never frees its iterator
    if len(line) > LINE_TO_BOT_LIMIT:
        raise HarnessFault(f"a line to a bot of {len(line)} bytes, at most {LINE_TO_BOT_LIMIT} are allowed")
    return line


class Heading(msgspec.Struct):
    """The kind and the request of a message; other parts of the line are skipped, however long they are."""

    type: str
    id: int


_headings: Final = msgspec.json.Decoder(Heading)


def decode(line: bytes) -> FromBot:
    """Decode a line from a bot. MalformedReply says what is wrong with it."""
    return decode_short(line) or decode_strictly(line)[0]


def read_heading(line: bytes) -> Heading | None:
    """Read the heading of a line from a bot; None if it has none that can be read so."""
    try:
        return _headings.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def decode_short(line: bytes) -> Answer | Ready | None:
    """Decode the answer that most bots send, an id and an index, by a fast path; None for any other line.

    msgspec keeps the last of two equal keys without an error. Three keys and one text value (`type`, `id`, `action`)
    need exactly 8 quotation marks, and so do two keys and two text values (`type`, `match`). So a line with 8 of them
    that decodes has no key twice, and everything else takes the strict path.
    """
    if line.count(b'"') != _QUOTES_OF_SHORT_LINE:
        return None
    try:
        return _short_lines.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def decode_strictly(line: bytes) -> tuple[FromBot, tuple[str, ...]]:
    """Decode a line by all strict rules; return the message, and the names of fields that it does not have.

    MalformedReply says what is wrong with it.
    """
    raw = decode_object(line)
    try:
        message: FromBot = msgspec.convert(raw, type=FromBot)
    except msgspec.ValidationError as error:
        raise MalformedReply(
            f"not a message of arena/1: {_validation_text(error)}", hint=_form_hint(raw), got=excerpt(line)
        ) from None
    fields = (*message.__struct_encode_fields__, "type")
    return message, tuple([name for name in raw if name not in fields])


def decode_object(line: bytes) -> dict[str, Any]:
    """Decode the JSON object in a line, by the strict rules of protocol.md. MalformedReply says what is wrong."""
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
        raise _too_deep_error(line) from None
    except ValueError as error:
        raise MalformedReply(f"the line is not one JSON object: {error}", hint=_LINE_HINT, got=excerpt(line)) from None
    if not isinstance(raw, dict):
        raise MalformedReply("the line is not a JSON object", hint=_LINE_HINT, got=excerpt(line))
    if _is_too_deep(raw, line):
        raise _too_deep_error(line)
    return raw


def excerpt(line: bytes) -> str:
    """Return the beginning of a line as printable text, for error messages and logs."""
    text = line[:SHOWN_BYTES].decode("utf-8", "backslashreplace")
    shown = printable(text)
    return shown if len(line) <= SHOWN_BYTES else f"{shown}... ({len(line)} bytes)"


_LINE_HINT: Final = "send one JSON object per line and nothing else on stdout; use stderr for debugging"
_FORMS: Final = {
    "hello": '{"type": "hello", "protocols": [1]}',
    "ready": '{"type": "ready", "match": "<match of match_start>"}',
    "action": '{"type": "action", "id": <id of the request>, "action": <the action or its index in legal>}',
    "evaluation": '{"type": "evaluation", "id": <id of evaluate>, "values": [<a number from 0 to 1 for each action>]}',
    "simulate": '{"type": "simulate", "id": <id of the request>, "query": <a number of yours>, "what": {...}}',
}


def _form_hint(raw: dict[str, Any]) -> str:
    """Return the expected form of a message of the type of `raw`; the forms of all types if it has none of them."""
    kind = raw.get("type")
    if isinstance(kind, str) and kind in _FORMS:
        return f"expected {_FORMS[kind]}"
    return f"expected one of {'; '.join(_FORMS.values())}"


def _validation_text(error: msgspec.ValidationError) -> str:
    """Return the message of an error of msgspec, without its marks of paths, cut and printable."""
    text = str(error).replace("`", "").replace(" - at $.", ", at ").replace(" - at $", "")
    return printable(text[:_SHOWN_CHARACTERS])


def _too_deep_error(line: bytes) -> MalformedReply:
    """Return the error for a line nested deeper than `DEEPEST`."""
    return MalformedReply(
        f"the line is nested too deeply, more than {DEEPEST} levels", hint=_LINE_HINT, got=excerpt(line)
    )


def _is_too_deep(raw: dict[str, Any], line: bytes) -> bool:
    """Return True if `raw`, decoded from `line`, has more than `DEEPEST` levels."""
    if line.count(b"{") + line.count(b"[") <= DEEPEST:
        return False
    level: list[Any] = [raw]
    for _ in range(DEEPEST):
        level = [inner for value in level for inner in _inner_values(value)]
    return any(isinstance(value, dict | list) for value in level)


def _inner_values(value: Any) -> Iterable[Any]:
    """Return the values in an object or a list; nothing for another value."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object from its pairs, for the decoder; ValueError for a repeated key."""
    result = dict(pairs)
    if len(result) != len(pairs):
        [(repeated, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {json.dumps(repeated[:60])} is given twice")
    return result


def _parse_integer(digits: str) -> int:
    """Parse an integer, for the decoder; ValueError beyond 2^53."""
    if len(digits) > 17 or not -SAFE_INTEGER <= int(digits) <= SAFE_INTEGER:
        raise ValueError(f"the integer {digits[:20]} is beyond 2^53")
    return int(digits)


def _parse_number(digits: str) -> float:
    """Parse a number with a fraction or exponent, for the decoder; ValueError beyond the range of a float."""
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


def _refuse_constant(name: str) -> NoReturn:
    """Raise ValueError for NaN or Infinity, for the decoder."""
    raise ValueError(f"{name} is not JSON")


_decoder: Final = JSONDecoder(
    object_pairs_hook=_build_object,
    parse_int=_parse_integer,
    parse_float=_parse_number,
    parse_constant=_refuse_constant,
)
