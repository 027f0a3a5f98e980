"""The source of small bots in Python: one loop, and what a test changes in it."""

import re

BOT = """
import json, os, pathlib, sys, time
START
for line in sys.stdin:
    m = json.loads(line)
    EACH
    if m["type"] == "hello": print(json.dumps({"type": "hello", "protocols": [1]}), flush=True)
    elif m["type"] == "match_start": print(json.dumps({"type": "ready", "match": m["match"]}), flush=True)
    elif m["type"] == "request":
        ASKED
        print(json.dumps({"type": "action", "id": m["id"], "action": ACTION, "note": NOTE}), flush=True)
    elif m["type"] == "quit": break
"""


def bot_script(action: str = "0", *, note: str = "''", start: str = "", each: str = "", asked: str = "") -> str:
    """A bot of nim in Python.

    `action` and `note` are expressions over the request `m`; the statements are run at the start, for each message, and
    before each answer.
    """
    parts = {"START": start, "EACH": each or "pass", "ASKED": asked or "pass", "ACTION": action, "NOTE": note}
    return re.sub("|".join(parts), lambda found: parts[found[0]], BOT)
