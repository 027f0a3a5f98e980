"""The page on training, typed: a network trained with numpy alone becomes a bot that is submitted and beats chance."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from support.docs_pages import blocks

pytestmark = [pytest.mark.slow, pytest.mark.process]

PAGE = "docs/training.md"
LONGEST_S = 800
TRAINING_CPU_S = 120
LEAST_SCORE = 80


def typed(line: str, folder: Path) -> str:
    """The output of a line of the page."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-eu", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def test_the_page_is_typed_and_the_bot_beats_chance(tmp_path: Path) -> None:
    """Its training takes two minutes of one core at most, and its score over 200 blocks is 80 % at least."""
    said, times = {}, {}
    for block in blocks(PAGE):
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "sh" and "pip install" not in block.text:
            for line in block.text.splitlines():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                said[line] = typed(line, tmp_path)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                times[line] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    (training,) = [seconds for line, seconds in times.items() if "train.py" in line]
    (table,) = [text for line, text in said.items() if "--blocks 200" in line]
    (score,) = re.findall(r"^ +\d+ +fourbot +([\d.]+) ", table, re.MULTILINE)
    print(f"trained in {training:.0f} s of CPU time; {score} % of the score against random over 200 blocks")  # noqa: T201 - the lane shows it
    assert "400 of 400 matches" in table
    assert "faults" not in table
    assert float(score) >= LEAST_SCORE
    assert training < TRAINING_CPU_S


def test_the_bot_on_the_page_is_ten_lines() -> None:
    """Without its docstring and empty lines."""
    from arena.operations.new_bot import TEMPLATES  # noqa: PLC0415 - for this test only

    code = (TEMPLATES / "python-policy" / "bot.py").read_text(encoding="utf-8").split('"""')[2]

    assert len([line for line in code.splitlines() if line.strip()]) <= 10
