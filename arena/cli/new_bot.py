"""`arena new-bot`: a folder with a bot that plays at once, and the kits that such folders are made of.

Rule: a kit is told of once, in `KITS`; the folder `templates/LANG` has its files, `templates/LANG-GAME` what one game
puts in their place or adds. A file that a bundled bot uses lies with that bot.
"""

import shutil
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import yaml

from arena.bundled import PACKAGE, bundled_folder
from arena.cli.options import DEFAULT_GAME, game_option, options_option
from arena.cli.policy_bot import POLICY_TEMPLATE, write_policy
from arena.errors import SpecError
from arena.games import load_game
from arena.process.manifest import MANIFEST
from arena.process.sandbox.runtimes import search_path
from arena.store.bots import BotStore
from arena.text import unknown

TEMPLATES: Final = PACKAGE / "cli" / "templates"


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
    "c": Kit("C", ("gcc", "libc6-dev")),
    "cpp": Kit("C++", ("g++",)),
    "java": Kit("Java", ("default-jdk-headless",)),
    "perl": Kit("Perl", ("perl",)),
    "go": Kit("Go", ("golang-go",)),
    "rust": Kit("Rust", ("rustc",)),
}
OF_A_GAME: Final = {"python-riffraff": ("shipmate/riffraff_kit.py",), "javascript-riffraff": (), "c-riffraff": ()}
"""Templates `LANG-GAME`, with the files of theirs that lie elsewhere."""
OTHER_NAMES: Final = {"c++": "cpp", "js": "javascript", "ts": "typescript"}


@click.command()
@click.argument("name")
@click.option("--lang", default="python", help=f"{', '.join(list(KITS)[:-1])} or {list(KITS)[-1]}.")
@game_option
@click.option(
    "--policy",
    type=click.Path(path_type=Path),
    help="A trained network (.npz) by which a bot in Python plays; docs/training.md.",
)
@options_option
@click.option("--folder", type=click.Path(path_type=Path), help="Folder to make; default: a new folder NAME here.")
def new_bot(name: str, lang: str, game: str, policy: Path | None, options: dict[str, Any], folder: Path | None) -> None:
    """Start a bot of your own called NAME from a kit that plays at once: you write one function, `choose`.

    Without --folder there is a league, too: tournaments/NAME.yaml, against bundled bots. A file there is not replaced.

    With --policy it plays by a network that you trained, for the game with these --options.

    Example: arena new-bot mybot --lang python
    """
    target = folder or Path(name)
    path = str(target) if "/" in str(target) else f"./{target}"
    lang, names = _templates(lang, game)
    if policy is None and options:
        raise SpecError("--options: a bot is made for certain options only with --policy")
    if policy is not None and lang != "python":
        raise SpecError(f"--policy: found the language {lang}, expected python")
    if target.exists():
        raise SpecError(f"{target} exists already; choose another name or --folder")
    write_bot(target, names if policy is None else ("python", POLICY_TEMPLATE), name)
    try:
        if policy is not None:
            write_policy(target, policy, game, options)
        BotStore(Path("results"), Path("bots")).find(path)
    except SpecError:
        shutil.rmtree(target)
        raise
    made = ", ".join(sorted(path.name for path in target.iterdir()))
    for_game = "" if game == DEFAULT_GAME else f" --game {game}"
    click.echo(f"made {target}/ with {made}\nnext: arena check {path}{for_game}")
    own = TEMPLATES / f"league-{game}.yaml"
    league = own if own.exists() else TEMPLATES / "league.yaml"
    if folder is None and 2 in load_game(game).seat_counts:
        tournament = Path("tournaments") / f"{name}.yaml"
        if not tournament.exists():
            tournament.parent.mkdir(exist_ok=True)
            write_filled(league, tournament, name=name, bot=path, game=game)
        click.echo(f"      arena league run {name}    # against bundled bots, as {tournament} says")
        click.echo(f"      arena stats {name}         # with the matches it lost, and how to look into them")
    if missing := missing_programs(target):
        needed = " ".join(KITS[lang].packages)
        click.echo(f"bots here have no {' and no '.join(missing)}: on Debian, apt-get install {needed}", err=True)


def write_bot(target: Path, templates: tuple[str, ...], name: str) -> None:
    """A new folder with the files of these templates, later ones in the place of earlier ones."""
    for each in templates:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(TEMPLATES / each, target, ignore=ignored, dirs_exist_ok=True)
        for file in files_elsewhere(each):
            shutil.copy(file, target)
    for file in target.iterdir():
        write_filled(file, file, name=name)


def files_elsewhere(template: str) -> list[Path]:
    """The files of a template that lie in another folder."""
    named = KITS[template].elsewhere if template in KITS else OF_A_GAME.get(template, ())
    return [
        TEMPLATES.parent / each if each.startswith("templates/") else bundled_folder("bots") / each for each in named
    ]


def missing_programs(folder: Path) -> list[str]:
    """The programs that its bot.yaml starts or builds with and that bots on this machine do not have."""
    manifest = yaml.safe_load((folder / MANIFEST).read_text(encoding="utf-8"))
    commands = [manifest["command"], *manifest.get("build", [])]
    words = [next(word for word in each if word != "env" and "=" not in word) for each in commands]
    return [word for word in words if "/" not in word and shutil.which(word, path=search_path()) is None]


def write_filled(template: Path, target: Path, **words: str) -> None:
    """Write a template with the words in the place of `{{their names}}`."""
    text = template.read_text(encoding="utf-8")
    for key, word in words.items():
        text = text.replace(f"{{{{{key}}}}}", word)
    target.write_text(text, encoding="utf-8")


def _templates(lang: str, game: str) -> tuple[str, tuple[str, ...]]:
    """The language by its own name, and its templates: also `LANG-GAME` for a game that has its own."""
    load_game(game)
    lang = OTHER_NAMES.get(lang.lower(), lang.lower())
    own = [each.removesuffix(f"-{game}") for each in OF_A_GAME if each.endswith(f"-{game}")]
    if lang not in (own or KITS):
        what = f"language for {game}" if own else "language"
        raise SpecError(f"--lang: {unknown(what, lang, own or KITS)}")
    return lang, (lang, f"{lang}-{game}") if own else (lang,)
