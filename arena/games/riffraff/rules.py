"""The rules of Riff Raff as a game of the harness: whose turn it is, the legal actions, their effects.

Source: docs/riffraff.md. Rule: the rules know what lies on which area, never why; the simulator computes the result of
a placement, and all of this can be played with a scripted one.
"""

from collections.abc import Mapping
from itertools import permutations
from typing import Any, ClassVar, Final, cast

from arena.errors import IllegalAction, SpecError
from arena.games import api
from arena.games.api import Json, Seat
from arena.games.base import BaseGame
from arena.games.riffraff import legality, turns, view
from arena.games.riffraff.actions import PASS, Announce, AnyAction, Load, NameCaptain, Order, Pass, Play
from arena.games.riffraff.drawing import captions
from arena.games.riffraff.drawing.diagram import describe
from arena.games.riffraff.drawing.picture import picture
from arena.games.riffraff.scene import KINDS
from arena.games.riffraff.simulator import RiffRaffSimulator
from arena.games.riffraff.state import Options, Phase, Player, State
from arena.games.riffraff.table import DICE

_TRIES: Final = 60
"""Poses that `sample` draws before it passes; about a third of them are refused."""
_SIMULATIONS_MAX: Final = 1000


_SUMMARY: Final = """\
Get rid of your cargo. In each round everybody plays a card from 1 to 10 at the
same time, the number of an area: 1 to 4 on deck, 5 to 10 on the yards. The
player of the highest card is captain and moves first, then the others by
descending cards.
In a turn you load a piece on the area of your card; on a yard where one lies,
two if you say so before. You say how it lies, where, how far it is turned and
how high it is dropped, and where your hands are. Nobody may pass while any of
their pieces has room there. All that falls in your turn is yours, but for what
your hands catch, two pieces each: that leaves the game, though not if it is
only the piece just loaded.
A player who holds no piece at the end of their turn has won. Otherwise the
player with the fewest pieces after the last round wins."""
"""The rules for a person at the table; docs/riffraff.md has them all."""


class RiffRaffFaultPolicy:
    """The play after a fault that does not forfeit: the least that the rules allow."""

    def fallback_action(self, state: State, seat: Seat) -> AnyAction:
        """Return the lowest card, the seat itself as captain, the first order or one piece; for a load a pass.

        After a pass the referee loads.
        """
        actions = _listed_actions(state, seat)
        if actions is None:
            return PASS
        self_naming = NameCaptain(seat=seat)
        return self_naming if self_naming in actions else actions[0]


