"""`arena check`, `withdraw`, `bots` and `new-bot`: bots on their way into a league."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from arena.bundled import PACKAGE, bundled_folder
from arena.cli import options
from arena.cli.completion import complete_bot
from arena.cli.options import DEFAULT_GAME
from arena.cli.trials import Trials, trial_options
from arena.conformance.check import require_conformance
from arena.errors import SpecError
from arena.games import load_game
from arena.match.secret_luck import Secret
from arena.process.manifest import BotSpec
from arena.process.scratch import scratch_folder
from arena.report.formats import listing
from arena.report.luck_origin import secret_description
from arena.store.bots import BotStore
from arena.text import printable, unknown

TEMPLATES: Final = PACKAGE / "cli" / "templates"
KITS: Final = {"python": "sensible/arena_kit.py", "python-riffraff": "shipmate/riffraff_kit.py"}
"""The kit of a template is a file of a bundled bot."""


@click.command()
@click.argument("bot", shell_complete=complete_bot)
@trial_options
def check(bot: str, trials: Trials) -> None:
    """Check step by step that BOT (a script or a folder with bot.yaml) speaks the protocol. Exit 1 if it does not.

    It is tried as the tournament of --for plays. Without one it plays each game that its bot.yaml names, or that of
    --game, and also a match with other options of the game, such as expansions; a fault there is a remark.

    The luck of its matches is drawn under a new secret, which is printed at the end.

    Example: arena check ./mybot
    """
    setup = trials.setup
    found = setup.bots.find(bot)
    trials.plans(found, Secret.random())  # options that no game has are told before anything is made
    trials.prepare(iter((found,)))
    with scratch_folder("arena-check-") as scratch:
        candidate = BotStore(scratch, scratch, setup.isolation).install(found)
        with told_luck(setup.given) as secret:
            for each in trials.plans(found, secret):
                require_conformance(candidate, each, setup.isolation, click.echo)


@click.command()
@click.argument("bot", metavar="NAME[@HASH]", shell_complete=complete_bot)
@options.results_option
@options.bots_option
def withdraw(bot: str, results: Path, bots_folder: Path) -> None:
    """Take a submitted bot off the list: the one of that hash, or the latest of that name.

    Its stored matches and its installed copy stay; `arena submit` puts it back.

    Example: arena withdraw mybot
    """
    store = BotStore(results, bots_folder)
    gone = store.withdraw(bot)
    click.echo(f"withdrawn: {gone.label}")
    left = next((each for each in store.submitted() if each.name == gone.name), None)
    if left is not None:
        click.echo(f"`{gone.name}` means {left.label} now")


@click.command()
@options.results_option
@options.bots_option
@options.width_option
def bots(results: Path, bots_folder: Path, width: int | None) -> None:
    """List the bots on offer: those in the folder --bots, the submitted and the bundled ones.

    Example: arena bots
    """
    store = BotStore(results, bots_folder)
    own, bundled = store.own(), store.bundled()
    rows = [_row(bot, f"{bots_folder}/") for bot in own]
    seen: set[str] = set()
    for each in store.submitted():
        hint = f"an older version: write {each.name}@{each.digest[:8]}" if each.name in seen else ""
        seen.add(each.name)
        rows.append([each.name, printable(each.version), each.digest[:8], f"submitted {each.submitted_at[:19]}", hint])
    taken = {row[0]: row[2] for row in rows}
    for bot in bundled:
        hides = f"hidden by another {bot.name}: write {bot.name}@{bot.digest[:8]}"
        rows.append(_row(bot, "bundled", hides if taken.get(bot.name, bot.digest[:8]) != bot.digest[:8] else ""))
    for error in store.unreadable():
        click.echo(f"left out: {error}", err=True)
    click.echo(listing(["bot", "version", "hash", "from", "description"], sorted(rows), width))
    click.echo(f"\nbundled: in {bundled_folder('bots')}")


@click.command()
@click.argument("name")
@click.option("--lang", default="python", help="python, javascript, c or perl.")
@options.game_option
@click.option("--folder", type=click.Path(path_type=Path), help="Folder to make; default: a new folder NAME here.")
def new_bot(name: str, lang: str, game: str, folder: Path | None) -> None:
    """Start a bot of your own called NAME from a template that plays at once.

    Without --folder there is a league, too: tournaments/NAME.yaml, against bundled bots. A file there is not replaced.

    Example: arena new-bot mybot --lang python
    """
    target = folder or Path(name)
    path = str(target) if "/" in str(target) else f"./{target}"
    template = _template(lang, game)
    if target.exists():
        raise SpecError(f"{target} exists already; choose another name or --folder")
    shutil.copytree(TEMPLATES / template, target, ignore=shutil.ignore_patterns("__pycache__"))
    if template in KITS:
        shutil.copy(bundled_folder("bots") / KITS[template], target)
    for file in target.iterdir():
        write_filled(file, file, name=name)
    try:
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


def write_filled(template: Path, target: Path, **words: str) -> None:
    """Write a template with the words in the place of `{{their names}}`."""
    text = template.read_text(encoding="utf-8")
    for key, word in words.items():
        text = text.replace(f"{{{{{key}}}}}", word)
    target.write_text(text, encoding="utf-8")


def _row(bot: BotSpec, place: str, remark: str = "") -> list[str]:
    text = remark or printable(" ".join(bot.manifest.description.split()))
    return [bot.name, printable(bot.manifest.version), bot.digest[:8], place, text]


def _template(lang: str, game: str) -> str:
    """The folder `LANG-GAME` where the game has its own, as one without listed actions needs, else `LANG`."""
    load_game(game)
    folders = sorted(path.parent.name for path in TEMPLATES.glob("*/bot.yaml"))
    own = [folder.removesuffix(f"-{game}") for folder in folders if folder.endswith(f"-{game}")]
    known = own or [folder for folder in folders if "-" not in folder]
    if lang not in known:
        what = f"language for {game}" if own else "language"
        raise SpecError(f"--lang: {unknown(what, lang, known)}")
    return f"{lang}-{game}" if own else lang


@contextlib.contextmanager
def told_luck(given: Secret | None) -> Iterator[Secret]:
    """The secret of all matches inside; a new one is told at the end, so that a failure can be repeated."""
    secret, is_told = given or Secret.random(), True
    try:
        yield secret
    except SpecError:  # nothing was played
        is_told = False
        raise
    finally:
        if is_told:
            click.echo(secret_description(secret, is_chosen=given is not None))
