"""A match, from set-up to outcome: the rules ask, chance is drawn, players answer, everything is recorded.

Rule: `play_match` always returns a record. A fault of a bot is pardoned by the game, or forfeits the match; only a
`HarnessFault` leaves this module, and then there is no record and the match is played again. (Before anything is played
it can be a SpecError: that this game, or its simulator, cannot be played here.)
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from arena import __version__
from arena.errors import ArenaError, BotFault, HarnessFault, SpecError
from arena.games import load_game, plugin_package, plugin_place
from arena.games.api import (
    OPENING,
    Chance,
    Decision,
    Game,
    Over,
    Seat,
    Simulator,
    fault_policy_of,
    game_info_of,
    heard_of,
    openings_of,
    simulator_of,
)
from arena.games.luck import draw
from arena.match.decision import Decisions, Forfeited
from arena.match.luck import LuckMeter
from arena.match.participant import Participant
from arena.match.record import (
    ActionStep,
    ChanceStep,
    Forfeit,
    MatchRecord,
    SeatRecord,
    SimulationStep,
    Step,
    Termination,
    plain_number,
)
from arena.match.settings import MatchSpec
from arena.plugins import describe_error
from arena.process.shortage import as_shortage
from arena.protocol import messages as m
from arena.protocol.codec import LINE_FROM_BOT_LIMIT, LINE_TO_BOT_LIMIT, excerpt
from arena.text import printable

_KEPT_STDERR: Final = 4000
_KEPT_LINES: Final = 20
"""Characters of stderr, and last lines, that are kept of the bot whose fault ended a match."""


def hello_for(
    game: Game[Any, Any],
    options: dict[str, Any],
    startup_ms: float,
    line_bytes: int = LINE_FROM_BOT_LIMIT,
    seats: int = 2,
) -> m.Hello:
    """Return the greeting of each new process for a table of that size; `line_bytes` is the longest line it may answer.

    SpecError if the options cannot be played, or the game's simulator cannot run here.
    """
    if openings_of(game) is not None:  # comes with each match
        options = {name: value for name, value in options.items() if name != OPENING}
    simulator = simulator_of(game)
    can_simulate = simulator is not None and simulator.budget(game.setup(options, seats)) > 0
    return m.Hello(
        protocols=m.PROTOCOL_MAJORS,
        minor=m.PROTOCOL_MINOR,
        game=game.name,
        rules=game.rules_version,
        options=options,
        capabilities=tuple(name for name in m.CAPABILITIES if name != "simulate" or can_simulate),
        limits=m.LineLimits(line_to_bot=LINE_TO_BOT_LIMIT, line_from_bot=line_bytes, startup_ms=int(startup_ms)),
        material=game_info_of(game, options, seats) or UNSET,
    )


def play_match(
    spec: MatchSpec,
    participants: Sequence[Participant],
    *,
    game: Game[Any, Any] | None = None,
    simulator: Simulator | None = None,
    meter: LuckMeter | None = None,
) -> MatchRecord:
    """Play one match; `participants` by seat. `game` and `simulator` stand in for those that `spec` names.

    `meter` notes each step; its luck may be asked for when the match is over. HarnessFault if the match is void, which
    has no record; SpecError if a plug-in breaks the contract of a game.
    """
    rules = game or load_game(spec.game)
    try:
        record = _Table(spec, participants, rules, simulator or simulator_of(rules), meter).play()
    except Exception as error:
        if (shortage := as_shortage(error, f"match {spec.match}: ")) is not None:
            raise shortage from error
        place = "" if game is not None else plugin_place(spec.game)
        if not place or (isinstance(error, ArenaError) and not isinstance(error, BotFault)):
            raise
        raise SpecError(
            f"{place} broke the contract of a game in match {spec.match}: {describe_error(error)}"
        ) from error
    return record if game or not (package := plugin_package(spec.game)) else replace(record, package=package)


def events_of_action(
    game: Game[Any, Any], before: Any, step: ActionStep, seats: int, action: Any = None
) -> list[m.ActionEvent | None]:
    """Return the event of an action for each seat, as far as it may know it; None if it hears of nothing.

    `action` is the action of a recorded step as the game knows it.
    """
    whole = m.ActionEvent(step.seat, step.action, step.forced, step.fallback_for)
    if (hear := heard_of(game)) is None:
        return [whole] * seats
    heard = hear(before, Seat(step.seat), step.action if action is None else action)
    events = [
        # that an action was the only one would reveal hidden cards
        None
        if entry is None
        else m.ActionEvent(step.seat, entry, fallback_for=step.fallback_for * (entry == step.action))
        for entry in heard
    ]
    events[step.seat] = whole
    return events


class _Table:
    """The state of one match while it is played."""

    def __init__(
        self,
        spec: MatchSpec,
        participants: Sequence[Participant],
        game: Game[Any, Any],
        simulator: Simulator | None,
        meter: LuckMeter | None,
    ) -> None:
        self._spec = spec
        self._game = game
        self._participants = participants
        self._humans = [player for player in participants if player.is_human]
        self._simulator = simulator
        self._meter = meter
        self._fingerprint = UNSET if simulator is None else simulator.fingerprint()
        self._decisions = Decisions(game, simulator, participants, is_strict=spec.clock.strict)
        self._steps: list[Step] = []
        self._begun = 0

    def play(self) -> MatchRecord:
        """Play the match; return its record, also after a forfeit.

        HarnessFault for an OSError, for which no bot is to blame; one that tells of a shortage is raised as it is.
        """
        try:
            self._announce_match()
            state = self._play_out(self._game.setup(self._spec.options, len(self._participants)))
        except Forfeited as forfeited:
            return self._end_by_forfeit(forfeited.seat, forfeited.fault)
        except OSError as error:
            if as_shortage(error) is not None:
                raise
            raise HarnessFault(f"match {self._spec.match}: {error}") from error
        outcome = self._game.outcome(state)
        scores = tuple([Fraction(score) for score in outcome.scores])
        return self._finish(outcome.ranks, scores, Termination.NORMAL, None)

    def _announce_match(self) -> None:
        """Announce the match to the players, by seat. Forfeited if one does not start."""
        names = tuple(participant.player for participant in self._participants)
        for seat, participant in enumerate(self._participants):
            start = m.MatchStart(
                match=self._spec.wire_id,
                seat=seat,
                players=names,
                protocol=m.PROTOCOL_MAJORS[-1],
                game=self._game.name,
                options=self._spec.options,
                clock=participant.terms,
                bot_seed=self._spec.bot_seeds[seat],
            )
            self._begun += 1
            try:
                participant.begin(start, self._game)
            except BotFault as fault:
                raise Forfeited(Seat(seat), fault) from None

    def _play_out(self, state: Any) -> Any:
        """Play on until the game is over; return the final state. Steps are recorded and reported to the players.

        Forfeited if a fault ends the match; HarnessFault if the game needs a simulator and has none.
        """
        game, simulator, steps = self._game, self._simulator, self._steps
        while True:
            turn, before, number = game.turn(state), state, len(steps)
            if isinstance(turn, Decision):
                decision = self._decisions.decide(state, turn.seats, number + 1)
                state = game.apply(state, {Seat(step.seat): step.action for step in decision})
                steps += decision
                for step in decision:
                    self._report_action(step, before, state)
            elif isinstance(turn, Chance):
                drawn = draw(self._spec.seed, turn)
                state = game.resolve(state, drawn)
                steps.append(ChanceStep(key=turn.key, outcome=drawn))
                if turn.is_public:
                    self._report_to_all(m.ChanceEvent(key=turn.key, outcome=drawn), before, state)
            elif isinstance(turn, Over):
                return state
            elif simulator is None:
                raise HarnessFault(f"{game.name} asks for the simulation {turn.key} and has no simulator")
            else:
                result = simulator.simulate(state)
                state = simulator.apply_result(state, result)
                steps.append(SimulationStep(key=turn.key, result=result))
                self._report_to_all(m.SimulationEvent(key=turn.key, result=result), before, state)
            if self._meter is not None:
                self._meter.note_step(number, before, state, steps[number])
            for human in self._humans:
                human.on_turn_end(before, state)

    def _report_action(self, step: ActionStep, before: Any, after: Any) -> None:
        """Report an action to the other seats, as far as they may know it; to its own seat if it did not choose it."""
        events = events_of_action(self._game, before, step, len(self._participants))
        for seat, (participant, event) in enumerate(zip(self._participants, events, strict=True)):
            if event is not None and not (seat == step.seat and step.is_own):
                participant.on_event(event, before, after)

    def _report_to_all(self, event: m.AnyEvent, before: Any, after: Any) -> None:
        """Report an event to all seats."""
        for participant in self._participants:
            participant.on_event(event, before, after)

    def _end_by_forfeit(self, guilty: Seat, fault: BotFault) -> MatchRecord:
        """End the match with a forfeit: the seat at fault is last, the others share the first place."""
        participant = self._participants[guilty]
        participant.fail(fault)
        lines = [f"{direction} {excerpt(line.rstrip())}" for _, direction, line in participant.transcript]
        forfeit = Forfeit(
            seat=guilty,
            message=fault.message,
            hint=fault.hint,
            got=printable(fault.got),
            stderr=participant.stderr()[-_KEPT_STDERR:],
            transcript=tuple(lines[-_KEPT_LINES:]),
        )
        ranks = tuple(len(self._participants) - 1 if seat == guilty else 0 for seat in range(len(self._participants)))
        return self._finish(ranks, None, Termination(fault.code), forfeit)

    def _finish(
        self,
        ranks: tuple[int, ...],
        scores: tuple[Fraction, ...] | None,
        termination: Termination,
        fault: Forfeit | None,
    ) -> MatchRecord:
        """Report the end to all players that have begun; return the record of the match."""
        spec = self._spec
        end = m.MatchEnd(
            match=spec.wire_id,
            ranks=ranks,
            scores=None if scores is None else tuple([plain_number(score) for score in scores]),
            termination=termination.value,
            at_fault=None if fault is None else fault.seat,
            events=(),
            time=m.TimeUsed(0, 0.0, 0.0),
        )
        for participant in self._participants[: self._begun]:
            participant.finish(end)
        return MatchRecord(
            match=spec.match,
            arena=__version__,
            game=spec.game,
            rules=self._game.rules_version,
            options=spec.options,
            seed=spec.seed,
            clock=spec.clock.terms(),
            isolation=spec.isolation,
            seats=tuple(map(self._seat_record, range(len(self._participants)))),
            steps=tuple(self._steps),
            ranks=ranks,
            scores=scores,
            termination=termination,
            fault=fault,
            simulator=self._fingerprint,
            wire_id=spec.wire_id,
            bot_seeds=spec.bot_seeds[: len(self._participants)],
            commitment=spec.commitment,
        )

    def _seat_record(self, seat: int) -> SeatRecord:
        """Return the record of a seat, with its faults where the game pardons some.

        `moves` counts the requests it was sent, so those that were asked once more count again. Each of them ended in a
        step of its own, in a fault that was pardoned, in the fault that ended the match, or in an answer at a table of
        which another seat's fault ended the match: `moves` = unforced steps without stand-in + sum of `faults`, and at
        most one more for a seat that was asked last.
        """
        participant = self._participants[seat]
        if seat >= self._begun:  # the match was never announced to it, because another one failed before
            participant = Participant(participant.player, participant.bot, participant.terms)
        return replace(
            participant.seat_record(self._spec.clock.terms()),
            faults=UNSET if fault_policy_of(self._game) is None else dict(participant.faults),
            refusals=tuple(participant.refusals) or UNSET,
        )
