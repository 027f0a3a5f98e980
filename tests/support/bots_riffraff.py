"""What the tests of the Riff Raff bots share: the kit as a module, positions, and matches between shipmates.

Rule: the kit and the bots are read from where they lie; here alone they meet the rules they were written without.
"""

import importlib.util
import json
import random
from contextlib import closing
from functools import cache
from types import ModuleType
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from arena.errors import IllegalAction
from arena.games.api import Chance, Decision, Seat
from arena.games.luck import draw
from arena.games.riffraff import GAME
from arena.games.riffraff.scene import KINDS
from arena.games.riffraff.state import Phase, State
from arena.league.exhibition import exhibition, play_here
from arena.league.tournament import Player
from arena.match.record import MatchRecord
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings
from arena.process.manifest import read_bot
from support.bots_driver import BOTS

SHIPMATE: Final = BOTS / "shipmate"
SEAT: Final = Seat(0)


@cache
def part(name: str) -> ModuleType:
    """A file of shipmate that imports none of its others, under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"shipmate_{name}", SHIPMATE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kit() -> ModuleType:
    """The kit."""
    return part("riffraff_kit")


def plain(value: Any) -> Any:
    """The value as it comes out of a line of JSON."""
    return json.loads(msgspec.json.encode(value))


def material() -> Any:
    """The kit's `Material`, made of what `hello` says."""
    return kit().Material(plain(GAME.game_info({}, 4)))


@cache
def position(placements: int, area: int = 7, **options: Any) -> State:
    """A ship with so many placements behind it, by players who load at random; seat 0 is to load on that area."""
    state, rng = GAME.setup(options, 4), random.Random(placements)
    while state.placements < placements:
        turn = GAME.turn(state)
        if isinstance(turn, Decision):
            state = GAME.apply(state, {seat: _allowed(state, seat, rng) for seat in turn.seats})
        elif isinstance(turn, Chance):
            state = GAME.resolve(state, draw("position", turn))
        else:
            state = GAME.simulator.apply_result(state, GAME.simulator.simulate(state))
    return to_load(state, area)


def _allowed(state: State, seat: Seat, rng: random.Random) -> Any:
    """An action with room and support."""
    while True:
        action = GAME.sample(state, seat, rng)
        try:
            GAME.simulator.require(state, seat, action)
        except IllegalAction:
            continue
        return action


def to_load(state: State, area: int, supply: dict[str, int] | None = None) -> State:
    """The same ship with seat 0 about to load on that area, out of one piece of each kind if nothing else is said."""
    held = dict.fromkeys(KINDS, 1) if supply is None else supply
    mine = replace(state.players[SEAT], card=area, supply=tuple(held.get(kind, 0) for kind in KINDS))
    players = (mine, *(replace(player, card=1) for player in state.players[1:]))
    order = tuple(map(Seat, range(len(players))))
    return replace(state, phase=Phase.LOAD, players=players, order=order, turn=0, to_load=1, loaded=0)


def view_of(state: State) -> Any:
    """What seat 0 sees."""
    return plain(GAME.observe(state, SEAT))


def match(policies: tuple[str, ...], *, seed: str, **options: Any) -> MatchRecord:
    """One match of real processes, each playing in the way of its name; the record tells who sat where.

    `passes` is a bot of no game: it plays cards at random and gives no load.
    """
    bot, passer, secret = read_bot(SHIPMATE), read_bot(BOTS / "random"), Secret.public(seed)
    players = [Player(way, passer, ()) if way == "passes" else Player(way, bot, tuple(way.split())) for way in policies]
    meeting = exhibition(players, game="riffraff", options=options, clock=ClockSettings(), secret=secret, blocks=1)
    with closing(play_here(meeting, secret, "none")) as played:
        return next(played)[0]


def scores(record: MatchRecord) -> dict[str, int]:
    """The scores of a match that was played to its end, by the way of playing."""
    assert record.scores is not None
    return {seat.player: int(score) for seat, score in zip(record.seats, record.scores, strict=True)}
