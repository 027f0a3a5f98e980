"""Leagues with secret luck on the command line, and a bot that tells all it hears."""

import json
import re
import shlex
import zlib
from pathlib import Path
from typing import Any

from support.bot_source import bot_script
from support.cli_arena import Said, Terminal
from support.tampering import opened

TELLTALE = bot_script(
    "0 if m['match'][0] not in '01234567' else 99",
    note="'n'",
    start="life = os.urandom(4).hex()",
    each="print(sys.argv, dict(os.environ), line, file=sys.stderr)",
)
PUBLIC = "public seed: bots can predict the luck"


SECRET: dict[str, Any] = {
    "seed": None,
    "options": {"heaps": [2, 3]},
    "players": [{"bot": "./bot.py", "name": name} for name in ("ann", "bob")],
}


def league(terminal: Terminal, *more: str, **changes: Any) -> Said:
    """Run a league of nim that draws its luck in secret."""
    return terminal.league(flags=shlex.join(["--workers", "1", *more]), **{**SECRET, **changes})


def begun(terminal: Terminal) -> None:
    """The folder after that league."""
    terminal.played(flags="--workers 1", **SECRET)


def kept(results: str = "results") -> list[Path]:
    return sorted(Path(results, "secrets").iterdir())


def commitments(text: str) -> list[str]:
    return re.findall(r"\b[0-9a-f]{64}\b", text)


def records(results: str = "results", *, notes: bool = False) -> dict[tuple[Any, ...], Any]:
    """Every stored record without its times and notes, by pairing, block and rotation."""
    query = "SELECT key, block, rotation, body FROM record JOIN pairing ON id = pairing"
    with opened(Path(results)) as connection:
        rows = connection.execute(query).fetchall()
    found = {}
    for *key, body in rows:
        record = json.loads(zlib.decompress(body))
        for seat in record["seats"]:
            for name in [name for name in seat if name.endswith("_ms") or name == "stderr_digest"]:
                del seat[name]  # what a bot hears, and writes to stderr, has times
            requests = seat.get("requests", {})
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