class RiffRaff(BaseGame):
    """The game as `arena.games.api.Game` asks for it, with the physics or a scripted simulator."""

    name: ClassVar[str] = "riffraff"
    rules_version: ClassVar[str] = "2"
    seat_counts: ClassVar[tuple[int, ...]] = (2, 3, 4)
    is_simultaneous: ClassVar[bool] = True
    fault_policy: ClassVar[api.FaultPolicy] = RiffRaffFaultPolicy()
    observe = staticmethod(view.observe)
    parse = staticmethod(legality.parse)
    resolve = staticmethod(turns.apply_noise)
    describe = staticmethod(describe)
    news = staticmethod(captions.news)
    trial_options: ClassVar[tuple[dict[str, Json], ...]] = (
        {"weather": "still", "simulations": 0},
        {"weather": "storm"},
    )
    summary: ClassVar[str] = _SUMMARY
    picture = staticmethod(picture)

    def __init__(self, simulator: api.Simulator | None = None) -> None:
        self.simulator: api.Simulator = simulator or RiffRaffSimulator()

    def setup(self, options: Mapping[str, Json], seats: int) -> State:
        """Return an empty ship, ten cards and a set of cargo for each, two sets for two players; seat 0 is captain."""
        chosen = self.read_options(options, seats, Options)
        if not 0 <= chosen.simulations <= _SIMULATIONS_MAX:
            mistake = f"found {chosen.simulations}, expected a number from 0 to {_SIMULATIONS_MAX}"
            raise SpecError(f"options of riffraff: simulations: {mistake}")
        supply = (2 if seats == 2 else 1,) * len(KINDS)
        return State(options=chosen, players=(Player(supply=supply),) * seats)

    def turn(self, state: State) -> api.Turn:
        """Return a decision of one seat or, over cards, of all; the referee's load, wind, a simulation or the end."""
        place = f"{state.round}/{state.active}/{state.loaded}"
        match state.phase:
            case Phase.STANDARD:
                return api.Simulation(key=f"standard/{place}")
            case Phase.NOISE:
                return api.Chance(key=f"noise/{place}", kind=DICE)
            case Phase.SETTLING:
                return api.Simulation(key=f"settle/{place}")
            case Phase.OVER:
                return api.Over()
        return api.Decision(seats=state.movers)

    def legal(self, state: State, seat: Seat) -> tuple[AnyAction, ...] | None:
        """List cards from the lowest, seats from the first, orders as `permutations` gives them; None for a load.

        Nothing for a seat that is not to move.
        """
        return _listed_actions(state, seat) if seat in state.movers else ()

    def apply(self, state: State, actions: Mapping[Seat, AnyAction]) -> State:
        """Return the state after all cards were played, or after the action of the seat that was asked."""
        if state.phase is Phase.CARD:
            return turns.reveal_cards(state, {seat: cast(Play, action).card for seat, action in actions.items()})
        (action,) = actions.values()
        match action:
            case NameCaptain(seat=seat):
                return turns.crown(state, Seat(seat))
            case Order(seats=seats):
                return turns.extend_order(state, tuple(map(Seat, seats)))
            case Announce(pieces=pieces):
                return turns.announce(state, pieces)
            case Load():
                return turns.let_go(state, action)
            case Pass():
                return turns.ask_referee(state)
        raise AssertionError("a card is played only when all are asked for one")

    points_unit = "pieces gone"

    def points(self, state: State) -> tuple[tuple[int, int], ...]:
        """Return by seat the points by now, twice: the end of a round changes none."""
        dealt = state.sets * len(KINDS)
        return tuple((dealt - player.pieces,) * 2 for player in state.players)

    def outcome(self, state: State) -> api.Outcome:
        """Score the pieces dealt minus those left; a score may be negative. Equal scores tie."""
        scores = tuple(score for score, _ in self.points(state))
        return api.Outcome(scores=scores, ranks=api.ranks_by_score(scores))

    def sample(self, state: State, seat: Seat, rng: api.Randomness) -> AnyAction:
        """Return one of the legal actions; for a load a pose that geometry allows, or a pass if none is drawn."""
        legal = self.legal(state, seat)
        return _sample_load(state, seat, rng) if legal is None else cast(AnyAction, rng.choice(legal))

    def game_info(self, options: Mapping[str, Json], seats: int) -> dict[str, Json]:
        """Return the facts of `view.game_info` for these options."""
        return view.game_info(self.setup(options, seats))


def _listed_actions(state: State, seat: Seat) -> tuple[AnyAction, ...] | None:
    """List the actions of a seat that is to move, the least first; None for a load."""
    match state.phase:
        case Phase.CARD:
            return tuple(Play(card=card) for card in state.players[seat].hand)
        case Phase.NEW_CAPTAIN:
            return tuple(NameCaptain(seat=tied) for tied in turns.leaders(state))
        case Phase.ORDER:
            return tuple(Order(seats=seats) for seats in permutations(state.ties[0]))
        case Phase.ANNOUNCE:
            return Announce(pieces=1), Announce(pieces=2)
    return None


def _sample_load(state: State, seat: Seat, rng: api.Randomness) -> Load | Pass:
    """Draw poses until geometry has nothing against one; both hands or none are held out beside it."""
    area = state.active_area
    ranges = [range(round(low * 10), round(high * 10) + 1) for low, high in legality.ranges_mm(area).values()]
    kinds = [kind for kind in KINDS if state.players[seat].holds(kind)]
    beside = 75.0 * area.side_v
    for _ in range(_TRIES):
        kind: Any = rng.choice(kinds)
        u, v = (rng.choice(steps) / 10 for steps in ranges)
        load = Load(
            kind=kind,
            face=rng.choice(legality.faces_on(area, kind)),
            u_mm=u,
            v_mm=v,
            yaw_deg=float(rng.choice(range(360))),
            hands_mm=rng.choice(((), ((45.0, beside), (-45.0, beside)))),
        )
        try:
            legality.check_pose(area, load)
        except IllegalAction:
            continue
        return load
    return PASS
