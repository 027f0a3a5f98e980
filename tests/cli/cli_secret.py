"""Leagues with secret luck on the command line, and a bot that tells all it hears."""

import json
import re
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import yaml
from cli_arena import Said, Terminal

TELLTALE = """
import json, os, sys
life = os.urandom(4).hex()
for line in sys.stdin:
    m = json.loads(line)
    print(sys.argv, dict(os.environ), line, file=sys.stderr)
    if m["type"] == "hello": print(json.dumps({"type": "hello", "protocols": [1]}), flush=True)
    elif m["type"] == "match_start": print(json.dumps({"type": "ready", "match": m["match"]}), flush=True)
    elif m["type"] == "request":
        action = 0 if m["match"][0] not in "01234567" else 99
        print(json.dumps({"type": "action", "id": m["id"], "action": action, "note": "n"}), flush=True)
"""
PUBLIC = "public seed: bots can predict the luck"


def league(terminal: Terminal, *more: str, **changes: Any) -> Said:
    """Run a league of nim that draws its luck in secret."""
    players = [{"bot": "./bot.py", "name": name} for name in ("ann", "bob")]
    content = {"name": "test", "game": "nim", "options": {"heaps": [2, 3]}, "cycles": 2, "players": players, **changes}
    Path("league.yaml").write_text(yaml.safe_dump(content))
    return terminal.arena("league run league.yaml --workers 1", *more)


def kept(results: str = "results") -> list[Path]:
    return sorted(Path(results, "secrets").iterdir())


def commitments(text: str) -> list[str]:
    return re.findall(r"\b[0-9a-f]{64}\b", text)


def records(results: str = "results", *, notes: bool = False) -> dict[tuple[Any, ...], Any]:
    """Every stored record without its times and notes, by pairing, block and rotation."""
    connection = sqlite3.connect(Path(results, "arena.db"))
    rows = connection.execute("SELECT key, block, rotation, body FROM record JOIN pairing ON id = pairing").fetchall()
    connection.close()
    found = {}
    for *key, body in rows:
        record = json.loads(zlib.decompress(body))
        for seat in record["seats"]:
            for name in [name for name in seat if name.endswith("_ms")]:
                del seat[name]
            requests = seat.get("requests", {})  # stderr may name the folder of the results
            for name in [name for name in requests if name.endswith("_us") or name == "stderr"]:
                del requests[name]
            for name in ("checksum",) if notes else ("checksum", "said"):  # of lines that tell times, or have notes
                seat.get("lines", {}).pop(name, None)
        for step in record["steps"]:
            step.pop("" if notes else "note", None)
        if record["fault"]:
            del record["fault"]["stderr"], record["fault"]["transcript"]
        found[tuple(key)] = record
    return found
