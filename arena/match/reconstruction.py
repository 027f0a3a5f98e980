"""The lines of a stored match, both ways, made again from its record alone.

Rule: the referee itself plays the match once more, with bots that repeat the record on clocks that show its times; so
no line is written by a second program. A checksum over all lines shows whether they equal the original ones.
Simulations are taken from the record. Only the answers to a bot's `simulate` are computed again, by the game's
simulator.
"""

import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET

from arena.errors import BotFault, CheckFailed, Crashed, IllegalAction, MalformedReply, OutOfTime, SpecError
from arena.games import load_game
from arena.games.api import Game, Json, Seat, Simulator, simulator_of
from arena.match.bot_player import BotPlayer
from arena.match.line_recorder import HELLO, READY, LineRecorder, answer_in_form, line_of
from arena.match.participant import Participant
from arena.match.record import (
    ActionStep,
    MatchRecord,
    ReportedFault,
    Requests,
    SeatLines,
    SimulationStep,
)
from arena.match.referee import hello_for, play_match
from arena.match.replay import other_rules
from arena.match.settings import ClockSettings, MatchSpec
from arena.process.channel import Channel
from arena.process.clock import MoveClock
from arena.process.scripted import ScriptedChannel
from arena.process.suspension import never_suspended

_PARDONED: Final = {fault.code: fault for fault in (OutOfTime, MalformedReply, IllegalAction)}
_AFTER_AN_ANSWER: Final = (OutOfTime.code, Crashed.code)
"""Faults that may be found once the answer is there: it came too late, or the bot ended after it."""


class SeatTranscript(msgspec.Struct, frozen=True):
    """The lines of a seat in the order of time: `>` to the bot or `<` from it, and the line without its newline.

    `number` of each: the request that it belongs to, from 1; 0 or less before the first. `hello` greeted the process,
    in this match or in an earlier one.
    `is_exact`: they have the checksum of those that went over the wire. `left_out`: lines of the bot that are not kept.
    """

    player: str
    lines: tuple[tuple[int, str, bytes], ...]
    is_exact: bool
    left_out: int
    hello: bytes

    def for_bot(self, last: int | None = None) -> bytes:
        """Return the referee's lines from `hello` on, byte for byte; `last`: the number of the last request."""
        sent = [line for number, way, line in self.lines if way == ">" and (last is None or number < last)]
        sent += [line for number, way, line in self.lines if way == ">" and number == last][:1]
        return b"".join(line + b"\n" for line in (sent if sent[:1] == [self.hello] else [self.hello, *sent]))


def lines_of(record: MatchRecord, *, game: Game[Any, Any] | None = None) -> tuple[SeatTranscript, ...]:
    """Rebuild all lines by seat. CheckFailed if the record does not keep them, or cannot be played again here.

    A seat that never heard of the match, because another one failed before, has none. `game` stands in for the one that
    the record names.
    """
    with open_recorded_table(record, game) as table:
        table.play(table.players)
        return tuple(player.seat_transcript() for player in table.players)


class RecordedTable:
    """A table that plays a stored match once more: its settings, and players and a simulator that repeat the record.

    Once `is_live`, the game's own simulator is asked.
    """

    def __init__(self, record: MatchRecord, game: Game[Any, Any], is_live: Callable[[], bool] | None) -> None:
        scripts = [_Script(record, seat) for seat in range(len(record.seats))]
        is_strict = any(script.kept.strict for script in scripts)
        self.game = game
        self.players = [RecordedPlayer(record, script, game) for script in scripts]
        self._simulator = simulator = simulator_of(game)
        if simulator is not None:
            self._simulator = cast("Simulator", _RecordedSimulator(simulator, record, scripts, is_live))
        self._spec = MatchSpec(
            match=record.match,
            game=record.game,
            options=record.options,
            seed=record.seed,
            clock=msgspec.structs.replace(_clock_settings(record, scripts[0].kept), strict=is_strict),
            wire_id=record.wire_id or "",
            bot_seeds=record.bot_seeds or (),
        )

    def play(self, seats: Sequence[Participant]) -> MatchRecord:
        """Play the match with these players, by seat; return its record."""
        return play_match(self._spec, seats, game=self.game, simulator=self._simulator)


