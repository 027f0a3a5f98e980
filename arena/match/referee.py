"""One match, from set-up to outcome: the rules ask, chance is drawn, bots answer, everything is recorded.

Rule: `play_match` always returns a record. A fault of a bot is pardoned by the game, or forfeits the match;
only a `HarnessFault` leaves this module, and then there is no record and the match is played again. (Before anything is
played it can be a SpecError: that this game, or its nature, cannot be played here.)
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from arena import __version__
from arena.errors import BotFault, HarnessFault
from arena.games import load_game
from arena.games.api import Chance, Decision, Game, Seat, Simulation, fault_policy_of, game_info_of, simulator_of
from arena.games.luck import draw
from arena.match.decision import Decisions, Forfeited
from arena.match.participant import Participant
from arena.match.record import (
    ActionStep,
    ChanceStep,
    Forfeit,
    MatchRecord,
    RefusedAnswer,
    Requests,
    SeatLines,
    SeatRecord,
    SimulationStep,
    Step,
    Termination,
)
from arena.match.settings import MatchSpec
from arena.protocol.codec import LINE_FROM_BOT_LIMIT, LINE_TO_BOT_LIMIT, excerpt
from arena.protocol.messages import (
    CAPABILITIES,
    PROTOCOL_MAJORS,
    PROTOCOL_MINOR,
    ActionEvent,
    AnyEvent,
    ChanceEvent,
    ClockTerms,
    Hello,
    LineLimits,
    MatchStart,
    SimulationEvent,
)
from arena.validation import printable

__all__ = ["Participant", "hello_for", "play_match"]

KEPT_STDERR_IN_FAULT: Final = 4000


def hello_for(
    game: Game[Any, Any],
    options: dict[str, Any],
    startup_ms: float,
    line_bytes: int = LINE_FROM_BOT_LIMIT,
    seats: int = 2,
) -> Hello:
    """What each new process is greeted with for a table of that size; `line_bytes` is the longest line it may answer.

    SpecError if the options cannot be played, or the game's nature cannot be reached.
    """
    material = game_info_of(game, options, seats)
    simulator = simulator_of(game)
    can_simulate = simulator is not None and simulator.budget(game.setup(options, seats)) > 0
    return Hello(
        protocols=PROTOCOL_MAJORS,
        minor=PROTOCOL_MINOR,
        game=game.name,
        rules=game.rules_version,
        options=options,
        capabilities=tuple(each for each in CAPABILITIES if each != "simulate" or can_simulate),
        limits=LineLimits(line_to_bot=LINE_TO_BOT_LIMIT, line_from_bot=line_bytes, startup_ms=int(startup_ms)),
        material=material or UNSET,
    )


def play_match(
    spec: MatchSpec, participants: Sequence[Participant], *, game: Game[Any, Any] | None = None
) -> MatchRecord:
    """Play one match; `participants` by seat. `game` stands in for the one that `spec` names."""
    return _Table(spec, participants, game or load_game(spec.game)).play()


class _Table:
    """The state of one match while it is played."""

    def __init__(self, spec: MatchSpec, participants: Sequence[Participant], game: Game[Any, Any]) -> None:
        self._spec = spec
        self._game = game
        self._participants = participants
        self._simulator = simulator_of(game)
        self._fingerprint = UNSET if self._simulator is None else self._simulator.fingerprint()
        self._decisions = Decisions(game, participants, is_strict=spec.clock.strict)
        self._steps: list[Step] = []
        self._begun = 0

    def play(self) -> MatchRecord:
        try:
            self._begin()
            state = self._play_out(self._game.setup(self._spec.options, len(self._participants)))
        except Forfeited as forfeited:
            return self._forfeit(forfeited.seat, forfeited.fault)
        except OSError as error:
            raise HarnessFault(f"match {self._spec.match}: {error}") from error
        outcome = self._game.outcome(state)
        scores = tuple([Fraction(score) for score in outcome.scores])
        return self._record(outcome.ranks, scores, Termination.NORMAL, None)

    def _begin(self) -> None:
        names = tuple(participant.player for participant in self._participants)
        for seat, participant in enumerate(self._participants):
            start = MatchStart(
                match=self._spec.wire_id,
                seat=seat,
                players=names,
                protocol=PROTOCOL_MAJORS[-1],
                game=self._game.name,
                options=self._spec.options,
                clock=participant.terms,
                bot_seed=self._spec.bot_seeds[seat],
            )
            self._begun += 1
            try:
                participant.begin(start)
            except BotFault as fault:
                raise Forfeited(Seat(seat), fault) from None

    def _play_out(self, state: Any) -> Any:
        """The final state, with every step on the way recorded and told to those who may know."""
        game, seed, steps = self._game, self._spec.seed, self._steps
        while True:
            turn = game.turn(state)
            if isinstance(turn, Decision):
                acted = self._decisions.decide(state, turn.seats, len(steps) + 1)
                state = game.apply(state, {Seat(step.seat): step.action for step in acted})
                for step in acted:
                    steps.append(step)
                    self._tell_action(step)
            elif isinstance(turn, Chance):
                drawn = draw(seed, turn)
                state = game.resolve(state, drawn)
                steps.append(ChanceStep(key=turn.key, outcome=drawn))
                if turn.is_public:
                    self._tell_all(ChanceEvent(key=turn.key, outcome=drawn))
            elif isinstance(turn, Simulation):
                state = self._simulate(state, turn.key)
            else:
                return state

    def _simulate(self, state: Any, key: str) -> Any:
        """The state after nature took its course; the step is recorded and told to all."""
        assert self._simulator is not None, "only a game with a nature asks for simulations"
        result = self._simulator.simulate(state)
        after = self._simulator.apply_result(state, result)
        self._steps.append(SimulationStep(key=key, result=result))
        self._tell_all(SimulationEvent(key=key, result=result))
        return after

    def _tell_all(self, event: AnyEvent) -> None:
        for participant in self._participants:
            participant.happened(event)

    def _tell_action(self, step: ActionStep) -> None:
        """Those who do not know it: the others, and the seat itself where the action was not its own."""
        event = ActionEvent(step.seat, step.action, step.forced, step.fallback_for)
        is_told = bool(step.forced or step.fallback_for)
        for seat, participant in enumerate(self._participants):
            if seat != step.seat or is_told:
                participant.happened(event)

    def _forfeit(self, guilty: Seat, fault: BotFault) -> MatchRecord:
        """The seat at fault is last, the others share the first place."""
        participant = self._participants[guilty]
        participant.fail(fault)
        kept = Forfeit(
            seat=guilty,
            message=fault.message,
            hint=fault.hint,
            got=printable(fault.got),
            stderr=participant.stderr()[-KEPT_STDERR_IN_FAULT:],
            transcript=tuple(f"{direction} {excerpt(line.rstrip())}" for _, direction, line in participant.transcript)[
                -20:
            ],
        )
        ranks = tuple(len(self._participants) - 1 if seat == guilty else 0 for seat in range(len(self._participants)))
        return self._record(ranks, None, Termination(fault.code), kept)

    def _record(
        self,
        ranks: tuple[int, ...],
        scores: tuple[Fraction, ...] | None,
        termination: Termination,
        fault: Forfeit | None,
    ) -> MatchRecord:
        at_fault = None if fault is None else fault.seat
        for participant in self._participants[: self._begun]:
            participant.finish(ranks=ranks, scores=scores, termination=termination.value, at_fault=at_fault)
        return MatchRecord(
            match=self._spec.match,
            arena=__version__,
            game=self._game.name,
            rules=self._game.rules_version,
            options=self._spec.options,
            seed=self._spec.seed,
            clock=self._spec.clock.terms(),
            isolation=self._spec.isolation,
            seats=tuple(
                _seat_record(
                    each,
                    self._spec.clock.terms(),
                    took_part=seat < self._begun,
                    is_lenient=fault_policy_of(self._game) is not None,
                    refusals=tuple(self._decisions.refusals[seat]),
                )
                for seat, each in enumerate(self._participants)
            ),
            steps=tuple(self._steps),
            ranks=ranks,
            scores=scores,
            termination=termination,
            fault=fault,
            simulator=self._fingerprint,
            wire_id=self._spec.wire_id,
            bot_seeds=self._spec.bot_seeds[: len(self._participants)],
            commitment=self._spec.commitment,
        )


def _lines(participant: Participant, clock: ClockTerms) -> SeatLines | UnsetType:
    """Its lines, with its clock if that is another than the one of the match."""
    lines, own = participant.lines, participant.terms
    return lines if lines is UNSET or own == clock else replace(lines, clock=own)


def _seat_record(
    participant: Participant,
    clock: ClockTerms,
    *,
    took_part: bool,
    is_lenient: bool,
    refusals: tuple[RefusedAnswer, ...],
) -> SeatRecord:
    """What the participant did in this match; one that never heard of it, because another failed first, did nothing.

    `moves` counts the requests it was sent, so those that were asked once more count again. Each of them ended in a
    step of its own, in a fault that was pardoned, in the fault that ended the match, or in an answer at a table of
    which another seat's fault ended the match: `moves` = unforced steps without stand-in + sum of `faults`, and at most
    one more for a seat that was asked last.
    """
    own = participant if took_part else None
    requests = (own and own.requests) or Requests()
    deciding_us = requests.cpu_us if participant.terms.decides == "cpu" else requests.wall_us
    return SeatRecord(
        player=participant.player,
        bot=participant.bot,
        moves=own.moves if own else 0,
        cpu_ms=sum(requests.cpu_us) / 1000,
        wall_ms=sum(requests.wall_us) / 1000,
        slowest_ms=max(deciding_us, default=0) / 1000,
        ignored=dict(own.ignored) if own else {},
        decides=participant.terms.decides,
        faults=(dict(own.faults) if own else {}) if is_lenient else UNSET,
        refusals=refusals or UNSET,
        startup_ms=(own and own.startup_us / 1000) or UNSET,
        idle_ms=sum(requests.idle_us) / 1000 or UNSET,
        timeouts_by_load=(own and own.timeouts_by_load) or UNSET,
        requests=own.requests if own else UNSET,
        lines=_lines(own, clock) if own else UNSET,
    )
