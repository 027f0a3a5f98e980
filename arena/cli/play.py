"""`arena play`: a person against bots in the terminal."""

import contextlib
import json
import shlex
from typing import Any

import click
import msgspec

from arena.cli.options import DEFAULT_GAME, MatchSetup, person_options, require_games
from arena.errors import SpecError
from arena.games import load_game
from arena.league.exhibition import named_apart, require_seats
from arena.league.worker import bot_player
from arena.match.human import HumanPlayer
from arena.match.participant import Participant
from arena.match.record import MatchRecord
from arena.match.referee import play_match
from arena.match.secret_luck import Secret, draw_block
from arena.match.settings import MatchSettings, spec_of
from arena.process.suspension import never_suspended
from arena.report.luck_origin import chosen_luck_description, secret_description
from arena.text import counted


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT [BOT [BOT]]")
@click.option("--seat", type=click.IntRange(0), default=0, show_default=True, help="Where you sit.")
@person_options
def play(bots: tuple[str, ...], seat: int, setup: MatchSetup) -> None:
    """Play a match against each BOT, by name or path, at one table; they sit down in their order around you.

    The luck is drawn under a new secret, which is printed at the end with the way to play it again.

    Example: arena play greedy --seat 1
    """
    game, seats = setup.game, len(bots) + 1
    try:
        require_seats(game, seats)
    except SpecError as error:
        raise SpecError(f"{error}: you and {counted(len(bots), 'bot')}") from None
    if seat >= seats:
        raise SpecError(f"--seat {seat}: there are seats 0 to {seats - 1}")
    load_game(game).setup(setup.options, seats)
    rivals = named_apart([setup.bots.find(each) for each in bots])
    require_games([rival.bot for rival in rivals], game)
    setup.prepare_isolation()
    secret = setup.given or Secret.random()
    person = HumanPlayer(say=click.echo, prompt=lambda text: click.prompt(text, prompt_suffix="> "))
    setting = MatchSettings(game, setup.options, setup.clock)
    spec = spec_of(setting, "play-0-0", draw_block(secret, "play-0", seats), 0, setup.isolation)
    with contextlib.ExitStack() as ending:
        table: list[Participant] = []
        for rival in rivals:
            installed = msgspec.structs.replace(rival, bot=setup.bots.install(rival.bot))
            seated = bot_player(installed, setting, setup.isolation, seats=seats)
            seated.suspended = never_suspended  # a person who presses Ctrl-Z comes back to the same match
            ending.callback(seated.close, grace_s=0.0)
            table.append(seated)
        table.insert(seat, person)
        record = play_match(spec, table)
    click.echo(_result(record, seat))
    click.echo(secret_description(secret) if setup.given is None else chosen_luck_description(secret))
    luck = ["--secret-file", "FILE"] if secret.seed is None else ["--seed", secret.seed]
    click.echo(f"the same luck again: {_again(bots, seat, luck, game, setup.options)}")


def _again(bots: tuple[str, ...], seat: int, luck: list[str], game: str, options: dict[str, Any]) -> str:
    """The command that plays this match again, without what is so by default."""
    words = ["arena", "play", *bots, *luck]
    words += ["--seat", str(seat)] if seat else []
    words += ["--game", game] if game != DEFAULT_GAME else []
    words += ["--options", json.dumps(options)] if options else []
    return shlex.join(words)


def _result(record: MatchRecord, seat: int) -> str:
    if record.fault is not None:
        who = "you" if record.fault.seat == seat else record.seats[record.fault.seat].player
        return f"\n{who} forfeited: {record.fault.message}"
    assert record.scores is not None, "a match without a fault has scores"
    others = [score for place, score in enumerate(record.scores) if place != seat]
    best = min(rank for place, rank in enumerate(record.ranks) if place != seat)
    word = "you win" if record.ranks[seat] < best else "you lose" if record.ranks[seat] > best else "a draw"
    return f"\n{word}, {record.scores[seat]} to {', '.join(map(str, others))}"
