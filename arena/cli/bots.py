"""`arena check`, `withdraw` and `bots`: bots on their way into a league."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from arena.bundled import bundled_folder
from arena.cli import options
from arena.cli.completion import complete_bot
from arena.cli.trials import Trials, trial_options
from arena.conformance.check import require_conformance
from arena.errors import SpecError
from arena.match.secret_luck import Secret
from arena.process.manifest import BotSpec
from arena.process.scratch import scratch_folder
from arena.report.formats import csv_pieces, json_text, listing
from arena.report.luck_origin import secret_description
from arena.store.bots import BotStore
from arena.text import printable


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

    Its stored matches and its installed copy stay, and its name stays its owner's; `arena submit` puts it back.

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
@options.format_option(("table", "csv", "json"))
@options.width_option
def bots(results: Path, bots_folder: Path, form: str, width: int | None) -> None:
    """List the bots on offer, with the owners of names: those in the folder --bots, the submitted and the bundled ones.

    Example: arena bots
    """
    store = BotStore(results, bots_folder)
    rows = [_row(bot, f"{bots_folder}/") for bot in store.own()]
    seen: set[str] = set()
    for each in store.submitted():
        hint = f"an older version: write {each.name}@{each.digest[:8]}" if each.name in seen else ""
        seen.add(each.name)
        rows.append(_Row(each.name, each.version, each.digest, f"submitted {each.submitted_at[:19]}", each.owner, hint))
    taken = {row.bot: row.hash for row in rows}
    for bot in store.bundled():
        hides = f"hidden by another {bot.name}: write {bot.name}@{bot.digest[:8]}"
        rows.append(_row(bot, "bundled", hides if taken.get(bot.name, bot.digest) != bot.digest else ""))
    for error in store.unreadable():
        click.echo(f"left out: {error}", err=True)
    rows.sort()
    if form == "json":
        click.echo(json_text([row._asdict() for row in rows]))
    elif form == "csv":
        click.echo("".join(csv_pieces(_Row._fields, rows)), nl=False)
    else:
        lines = [[*map(printable, row._replace(hash=row.hash[:8]))] for row in rows]
        click.echo(listing(["bot", "version", "hash", "from", "owner", "description"], lines, width))
        click.echo(f"\nbundled: in {bundled_folder('bots')}")


class _Row(NamedTuple):
    """A bot of the list. `place`: where it is from; `owner`: of its name, empty for one that nobody submitted."""

    bot: str
    version: str
    hash: str
    place: str
    owner: str
    description: str


def _row(bot: BotSpec, place: str, remark: str = "") -> _Row:
    text = remark or " ".join(bot.manifest.description.split())
    return _Row(bot.name, bot.manifest.version, bot.digest, place, "", text)


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
