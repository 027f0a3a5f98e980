"""A package with a new game, which begins as a copy of a small one."""

import keyword
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from arena.bundled import PACKAGE
from arena.errors import SpecError
from arena.games import bundled_names
from arena.operations.new_bot import TEMPLATES, fill_template, write_bot
from arena.operations.request import Request
from arena.process.manifest import MANIFEST
from arena.text import unknown

SMALL_GAMES: Final = {"connect_four": "ConnectFour", "goofspiel": "Goofspiel", "kuhn_poker": "KuhnPoker", "nim": "Nim"}
"""Games that a new one may begin as, with the name of their class; one that is not bundled is a template."""
_GAME_NAME: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", re.ASCII)


class NewGame(Request, frozen=True, kw_only=True):
    """A game called `name`, which begins as a copy of the small game `like`."""

    name: str
    like: str = "connect_four"


def new_game(request: NewGame) -> Path:
    """Make a package with rules, tests, a bot and a tournament in the new folder NAME here; return that.

    SpecError for a name that is unusable or taken, and for an unknown small game, before anything is made.
    """
    name, target = request.name, Path(request.name)
    if request.like not in SMALL_GAMES:
        raise SpecError(unknown("small game", request.like, SMALL_GAMES))
    if not _GAME_NAME.fullmatch(name) or len(name) > 40:
        raise SpecError(f"{name}: the name of a game has small letters, digits and single _, a letter first: my_game")
    if name in bundled_names():
        raise SpecError(f"{name} is a game of arena; give yours another name")
    if target.exists():
        raise SpecError(f"{target} exists already; choose another name")
    if name in sys.stdlib_module_names or keyword.iskeyword(name) or find_spec(name) is not None:
        raise SpecError(f"{name} means something else in Python here, so no package can have that name; choose another")
    class_name = name.title().replace("_", "")
    shutil.copytree(TEMPLATES / "game", target, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "project.toml").rename(target / "pyproject.toml")
    for file in [path for path in target.rglob("*") if path.is_file()]:
        fill_template(file, file, **{"name": name, "class": class_name, "like": request.like})
    folder = PACKAGE / "games" if request.like in bundled_names() else TEMPLATES
    rules = (folder / f"{request.like}.py").read_text(encoding="utf-8")
    rules = rules.replace(f'"{request.like}"', f'"{name}"').replace(SMALL_GAMES[request.like], class_name)
    (target / name).mkdir()
    (target / name / "__init__.py").write_text(f'"""The game {name} for arena."""\n', encoding="utf-8")
    (target / name / "rules.py").write_text(rules, encoding="utf-8")
    bot = target / "bots" / f"{name}_bot"
    write_bot(bot, ("python",), f"{name}_bot")
    manifest = (bot / MANIFEST).read_text(encoding="utf-8")
    (bot / MANIFEST).write_text(re.sub("(?m)^# games:.*$", f"games: [{name}]", manifest), encoding="utf-8")
    return target
