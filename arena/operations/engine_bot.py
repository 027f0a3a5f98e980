"""A bot that is somebody's engine, which speaks UCI or GTP, behind the bundled bot `engine`.

Rule: the bot's hash covers the engine. It is copied into the bot's folder, or lies in a folder that all bots see and is
known by the SHA-256 in the bot's command.
"""

import json
import shlex
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from arena.bundled import bundled_folder
from arena.errors import SpecError
from arena.games import DEFAULT_GAME
from arena.process.manifest import MANIFEST
from arena.process.sandbox.runtimes import is_visible

EngineProtocol = Literal["uci", "gtp"]
_GAMES: Final = {"uci": "openspiel:chess", "gtp": "openspiel:go(board_size=9)"}


def engine_game(game: str, like: EngineProtocol) -> str:
    """Return the game of an engine's league: chess or go unless another than the default one is named."""
    return _GAMES[like] if game == DEFAULT_GAME else game


def write_engine(target: Path, name: str, like: EngineProtocol, engine: tuple[str, ...]) -> None:
    """Make the folder of a bot from `engine`, a program with its arguments and then files or folders of data.

    SpecError if one of them is missing, or has the name of a file of the bot; the unfinished folder stays.
    """
    command, *data = engine
    words = [command] if Path(command).is_file() else shlex.split(command)
    found = shutil.which(words[0]) if words else None
    if found is None:
        raise SpecError(f"--engine {command}: no such program; expected a path, or a name on the PATH, and arguments")
    program, options = Path(found).resolve(), []
    shutil.copytree(bundled_folder("bots") / "engine", target, ignore=shutil.ignore_patterns("__pycache__"))
    if is_visible(program):
        options = [f"--sha256={sha256(program.read_bytes()).hexdigest()}"]
    else:
        data.insert(0, str(program))
        program = Path(program.name)
    for path in map(Path, data):
        if (target / path.name).exists():
            raise SpecError(f"--engine {path}: the bot has a file of that name; rename yours")
        _copy(path, target / path.name)
    place = str(program) if program.is_absolute() else f"./{program}"
    line = ["python3", "bot.py", like, shlex.join([place, *words[1:]]), *options]
    manifest = f"name: {name}\ncommand: {json.dumps(line)}\ngames: [openspiel]\nprocesses: true\n"
    (target / MANIFEST).write_text(manifest, encoding="utf-8")


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a folder; SpecError if it cannot be read."""
    try:
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    except (OSError, shutil.Error) as error:
        raise SpecError(f"--engine {source}: {getattr(error, 'strerror', None) or error}") from None