@contextlib.contextmanager
def open_recorded_table(
    record: MatchRecord, game: Game[Any, Any] | None = None, is_live: Callable[[], bool] | None = None
) -> Iterator[RecordedTable]:
    """Yield the table of a record. CheckFailed if the record lacks what a replay needs, also for errors inside."""
    if game is None and (other := other_rules(record)):
        raise CheckFailed(f"{record.match}: {other}")
    is_kept = all(seat.lines is not UNSET or not seat.moves for seat in record.seats)
    if not is_kept or all(seat.lines is UNSET for seat in record.seats) or record.wire_id is UNSET:
        raise CheckFailed(f"{record.match}: arena {record.arena} stored it without what its lines could be made from")
    try:
        yield RecordedTable(record, game or load_game(record.game), is_live)
    except SpecError as error:
        raise CheckFailed(f"{record.match}: its lines cannot be made again here: {error}") from None
    except (LookupError, TypeError, ValueError, AssertionError) as error:
        raise CheckFailed(f"{record.match}: its lines do not fit its steps: {error!r}") from None


def _clock_settings(record: MatchRecord, kept: SeatLines) -> ClockSettings:
    """Return the clock of a seat, as its player got it."""
    terms = msgspec.structs.asdict(kept.clock or record.clock)
    return ClockSettings(**terms, startup_ms=float(kept.startup_ms), strict=kept.strict)


class _FullRecorder(LineRecorder):
    """A recorder of every line, with the number of its request and its direction, but no `hello` of an old process."""

    def __init__(self, *, is_new: bool) -> None:
        super().__init__()
        self.all: list[tuple[int, str, bytes]] = []
        self.hello = b""
        self._is_new = is_new

    def open(self, number: int) -> None:
        """Begin a request, or the match: its lines begin at `match_start` if the process is of an earlier match."""
        super().open(number)
        if number == READY and not self._is_new:
            self.all, self.checksum = [], 0

    def to_bot(self, line: bytes) -> None:
        """Keep a line of the referee, too."""
        super().to_bot(line)
        self.all.append((self.number, ">", line.removesuffix(b"\n")))
        self.hello = self.hello or self.all[0][2]

    def from_bot(self, line: bytes, *, is_early: bool = False) -> None:
        """Keep a line of the bot, too."""
        super().from_bot(line, is_early=is_early)
        self.all.append((self.number, "<", line))


class _RecordedClock(MoveClock):
    """A clock that is read once, at the end of the answer."""

    def handle_late_reading(self, gap_s: float) -> None:
        """Excuse no delay: the recorded times are without it."""


class RecordedPlayer(BotPlayer):
    """A player that repeats the record, on a clock that never runs out: the script raises timeouts."""

    def __init__(self, record: MatchRecord, script: "_Script", game: Game[Any, Any]) -> None:
        self._script = script
        kept, entry = script.kept, record.seats[script.seat]
        super().__init__(
            player=entry.player,
            bot=entry.bot,
            open_channel=script.open,
            hello=hello_for(game, record.options, kept.startup_ms, kept.line_bytes, len(record.seats)),
            clock=_clock_settings(record, kept),
            wall=lambda: script.wall_s,
            suspended=never_suspended,
        )
        self.account.clock_type, self.account.has_clock = _RecordedClock, False
        self._request_id = kept.first_id - 1

    @property
    def is_reachable(self) -> bool:
        """True if the last request was taken whole, and no fault was fatal."""
        return super().is_reachable and not self._script.is_over

    def seat_transcript(self) -> SeatTranscript:
        """Return all lines of the match."""
        kept, full = self._script.kept, self._full
        return SeatTranscript(
            player=self.player,
            lines=tuple(full.all),
            is_exact=full.checksum == kept.checksum and not kept.left_out,
            left_out=kept.left_out,
            hello=full.hello,
        )

    def _new_recorder(self, form: tuple[str, ...]) -> LineRecorder:  # noqa: ARG002 - all lines are kept
        """Return a recorder that keeps all lines."""
        self._full = _FullRecorder(is_new=self._script.kept.is_new)
        return self._full


