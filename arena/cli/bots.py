"""`arena check`, `withdraw` and `bots`: bots on their way into a league."""

import click
from msgspec.structs import asdict, astuple, replace

from arena.bundled import bundled_folder
from arena.cli.completion import complete_bot
from arena.cli.edge import print_warning
from arena.cli.options import format_option, page_width, requesting
from arena.cli.trials import print_trial, tournament_option
from arena.operations.check_bot import CheckBot, check_bot
from arena.operations.list_bots import ListBots, OfferedBot, WithdrawBot, list_bots, withdraw_bot
from arena.report.formats import csv_pieces, format_listing, json_text
from arena.text import printable


@click.command()
@requesting(CheckBot)
@click.argument("bot", shell_complete=complete_bot)
@tournament_option
def check(request: CheckBot) -> None:
    """Check step by step that BOT speaks the protocol. Exit 1 if it does not.

    BOT is a script, a folder with bot.yaml, or a name. It is tried as the tournament of --for plays. Without one it
    plays each game that its bot.yaml names, or that of --game. It also plays a match with other options of the game,
    such as expansions; a fault there is a remark. The values of a bot that evaluates are compared with results.

    The luck of its matches follows from a new secret, which is printed at the end.

    Example: arena check ./mybot
    """
    with print_trial() as on:
        check_bot(request, on)


@click.command()
@requesting(WithdrawBot)
@click.argument("bot", metavar="NAME[@HASH]", shell_complete=complete_bot)
def withdraw(request: WithdrawBot) -> None:
    """Take a submitted bot off the list: the latest of that name, or the one of that hash.

    Its stored matches and its installed copy stay, and its name stays its owner's; `arena submit` puts it back.

    Example: arena withdraw mybot
    """
    withdrawn, remaining = withdraw_bot(request)
    click.echo(f"withdrawn: {withdrawn.label}")
    if remaining is not None:
        click.echo(f"`{withdrawn.name}` means {remaining.label} now")


@click.command()
@requesting(ListBots)
@format_option(("table", "csv", "json"))
def bots(request: ListBots, form: str) -> None:
    """List the bots on offer: those in the folder --bots, the submitted and the bundled ones.

    Example: arena bots
    """
    rows = list_bots(request, print_warning)
    if form == "json":
        click.echo(json_text([asdict(row) for row in rows]))
    elif form == "csv":
        click.echo("".join(csv_pieces(OfferedBot.__struct_fields__, map(astuple, rows))), nl=False)
    else:
        lines = [[*map(printable, astuple(replace(row, hash=row.hash[:8])))] for row in rows]
        click.echo(format_listing(["bot", "version", "hash", "from", "owner", "description"], lines, page_width()))
        click.echo(f"\nbundled: in {bundled_folder('bots')}")
