"""Riff Raff without physics, for the tests: a scripted ship that never moves, and short ways to a position.

`GAME` plays with a ship on which nothing ever falls; `loaded` takes a script of what falls for one placement.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from itertools import product
from random import Random
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from arena.errors import IllegalAction
from arena.games.api import Json, Seat
from arena.games.riffraff.actions import Load, Play, Reason
from arena.games.riffraff.geometry import extents, rotation_of
from arena.games.riffraff.legality import check_pose, faces_on, ranges_mm
from arena.games.riffraff.model import LOOKS_MAX
from arena.games.riffraff.rules import RiffRaff
from arena.games.riffraff.scene import AREAS, FACES, KINDS, Area, Face, Kind
from arena.games.riffraff.simulator import RiffRaffSimulator
from arena.games.riffraff.state import Phase, Player, State
from arena.games.riffraff.table import DIGITS, Fall, Noise, Piece, PieceId, Pose, Rest, Result, ShipAtRest
from arena.games.riffraff.turns import hand_at

Place = tuple[float, float]
HANDS: Final[tuple[Place, Place]] = ((45.0, 75.0), (-45.0, 75.0))
IN_HAND: Final[Place] = (45.0, 75.0)
AT_SEA: Final[Place] = (0.0, -150.0)
_BAR_M: Final = 0.003
"""Half the thickness of the bar by which a sailor hangs."""

Falls = Callable[[ShipAtRest, Load, PieceId], Mapping[str, Place]]
Refuse = Callable[[Area, Load], str]
"""The reason for which a load is refused; empty if it is not."""


class ScriptedShip:
    """A ship that stays upright and on which pieces stay where they were put, except for those that `falls` names."""

    def __init__(self, falls: Falls = lambda *_: {}, *, refuse: Refuse = lambda *_: "") -> None:
        self._falls = falls
        self._refuse = refuse

    def require(self, table: ShipAtRest, area: Area, load: Load) -> None:  # noqa: ARG002 - the signature of Physics
        """Refuses what the script refuses, for its reason."""
        if reason := self._refuse(area, load):
            raise IllegalAction(f"no place for a {load.kind}", reason=reason)

    def require_apart(self, table: ShipAtRest) -> None:
        """Nothing stands in each other on a ship that simulates nothing."""

    def place(
        self,
        table: ShipAtRest,
        area: Area,
        load: Load,
        noise: Noise,
        piece_id: PieceId,
        *,
        looks: int = LOOKS_MAX,  # noqa: ARG002 - the signature of Physics
    ) -> Result:
        """The piece lies where it was meant to, moved by the noise; what falls is at once below."""
        pose = rest_pose(area, load, noise)
        aboard = {piece.id: piece.pose for piece in table.cargo} | {piece_id: pose}
        places = self._falls(table, load, piece_id)
        falls: list[Fall] = []
        for name, (x, y) in places.items():
            hand = hand_at(x, y, load.hands_mm, [fall.hand for fall in falls])
            falls.append(Fall(id=PieceId(name), x_mm=x, y_mm=y, t_s=0.5, hand=hand))
        rests = tuple(Rest(id=name, pose=aboard[name]) for name in sorted(aboard) if name not in places)
        return settled_of(piece_id, fallen=tuple(falls), rests=rests, table=table, load=load)

    def fingerprint(self) -> dict[str, str]:
        """Of no engine."""
        return {"engine": "scripted"}

    def distance(self, one: Result, other: Result) -> str:
        """Whether they differ."""
        return "" if one == other else "scripted differently"


class Recorder(ScriptedShip):
    """A scripted ship that remembers what was asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.insisted: list[tuple[ShipAtRest, int, Load]] = []
        self.placed: list[tuple[ShipAtRest, int, Load, Noise, str]] = []
        self.looks: list[int] = []

    def require(self, table: ShipAtRest, area: Area, load: Load) -> None:
        self.insisted.append((table, area.number, load))

    def place(
        self, table: ShipAtRest, area: Area, load: Load, noise: Noise, piece_id: PieceId, *, looks: int = LOOKS_MAX
    ) -> Result:
        self.looks.append(looks)
        self.placed.append((table, area.number, load, noise, piece_id))
        return super().place(table, area, load, noise, piece_id, looks=looks)


