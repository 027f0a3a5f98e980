"""The source of small bots in Python: one loop, and what a test changes in it."""

import re
from pathlib import Path

from arena.league.tournament import Player
from arena.league.worker import make_bot_player
from arena.match.bot_player import BotPlayer
from arena.match.settings import MatchSettings
from arena.process.manifest import read_bot

BOT = """
import json, os, pathlib, sys, time
START
for line in sys.stdin:
    m = json.loads(line)
    EACH
    if m["type"] == "hello": print(json.dumps(HELLO), flush=True)
    elif m["type"] == "match_start": print(json.dumps({"type": "ready", "match": m["match"]}), flush=True)
    elif m["type"] == "request":
        ASKED
        print(json.dumps({"type": "action", "id": m["id"], "action": ACTION, "note": NOTE}), flush=True)
    elif m["type"] == "quit": break
"""


def bot_script(
    action: str = "0",
    *,
    note: str = "''",
    start: str = "",
    each: str = "",
    asked: str = "",
    hello: str = '{"type": "hello", "protocols": [1]}',
) -> str:
    """A bot of nim in Python.

    `action`, `note` and `hello` are expressions over the message `m`; the statements are run at the start, for each
    message, and before each answer.
    """
    parts = {"START": start, "EACH": each or "pass", "ASKED": asked or "pass", "ACTION": action, "NOTE": note}
    parts["HELLO"] = hello
    return re.sub("|".join(parts), lambda found: parts[found[0]], BOT)


def scripted_player(path: Path, script: str, settings: MatchSettings) -> BotPlayer:
    """The bot of this source, saved as `path`, on these terms and without a sandbox."""
    path.write_text(script, encoding="utf-8")
    return make_bot_player(Player(path.stem, read_bot(path)), settings, "none")
