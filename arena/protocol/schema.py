"""The JSON Schema of `arena/1`, generated from the message types, so that text and code cannot drift apart.

Rule: nobody edits docs/arena-1.schema.json by hand. `python -m arena.protocol.schema > docs/arena-1.schema.json`
makes it.
"""

import json
import sys
from inspect import cleandoc
from typing import Any

import msgspec

from arena.protocol.messages import FromBot, ToBot


def schema() -> dict[str, Any]:
    """A draft 2020-12 schema with the definitions `to_bot` and `from_bot` and one for each message."""
    (to_bot, from_bot), definitions = msgspec.json.schema_components([ToBot, FromBot], ref_template="#/$defs/{name}")
    for definition in definitions.values():
        definition["description"] = cleandoc(definition["description"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "arena-1.schema.json",
        "title": "arena/1: the messages between referee and bot, one JSON object per line",
        "anyOf": [{"$ref": "#/$defs/to_bot"}, {"$ref": "#/$defs/from_bot"}],
        "$defs": {"to_bot": to_bot, "from_bot": from_bot, **definitions},
    }


def main() -> None:
    """The schema as text on stdout, the same bytes every time."""
    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")


if __name__ == "__main__":
    main()
