"""The JSON Schema: the file is what the code says, real messages pass, and wrong ones do not."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.protocol_messages import END, REQUEST, TO_BOT

from arena.errors import MalformedReply
from arena.games.nim import Take
from arena.protocol import codec
from arena.protocol.messages import ActionEvent, ChanceEvent, EventMessage, ToBot, main, schema

FILE = Path(__file__).parents[2] / "docs" / "arena-1.schema.json"
EVENTS = (
    ActionEvent(seat=1, action=Take(heap=0, count=1), forced=True),
    ChanceEvent(key="roll/1/0/1/1", outcome=(3, 3)),
)
GROWN: tuple[ToBot, ...] = (
    msgspec.structs.replace(REQUEST, view={"you": 0}, events=EVENTS, legal=(Take(heap=0, count=1),)),
    EventMessage(match="m", what=EVENTS[1]),
    msgspec.structs.replace(END, events=EVENTS),
)


def validator(side: str) -> jsonschema.Draft202012Validator:
    """A validator of the messages to bots (`to_bot`) or from them (`from_bot`), made as a reader of the file would."""
    published = json.loads(FILE.read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator({**published, "anyOf": [{"$ref": f"#/$defs/{side}"}]})


def test_the_file_is_what_the_code_says(capsys: pytest.CaptureFixture[str]) -> None:
    """The file is what `python -m arena.protocol.messages` prints."""
    main()

    assert FILE.read_text(encoding="utf-8") == capsys.readouterr().out


def test_the_schema_is_a_schema() -> None:
    """The schema conforms to its draft, and each definition has a description."""
    jsonschema.Draft202012Validator.check_schema(schema())

    named = {name: each for name, each in schema()["$defs"].items() if name not in {"to_bot", "from_bot"}}
    assert all(each["description"] for each in named.values())
    assert "    " not in "".join(each["description"] for each in named.values())


@pytest.mark.parametrize("message", TO_BOT + GROWN, ids=lambda message: type(message).__name__)
def test_messages_to_bots_are_valid(message: ToBot) -> None:
    """Messages of the referee conform to the schema."""
    validator("to_bot").validate(json.loads(codec.encode(message)))


def test_messages_may_grow() -> None:
    """An unknown field conforms to the schema in both directions."""
    validator("to_bot").validate({**json.loads(codec.encode(TO_BOT[-1])), "mood": "mild"})
    validator("from_bot").validate({"type": "action", "id": 1, "action": 0, "mood": "mild"})


@pytest.mark.parametrize(
    "raw",
    [
        [],
        {"type": "move"},
        {"type": "action", "id": 2**53 + 1, "action": 0},
        {"type": "action", "id": 1, "action": 2**53 + 1},
        {"type": "action", "id": 1, "action": 0, "note": "x" * 1001},
    ],
)
def test_schema_and_codec_refuse_the_same(raw: Any) -> None:
    """Schema and codec refuse the same lines."""
    assert not validator("from_bot").is_valid(raw)

    with pytest.raises(MalformedReply):
        codec.decode(json.dumps(raw).encode())


FIELDS = {
    "type": st.sampled_from(["action", "ready", "hello", "x"]),
    "id": st.integers() | st.booleans() | st.text(max_size=2),
    "action": st.integers() | st.none() | st.just({"do": "roll"}) | st.booleans(),
    "match": st.text(max_size=3),
    "protocols": st.lists(st.integers(-9, 9), max_size=2),
    "name": st.text(max_size=3) | st.integers(),
    "note": st.text(max_size=3),
    "capabilities": st.lists(st.sampled_from(["events", "x"]), max_size=2),
}


@given(st.fixed_dictionaries({}, optional=FIELDS))
def test_schema_and_codec_agree(raw: dict[str, Any]) -> None:
    """On random lines without floats, but that only the codec refuses large integers in ignored fields."""
    is_large = any(isinstance(value, int) and abs(value) > 2**53 for value in raw.values())
    if CHECKER.is_valid(raw) and not is_large:
        codec.decode(json.dumps(raw).encode())
    else:
        with pytest.raises(MalformedReply):
            codec.decode(json.dumps(raw).encode())


CHECKER = validator("from_bot")
