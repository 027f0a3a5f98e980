"""Bots ready to run: those of the house, built where they need it, and the templates as an author gets them."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from support.bots_driver import BOTS, KIT_BOTS, Prepare

from arena.cli import cli
from arena.operations.new_bot import missing_programs


@pytest.fixture(scope="session")
def prepare(tmp_path_factory: pytest.TempPathFactory) -> Prepare:
    """The folder of a bot, ready to run: `greedy`; `templates/perl` as `new-bot` makes it, `templates/c-riffraff`
    for a game; `kits/perl` on its kit.

    A language that is not installed is skipped.
    """
    ready: dict[str, Path] = {}

    def folder_of(name: str) -> Path:
        if name not in ready:
            ready[name] = _prepared(name, tmp_path_factory.mktemp("bot") / "bot")
        return ready[name]

    return folder_of


def _prepared(name: str, folder: Path) -> Path:
    of, _, language = name.partition("/")
    if language:
        language, _, game = language.partition("-")
        words = ["new-bot", "my-bot", "--lang", language, "--to", str(folder)]
        made = CliRunner().invoke(cli, [*words, "--game", game] if game else words)
        assert made.exit_code == 0, made.output
        if of == "kits":
            (source,) = [path for path in folder.iterdir() if (KIT_BOTS / path.name).exists()]
            shutil.copy(KIT_BOTS / source.name, source)
    else:
        shutil.copytree(BOTS / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
    if missing := missing_programs(folder):
        pytest.skip(f"no {missing[0]} on this machine, so {name} is not tried")
    for command in yaml.safe_load((folder / "bot.yaml").read_text()).get("build", []):
        subprocess.run(command, cwd=folder, check=True, timeout=300)
    return folder
