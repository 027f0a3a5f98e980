"""`arena play`: a person against a bot in the terminal."""

import contextlib
import json
import secrets
import shlex
from pathlib import Path
from typing import Any, cast

import click

from arena.cli.options import (
    DEFAULT_GAME,
    game_option,
    insist_on,
    isolation_option,
    options_option,
    results_option,
    shelf_option,
)
from arena.games import load_game
from arena.games.api import Game
from arena.games.luck import derive
from arena.league.tournament import Player
from arena.league.worker import contestant
from arena.match.person import DrawnGame, Person
from arena.match.record import MatchRecord
from arena.match.referee import Participant
from arena.match.referee import play as play_match
from arena.match.terms import ClockSettings, MatchSpec, Setting
from arena.process.limits import Isolation
from arena.store.bots import BotStore


@click.command()
@click.argument("bot")
@click.option("--seat", type=click.IntRange(0, 1), default=0, show_default=True, help="Where you sit.")
@click.option("--seed", help="Play the luck of this seed again; default: new luck.")
@game_option
@options_option
@isolation_option
@results_option
@shelf_option
def play(
    bot: str,
    seat: int,
    seed: str | None,
    game: str,
    options: dict[str, Any],
    isolation: Isolation,
    results: Path,
    shelf: Path,
) -> None:
    """Play a match against BOT, by name or path.

    Example: arena play greedy --seat 1
    """
    bots = BotStore(results, shelf, isolation)
    load_game(game).setup(options, 2)
    found = bots.find(bot)
    insist_on(isolation)
    opponent = Player(name=found.name, bot=bots.install(found))
    seed = seed or secrets.token_hex(4)
    person = Person(say=click.echo, prompt=lambda text: click.prompt(text, prompt_suffix="> "))
    clock = ClockSettings(move_ms=1000, bank_ms=10_000)
    rival = contestant(opponent, Setting(game, options, clock), isolation)
    table: list[Participant] = [person, rival] if seat == 0 else [rival, person]
    spec = MatchSpec(
        match=f"play-{seed}", game=game, options=options, seed=derive("play", seed), clock=clock, isolation=isolation
    )
    drawn = cast(Game[Any, Any], DrawnGame(load_game(game), seat))
    with contextlib.ExitStack() as ending:
        ending.callback(rival.close, grace_s=0.0)
        record = play_match(spec, table, game=drawn)
    click.echo(_result(record, seat))
    click.echo(f"the same luck again: {_again(bot, seat, seed, game, options)}")


def _again(bot: str, seat: int, seed: str, game: str, options: dict[str, Any]) -> str:
    """The command that plays this match again, without what is so by default."""
    words = ["arena", "play", bot, "--seed", seed]
    words += ["--seat", str(seat)] if seat else []
    words += ["--game", game] if game != DEFAULT_GAME else []
    words += ["--options", json.dumps(options)] if options else []
    return shlex.join(words)


def _result(record: MatchRecord, seat: int) -> str:
    if record.fault is not None:
        who = "you" if record.fault.seat == seat else record.seats[record.fault.seat].player
        return f"\n{who} forfeited: {record.fault.message}"
    assert record.scores is not None, "a match without a fault has scores"
    mine, theirs = record.scores[seat], record.scores[1 - seat]
    word = "you win" if mine > theirs else "you lose" if mine < theirs else "a draw"
    return f"\n{word}, {mine} to {theirs}"
