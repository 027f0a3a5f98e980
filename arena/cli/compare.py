"""`arena compare`: is NEW better than OLD? As few matches as it takes to tell, and an honest answer."""

import contextlib
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import click
import msgspec

from arena.cli.edge import stoppable
from arena.cli.options import (
    chosen_luck,
    clock_settings,
    insist_on,
    match_options,
)
from arena.errors import Interrupted, SpecError
from arena.games import load_game
from arena.games.api import value_of
from arena.league.driver import LocalBackend, run
from arena.league.exhibition import exhibition
from arena.league.schedule import Batch, PlayedBlock, batches
from arena.league.sprt import Comparison
from arena.league.state import state_of
from arena.league.tournament import SEATS, Player, Tournament, luck_origin
from arena.match.secret_luck import Secret
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec
from arena.report.comparison import as_json, as_text, line
from arena.report.luck_origin import luck_description
from arena.statistics.sequential import Model, SequentialSettings
from arena.store import database
from arena.store.bots import BotStore
from arena.store.matches import MatchStore
from arena.store.secrets import SecretKeeper

_CHUNKS_IN_A_BATCH = 2
"""Smaller batches leave fewer blocks in flight that come too late to count; larger ones start fewer processes."""


@click.command()
@click.argument("new")
@click.argument("old")
@click.option("--elo0", default=0.0, show_default=True, help="H0: NEW is better by no more than this.")
@click.option("--elo1", default=20.0, show_default=True, help="H1: NEW is better by at least this.")
@click.option(
    "--model",
    type=click.Choice(get_args(Model)),
    default="normalised",
    show_default=True,
    help="Kind of Elo that --elo0 and --elo1 are; `luck-adjusted` is `logistic` with luck taken off the scores,"
    " `student` compares margins instead of wins.",
)
@click.option("--alpha", default=0.05, show_default=True, help="How often H1 may be accepted if H0 is true.")
@click.option("--beta", default=0.05, show_default=True, help="How often H0 may be accepted if H1 is true.")
@click.option("--batch", type=click.IntRange(1, 10_000), default=8, show_default=True, help="Blocks between two looks.")
@click.option("--cap", type=click.IntRange(1, 10_000_000), help="Blocks after which it is given up; default: computed.")
@click.option("--workers", type=click.IntRange(1, 1024), help="Matches played at once; default: all cores.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@match_options
def compare(new: str, old: str, form: str, results: Path, shelf: Path, **settings: Any) -> None:
    """Play NEW against OLD in blocks until a sequential test has decided whether NEW is better.

    Matches are stored, and the secret under which their luck is drawn. Interrupted, the same command continues, and
    comes to the same verdict as without the stop, at any number of workers.

    Example: arena compare ./mybot mybot --elo1 30
    """
    isolation: Isolation = settings["isolation"]
    given = chosen_luck(settings["seed"], settings["secret_file"])
    test = SequentialSettings(
        matches=SEATS, **{name: settings[name] for name in ("elo0", "elo1", "model", "alpha", "beta", "batch", "cap")}
    )
    bots = BotStore(results, shelf, isolation)
    players = _players(bots.find(new), bots.find(old))
    game = load_game(settings["game"])
    game.setup(settings["options"], SEATS)
    value = value_of(game)
    if test.model == "luck-adjusted" and value is None:
        raise SpecError(f"--model luck-adjusted: {settings['game']} has no value function that could tell its luck")
    tester = partial(Comparison, test, luck_version=value.version if value else "")
    insist_on(isolation, settings["game"])
    with (
        stoppable(),
        database.writer_lock(results),
        contextlib.closing(database.open_for_writing(results)) as connection,
    ):
        store = MatchStore(connection, results)
        installed = [msgspec.structs.replace(each, bot=bots.install(each.bot)) for each in players]
        meeting = _tournament((installed[0], installed[1]), settings, test, given)
        tournament, secret = SecretKeeper(store, results).settle(
            meeting, given, lambda known: not _compared(store, known, tester, players[0].name)[0].is_decided
        )
        comparison, finished = _compared(store, tournament, tester, players[0].name)
        store.save_league(tournament)
        if tournament.seed is None:
            click.echo(luck_description(luck_origin(tournament)), err=True)
        backend = LocalBackend(settings["workers"] or len(os.sched_getaffinity(0)))
        needed = comparison.needed(batches(tournament, finished, isolation, secret=secret))
        _play(store, needed, comparison, backend)
    names, luck = (players[0].name, players[1].name), luck_origin(tournament)
    click.echo((as_json if form == "json" else as_text)(comparison.compared, names, luck))


def _players(new: BotSpec, old: BotSpec) -> tuple[Player, Player]:
    """Both under names that tell them apart: by name, else by version, else by hash; a bot and itself as well."""
    names = (new.name, old.name)
    if new.digest == old.digest:
        names = (f"{new.name}-new", f"{old.name}-old")
    elif new.name == old.name and new.manifest.version != old.manifest.version:
        names = (f"{new.name}-{new.manifest.version}", f"{old.name}-{old.manifest.version}")
    elif new.name == old.name:
        names = (f"{new.name}-{new.digest[:8]}", f"{old.name}-{old.digest[:8]}")
    return Player(name=names[0], bot=new), Player(name=names[1], bot=old)


def _tournament(
    players: tuple[Player, Player], settings: dict[str, Any], test: SequentialSettings, given: Secret | None
) -> Tournament:
    meeting = exhibition(
        players,
        game=settings["game"],
        options=settings["options"],
        clock=clock_settings(settings["move_ms"], settings["bank_ms"]),
        secret=given,
        blocks=test.last,
    )
    name = f"compare-{players[0].name}-{players[1].name}"
    batch = max(1, test.batch // _CHUNKS_IN_A_BATCH)
    return msgspec.structs.replace(meeting, name=name, chunk_blocks=batch, luck=test.model == "luck-adjusted")


def _compared(
    store: MatchStore, tournament: Tournament, tester: Callable[[int], Comparison], new: str
) -> tuple[Comparison, Mapping[str, Collection[int]]]:
    """The test after the blocks that are stored; and these, by the key of the pairing."""
    state = state_of(tournament, store.ranks)
    comparison = tester(state.spans[0].pairing.names.index(new))
    comparison.add(
        {
            number: list(matches)
            for number, matches in groupby(store.matches(state.blocks), key=lambda match: match.result.key.block)
        }
    )
    return comparison, state.finished


def _play(store: MatchStore, needed: Iterator[Batch], comparison: Comparison, backend: LocalBackend) -> None:
    """Play until it is decided."""
    show = _shower(comparison)

    def commit(blocks: list[PlayedBlock]) -> None:
        store.save(blocks)
        comparison.add({block.fixture.block: block.matches for block in blocks})

    try:
        run(needed, backend, commit=commit, tick=show)
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted, {line(comparison.state)}; what is played is stored, and the same command continues"
        ) from None
    finally:
        if sys.stderr.isatty():
            click.echo("", err=True)


def _shower(comparison: Comparison) -> Callable[[], None]:
    """Draws one line over and over, on a terminal."""
    if not sys.stderr.isatty():
        return lambda: None
    return lambda: click.echo(f"\r{line(comparison.state)}\x1b[K", nl=False, err=True)
