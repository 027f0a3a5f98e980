"""Conformance: numbered steps that a bot must pass before it may play.

Rule: each step tries one promise of protocol.md and says in a sentence what came instead. A step that fails ends the
check; a remark does not.
"""

from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from arena.conformance.remarks import bot_seat, idle_remark, ignored_remark, refusals_remark, timeouts_remark
from arena.errors import BotFault
from arena.games import load_game
from arena.games.api import Game, fault_policy_of, simulator_of
from arena.match.baseline import HouseGame, baseline_player
from arena.match.bot import open_channel
from arena.match.bot_player import GRACE_S, BotPlayer
from arena.match.record import ActionStep, MatchRecord
from arena.match.referee import hello_for, play_match
from arena.match.secret_luck import Secret, draw_block
from arena.match.settings import ClockSettings, MatchSettings, spec_of
from arena.process.channel import Channel
from arena.process.clock import MoveClock
from arena.process.launch import Confinement
from arena.process.manifest import BotSpec
from arena.process.suspension import never

MATCHES_IN_A_ROW: Final = 10
SIMULATED_IN_A_ROW: Final = 2
"""Where a match is simulated it takes seconds, and a check should not take minutes."""


class StepVerdict(Enum):
    """What came of a step."""

    PASSED = "ok"
    REMARK = "remark"
    FAILED = "FAILED"


class CheckStep(msgspec.Struct, frozen=True):
    """One step of the check: its number from 1, what was tried, and what came of it."""

    number: int
    title: str
    verdict: StepVerdict
    detail: str
    stderr: str = ""

    def text(self) -> str:
        """The step for a person, in lines: why it failed comes first, and then in brackets what was tried."""
        what = f"{self.title}: {self.detail}"
        if self.verdict is StepVerdict.FAILED:
            reason, _, rest = self.detail.partition("\n")
            what = "\n".join([reason, f"[tried: {self.title}]", *rest.splitlines()])
        indented = what.replace("\n", f"\n{'':>13}")
        return f"{self.number:>3}  {self.verdict.value:<7} {indented}"


