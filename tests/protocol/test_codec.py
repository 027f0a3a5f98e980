"""Lines from bots, friendly and hostile: each is a message or a MalformedReply with a sentence, never anything else."""

import json
import time
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.golden import Golden

from arena.errors import HarnessFault, MalformedReply
from arena.protocol import codec
from arena.protocol.messages import Answer, BotHello, ErrorMessage, Quit, Ready

BIG = 2**53


def answer(action: str, *, number: str = "1", more: str = "") -> bytes:
    return f'{{"type": "action", "id": {number}, "action": {action}{more}}}'.encode()


ACCEPTED: dict[str, tuple[bytes, object]] = {
    "an index": (answer("3"), Answer(id=1, action=3)),
    "an index in a tight line": (b'{"type":"action","id":7,"action":0}', Answer(id=7, action=0)),
    "an index with spaces": (b' \t{ "type" : "action" ,"id":7 , "action" : 0 }\r', Answer(id=7, action=0)),
    "fields in another order": (b'{"action":0,"id":7,"type":"action"}', Answer(id=7, action=0)),
    "escapes in keys and tags": (b'{"type":"act\\u0069on","\\u0069d":1,"action":2}', Answer(id=1, action=2)),
    "a negative index": (answer("-1"), Answer(id=1, action=-1)),
    "the largest integers": (answer(str(BIG), number=str(-BIG)), Answer(id=-BIG, action=BIG)),
    "an action object": (answer('{"do": "roll"}'), Answer(id=1, action={"do": "roll"})),
    "an empty action object": (answer("{}"), Answer(id=1, action={})),
    "a note": (answer("0", more=', "note": "hm"'), Answer(id=1, action=0, note="hm")),
    "a note of 1000 letters": (answer("0", more=f', "note": "{"ü" * 1000}"'), Answer(id=1, action=0, note="ü" * 1000)),
    "a whole surrogate pair": (answer('{"a": "\\ud83d\\ude00"}'), Answer(id=1, action={"a": "😀"})),
    "64 levels": (
        answer('{"a":' + "[" * 62 + "]" * 62 + "}"),
        Answer(id=1, action={"a": json.loads("[" * 62 + "]" * 62)}),
    ),
    "many values side by side": (answer('{"a": [' + "[]," * 99 + "[]]}"), Answer(id=1, action={"a": [[]] * 100})),
    "hello": (b'{"type": "hello", "protocols": [1]}', BotHello(protocols=(1,))),
    "hello, the longest": (
        b'{"type": "hello", "protocols": [2, 1], "name": "n", "version": "2", "capabilities": ["events", "tea"]}',
        BotHello(protocols=(2, 1), name="n", version="2", capabilities=("events", "tea")),
    ),
    "ready": (b'{"type": "ready", "match": "m-1-0"}', Ready(match="m-1-0")),
}

