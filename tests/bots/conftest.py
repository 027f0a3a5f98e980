"""Bots ready to run: those of the house, built where they need it, and the templates as an author gets them."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from bots_driver import BOTS, TEMPLATES


@pytest.fixture(scope="session")
def prepare(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`greedy` or `templates/perl` -> a folder with that bot, ready to run; skips if its language is not installed."""
    ready: dict[str, Path] = {}

    def folder_of(name: str) -> Path:
        if name not in ready:
            is_template = name.startswith("templates/")
            source = TEMPLATES / name.removeprefix("templates/") if is_template else BOTS / name
            ready[name] = _prepared(source, tmp_path_factory.mktemp("bot") / "bot", with_name=is_template)
        return ready[name]

    return folder_of


def _prepared(source: Path, folder: Path, *, with_name: bool) -> Path:
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
    if with_name:
        manifest_file = folder / "bot.yaml"
        manifest_file.write_text(manifest_file.read_text().replace("{{name}}", "my-bot"))
    manifest = yaml.safe_load((folder / "bot.yaml").read_text())
    for command in [*manifest.get("build", []), manifest["command"]]:
        if "/" not in command[0] and not shutil.which(command[0]):
            pytest.skip(f"no {command[0]} on this machine")
    for command in manifest.get("build", []):
        subprocess.run(command, cwd=folder, check=True, timeout=60)
    return folder