def settled_of(
    name: PieceId, *, fallen: tuple[Fall, ...], rests: tuple[Rest, ...], table: ShipAtRest, load: Load
) -> Result:
    """A result with the digest that belongs to it."""
    kinds: dict[str, Any] = {piece.id: piece.kind for piece in table.cargo} | {name: load.kind}
    cargo = tuple(Piece(id=rest.id, kind=kinds[rest.id], card=0, by=Seat(0), pose=rest.pose) for rest in rests)
    return Result(
        id=name,
        end="rest",
        halved=0,
        t_s=0.9,
        tilt_max_deg=3.1,
        fallen=fallen,
        roll=table.roll,
        pitch=table.pitch,
        yards=table.yards,
        rests=rests,
        digest=replace(table, cargo=cargo).digest(),
    )


def rest_pose(area: Area, load: Load, noise: Noise) -> Pose:
    """Where a piece lies on an upright ship: its lowest point, or the bar of a hook, on the surface of the area."""
    kind, face = known(load)
    rotation = rotation_of(kind, face, load.yaw_deg + noise.yaw_deg)
    low, _ = extents(kind, rotation)
    height = area.surface_m + (_BAR_M if face == "hang" else -low[2])
    numbers = ((load.u_mm + noise.u_mm) / 1000, (load.v_mm + noise.v_mm) / 1000, height, *rotation)
    x, y, z, w, i, j, k = (round(number, DIGITS) + 0.0 for number in numbers)
    return (x, y, z, w, i, j, k)


def known(load: Load) -> tuple[Kind, Face]:
    """Kind and face of a load that the rules allow."""
    kind = next(kind for kind in KINDS if kind == load.kind)
    return kind, next(face for face in FACES[kind] if face == load.face)


def topple(table: ShipAtRest, load: Load, piece_id: PieceId) -> dict[str, Place]:
    """In one placement of four some pieces fall somewhere, always the same ones from the same position."""
    text = f"{table.digest()} {load} {piece_id}"
    rng = Random(sha256(text.encode()).hexdigest())
    if rng.random() > 1 / 4:
        return {}
    ids = sorted([*(piece.id for piece in table.cargo), piece_id])
    falling = rng.sample(ids, k=min(len(ids), rng.choice((1, 1, 1, 2, 3))))
    return {
        name: (round(rng.uniform(-120, 120), 2), round(rng.choice((-1, 1)) * rng.uniform(50, 110), 2))
        for name in falling
    }


def no_room_on_the_bow(area: Area, load: Load) -> str:
    """A lifeboat finds no room on areas 1 and 2."""
    return Reason.NO_ROOM if load.kind == "lifeboat" and area.number <= 2 else ""


GAME: Final = RiffRaff(RiffRaffSimulator(ScriptedShip()))
TOPPLING: Final = RiffRaffSimulator(ScriptedShip(topple, refuse=no_room_on_the_bow))
"""A nature in which now and then something falls, and a lifeboat does not find room everywhere."""


def start(seats: int = 4, weather: str = "still") -> State:
    """The first position."""
    return GAME.setup({"weather": weather}, seats)


def played(state: State, *cards: int) -> State:
    """After all seats played these cards, by seat."""
    return GAME.apply(state, {Seat(seat): Play(card=card) for seat, card in enumerate(cards)})


def did(state: State, raw: Json) -> State:
    """After the one seat that is to move did what the JSON says."""
    (seat,) = state.movers
    return GAME.apply(state, {seat: GAME.parse(state, seat, raw)})


