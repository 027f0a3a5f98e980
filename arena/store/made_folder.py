"""Folders that a command makes and writes anew.

Rule: no file of somebody else is overwritten or removed there. A file in the folder marks it as the command's, and may
list the files that the command wrote.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Final

from arena.errors import SpecError

MARK: Final = "made-by-arena.txt"


def claim_folder(out: Path, command: str, files: Collection[str] = (), *, mode: int = 0o777) -> None:
    """Make the folder of a command, or take one that it made before, and remove its former files but for `files`.

    `files` are names of files that the command is about to write. SpecError for a folder, or for one of `files`, that
    the command did not make.
    """
    former = require_made(out, command)
    if others := sorted(name for name in files if name not in former and (out / name).exists()):
        raise SpecError(f"--to {out}: found {others[0]}, which `{command}` did not make; move it away")
    out.mkdir(mode=mode, parents=True, exist_ok=True)
    for name in former.difference(files):
        (out / name).unlink(missing_ok=True)
    lines = (_heading(command), *sorted(files))
    (out / MARK).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def require_made(out: Path, command: str) -> set[str]:
    """Return the names of the files that a command listed in its folder; empty for a new one, which is not made.

    SpecError for a folder with files that the command did not make.
    """
    mark = out / MARK
    lines = mark.read_text(encoding="utf-8", errors="replace").splitlines() if mark.is_file() else []
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and lines[:1] != [_heading(command)])):
        raise SpecError(f"--to {out}: found other files, expected a new folder or one that `{command}` made")
    return {name for name in lines[1:] if name == Path(name).name}


def _heading(command: str) -> str:
    """Return the first line of the mark of a command's folders."""
    return f"`{command}` made this folder and writes it anew."
