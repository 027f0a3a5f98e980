"""The rules of Riff Raff: whose turn it is, what is allowed, what it leads to.

Source: docs/riffraff.md; the modules beside this one name its points R1 to R24. Rule: the rules know what lies where,
never why; what a placement comes to is asked of the nature, and all of this can be played with a scripted one.
"""

from collections.abc import Mapping
from itertools import permutations
from typing import Any, ClassVar, Final, cast

import msgspec

from arena import validation
from arena.errors import SpecError
from arena.games.api import (
    Chance,
    Decision,
    FaultPolicy,
    Json,
    Outcome,
    Over,
    Randomness,
    Seat,
    Simulation,
    Simulator,
    Turn,
    ranks_by_score,
)
from arena.games.riffraff import facts, reading, rounds, turns, view
from arena.games.riffraff.actions import PASS, Announce, AnyAction, Load, Name, Order, Pass, Play
from arena.games.riffraff.drawing import diagram, picture
from arena.games.riffraff.material import AREAS, KINDS
from arena.games.riffraff.noise import DICE
from arena.games.riffraff.refusal import faces_on, ranges_mm, why_not_placed
from arena.games.riffraff.simulator import RiffRaffSimulator
from arena.games.riffraff.state import Phase, Player, State, Variant, Weather

_TRIES: Final = 60
"""Poses that `sample` draws before it passes; about a third of them are refused."""
_SIMULATIONS_MAX: Final = 1000
_ANNOUNCEMENTS: Final = (Announce(pieces=1), Announce(pieces=2))


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`weather`: how unsteady hand and sea are; `simulations`: look-aheads a bot may ask for in each request."""

    weather: Weather = "breeze"
    simulations: int = 20


class RiffRaffFaultPolicy:
    """After a fault that does not forfeit, the game goes on with the least that the rules allow."""

    def fallback_action(self, state: State, seat: Seat) -> AnyAction:
        """The lowest card, himself as captain, the seats as they sit, one piece, no load."""
        match state.phase:
            case Phase.CARD:
                return Play(card=min(state.players[seat].hand))
            case Phase.NEW_CAPTAIN:
                tied = rounds.leaders(state)
                return Name(seat=seat if seat in tied else tied[0])
            case Phase.ORDER:
                return Order(seats=state.ties[0])
            case Phase.ANNOUNCE:
                return _ANNOUNCEMENTS[0]
        return PASS


class RiffRaff:
    """The game as `arena.games.api.Game` asks for it, with a nature of its own or a scripted one."""

    name: ClassVar[str] = "riffraff"
    rules_version: ClassVar[str] = "1"
    seat_counts: ClassVar[tuple[int, ...]] = (2, 3, 4)
    fault_policy: ClassVar[FaultPolicy] = RiffRaffFaultPolicy()

    def __init__(self, simulator: Simulator | None = None) -> None:
        self.simulator: Simulator = simulator or RiffRaffSimulator()

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        """An empty ship, ten cards and one set of cargo for each, two sets for two players; seat 0 is captain."""
        variant = _variant(options, seats)
        supply = (variant.sets,) * len(KINDS)
        return State(variant=variant, players=tuple(Player(supply=supply) for _ in range(seats)))

    def turn(self, state: State) -> Turn:
        """A decision of one or, over the cards, of all; the wind; the simulation; or the end."""
        place = f"{state.round}/{state.active}/{state.loaded}"
        match state.phase:
            case Phase.NOISE:
                return Chance(key=f"noise/{place}", kind=DICE)
            case Phase.SETTLING:
                return Simulation(key=f"settle/{place}")
            case Phase.OVER:
                return Over()
        return Decision(seats=state.movers)

    def observe(self, state: State, seat: Seat) -> dict[str, Json]:
        """See `view.observe`."""
        return view.observe(state, seat)

    def legal(self, state: State, seat: Seat) -> tuple[AnyAction, ...] | None:
        """Cards from the lowest, seats from the first, orders as `permutations` gives them; None for a load."""
        if seat not in state.movers:
            return ()
        match state.phase:
            case Phase.CARD:
                return tuple(Play(card=card) for card in state.players[seat].hand)
            case Phase.NEW_CAPTAIN:
                return tuple(Name(seat=tied) for tied in rounds.leaders(state))
            case Phase.ORDER:
                return tuple(Order(seats=seats) for seats in permutations(state.ties[0]))
        return _ANNOUNCEMENTS if state.phase is Phase.ANNOUNCE else None

    def parse(self, state: State, seat: Seat, raw: Json) -> AnyAction:
        """See `reading.read`."""
        return reading.read(state, seat, raw)

    def apply(self, state: State, actions: Mapping[Seat, AnyAction]) -> State:
        """The state after all cards were played, or after the seat that was asked did what it chose."""
        if state.phase is Phase.CARD:
            return rounds.reveal(state, {seat: cast(Play, action).card for seat, action in actions.items()})
        (action,) = actions.values()
        match action:
            case Name():
                return rounds.crown(state, Seat(action.seat))
            case Order():
                return rounds.ordered(state, tuple(map(Seat, action.seats)))
            case Announce():
                return turns.announced(state, action.pieces)
            case Load():
                return turns.let_go(state, action)
            case Pass():
                return turns.passed(state)
        raise AssertionError("a card is played only when all are asked for one")

    def resolve(self, state: State, drawn: tuple[int, ...]) -> State:
        """The state after the wind has blown."""
        return turns.blown(state, drawn)

    def outcome(self, state: State) -> Outcome:
        """The pieces dealt minus those left, so that fewer left is better; it may be negative. Equal scores tie."""
        dealt = state.variant.sets * len(KINDS)
        scores = tuple(dealt - player.pieces for player in state.players)
        return Outcome(scores=scores, ranks=ranks_by_score(scores))

    def sample(self, state: State, seat: Seat, rng: Randomness) -> AnyAction:
        """One of the legal actions; for a load a pose that geometry allows, or a pass if none is found."""
        legal = self.legal(state, seat)
        return _sample_load(state, seat, rng) if legal is None else cast(AnyAction, rng.choice(legal))

    def describe(self, state: State) -> str:
        """See `diagram.describe`."""
        return diagram.describe(state)

    def picture(self, state: State) -> str:
        """See `picture.picture`."""
        return picture.picture(state)

    def game_info(self, options: Mapping[str, Json], seats: int) -> dict[str, Json]:
        """See `facts.material`."""
        return facts.game_info(_variant(options, seats))


def _variant(options: Mapping[str, Json], seats: int) -> Variant:
    if seats not in RiffRaff.seat_counts:
        raise SpecError(f"riffraff is for 2 to 4 players, not {seats}")
    read = validation.read(dict(options), Options, place="options of riffraff")
    if not 0 <= read.simulations <= _SIMULATIONS_MAX:
        found = f"found {read.simulations}, expected a number from 0 to {_SIMULATIONS_MAX}"
        raise SpecError(f"options of riffraff: simulations: {found}")
    return Variant(weather=read.weather, simulations=read.simulations, seats=seats)


def _sample_load(state: State, seat: Seat, rng: Randomness) -> Load | Pass:
    """A pose drawn again and again until geometry has nothing against it; both hands or none held out beside it."""
    assert state.area is not None, "a load is asked for in a turn"
    area = AREAS[state.area]
    ranges = [range(round(low * 10), round(high * 10) + 1) for low, high in ranges_mm(area).values()]
    kinds = [kind for kind in KINDS if state.players[seat].holds(kind)]
    for _ in range(_TRIES):
        kind: Any = rng.choice(kinds)
        u, v = (rng.choice(steps) / 10 for steps in ranges)
        beside = 75.0 * area.side_v
        load = Load(
            kind=kind,
            face=rng.choice(faces_on(area, kind)),
            u_mm=u,
            v_mm=v,
            yaw_deg=float(rng.choice(range(360))),
            hands_mm=rng.choice(((), ((45.0, beside), (-45.0, beside)))),
        )
        if why_not_placed(area, load) is None:
            return load
    return PASS
