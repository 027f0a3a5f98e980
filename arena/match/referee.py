"""One match, from set-up to outcome: the rules ask, chance is drawn, bots answer, everything is recorded.

Rule: `play` always returns a record. What a bot does wrong ends the match as its forfeit; only a `HarnessFault`
leaves this module, and then there is no record and the match is played again.
"""

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any, Final, Protocol

from arena import __version__
from arena.errors import BotFault, HarnessFault, IllegalAction, MalformedReply
from arena.games import load_game
from arena.games.api import Chance, Decision, Game, Json, Seat
from arena.games.luck import derive, draw
from arena.match.contestant import TranscriptLine, note_of
from arena.match.record import Acted, Drawn, Fault, MatchRecord, SeatRecord, Step, Termination
from arena.match.terms import MatchSpec
from arena.protocol.codec import LINE_FROM_BOT_LIMIT, LINE_TO_BOT_LIMIT, printable, shown
from arena.protocol.messages import (
    CAPABILITIES,
    PROTOCOL_MAJORS,
    PROTOCOL_MINOR,
    ActionEvent,
    Answer,
    ChanceEvent,
    ClockTerms,
    Hello,
    Limits,
    MatchStart,
)

KEPT_STDERR_IN_FAULT: Final = 4000


class Forfeited(Exception):
    """Raised inside `play` only: the seat at fault and what it did."""

    def __init__(self, seat: Seat, fault: BotFault) -> None:
        super().__init__(fault.message)
        # both may quote the bot, and are shown on terminals
        fault.message, fault.hint = printable(fault.message), printable(fault.hint)
        self.seat = seat
        self.fault = fault


def hello_for(
    game: Game[Any, Any], options: dict[str, Any], startup_ms: float, line_bytes: int = LINE_FROM_BOT_LIMIT
) -> Hello:
    """What each new process is greeted with; `line_bytes` is the longest line it may answer."""
    return Hello(
        protocols=PROTOCOL_MAJORS,
        minor=PROTOCOL_MINOR,
        game=game.name,
        rules=game.rules_version,
        options=options,
        capabilities=CAPABILITIES,
        limits=Limits(line_to_bot=LINE_TO_BOT_LIMIT, line_from_bot=line_bytes, startup_ms=int(startup_ms)),
    )


def bot_seed(block_seed: str, seat: int) -> int:
    """The seed a bot gets in a seat: the same in all matches of a block, unrelated to the game's own luck."""
    return int(derive("bot", block_seed, seat)[:13], 16)


class Participant(Protocol):
    """Whoever sits at the table: a bot (`Contestant`), or a person."""

    player: str
    bot: str
    terms: ClockTerms
    moves: int
    cpu_s: float
    wall_s: float
    slowest_s: float
    ignored: Counter[str]
    transcript: deque[TranscriptLine]

    def begin(self, start: MatchStart) -> None:
        """Get ready for a match. Raises BotFault."""

    def ask(self, view: dict[str, Json], legal: tuple[Any, ...] | None) -> Answer:
        """The answer to a request. Raises BotFault."""

    def happened(self, event: ActionEvent | ChanceEvent) -> None:
        """Hear of an event."""

    def finish(
        self, *, ranks: tuple[int, ...], scores: tuple[int, ...] | None, termination: str, at_fault: int | None
    ) -> None:
        """Hear how the match ended."""

    def fail(self, fault: BotFault) -> None:
        """Hear of the own fault that ended the match."""

    def stderr(self) -> str:
        """What was written to stderr."""


def play(spec: MatchSpec, participants: Sequence[Participant], *, game: Game[Any, Any] | None = None) -> MatchRecord:
    """Play one match; `participants` by seat. `game` stands in for the one that `spec` names."""
    return _Table(spec, participants, game or load_game(spec.game)).play()


