"""A folder with a bot that plays at once, and the kits that such folders are made of.

Rule: a kit is defined once, in `KITS`; the folder `templates/LANG` has its files, `templates/LANG-GAME` what one game
puts in their place or adds. A file that a bundled bot uses lies with that bot.
"""

import shutil
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import yaml

from arena.bundled import PACKAGE, bundled_folder
from arena.errors import SpecError
from arena.games import DEFAULT_GAME, load_game
from arena.operations.engine_bot import EngineProtocol, engine_game, write_engine
from arena.operations.policy_bot import POLICY_TEMPLATE, write_policy
from arena.operations.request import Request
from arena.process.manifest import MANIFEST
from arena.process.sandbox.runtimes import search_path
from arena.store.bots import BotStore
from arena.text import unknown

TEMPLATES: Final = PACKAGE / "operations" / "templates"


class Kit(NamedTuple):
    """The kit of a language: its title, the Debian packages that run and build it, and files that lie elsewhere.

    A file is named from the folder of the bundled bots, or as `templates/...` from that of the templates.
    """

    title: str
    packages: tuple[str, ...]
    elsewhere: tuple[str, ...] = ()


KITS: Final = {
    "python": Kit("Python", ("python3",), ("sensible/arena_kit.py",)),
    "javascript": Kit("JavaScript", ("nodejs",)),
    "typescript": Kit("TypeScript", ("nodejs", "node-typescript"), ("templates/javascript/arena_kit.js",)),
    "c": Kit("C", ("gcc", "libc6-dev"), ("el-dado/arena_kit.h",)),
    "cpp": Kit("C++", ("g++",)),
    "java": Kit("Java", ("default-jdk-headless",)),
    "perl": Kit("Perl", ("perl",)),
    "go": Kit("Go", ("golang-go",)),
    "rust": Kit("Rust", ("rustc",)),
}
GAME_TEMPLATES: Final = {"python-riffraff": ("shipmate/riffraff_kit.py",), "javascript-riffraff": (), "c-riffraff": ()}
"""Templates `LANG-GAME`, with the files of theirs that lie elsewhere."""
LANGUAGE_ALIASES: Final = {"c++": "cpp", "js": "javascript", "ts": "typescript"}


class NewBot(Request, frozen=True, kw_only=True):
    """A bot called `name`, in the language `lang`, for a game; `folder` is by default a new one of its name here.

    With `policy`, a trained network in a file, it plays by that, for the game with these options. With `engine`, a
    program with its arguments and paths of its data, it is that program, which speaks the protocol `like`.
    """

    name: str
    lang: str = "python"
    game: str = DEFAULT_GAME
    policy: Path | None = None
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    engine: tuple[str, ...] = ()
    like: EngineProtocol | None = None
    folder: Path | None = None


class NewBotFolder(msgspec.Struct, frozen=True):
    """The folder of a new bot, `path` as commands name it, and its league against bundled bots at `game`, if any.

    `missing` are programs that bots on this machine lack, `packages` the Debian packages that install them.
    """

    folder: Path
    path: str
    game: str
    files: tuple[str, ...]
    tournament: Path | None
    missing: tuple[str, ...]
    packages: tuple[str, ...]