class _FatalFault(BotFault):
    """A fault that ended the match, in the words of the record; nobody adds to them."""

    def __init__(self, report: ReportedFault) -> None:
        super().__init__(report.message, hint=report.hint, got=report.got, reason=report.reason)
        vars(self)["code"] = report.code  # the code of the fault's own class


class _Script(ScriptedChannel):
    """The other side of a seat's channel: it repeats the lines and the times of the record.

    `number` is that of the open request, `is_over`: a fatal fault was raised.
    """

    def __init__(self, record: MatchRecord, seat: int) -> None:
        super().__init__(lambda _: (), cpu=lambda: self.cpu_s)
        entry = record.seats[seat]
        self.seat = seat
        self.kept = SeatLines(startup_ms=1, line_bytes=1, checksum=0) if entry.lines is UNSET else entry.lines
        self.number = READY
        self.is_over = False
        self.cpu_s = self.wall_s = 0.0
        self._times = Requests() if entry.requests is UNSET else entry.requests
        self._said = {said.request: said for said in self.kept.said}
        self._steps = [
            step for step in record.steps if isinstance(step, ActionStep) and step.seat == seat and step.is_own
        ]
        self._faulty = sorted({fault.request for fault in self.kept.told})
        self._due = deque(self.kept.told)
        self._queue: deque[bytes] = deque()
        self._sent = self._sent_in_all = 0

    def open(self) -> Channel:
        """Return this channel. Raises the recorded fault if no process started."""
        is_greeted = not self.kept.is_new and not (self._has_fault_due() and not self._due[0].sent)
        if HELLO not in self._said and not self.kept.left_out and not is_greeted:
            raise self._take_fault()
        return self

    def send(self, line: bytes, clock: MoveClock) -> None:
        """Read the referee's next message, and queue the recorded answer to it. Raises the recorded fault, if any."""
        message = msgspec.json.decode(line)
        kind = message["type"]
        if kind in {"hello", "match_start"}:
            self._queue_greeting(message)
        self._sent += 1
        self._sent_in_all += 1
        if self._sent_in_all == self.kept.lost_at:
            while self._due and not self._due[0].is_fatal:
                self._due.popleft()
            raise self._take_fault()
        if kind == "request":
            self._pass_time(clock)
            self._queue.extend(self._recorded_answer(message))

    def receive(self, clock: MoveClock) -> bytes:
        """Return the next line of the record, or raise its next fault."""
        if not self._queue:
            clock.look()
            raise self._take_fault()
        return self._queue.popleft()

    def pending(self) -> list[bytes]:
        """Go on to the next request, before which this is always called; return its early lines.

        Raises the fault that came before the request, if there was one.
        """
        self.number += 1
        self._sent = 0
        early = [line_of(text) for text in self._said[self.number].early] if self.number in self._said else []
        if self._has_fault_due() and not self._due[0].sent and not early:
            raise self._take_fault()
        return early

    def rest(self) -> None:
        """Raise the fault that was found after the answer, if there was one."""
        if self._queue or not self._has_fault_due():
            return
        if self._due[0].code in _AFTER_AN_ANSWER and self._due[0].sent == self._sent:
            raise self._take_fault()

    def take_refusal(self) -> BotFault | None:
        """Take the simulator's refusal of the answer to the open request from the record; None if there was none."""
        return self._take_fault() if self._has_fault_due() and self._due[0].code == IllegalAction.code else None

    def _queue_greeting(self, message: dict[str, Any]) -> None:
        """Queue the answer to `hello` or `match_start`; one that was too long to be kept is made up."""
        is_hello = message["type"] == "hello"
        self.number, self._sent = HELLO if is_hello else READY, 0
        if not is_hello and not self.kept.is_new:
            self._sent_in_all = 0
        if self.number in self._said:
            self._queue.extend(map(line_of, self._said[self.number].lines))
        elif (self.kept.left_out or not self.kept.is_new) and not self._has_fault_due():
            answer = {"type": "hello", "protocols": [1]} if is_hello else {"type": "ready", "match": message["match"]}
            self._queue.append(msgspec.json.encode(answer))

    def _has_fault_due(self) -> bool:
        """Return True if the record has another fault for the open request; drop those of requests before it."""
        while self._due and self._due[0].request < self.number:
            self._due.popleft()  # the line itself caused it
        return bool(self._due) and self._due[0].request == self.number

    def _take_fault(self) -> BotFault:
        """Take the next fault from the record and return it, as the bot's process raised it; set `is_over` if fatal.

        Without one left, return a fatal crash.
        """
        due = self._due.popleft() if self._due else ReportedFault(self.number, Crashed.code, "not told", is_fatal=True)
        if due.is_fatal:
            self.is_over = True
            return _FatalFault(due)
        return _PARDONED[due.code](due.message, hint=due.hint, got=due.got, reason=due.reason)

    def _pass_time(self, clock: MoveClock) -> None:
        """Advance the clocks by the recorded times of the open request."""
        at = self.number - 1
        self.cpu_s += self._times.cpu_us[at] / 1e6
        self.wall_s += self._times.wall_us[at] / 1e6
        clock.asleep_s = self._times.idle_us[at] / 1e6 if self._times.idle_us else 0.0

    def _recorded_answer(self, request: dict[str, Any]) -> list[bytes]:
        """Return the bot's lines after a request; without recorded lines its action, in the usual form."""
        if said := self._said.get(self.number):
            return [line_of(text) for text in said.lines]
        place = self.number - 1 - sum(0 < number < self.number for number in self._faulty)
        if place >= len(self._steps):  # the lines it sent instead were not kept
            return []
        action = msgspec.json.decode(msgspec.json.encode(self._steps[place].action))
        if request["legal"] is not None and self.kept.form:
            index = request["legal"].index(action)
            line = answer_in_form(self.kept.form, request["id"], index)
            if msgspec.json.decode(line)["action"] == index:  # a form that was taken from -0 fits no other index
                return [line]
        return [msgspec.json.encode({"type": "action", "id": request["id"], "action": action})]


class _RecordedSimulator:
    """The simulator of a game that repeats the results and refusals of the record until it `is_live`.

    Look-ahead is computed. `is_live` is None if it never will be: then nothing depends on the fingerprint.
    """

    def __init__(
        self, own: Simulator, record: MatchRecord, scripts: list[_Script], is_live: Callable[[], bool] | None
    ) -> None:
        self._own, self._scripts, self._is_live = own, scripts, is_live or bool
        self._results = deque(step.result for step in record.steps if isinstance(step, SimulationStep))
        self.fingerprint = dict if is_live is None else own.fingerprint

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the game's own simulator."""
        return getattr(self._own, name)

    def require(self, state: Any, seat: Seat, action: Any) -> None:
        """Raise the recorded refusal if there is one, or, once live, that of the rules."""
        if self._is_live():
            self._own.require(state, seat, action)
        elif refused := self._scripts[seat].take_refusal():
            raise refused

    def simulate(self, state: Any) -> Json:
        """Return the next recorded result, or, once live, a new one."""
        return self._own.simulate(state) if self._is_live() else self._results.popleft()