REFUSED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "not one JSON object"),
    "an empty object": (b"{}", "missing required field type"),
    "an array": (b"[1]", "not a JSON object"),
    "a bare number": (b"5", "not a JSON object"),
    "a truncated line": (b'{"type": "action", "id"', "not one JSON object"),
    "single quotes": (b"{'type': 'ready'}", "not one JSON object"),
    "a trailing comma": (b'{"type": "ready", "match": "m",}', "not one JSON object"),
    "a comment": (b'{"type": "ready", "match": "m"} // done', "not one JSON object"),
    "trailing data": (answer("0") + b"{}", "Extra data"),
    "two answers in a line": (answer("0") + b" " + answer("1"), "Extra data"),
    "a byte order mark": (b"\xef\xbb\xbf" + answer("0"), "not one JSON object"),
    "bad UTF-8 in a text": (b'{"type": "ready", "match": "\xff"}', "not UTF-8 at byte 28"),
    "bad UTF-8 in an index answer": (b'{"type":"action","id":1,"action":\xff}', "not UTF-8"),
    "a surrogate in UTF-8": (b'{"type": "ready", "match": "\xed\xa0\x80"}', "not UTF-8"),
    "an overlong UTF-8 form": (b'{"type": "ready", "match": "\xc0\xaf"}', "not UTF-8"),
    "half a surrogate pair in a value": (answer('{"a": "\\ud800"}'), "surrogate"),
    "half a surrogate pair in a key": (answer('{"\\udfff": 1}'), "surrogate"),
    "half a surrogate pair in a match id": (b'{"type": "ready", "match": "\\ud800"}', "surrogate"),
    "a NUL in a text": (b'{"type": "ready", "match": "\x00"}', "control character"),
    "NaN": (answer('{"a": NaN}'), "NaN is not JSON"),
    "Infinity": (answer('{"a": [-Infinity]}'), "-Infinity is not JSON"),
    "NaN as index": (answer("NaN"), "NaN is not JSON"),
    "1e999": (answer('{"a": 1e999}'), "too large"),
    "1e999 as index": (answer("1e999"), "too large"),
    "2^53 + 1 as index": (answer(str(BIG + 1)), "beyond 2^53"),
    "-2^53 - 1 as index": (answer(str(-BIG - 1)), "beyond 2^53"),
    "2^53 + 1 as id": (answer("0", number=str(BIG + 1)), "beyond 2^53"),
    "2^53 + 1 within an action": (answer(f'{{"a": [{BIG + 1}]}}'), "beyond 2^53"),
    "64 bits as index": (answer(str(2**64)), "beyond 2^53"),
    "60 000 digits": (answer("9" * 60_000), "beyond 2^53"),
    "60 000 digits behind the point": (answer("0." + "9" * 60_000), "Expected int | object, got float"),
    "a leading zero": (answer("01"), "not one JSON object"),
    "a float as index": (answer("1.0"), "got float"),
    "an exponent as id": (answer("0", number="1e0"), "got float"),
    "true as index": (answer("true"), "got bool"),
    "true as id": (answer("0", number="true"), "got bool"),
    "true as protocol": (b'{"type": "hello", "protocols": [true]}', "got bool"),
    "a text as index": (answer('"1"'), "got str"),
    "null as action": (answer("null"), "got null"),
    "a list as action": (answer("[1]"), "got array"),
    "a key given twice": (b'{"type":"action","id":1,"id":2,"action":0}', 'the key "id" is given twice'),
    "a key given twice, without a type": (b'{"id":1,"action":2,"action":3,"id":4}', "is given twice"),
    "the type given twice": (b'{"type":"ready","type":"action","id":1,"action":0}', "is given twice"),
    "a key given twice inside an action": (answer('{"a": [{"b": 1, "b": 1}]}'), 'the key "b" is given twice'),
    "a key given twice by an escape": (answer('{"a": 1, "\\u0061": 2}'), 'the key "a" is given twice'),
    "65 levels": (answer('{"a":' + "[" * 63 + "]" * 63 + "}"), "nested too deeply, more than 64 levels"),
    "900 levels": (answer('{"a":' * 900 + "1" + "}" * 900), "nested too deeply"),
    "30 000 levels": (answer("[" * 30_000 + "]" * 30_000), "nested too deeply"),
    "30 000 open brackets": (b'{"a":' + b"[" * 30_000, "nested too deeply"),
    "a note of 1001 letters": (answer("0", more=f', "note": "{"x" * 1001}"'), "length <= 1000"),
    "a note of 60 000 letters": (answer("0", more=f', "note": "{"x" * 60_000}"'), "length <= 1000"),
    "a note that is null": (answer("0", more=', "note": null'), "got null"),
    "an unknown type": (b'{"type": "move", "id": 1}', "Invalid value 'move'"),
    "a type of ours": (b'{"type": "request", "id": 1}', "Invalid value 'request'"),
    "a type that is a number": (b'{"type": 1}', "Expected str, got int, at type"),
    "no type": (b'{"id": 1, "action": 0}', "missing required field type"),
    "no id": (b'{"type": "action", "action": 0}', "missing required field id"),
    "no action": (b'{"type": "action", "id": 1}', "missing required field action"),
    "ready without a match": (b'{"type": "ready"}', "missing required field match"),
    "hello with a number": (b'{"type": "hello", "protocols": 1}', "Expected array, got int, at protocols"),
}


