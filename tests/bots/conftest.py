"""Bots ready to run: those of the house, built where they need it, and the templates as an author gets them."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from bots_driver import BOTS, Prepare
from click.testing import CliRunner

from arena.cli import cli


@pytest.fixture(scope="session")
def prepare(tmp_path_factory: pytest.TempPathFactory) -> Prepare:
    """`greedy` or `templates/perl` -> a folder with that bot, ready to run; skips if its language is not installed."""
    ready: dict[str, Path] = {}

    def folder_of(name: str) -> Path:
        if name not in ready:
            ready[name] = _prepared(name, tmp_path_factory.mktemp("bot") / "bot")
        return ready[name]

    return folder_of


def _prepared(name: str, folder: Path) -> Path:
    if name.startswith("templates/"):
        language = name.removeprefix("templates/")
        made = CliRunner().invoke(cli, ["new-bot", "my-bot", "--lang", language, "--folder", str(folder)])
        assert made.exit_code == 0, made.output
    else:
        shutil.copytree(BOTS / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
    manifest = yaml.safe_load((folder / "bot.yaml").read_text())
    for command in [*manifest.get("build", []), manifest["command"]]:
        if "/" not in command[0] and not shutil.which(command[0]):
            pytest.skip(f"no {command[0]} on this machine")
    for command in manifest.get("build", []):
        subprocess.run(command, cwd=folder, check=True, timeout=60)
    return folder