class _Table:
    """The state of one match while it is played."""

    def __init__(self, spec: MatchSpec, participants: Sequence[Participant], game: Game[Any, Any]) -> None:
        self._spec = spec
        self._game = game
        self._participants = participants
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
        return self._record(outcome.ranks, outcome.scores, Termination.NORMAL, None)

    def _begin(self) -> None:
        names = tuple(participant.player for participant in self._participants)
        for seat, participant in enumerate(self._participants):
            start = MatchStart(
                match=self._spec.match,
                seat=seat,
                players=names,
                protocol=PROTOCOL_MAJORS[-1],
                game=self._game.name,
                options=self._spec.options,
                clock=participant.terms,
                bot_seed=bot_seed(self._spec.seed, seat),
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
                acted = [self._decide(state, seat) for seat in turn.seats]
                state = game.apply(state, {Seat(step.seat): step.action for step in acted})
                for step in acted:
                    steps.append(step)
                    self._tell_action(step)
            elif isinstance(turn, Chance):
                drawn = draw(seed, turn)
                state = game.resolve(state, drawn)
                steps.append(Drawn(key=turn.key, outcome=drawn))
                if turn.is_public:
                    event = ChanceEvent(key=turn.key, outcome=drawn)
                    for participant in self._participants:
                        participant.happened(event)
            else:
                return state

    def _decide(self, state: Any, seat: Seat) -> Acted:
        """What the seat does: the only legal action unasked, otherwise what its bot answers."""
        game = self._game
        legal = game.legal(state, seat)
        if legal is not None and len(legal) == 1:
            return Acted(seat=seat, action=legal[0], forced=True)
        try:
            answer = self._participants[seat].ask(game.observe(state, seat), legal)
            if type(answer.action) is int:
                action = _by_index(legal, answer.action)
            else:
                action = game.parse(state, seat, answer.action)
        except BotFault as fault:
            fault.got = fault.got or self._last_answer(seat)
            raise Forfeited(seat, fault) from None
        return Acted(seat=seat, action=action, note=note_of(answer))

    def _last_answer(self, seat: Seat) -> str:
        """The beginning of what the seat said last; empty if the last word was the referee's."""
        said = self._participants[seat].transcript
        return shown(said[-1][2]) if said and said[-1][1] == "<" else ""

    def _tell_action(self, step: Acted) -> None:
        event = ActionEvent(seat=step.seat, action=step.action, forced=step.forced)
        for seat, participant in enumerate(self._participants):
            if seat != step.seat or step.forced:
                participant.happened(event)

    def _forfeit(self, guilty: Seat, fault: BotFault) -> MatchRecord:
        """The seat at fault is last, the others share the first place."""
        participant = self._participants[guilty]
        participant.fail(fault)
        kept = Fault(
            seat=guilty,
            message=fault.message,
            hint=fault.hint,
            got=printable(fault.got),
            stderr=participant.stderr()[-KEPT_STDERR_IN_FAULT:],
            transcript=tuple(f"{direction} {shown(line.rstrip())}" for _, direction, line in participant.transcript)[
                -20:
            ],
        )
        ranks = tuple(len(self._participants) - 1 if seat == guilty else 0 for seat in range(len(self._participants)))
        return self._record(ranks, None, Termination(fault.code), kept)

    def _record(
        self, ranks: tuple[int, ...], scores: tuple[int, ...] | None, termination: Termination, fault: Fault | None
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
                _seat_record(each, took_part=seat < self._begun) for seat, each in enumerate(self._participants)
            ),
            steps=tuple(self._steps),
            ranks=ranks,
            scores=scores,
            termination=termination,
            fault=fault,
        )


def _by_index(legal: tuple[Any, ...] | None, index: int) -> Any:
    if legal is None:
        raise MalformedReply("an index as action, but this request lists no legal actions")
    if not 0 <= index < len(legal):
        raise IllegalAction(
            f"action {index} is not an index in `legal`: there are {len(legal)} actions, 0 to {len(legal) - 1}",
            hint="indices count from 0",
        )
    return legal[index]


def _seat_record(participant: Participant, *, took_part: bool) -> SeatRecord:
    """What the participant did in this match; one that never heard of it, because another failed first, did nothing."""
    if not took_part:
        return SeatRecord(
            player=participant.player,
            bot=participant.bot,
            moves=0,
            cpu_ms=0.0,
            wall_ms=0.0,
            slowest_ms=0.0,
            ignored={},
            decides=participant.terms.decides,
        )
    return SeatRecord(
        player=participant.player,
        bot=participant.bot,
        moves=participant.moves,
        cpu_ms=round(participant.cpu_s * 1000, 3),
        wall_ms=round(participant.wall_s * 1000, 3),
        slowest_ms=round(participant.slowest_s * 1000, 3),
        ignored=dict(participant.ignored),
        decides=participant.terms.decides,
    )
