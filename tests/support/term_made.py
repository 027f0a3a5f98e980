"""Hand-ins of a term: bots of the shell, which start fast, spies, and the many ways to hand in no bot.

Each bot has the token of its author and version in its source, its notes and its stderr.
"""

import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from support.bot_source import bot_script

SHELL_BOT = r"""#!/bin/sh
# TOKEN
echo TOKEN >&2
while read -r line; do
    case $line in
    '{"type":"hello"'*) echo '{"type":"hello","protocols":[1]}' ;;
    '{"type":"match_start"'*) match=${line#*'"match":'}; echo "{\"type\":\"ready\",\"match\":${match%%,*}}" ;;
    '{"type":"request"'*)
        id=${line#*'"id":'} action=0
        ASKED
        echo "{\"type\":\"action\",\"id\":${id%%,*},\"action\":$action,\"note\":\"TOKEN\"}" ;;
    '{"type":"quit"'*) exit ;;
    esac
done
"""
LAST = """case $line in *'},{"heap"'*) action=1 ;; esac"""
SPY = """
import re
def steal():
    for place in PLACES:
        for folder, _, names in os.walk(place):
            for path in filter(os.path.isfile, (os.path.join(folder, name) for name in names)):
                try:
                    text = open(path, "rb").read(1 << 20).decode(errors="replace")
                except OSError:
                    continue
                if found := set(re.findall(r"token-\\w+|\\w+@example", text)):
                    print(path, *found, file=sys.stderr, flush=True)
print("TOKEN", file=sys.stderr, flush=True)
steal()
"""
"""Prints what it finds of others, and fails against other authors, so that its stderr is kept."""
FAILS = """if m['type'] == 'match_start': met = m['players']
    if m['type'] == 'request' and all(name[1:].isdigit() for name in met): break"""


def token(author: str, version: str) -> str:
    return f"token-{author}-{version}".replace("-", "_").replace("_", "-", 1)


def shell_bot(place: Path, name: str, text: str, *, asked: str = "") -> None:
    """A bot in the folder `place`, with `text` as its token."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "bot.sh").write_text(SHELL_BOT.replace("TOKEN", text).replace("ASKED", asked))
    (place / "bot.yaml").write_text(f"name: {name}\ncommand: [sh, bot.sh]\n")


def spy(place: Path, name: str, text: str, places: list[str]) -> None:
    """A bot that looks for tokens and addresses of others below `places`, at its start."""
    place.mkdir(parents=True, exist_ok=True)
    start = SPY.replace("PLACES", repr(places)).replace("TOKEN", text)
    (place / "bot.py").write_text(f"# {text}\n{bot_script(note=repr(text), start=start, each=FAILS)}")
    (place / "bot.yaml").write_text(f"name: {name}\ncommand: [python3, bot.py]\n")


def _answers(asked: str) -> Callable[[Path, str], None]:
    return lambda place, name: shell_bot(place, name, "token-none", asked=asked)


def _manifest(text: str) -> Callable[[Path, str], None]:
    def write(place: Path, name: str) -> None:
        shell_bot(place, name, "token-none")
        (place / "bot.yaml").write_text(text.replace("NAME", name))

    return write


def _tar(place: Path, entry: str, depth: int = 1) -> None:
    """A file of that name in an archive, or in an archive of archives."""
    content = b"#!/bin/sh\n"
    for level in range(depth):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            member = tarfile.TarInfo(entry if level == 0 else "bot.tar.gz")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        content = packed.getvalue()
    (place / "bot.tar.gz").write_bytes(content)


def _bomb(place: Path, _: str) -> None:
    with zipfile.ZipFile(place / "bot.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bot.sh", bytes(70 << 20))


def _two(place: Path, name: str) -> None:
    for folder in ("first", "second"):
        shell_bot(place / folder, name, "token-none")


REFUSED: dict[str, Callable[[Path, str], object]] = {
    "ends at once": _answers("exit 3"),
    "plays an illegal action": _answers("action=99"),
    "never answers": _answers("continue"),
    "floods": _answers("while :; do echo token-none; done"),
    "no YAML": _manifest("name: ["),
    "an unknown key": _manifest("name: NAME\ncommand: [sh, bot.sh]\nbonus: 1\n"),
    "a path for a name": _manifest("name: ../../outside\ncommand: [sh, bot.sh]\n"),
    "a file of the organiser for a command": _manifest("name: NAME\ncommand: [/etc/shadow]\n"),
    "the name of another author": _manifest("name: a00\ncommand: [sh, bot.sh]\n"),
    "a name that looks like it": _manifest("name: A-OO\ncommand: [sh, bot.sh]\n"),
    "a link": lambda place, _: (place / "bot.sh").symlink_to(Path("authors.csv").absolute()),
    "a link to a folder": lambda place, _: (place / "bot").symlink_to(Path("results").absolute()),
    "a pipe": lambda place, _: os.mkfifo(place / "bot.sh"),
    "a path outside": lambda place, _: _tar(place, "../../outside.sh"),
    "archives in archives": lambda place, _: _tar(place, "bot.sh", depth=5),
    "a bomb": _bomb,
    "a damaged archive": lambda place, _: (place / "bot.zip").write_bytes(b"PK\x03\x04 and no more"),
    "two bots": _two,
    "no bot": lambda place, _: (place / "report.txt").write_text("token-none"),
    "nothing": lambda place, _: place,
}
"""Twenty hand-ins that are refused: each writes into its folder; the second argument is the author."""