@pytest.mark.parametrize(("line", "message"), ACCEPTED.values(), ids=ACCEPTED)
def test_good_lines_are_messages(line: bytes, message: object) -> None:
    """Valid lines are decoded whatever JSON writer made them."""
    assert codec.decode(line) == message


@pytest.mark.parametrize(("line", "sentence"), REFUSED.values(), ids=REFUSED)
def test_bad_lines_are_malformed_with_a_sentence(line: bytes, sentence: str) -> None:
    """Invalid lines raise MalformedReply on both paths, with a short printable message that says what is wrong."""
    assert codec.decode_short(line) is None
    with pytest.raises(MalformedReply) as refused:
        codec.decode(line)

    fault = refused.value
    assert sentence.lower() in fault.message.lower()
    assert len(fault.message) < 500
    assert fault.message.isprintable()
    assert fault.got.isprintable()
    assert len(fault.got) < 1000


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (answer("0", more=', "notes": "x", "a": {"b": 1}'), ("notes", "a")),
        (b'{"type": "hello", "protocols": [1], "game": "nim"}', ("game",)),
        (b'{"match": "m", "type": "ready", "id": 1}', ("id",)),
        (answer("0", more=', "note": "x"'), ()),
    ],
)
def test_fields_that_a_message_does_not_have_are_ignored_and_named(line: bytes, names: tuple[str, ...]) -> None:
    """An unknown field at the top level is no error."""
    assert codec.decode_strictly(line)[1] == names


@pytest.mark.parametrize("value", ['{"b": 1, "b": 2}', "NaN", "[" * 70 + "]" * 70, "9007199254740993", '"\\ud800"'])
def test_what_is_inside_an_unknown_field_is_strict_json(value: str) -> None:
    """An ignored field is decoded by the strict rules like any other."""
    with pytest.raises(MalformedReply):
        codec.decode(answer("0", more=f', "x": {value}'))


def test_a_repeated_key_among_many_is_found_at_once() -> None:
    """The time grows with the length of the line, not with its square, which would be half a minute here."""
    keys = [f'"{key:x}":0' for key in range(25_000)]
    start_s = time.process_time()

    with pytest.raises(MalformedReply, match=r"the key \"61a7\" is"):
        codec.decode(f"{{{','.join([*keys, keys[-1]])}}}".encode())
    assert time.process_time() - start_s < 2


def test_the_fast_path_takes_the_common_answer() -> None:
    """An answer by index is decoded by the fast path."""
    line = b'{"type": "action", "id": 12, "action": 3}'

    assert codec.decode_short(line) == Answer(id=12, action=3)


@pytest.mark.parametrize(
    ("line", "form"),
    [
        (b'{"type": "action", "id": 1}', '"type": "action"'),
        (b'{"type": "ready"}', '"type": "ready"'),
        (b'{"type": "hello"}', '"protocols": [1]'),
        (b'{"type": "simulate", "id": 1}', '"query": <a number of yours>'),
        (b'{"type": "mvoe"}', "expected one of"),
    ],
)
def test_the_hint_shows_the_form_that_was_meant(line: bytes, form: str) -> None:
    """The hint shows the form of the message whose type the bot sent."""
    with pytest.raises(MalformedReply) as refused:
        codec.decode(line)

    assert form in refused.value.hint