def new_bot(request: NewBot) -> NewBotFolder:
    """Make the folder of a bot that plays at once. SpecError if it exists, or if it cannot be made as asked.

    Without `folder` in the request, also write `tournaments/NAME.yaml` here, unless it is there or the game is not for
    two.
    """
    if bool(request.engine) != bool(request.like) or (request.engine and request.policy is not None):
        raise SpecError("--engine goes with --like uci or --like gtp, and without --policy")
    if request.like is not None:
        request = msgspec.structs.replace(request, game=engine_game(request.game, request.like))
    target = request.folder or Path(request.name)
    path = str(target) if "/" in str(target) else f"./{target}"
    lang, names = _templates(request.lang, request.game)
    if request.policy is None and request.options:
        raise SpecError("--options: a bot is made for certain options only with --policy")
    if request.policy is not None and lang != "python":
        raise SpecError(f"--policy: found the language {lang}, expected python")
    if target.exists():
        raise SpecError(f"{target} exists already; choose another name or --to")
    try:
        if request.like is not None:
            write_engine(target, request.name, request.like, request.engine)
        else:
            write_bot(target, names if request.policy is None else ("python", POLICY_TEMPLATE), request.name)
        if request.policy is not None:
            write_policy(target, request.policy, request.game, request.options)
        BotStore(request.results, Path("bots")).find(path)
    except (SpecError, OSError):
        shutil.rmtree(target, ignore_errors=True)
        raise
    files = tuple(sorted(file.name for file in target.iterdir()))
    tournament = _write_tournament(request, path) if request.folder is None else None
    return NewBotFolder(
        target, path, request.game, files, tournament, tuple(missing_programs(target)), KITS[lang].packages
    )


def _write_tournament(request: NewBot, path: str) -> Path | None:
    """Write a league of the bot against bundled ones, and return its file; one that is there is not replaced.

    None if the game is not for two.
    """
    if 2 not in load_game(request.game).seat_counts:
        return None
    tournament = Path("tournaments") / f"{request.name}.yaml"
    if not tournament.exists():
        tournament.parent.mkdir(exist_ok=True)
        template = TEMPLATES / f"league-{request.game}.yaml"
        template = template if template.exists() else TEMPLATES / "league.yaml"
        fill_template(template, tournament, name=request.name, bot=path, game=request.game)
    return tournament


def write_bot(target: Path, templates: tuple[str, ...], name: str) -> None:
    """Write the files of these templates into a folder, with `name` in place of `{{name}}`.

    The folder may exist. A later template replaces files of an earlier one.
    """
    for template in templates:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(TEMPLATES / template, target, ignore=ignored, dirs_exist_ok=True)
        for file in files_elsewhere(template):
            shutil.copy(file, target)
    for file in target.iterdir():
        fill_template(file, file, name=name)


def files_elsewhere(template: str) -> list[Path]:
    """Return the files of a template that lie in another folder."""
    files = KITS[template].elsewhere if template in KITS else GAME_TEMPLATES.get(template, ())
    return [
        TEMPLATES.parent / file if file.startswith("templates/") else bundled_folder("bots") / file for file in files
    ]


def missing_programs(folder: Path) -> list[str]:
    """Return the programs in `command` and `build` of its bot.yaml that bots on this machine do not have."""
    manifest = yaml.safe_load((folder / MANIFEST).read_text(encoding="utf-8"))
    commands = [manifest["command"], *manifest.get("build", [])]
    words = [next(word for word in command if word != "env" and "=" not in word) for command in commands]
    return [word for word in words if "/" not in word and shutil.which(word, path=search_path()) is None]


def fill_template(template: Path, target: Path, **words: str) -> None:
    """Write the text file `template` to the file `target`, with the words in place of their `{{names}}`.

    An existing target is replaced.
    """
    text = template.read_text(encoding="utf-8")
    for key, word in words.items():
        text = text.replace(f"{{{{{key}}}}}", word)
    target.write_text(text, encoding="utf-8")


def _templates(lang: str, game: str) -> tuple[str, tuple[str, ...]]:
    """Return the canonical name of the language, and its templates: also `LANG-GAME` for a game that has its own.

    SpecError for an unknown game, and for a language without a template for it.
    """
    load_game(game)
    lang = LANGUAGE_ALIASES.get(lang.lower(), lang.lower())
    game_langs = [template.removesuffix(f"-{game}") for template in GAME_TEMPLATES if template.endswith(f"-{game}")]
    if lang not in (game_langs or KITS):
        what = f"language for {game}" if game_langs else "language"
        raise SpecError(f"--lang: {unknown(what, lang, game_langs or KITS)}")
    return lang, (lang, f"{lang}-{game}") if game_langs else (lang,)
