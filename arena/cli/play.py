"""`arena play`: a person against bots in the terminal."""

import contextlib
import json
import secrets
import shlex
from pathlib import Path
from typing import Any, cast

import click
import msgspec

from arena.cli.options import (
    DEFAULT_GAME,
    game_option,
    insist_on,
    insist_on_games,
    isolation_option,
    options_option,
    results_option,
    shelf_option,
)
from arena.errors import SpecError
from arena.games import load_game
from arena.games.api import Game
from arena.games.luck import derive
from arena.league.friendly import insist_on_seats, named_apart
from arena.league.wording import counted
from arena.league.worker import contestant
from arena.match.person import DrawnGame, Person
from arena.match.record import MatchRecord
from arena.match.referee import Participant
from arena.match.referee import play as play_match
from arena.match.terms import ClockSettings, MatchSpec, Setting
from arena.process.limits import Isolation
from arena.store.bots import BotStore


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT [BOT [BOT]]")
@click.option("--seat", type=click.IntRange(0), default=0, show_default=True, help="Where you sit.")
@click.option("--seed", help="Play the luck of this seed again; default: new luck.")
@game_option
@options_option
@isolation_option
@results_option
@shelf_option
def play(
    bots: tuple[str, ...],
    seat: int,
    seed: str | None,
    game: str,
    options: dict[str, Any],
    isolation: Isolation,
    results: Path,
    shelf: Path,
) -> None:
    """Play a match against each BOT, by name or path, at one table; they sit down in their order around you.

    Example: arena play greedy --seat 1
    """
    seats = len(bots) + 1
    try:
        insist_on_seats(game, seats)
    except SpecError as error:
        raise SpecError(f"{error}: you and {counted(len(bots), 'bot')}") from None
    if seat >= seats:
        raise SpecError(f"--seat {seat}: there are seats 0 to {seats - 1}")
    load_game(game).setup(options, seats)
    store = BotStore(results, shelf, isolation)
    rivals = named_apart([store.find(each) for each in bots])
    insist_on_games([rival.bot for rival in rivals], game)
    insist_on(isolation, game)
    seed = seed or secrets.token_hex(4)
    person = Person(say=click.echo, prompt=lambda text: click.prompt(text, prompt_suffix="> "))
    clock = ClockSettings(move_ms=1000, bank_ms=10_000)
    setting = Setting(game, options, clock)
    spec = MatchSpec(
        match=f"play-{seed}", game=game, options=options, seed=derive("play", seed), clock=clock, isolation=isolation
    )
    drawn = cast(Game[Any, Any], DrawnGame(load_game(game), seat))
    with contextlib.ExitStack() as ending:
        table: list[Participant] = []
        for rival in rivals:
            installed = msgspec.structs.replace(rival, bot=store.install(rival.bot))
            seated = contestant(installed, setting, isolation, seats=seats)
            ending.callback(seated.close, grace_s=0.0)
            table.append(seated)
        table.insert(seat, person)
        record = play_match(spec, table, game=drawn)
    click.echo(_result(record, seat))
    click.echo(f"the same luck again: {_again(bots, seat, seed, game, options)}")


def _again(bots: tuple[str, ...], seat: int, seed: str, game: str, options: dict[str, Any]) -> str:
    """The command that plays this match again, without what is so by default."""
    words = ["arena", "play", *bots, "--seed", seed]
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