@given(st.binary(max_size=200))
@example(b"\xff" * 9)
@example(b"{" * 5000)
def test_any_bytes_end_in_a_message_or_a_malformed_reply(line: bytes) -> None:
    """Random bytes raise no other error."""
    decodes_or_refuses(line)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["type", "id", "action", "match", "note", "protocols", "x"]), JSON_VALUES))
def test_any_json_object_ends_in_a_message_or_a_malformed_reply(raw: dict[str, Any]) -> None:
    """Random JSON objects raise no other error."""
    decodes_or_refuses(json.dumps(raw).encode())


KEYS = st.sampled_from(['"type"', '"id"', '"action"', '"match"', '"note"', '"protocols"', '"i\\u0064"', '"x"', '""'])
WORDS = r'"action" "ready" "hello" "act\u0069on" "m" "\ud800" "é" {} [] [1] {"a":1} {"a":1,"a":2} {"":{}} {'
NUMBERS = f"1 -0 01 2.0 1e2 1e999 {BIG} {BIG + 1} {'9' * 40} true null NaN"
VALUES = st.sampled_from(f"{WORDS} {NUMBERS}".split())
GAPS = st.sampled_from(["", " ", "\t", "\r\n", "\u00a0", "\x0b"])


@st.composite
def nearly_messages(draw: st.DrawFn) -> bytes:
    """Draw lines from the parts of messages, with repeated keys, odd numbers and odd spaces."""
    pairs = draw(st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=5))
    gap = draw(GAPS)
    text = f"{gap},{gap}".join(f"{key}{gap}:{value}" for key, value in pairs)
    tail = draw(st.sampled_from(["", " ", "{}", ",", "\x00"]))
    return f"{{{text}{gap}}}{tail}".encode()


@given(nearly_messages())
@example(b'{"id":1,"action":2,"action":3,"id":4}')
@example(b'{"type":"action","id":1,"action":99999999999999999999}')
def test_the_fast_path_and_the_strict_path_agree(line: bytes) -> None:
    """A message of the fast path is that of the strict path."""
    short = codec.decode_short(line)

    strict = decodes_or_refuses(line)

    assert short is None or (short, ()) == codec.decode_strictly(line) == (strict, ())


@given(
    st.integers(-BIG, BIG),
    st.integers(-BIG, BIG) | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=9), st.integers(-BIG, BIG)),
)
def test_what_json_dumps_writes_is_read_back(number: int, action: Any) -> None:
    """Every valid answer is read back as it was written, in ASCII and in UTF-8."""
    raw = {"type": "action", "id": number, "action": action}

    read = [codec.decode(json.dumps(raw, ensure_ascii=ascii_only).encode()) for ascii_only in (True, False)]

    assert read == [Answer(id=number, action=action)] * 2


def test_encoding_ends_the_line() -> None:
    """An encoded message is one line with a newline at its end."""
    line = codec.encode(Quit(reason="no\nmore", grace_ms=1))

    assert line == b'{"type":"quit","reason":"no\\nmore","grace_ms":1}\n'


def test_a_line_longer_than_promised_is_our_fault(golden: Golden) -> None:
    """A line to a bot of more than 1 MiB raises HarnessFault."""
    message = ErrorMessage(code="crash", message="x" * codec.LINE_TO_BOT_LIMIT, hint="", fatal=True, got="")

    with golden.raises(HarnessFault):
        codec.encode(message)


@given(st.binary(max_size=400))
def test_shown_lines_are_printable_and_short(line: bytes) -> None:
    """An excerpt of any line is printable and short."""
    text = codec.excerpt(line)

    assert text.isprintable()
    assert len(text) <= 10 * codec.SHOWN_BYTES + 30
    assert msgspec.json.encode(text)


def decodes_or_refuses(line: bytes) -> object:
    try:
        return codec.decode(line)
    except MalformedReply as fault:
        assert fault.message.isprintable()  # noqa: PT017 - any other exception is the failure looked for
        return None