class _Failure(Exception):
    """Ends the check: what was wrong, and the bot's stderr."""

    def __init__(self, detail: str, stderr: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.stderr = stderr


class _Remark(Exception):
    """Something the author should know, but that breaks no promise."""


def check_bot(
    bot: BotSpec,
    *,
    game: str,
    options: dict[str, Any],
    clock: ClockSettings,
    confinement: Confinement,
    secret: Secret,
) -> Iterator[CheckStep]:
    """The steps, each given out when it has been taken. The last one FAILED, or all others passed.

    The luck of the matches is drawn under `secret`: with the same one they are the same again.
    """
    examination = _Examination(bot, game, options, clock, confinement, secret)
    try:
        for number, (title, step) in enumerate(examination.steps(), start=1):
            taken = _take(number, title, step)
            taken = msgspec.structs.replace(taken, detail=f"{taken.detail}{_copy_told(bot, taken)}")
            yield taken
            if taken.verdict is StepVerdict.FAILED:
                return
    finally:
        examination.end()


def _take(number: int, title: str, step: Callable[[], str]) -> CheckStep:
    try:
        return CheckStep(number, title, StepVerdict.PASSED, step())
    except _Remark as remark:
        return CheckStep(number, title, StepVerdict.REMARK, str(remark))
    except _Failure as failure:
        return CheckStep(
            number=number, title=title, verdict=StepVerdict.FAILED, detail=failure.detail, stderr=failure.stderr
        )
    except BotFault as fault:  # a start that failed outside a match
        return CheckStep(number, title, StepVerdict.FAILED, fault.message)


class _Examination:
    """One bot under examination; the steps share its process where they can."""

    def __init__(
        self,
        bot: BotSpec,
        game: str,
        options: dict[str, Any],
        clock: ClockSettings,
        confinement: Confinement,
        secret: Secret,
    ) -> None:
        self._secret = secret
        self._bot = bot
        self._confinement = confinement
        self._rules = load_game(game)
        self._in_a_row = MATCHES_IN_A_ROW if simulator_of(self._rules) is None else SIMULATED_IN_A_ROW
        self._game = game
        self._options = options
        self._clock = clock
        self._hello = hello_for(self._rules, options, clock.startup_ms, confinement.limits.line_bytes)
        self._player = self._enter(self._open)
        self._records: list[MatchRecord] = []

    def steps(self) -> list[tuple[str, Callable[[], str]]]:
        """What is tried, in order."""
        return [
            ("starts, says hello, is ready, plays a whole match in seat 0", lambda: self._match(seat=0, number=0)),
            ("plays a whole match in seat 1 in the same process", lambda: self._match(seat=1, number=0)),
            (f"plays {self._in_a_row} more matches in the same process", self._several),
            ("ignores unknown messages and unknown fields", self._noise),
            ("plays the same again with the same bot_seed", self._again),
            *self._of_lenience(),
            ("prints nothing but the protocol to stdout, answers once", self._clean),
            ("stays within the clock", self._time),
            (f"ends by itself within {GRACE_S:.0f} s after quit", self._quit),
            ("ends by itself when its stdin is closed", self._end_of_input),
        ]

    def _of_lenience(self) -> list[tuple[str, Callable[[], str]]]:
        """Elsewhere a refused answer has ended its match, and with it the check."""
        return [("gives answers that count", self._refused)] if fault_policy_of(self._rules) is not None else []

    def end(self) -> None:
        """Nothing of the bot is left running."""
        self._player.close(grace_s=0.0)

    def _open(self) -> Channel:
        return open_channel(self._bot, self._confinement)

    def _enter(self, open_channel: Callable[[], Channel]) -> BotPlayer:
        return BotPlayer(
            player=self._bot.name,
            bot=self._bot.digest,
            open_channel=open_channel,
            hello=self._hello,
            clock=self._clock,
            suspended=never,
        )

    def _match(self, *, seat: int, number: int, bot_player: BotPlayer | None = None) -> str:
        record = self._play(bot_player or self._player, seat=seat, number=number)
        self._records.append(record)
        asked = record.seats[seat].moves
        scores = "-" if record.scores is None else ":".join(map(str, record.scores))
        house = "the house" if self._records[1:] else "the house, which plays random legal actions"
        return f"{asked} answers, {scores} against {house}"

    def _play(self, bot_player: BotPlayer, *, seat: int, number: int) -> MatchRecord:
        drawn = draw_block(self._secret, f"check-{number}", 2)
        setting = MatchSettings(self._game, self._options, self._clock)
        spec = spec_of(setting, f"check-{number}-{seat}", drawn, seat, self._confinement.isolation)
        house = baseline_player(self._hello, self._clock)
        seats = [bot_player, house] if seat == 0 else [house, bot_player]
        record = play_match(spec, seats, game=cast(Game[Any, Any], HouseGame(self._rules, {1 - seat}, spec.seed)))
        if record.fault is not None:
            fault = record.fault
            details = [f"{record.termination}: {fault.message}"]
            details += [f"hint: {fault.hint}"] if fault.hint else []
            details += [f"got: {fault.got}"] if fault.got else []
            details += ["last lines (> to the bot, < from it):", *fault.transcript[-4:]]
            raise _Failure("\n".join(details), fault.stderr)
        return record

    def _several(self) -> str:
        for number in range(1, self._in_a_row + 1):
            self._match(seat=number % 2, number=number)
        return f"{sum(bot_seat(record, self._bot.digest).moves for record in self._records)} answers so far"

    def _noise(self) -> str:
        noisy = self._enter(lambda: _NoisyChannel(self._open()))
        try:
            self._match(seat=0, number=0, bot_player=noisy)
        except _Failure as failure:
            raise _Failure(
                f"after an unknown message type and unknown fields: {failure.detail}", failure.stderr
            ) from None
        finally:
            noisy.close(grace_s=0.0)
        return "new fields and messages may come with later versions of the protocol"

    def _again(self) -> str:
        record = self._play(self._player, seat=0, number=0)
        if _actions(record) != _actions(self._records[0]):
            raise _Remark("other actions with the same bot_seed: results of such a bot cannot be reproduced")
        return f"the same {len(_actions(record))} actions"

    def _refused(self) -> str:
        if told := refusals_remark(self._records, self._bot.digest):
            raise _Remark(told)
        return "none was refused"

    def _clean(self) -> str:
        ignored = ignored_remark(self._records, self._bot.digest)
        if ignored:
            raise _Remark(f"ignored lines: {ignored} (stray: no JSON; stale: another id; early: before the request)")
        return "not one line too many"

    def _time(self) -> str:
        seats = [bot_seat(record, self._bot.digest) for record in self._records]
        slowest, idle = max(seat.slowest_ms for seat in seats), idle_remark(seats, self._player.terms)
        if late := timeouts_remark(self._records, self._bot.digest):
            raise _Remark(f"{late}; slowest answer {slowest:.1f} ms{idle}")
        if slowest > self._clock.move_ms:
            raise _Remark(
                f"slowest answer {slowest:.1f} ms, more than the {self._clock.move_ms:g} ms of a move:"
                f" the bank paid{idle}"
            )
        if idle:
            raise _Remark(f"slowest answer {slowest:.1f} of {self._clock.move_ms:g} ms{idle}")
        return f"slowest answer {slowest:.1f} of {self._clock.move_ms:g} ms"

    def _quit(self) -> str:
        ending = self._player.close()
        if ending == "was killed":
            raise _Failure(
                'still running a second after {"type": "quit"}; end the program there', self._player.stderr()
            )
        if ending != "ended with exit code 0":
            raise _Remark(f"the bot {ending}")
        return "with exit code 0"

    def _end_of_input(self) -> str:
        channel = self._open()
        ending = channel.close(GRACE_S)
        if ending == "was killed":
            raise _Remark("still running a second after its stdin was closed: it would outlive a killed referee")
        return "at the end of its input"


class _NoisyChannel:
    """A channel that adds what a later protocol might: a message of an unknown type, and unknown fields."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.cpu = channel.cpu
        self.delayed_s = channel.delayed_s
        self.is_asleep = channel.is_asleep
        self.origin = channel.origin
        self.wake = channel.wake
        self.rest = channel.rest
        self.stderr_bytes = channel.stderr_bytes

    def send(self, line: bytes, clock: MoveClock) -> None:
        noise = b'{"type":"weather","wind":{"force":[1,2,null]}}\n'
        self._channel.send(noise + line.rstrip()[:-1] + b',"from_the_future":{"x":[true,1.5,"\xc3\xa9"]}}\n', clock)

    def receive(self, clock: MoveClock) -> bytes:
        return self._channel.receive(clock)

    def pending(self) -> list[bytes]:
        return self._channel.pending()

    def stderr(self) -> str:
        return self._channel.stderr()

    def close(self, grace_s: float) -> str:
        return self._channel.close(grace_s)


def _copy_told(bot: BotSpec, step: CheckStep) -> str:
    """Where the file is that a traceback should have named: bots run from a copy, and its path says nothing."""
    if bot.folder not in step.detail + step.stderr or bot.folder in {bot.source, str(Path(bot.source).parent)}:
        return ""
    return f"\n({bot.folder} is a copy of {bot.source})"


def _actions(record: MatchRecord) -> list[bytes]:
    return [msgspec.json.encode(step) for step in record.steps if isinstance(step, ActionStep)]