def raw_load(state: State, kind: str | None = None, **changes: Json) -> dict[str, Json]:
    """A load onto the area that is asked for: of that kind, or of the first in the supply, both hands held out."""
    (seat,) = state.movers
    assert state.area is not None
    area = AREAS[state.area]
    held = next(each for each in KINDS if (kind in (None, each)) and state.players[seat].holds(each))
    (low_u, high_u), (low_v, high_v) = ranges_mm(area).values()
    u, v = round((low_u + high_u) / 2, 1), round((low_v + high_v) / 2, 1)
    for face, yaw in product(faces_on(area, held), (0, 90)):
        load = Load(kind=held, face=face, u_mm=u, v_mm=v, yaw_deg=yaw, hands_mm=HANDS)
        if is_placeable(area, load):
            raw: dict[str, Json] = msgspec.to_builtins(load)
            return raw | changes
    raise AssertionError(f"a {held} fits somehow into the middle of area {area.number}")


def is_placeable(area: Area, load: Load) -> bool:
    """Whether geometry has nothing against the load."""
    try:
        check_pose(area, load)
    except IllegalAction:
        return False
    return True


def under_way(state: State, **load: Json) -> State:
    """After a load was let go in still weather: the simulation is asked for."""
    return did(state, raw_load(state, **load))


def loaded(state: State, falls: Mapping[str, Place] | None = None, **load: Json) -> State:
    """After a load came to rest, and after the pieces of the script fell."""
    simulator = RiffRaffSimulator(ScriptedShip(lambda *_: falls or {}))
    waiting = under_way(state, **load)
    return simulator.apply_result(waiting, simulator.simulate(waiting))


def no_load(state: State) -> State:
    """After a pass of the seat that is to move, for which the referee found no load either."""
    after: State = GAME.simulator.apply_result(did(state, {"pass": True}), {"load": None})
    return after


def all_load(state: State) -> State:
    """After everybody left in this round has loaded one piece, and nothing fell."""
    this = state.round
    while state.round == this and state.movers:
        state = did(state, {"pieces": 1}) if state.phase is Phase.ANNOUNCE else loaded(state)
    return state


def others_pass(state: State) -> State:
    """After nobody else has loaded anything in this round; ties stay as they sit."""
    this = state.round
    while state.round == this and state.movers:
        (seat,) = state.movers
        action = GAME.fault_policy.fallback_action(state, seat)
        state = no_load(state) if state.phase is Phase.LOAD else GAME.apply(state, {seat: action})
    return state


def all_pass(state: State, rounds: int = 1) -> State:
    """After rounds in which seat 0 played its highest card, the others their lowest, and nobody loaded anything."""
    for _ in range(rounds):
        hands = [player.hand for player in state.players]
        state = others_pass(played(state, hands[0][-1], *(hand[0] for hand in hands[1:])))
    return state


def with_pieces(state: State, seat: int, **kinds: int) -> State:
    """The position with another supply of that seat; the pieces that it held are out of the game."""
    supply = tuple(kinds.get(kind, 0) for kind in KINDS)
    player: Player = replace(state.players[seat], supply=supply)
    gone = tuple(
        out + had - has for out, had, has in zip(state.removed, state.players[seat].supply, supply, strict=True)
    )
    players = (*state.players[:seat], player, *state.players[seat + 1 :])
    return replace(state, players=players, removed=gone)


def counts(state: State) -> tuple[int, ...]:
    """Pieces of each kind in all supplies, on the ship and out of the game together."""
    aboard = [sum(piece.kind == kind for piece in state.table.cargo) for kind in KINDS]
    held = [sum(player.supply[index] for player in state.players) for index in range(len(KINDS))]
    return tuple(a + h + r for a, h, r in zip(aboard, held, state.removed, strict=True))


def to_load(seats: int = 4, weather: str = "still") -> State:
    """A position in which seat 0 is to load on area 7; the others have lower cards, of the deck."""
    return played(start(seats, weather), *(7, 3, 2, 1)[:seats])


def second_round() -> State:
    """A chest lies on area 7, and seat 1, who has pieces for it, has the first turn there in round 2."""
    state = others_pass(loaded(to_load(), kind="chest"))
    return played(state, 1, 7, 3, 2)


def supply(state: State, seat: int) -> dict[str, int]:
    """The pieces that a seat holds, by kind."""
    return {kind: count for kind, count in zip(KINDS, state.players[seat].supply, strict=True) if count}
