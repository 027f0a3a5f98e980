"""Completion in a real bash: commands, options, bots, tournaments and leagues by name, paths as paths."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from support.cli_arena import ROOT, Terminal

pytestmark = pytest.mark.process
ASK = """
compopt() { echo "as ${2}"; }  # bash has it only while it completes
eval "$1"
COMP_WORDS=("${@:2}"); COMP_CWORD=$(($# - 2))
_arena_completion arena
printf '%s\\n' "${COMPREPLY[@]}"
"""


@cache
def script() -> str:
    return run("arena", "completion", "bash")


def completed(*words: str) -> list[str]:
    return run("bash", "-c", ASK, "bash", script(), *words).split()


def run(*words: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "ARENA_BOTS": str(ROOT / "bots")}
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    return ran.stdout


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("arena", "lea"), ["league", "leaderboard"]),
        (("arena", "leaderboard", "--no-t"), ["--no-timing"]),
        (("arena", "match", "gre"), ["greedy", "greedy-c"]),
        (("arena", "league", "run", "fi"), ["first"]),
        (("arena", "match", "./x"), ["as", "default"]),
        (("arena", "leaderboard", ""), []),
        (("arena", "leaderboard", "--columns", "m"), ["margin", "mu-3s", "matches", "ms/move"]),
        (("arena", "stats", "p0", "--columns", "matches,s"), ["matches,score"]),
        (("arena", "grades", "--columns", "rank,b"), ["rank,better", "rank,bot"]),
        (("arena", "league", "matches", "--columns", "id,bl"), ["id,block"]),
    ],
)
@pytest.mark.usefixtures("terminal")
def test_names_are_completed(words: tuple[str, ...], found: list[str]) -> None:
    """In a folder without results there are no leagues, and none appears."""
    assert completed(*words) == found
    assert not Path("results").exists()


def test_leagues_are_completed(terminal: Terminal) -> None:
    terminal.played()

    assert completed("arena", "leaderboard", "te") == ["test"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script(terminal: Terminal, shell: str) -> None:
    said = terminal.arena(f"completion {shell}")

    assert said.code == 0
    assert f"_ARENA_COMPLETE={shell}_complete" in said.out
