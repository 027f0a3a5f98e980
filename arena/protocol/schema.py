"""The JSON Schema of `arena/1`, generated from the message types, so that text and code cannot drift apart."""

from typing import Any

import msgspec

from arena.protocol.messages import FromBot, ToBot


def schema() -> dict[str, Any]:
    """A draft 2020-12 schema with the definitions `to_bot` and `from_bot` and one for each message."""
    (to_bot, from_bot), definitions = msgspec.json.schema_components([ToBot, FromBot], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "arena-1.schema.json",
        "title": "arena/1: the messages between referee and bot, one JSON object per line",
        "anyOf": [{"$ref": "#/$defs/to_bot"}, {"$ref": "#/$defs/from_bot"}],
        "$defs": {"to_bot": to_bot, "from_bot": from_bot, **definitions},
    }
