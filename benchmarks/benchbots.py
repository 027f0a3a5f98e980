"""The bots that benchmarks play with, as the project's `BotSpec`.

Rule: instant bots answer index 0 and nothing else, so that what is measured is the way to them and back.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from arena.process.manifest import BotSpec, read_bot

_HERE: Final = Path(__file__).resolve().parent
_BUNDLED: Final = _HERE.parent / "bots"


def own_bot(name: str) -> BotSpec:
    """Read a bot of benchmarks/bots, by the name of its file."""
    return read_bot(_HERE / "bots" / name)


def bundled_bot(name: str) -> BotSpec:
    """Read a bundled bot of the project, by its name."""
    return read_bot(_BUNDLED / name)


def instant(scratch: Path) -> tuple[dict[str, BotSpec], tuple[str, ...]]:
    """Return the instant bots by language, and notes about missing ones; the C bot is compiled into `scratch`."""
    python = own_bot("instant.py")
    compiler = shutil.which("cc")
    if compiler is None:
        return {"Python": python}, ("no C compiler `cc` on this machine: the C bot is left out",)
    folder = scratch / "instant-c"
    if not folder.exists():
        folder.mkdir()
        source = _HERE / "bots" / "instant.c"
        subprocess.run([compiler, "-O2", "-o", folder / "instant", source], check=True, timeout=60)
        (folder / "bot.yaml").write_text("name: instant-c\ncommand: [./instant]\n", encoding="utf-8")
    return {"C": read_bot(folder), "Python": python}, ()
