"""Readers who type what a page shows, block by block in one empty folder, get through.

The folder has the bundled bots and the bundled tournaments with a few cycles, and a `start.py` to which everything is
installed already. Answers to a question are always 1.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.docs_pages import BLOCKS, ROOT, Block, blocks

from arena.cli import execute
from arena.league.state import state_of
from arena.operations.leagues import league_table
from arena.report.formats import Style
from arena.report.leaderboard import leaderboard_page
from arena.store.folder import open_store

pytestmark = [pytest.mark.slow, pytest.mark.process]

LONGEST_S = 600
COLUMNS = 80
"""Of the terminal in which the first table was printed."""
SET_UP = """
import subprocess, sys
sys.exit(0 if sys.argv[1] == "test" else subprocess.call(["arena", *sys.argv[1:]]))
"""
ASKED = 'arena() { command arena "$@" < answers; }'
"""Each command begins at the first answer."""
TO_TYPE = sorted({block.page for block in BLOCKS if block.language == "sh" and "long" not in block.words})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What readers find before they begin."""
    (tmp_path / "bots").symlink_to(ROOT / "bots")
    (tmp_path / "start.py").write_text(SET_UP)
    (tmp_path / "answers").write_text("1\n" * 2000)
    (tmp_path / "tournaments").mkdir()
    for path in (ROOT / "tournaments").iterdir():
        text = path.read_text(encoding="utf-8")
        (tmp_path / "tournaments" / path.name).write_text(
            re.sub(r"^cycles: \d+", "cycles: 2", text, flags=re.MULTILINE)
        )
    return tmp_path


@pytest.mark.parametrize("page", TO_TYPE)
def test_what_a_page_tells_to_type_works(page: str, folder: Path) -> None:
    """Every block ends with exit code 0; a block whose program is missing is skipped, and named."""
    missing = []
    for block in blocks(page):
        if block.file:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "sh" and "long" not in block.words:
            missing += (lacking := [name for name in block.needs if shutil.which(name) is None])
            if not lacking:
                type_in(block, folder)
    if missing:
        pytest.skip(f"not everything was run, for want of {', '.join(missing)}")


def type_in(block: Block, folder: Path) -> None:
    programs = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-eu", "-c", f"{ASKED}\n{block.text}"],
        cwd=folder,
        env={**os.environ, **programs},
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert done.returncode == 0, f"{block.text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_the_readme_shows_what_its_commands_print(folder: Path) -> None:
    """On the published luck: the lines of `check` and `submit`, and the table of its league, byte for byte."""
    shown = blocks("README.md")
    for block in shown:
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    (lines,) = [block.text.splitlines() for block in shown if "submit" in block.text and block.language == "sh"]
    (table,) = [block.text for block in shown if block.language == "text"]
    secret = ("--secret-file", str(ROOT / "tournaments" / "first.secret"))

    for line in lines:
        command, _, said = line.partition("#")
        done = subprocess.run(
            [Path(sys.executable).with_name("arena"), *command.split()[1:], *secret],
            cwd=folder,
            env={**os.environ, "COLUMNS": str(COLUMNS)},
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=True,
        )
        assert said.partition("...  ")[2] in done.stdout
    assert done.stdout.startswith(table)


def test_the_first_table_is_that_of_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret of that league is published: whoever plays it again gets the same table."""
    monkeypatch.chdir(ROOT)
    page = blocks("docs/index.md")
    (line,) = [block.text for block in page if "--secret-file" in block.text]
    (shown,) = [block.text for block in page if block.text.startswith("  rank")]
    words = line.split()[1:]
    words[words.index("--results") + 1] = str(tmp_path)

    assert execute(words) == 0

    with open_store(tmp_path) as store:
        standings, times = league_table(store, state_of(store.league("first"), store.ranks))
    played = leaderboard_page(standings, times).render("table", Style(width=COLUMNS))
    assert shown.rstrip() == played
