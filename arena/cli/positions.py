"""`arena positions`: keep positions of stored matches with the expected answers, and ask each new version of a bot."""

import json
from pathlib import Path

import click

from arena.cli import SuggestingGroup
from arena.cli.ask import AskedTable, players_of
from arena.cli.completion import complete_bot
from arena.cli.dialogue import record_of_match, require_answer, seat_of
from arena.cli.edge import stoppable
from arena.cli.options import (
    FILE_PATH,
    FOLDER_PATH,
    bots_option,
    isolation_option,
    option_named,
    prepare_isolation,
    results_option,
    width_option,
)
from arena.conformance.positions import (
    NamedPosition,
    Position,
    expected_actions,
    expected_text,
    junit,
    position_name,
    read_positions,
    run_positions,
    save_position,
    summary,
)
from arena.league.tournament import Player, require_game
from arena.match.bot_player import BotPlayer
from arena.process.limits import Isolation
from arena.report.formats import listing
from arena.store.bots import BotStore
from arena.store.folder import stored


@click.group(cls=SuggestingGroup)
def positions() -> None:
    """Keep positions of stored matches, and ask each new version of a bot for its answers there.

    Example: arena positions run ./mybot positions
    """


def _expected(_context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[object, ...]:
    try:
        return tuple(json.loads(text) for text in texts)
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}", param=parameter) from None


@positions.command("save")
@click.argument("match_id", metavar="MATCH")
@click.argument("player")
@click.option("--step", type=click.IntRange(1), required=True, help="The step, as `arena show` numbers them.")
@click.option(
    "--expect",
    multiple=True,
    metavar="JSON",
    callback=_expected,
    help="An answer that is right there: an action, or its index in `legal`; also several. Default: the recorded one.",
)
@click.option("--to", "folder", type=FOLDER_PATH, default=Path("positions"), help="Folder of the set.")
@click.option("--name", help="Name of the position; default: match and step.")
@results_option
def save(
    match_id: str,
    player: str,
    step: int,
    expect: tuple[object, ...],
    folder: Path,
    name: str | None,
    results: Path,
) -> None:
    """Save the position before STEP of the stored match MATCH, for which PLAYER was asked, with the expected answers.

    The folder has a small file for each position, which you may edit, and each match once; it needs no results.

    Example: arena positions save 3f9a2c41d07b-0-1 mybot --step 12 --expect 0
    """
    with stored(results) as store:
        record = record_of_match(store, match_id, player)
        seat = seat_of(record, player)
        require_answer(record, seat, step)
        arguments = players_of(store, record)[seat].arguments
    with option_named("--expect"):
        actions = expected_actions(record, seat, step, expect)
    with option_named("--name"):
        chosen = position_name(name or f"{record.match}-{step}")
    position = Position(record.match, record.seats[seat].player, step, actions, arguments)
    path = save_position(folder, chosen, position, record)
    click.echo(f"{path}: {position.player} at step {step}, expected {expected_text(position)}")


@positions.command("run")
@click.argument("bot", shell_complete=complete_bot)
@click.argument("folder", type=FOLDER_PATH, default=Path("positions"))
@click.option("--junit", "xml", type=FILE_PATH, help="Write the results as JUnit XML, too.")
@width_option
@isolation_option
@results_option
@bots_option
def run(
    bot: str,
    folder: Path,
    xml: Path | None,
    width: int | None,
    isolation: Isolation,
    results: Path,
    bots_folder: Path,
) -> int:
    """Ask BOT at each position of FOLDER, and print which it passes. Exit 1 if it fails one.

    Example: arena positions run ./mybot positions --junit report.xml
    """
    bots = BotStore(results, bots_folder, isolation)
    found, known = bots.find(bot), read_positions(folder)
    for game in dict.fromkeys(each.record.game for each in known):
        require_game(found, game)
        prepare_isolation(isolation, game)
    installed = bots.install(found)

    def seated(each: NamedPosition) -> BotPlayer:
        player = Player(name=each.position.player, bot=installed, arguments=each.position.arguments)
        return AskedTable(each.record, isolation).seat(player)

    with stoppable():
        told = run_positions(known, seated)
    rows = [
        [each.name, "pass" if each.is_passed else "FAIL", each.found, expected_text(each.position)] for each in told
    ]
    click.echo(listing(["position", "result", "answer", "expected"], rows, width))
    click.echo(f"\n{summary(told)}")
    if xml is not None:
        xml.write_text(junit(installed.label, told), encoding="utf-8")
    return int(not all(each.is_passed for each in told))
