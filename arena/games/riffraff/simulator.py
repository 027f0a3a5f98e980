"""The simulator of Riff Raff: from the position to the simulated ship and back.

Rule: the physics is imported here only, and only when it is needed, so that all else works without it.
"""

from collections.abc import Mapping
from typing import Protocol, cast

import msgspec

from arena.errors import HarnessFault, IllegalAction
from arena.games.api import Json, Seat
from arena.games.riffraff import turns, what_if
from arena.games.riffraff.actions import AnyAction, Load, Reason
from arena.games.riffraff.drawing import captions
from arena.games.riffraff.falls import under_way
from arena.games.riffraff.noise import STILL, Noise
from arena.games.riffraff.scene import Area
from arena.games.riffraff.state import State
from arena.games.riffraff.table import PieceId, Settled, ShipAtRest


class Physics(Protocol):
    """The simulated ship, or a scripted one in a test."""

    def require(self, table: ShipAtRest, area: Area, load: Load) -> None:
        """IllegalAction if there is no room or no support for a load."""

    def require_apart(self, table: ShipAtRest) -> None:
        """IllegalAction if pieces of the table stand in each other."""

    def place(self, table: ShipAtRest, area: Area, load: Load, noise: Noise, piece_id: PieceId) -> Settled:
        """The result of a load that has room and support, under this noise."""

    def fingerprint(self) -> dict[str, str]:
        """The causes of results besides the arguments."""

    def distance(self, one: Settled, other: Settled) -> str:
        """The difference of two results, for a person; empty if they are the same."""


class RiffRaffSimulator:
    """The simulator as `arena.games.api.Simulator` asks for it, of MuJoCo or of a physics that is handed in."""

    def __init__(self, physics: Physics | None = None) -> None:
        self._given = physics

    @property
    def _physics(self) -> Physics:
        if self._given is None:
            from arena.games.riffraff import physics  # noqa: PLC0415 - an extra, and a second of start-up

            self._given = cast(Physics, physics)
        return self._given

    def fingerprint(self) -> dict[str, str]:
        """The physics's own fingerprint."""
        return self._physics.fingerprint()

    def require(self, state: State, seat: Seat, action: AnyAction) -> None:  # noqa: ARG002 - the signature of Simulator
        """A load needs room under the next level and support below; nothing else asks anything of the world."""
        if isinstance(action, Load):
            self._physics.require(state.table, state.active_area, action)

    def simulate(self, state: State) -> Json:
        """The result of the load that is under way, as plain JSON values of `table.Settled`."""
        _, area, load = under_way(state)
        assert state.noise is not None, "the wind has blown"
        result = self._physics.place(state.table, area, load, state.noise, state.next_id)
        return msgspec.to_builtins(result)

    def apply_result(self, state: State, result: Json) -> State:
        """The state after the result; ValueError if it cannot have come from this state."""
        return turns.settled(state, _decoded(result))

    def tell(self, before: State, result: Json, after: State) -> str:  # noqa: ARG002 - the signature of Simulator
        """The disturbance of the load, time and tilt until rest, and the fates of the pieces that fell."""
        loaded = after.last[-1]
        words = [captions.disturbance(loaded.noise)] if loaded.noise != STILL else []
        words += [captions.settling(loaded)]
        words += [f"{fall.id} {fall.kind} fell, {captions.fate(fall, loaded.seat)}" for fall in loaded.fallen]
        return "; ".join(words)

    def budget(self, state: State) -> int:
        """The option `simulations`, while a bot is asked for anything."""
        return state.variant.simulations if state.movers else 0

    def what_if(self, state: State, seat: Seat, what: Mapping[str, Json]) -> dict[str, Json]:
        """The result that a load would have. A question that breaks the physics is refused as `diverged`."""
        question = what_if.parse_question(state, seat, what)
        try:
            if question.table != state.table:
                self._physics.require_apart(question.table)
            self._physics.require(question.table, question.area, question.load)
            result = self._physics.place(question.table, question.area, question.load, question.noise, question.new)
        except HarnessFault as fault:
            raise IllegalAction(f"the simulation found no end to this: {fault}", reason=Reason.DIVERGED) from fault
        return what_if.answer(question, result)

    def distance(self, state: State, one: Json, other: Json) -> str:  # noqa: ARG002 - the signature of Simulator
        """The difference of two results, for a person; equal ones need no physics."""
        return "" if one == other else self._physics.distance(_decoded(one), _decoded(other))


def _decoded(result: Json) -> Settled:
    try:
        return msgspec.convert(result, type=Settled)
    except msgspec.ValidationError as error:
        raise ValueError(f"not the result of a placement: {error!s:.300}") from None
