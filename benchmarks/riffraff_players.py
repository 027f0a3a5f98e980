"""Matches of Riff Raff between the ways of bots/shipmate without their processes, as `rocking.py` measures them.

Rule: the bot's own modules decide; the referee here does what a league's does, without clocks and messages.
"""

import importlib
import random
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from arena.errors import BotFault
from arena.games.api import Chance, Decision, Over, Seat, Simulation, cost_of
from arena.games.luck import draw
from arena.games.riffraff import GAME
from arena.games.riffraff.state import State
from arena.games.riffraff.table import DICE, to_noise

_FOLDER: Final = Path(__file__).resolve().parents[1] / "bots" / "shipmate"
CAREFUL: Final = ("look-ahead", "tidy", "knows")
"""Careful ways: the look-ahead; by eye, without a simulator; a look-ahead that knows its noise in advance."""


class Placement(NamedTuple):
    """The result of a load: the bot's way of playing, round, pieces aboard before it, pieces that fell, time."""

    way: str
    round: int
    aboard: int
    fallen: int
    t_s: float


class Match(NamedTuple):
    """A match: its placements, its rounds, and the number of turns in which nobody loaded anything."""

    placements: tuple[Placement, ...]
    rounds: int
    passes: int
    scores: tuple[float, ...]


def play(ways: tuple[str, ...], seed: str, **options: Any) -> Match:
    """Play one match; the same seed gives the same match."""
    return _Table(ways, seed, options).played()


class _Table:
    """A match in progress."""

    def __init__(self, ways: tuple[str, ...], seed: str, options: dict[str, Any]) -> None:
        self.seed = seed
        self.state: State = GAME.setup(options, len(ways))
        self.ways = ways
        info = _plain(GAME.game_info(options, len(ways)))
        self.bots = [_bot(way, self, Seat(seat), info) for seat, way in enumerate(ways)]
        self.placements: list[Placement] = []
        self.passes = 0
        random.seed(seed)  # of all bots; the game's own luck is drawn by keys

    def played(self) -> Match:
        """Play the match to its end."""
        while self._step():
            pass
        scores = tuple(map(float, GAME.outcome(self.state).scores))
        return Match(tuple(self.placements), self.state.round, self.passes, scores)

    def _step(self) -> bool:
        turn = GAME.turn(self.state)
        if isinstance(turn, Decision):
            self.state = GAME.apply(self.state, {seat: self._asked(seat) for seat in turn.seats})
        elif isinstance(turn, Chance):
            self.state = GAME.resolve(self.state, draw(self.seed, turn))
        elif isinstance(turn, Simulation):
            self._simulate()
        return not isinstance(turn, Over)

    def _simulate(self) -> None:
        before = self.state
        assert before.active is not None, "somebody has the turn"
        self.state = GAME.simulator.apply_result(before, GAME.simulator.simulate(before))
        if self.state.placements > before.placements:
            done, way = self.state.last[-1], self.ways[before.active]
            self.placements.append(Placement(way, before.round, len(before.table.cargo), len(done.fallen), done.t_s))

    def _asked(self, seat: Seat) -> Any:
        """Return the action of a bot; after two refusals the fallback action of the rules."""
        legal = GAME.legal(self.state, seat)
        request = {"view": _plain(GAME.observe(self.state, seat)), "legal": legal and _plain(legal)}
        for _ in range(2):
            answer = self.bots[seat].answer(request)
            raw = request["legal"][answer] if isinstance(answer, int) else answer
            try:
                action = GAME.parse(self.state, seat, raw)
                GAME.simulator.require(self.state, seat, action)
            except BotFault as fault:
                request = request | {"refused": fault.reason}
                continue
            self.passes += "pass" in raw
            return action
        self.passes += 1
        return GAME.fault_policy.fallback_action(self.state, seat)

    def noise_to_come(self) -> list[float]:
        """Return the noise that the seat at turn meets if it loads now."""
        state = self.state
        key = f"noise/{state.round}/{state.active}/{state.loaded}"
        return list(msgspec.structs.astuple(to_noise(draw(self.seed, Chance(key=key, kind=DICE)), state.sigma)))


def _bot(way: str, table: _Table, seat: Seat, info: dict[str, Any]) -> Any:
    """Return a way of shipmate that asks this table instead of a referee."""
    parts = _shipmate()
    base = (
        parts["bot"].Tidy if way == "tidy" else parts["bot"].Random if way == "random" else parts["lookahead"].Lookahead
    )

    class InProcess(base):  # type: ignore[misc, valid-type]
        simulations = 0
        material = parts["riffraff_kit"].Material(info)

        def answer(self, request: dict[str, Any]) -> Any:
            self.simulations = table.state.options.simulations
            return getattr(self, request["view"]["phase"])(request)

        def simulate(self, **what: Any) -> dict[str, Any]:
            try:
                result = GAME.simulator.what_if(table.state, seat, _plain(what), self.simulations)
            except BotFault as fault:
                self.simulations -= min(self.simulations, getattr(fault, "cost", 1) or 1)
                return {"result": None, "refused": {"reason": fault.reason}}
            self.simulations -= min(self.simulations, cost_of(GAME.simulator, result))
            return {"result": _plain(result), "refused": None}

        def draw_noise(self, view: dict[str, Any]) -> Any:
            is_known = way == "knows" and view["phase"] == "load"
            return table.noise_to_come() if is_known else super().draw_noise(view)

    return InProcess()


def _shipmate() -> dict[str, Any]:
    """Import the bot's modules."""
    if str(_FOLDER) not in sys.path:
        sys.path.insert(0, str(_FOLDER))
    return {name: importlib.import_module(name) for name in ("bot", "lookahead", "riffraff_kit")}


def _plain(value: Any) -> Any:
    """Return the value as it comes out of a line of JSON."""
    return msgspec.json.decode(msgspec.json.encode(value))
