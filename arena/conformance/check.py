"""Conformance: numbered steps that a bot must pass before it may play.

Rule: each step tries one promise of protocol.md and reports in a sentence what came instead. A step that fails ends the
check; a remark does not. Remarks are phrases for the bot's author, made from records alone.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from arena.conformance.analyst import examine_values
from arena.errors import BotFault, CheckFailed
from arena.games import load_game
from arena.games.api import fault_policy_of, simulator_of
from arena.match.analyst import offer_evaluation
from arena.match.baseline import BaselinePlayer
from arena.match.bot_player import GRACE_S, BotPlayer
from arena.match.line_recorder import split_ignored
from arena.match.record import REFUSALS_KEPT, ActionStep, MatchRecord, SeatRecord, Termination
from arena.match.referee import hello_for, play_match
from arena.match.secret_luck import BlockDraw, Secret, draw_block
from arena.match.settings import ClockSettings, MatchSettings, open_channel, spec_of
from arena.process.channel import Channel
from arena.process.clock import MoveClock
from arena.process.launch import Confinement
from arena.process.manifest import BotSpec
from arena.process.suspension import never_suspended
from arena.protocol.messages import ClockTerms
from arena.text import counted

MATCHES_IN_A_ROW: Final = 10
SIMULATED_IN_A_ROW: Final = 1
"""More matches in the same process for a simulated game, whose matches take seconds."""
_IDLE_MS: Final = 100.0
"""Idle milliseconds in a match below which there is no remark."""


class StepVerdict(Enum):
    """The result of a step of the check."""

    PASSED = "ok"
    REMARK = "remark"
    FAILED = "FAILED"


class CheckStep(msgspec.Struct, frozen=True):
    """A step of the check: its number from 1, the promise that was tried, and the result."""

    number: int
    title: str
    verdict: StepVerdict
    detail: str
    stderr: str = ""

    def text(self) -> str:
        """Return the step as lines for a person; a failure begins with its reason, then its title in brackets."""
        what = f"{self.title}: {self.detail}"
        if self.verdict is StepVerdict.FAILED:
            reason, _, hints = self.detail.partition("\n")
            what = "\n".join([reason, f"[tried: {self.title}]", *hints.splitlines()])
        indented = what.replace("\n", f"\n{'':>13}")
        return f"{self.number:>3}  {self.verdict.value:<7} {indented}"


class _Failure(Exception):
    """Error that ends the check: the broken promise, and the bot's stderr."""

    def __init__(self, detail: str, stderr: str) -> None:
        super().__init__(detail)
        self.stderr = stderr


class _Remark(Exception):
    """Signal of something the author should know, but that breaks no promise."""


class StepFailed(CheckFailed):
    """Error: the bot did not pass a step; `reason` names the broken promise in a line."""

    def __init__(self, bot: str, step: CheckStep) -> None:
        output = f"the bot's stderr:\n{step.stderr.rstrip()}" if step.stderr.strip() else "its stderr is empty"
        super().__init__(f"{bot} did not pass step {step.number}\n{output}")
        self.reason = f"{step.detail.splitlines()[0]} (step {step.number} of the check)"


def check_draws(secret: Secret, seats: int = 2) -> tuple[BlockDraw, ...]:
    """Return the luck of the first match of a check and of ten more; the same secret gives the same luck."""
    return tuple(draw_block(secret, f"check-{number}", seats) for number in range(MATCHES_IN_A_ROW + 1))


class TrialTable(msgspec.Struct, frozen=True):
    """The options and the luck of a match; the draw determines the number of seats."""

    options: dict[str, Any]
    draw: BlockDraw

    @property
    def seats(self) -> int:
        """The number of players."""
        return len(self.draw.bot_seeds)


class CheckPlan(msgspec.Struct, frozen=True):
    """The matches of a check: their settings, their luck, and further tables to try.

    The bot must pass under `settings`; a fault at one of the `others` is a remark. `compares_values`: a bot that
    evaluates gets the step that takes a quarter of a minute.
    """

    settings: MatchSettings
    draws: tuple[BlockDraw, ...]
    others: tuple[TrialTable, ...] = ()
    compares_values: bool = True


def check_bot(bot: BotSpec, plan: CheckPlan, confinement: Confinement) -> Iterator[CheckStep]:
    """Yield each step when it has been taken; the last step is the first that fails, or the end of the check.

    The clock of the plan's settings is the bot's own. Closing the iterator ends all processes of the bot.
    """
    examination = _Examination(bot, plan, confinement)
    try:
        for number, (title, step) in enumerate(examination.steps(), start=1):
            verdict, detail, stderr = _try_step(step)
            if bot.folder in detail + stderr and bot.folder not in {bot.source, str(Path(bot.source).parent)}:
                # a traceback names the copy that runs, and its path says nothing to the author
                detail += f"\n({bot.folder} is a copy of {bot.source})"
            yield CheckStep(number, title, verdict, detail, stderr)
            if verdict is StepVerdict.FAILED:
                return
    finally:
        examination.end()


def _try_step(step: Callable[[], str]) -> tuple[StepVerdict, str, str]:
    """Take a step; return its verdict, its detail, and the bot's stderr."""
    try:
        return StepVerdict.PASSED, step(), ""
    except _Remark as remark:
        return StepVerdict.REMARK, str(remark), ""
    except _Failure as failure:
        return StepVerdict.FAILED, str(failure), failure.stderr
    except BotFault as fault:  # a start that failed outside a match
        return StepVerdict.FAILED, fault.message, ""


class _Examination:
    """The check of one bot; the steps share its process where they can.

    A step returns what it found, and raises _Remark or _Failure.
    """

    def __init__(self, bot: BotSpec, plan: CheckPlan, confinement: Confinement) -> None:
        self._plan = plan
        self._bot = bot
        self._confinement = confinement
        self._clock = plan.settings.clock
        self._rules = load_game(plan.settings.game)
        self._is_simulated = simulator_of(self._rules) is not None
        self._in_a_row = SIMULATED_IN_A_ROW if self._is_simulated else MATCHES_IN_A_ROW
        self._tables = [TrialTable(plan.settings.options, draw) for draw in plan.draws]
        self._seats = self._tables[0].seats
        self._player = self._enter(self._open)
        self._records: list[MatchRecord] = []
        self._evaluates = False

    def steps(self) -> Iterator[tuple[str, Callable[[], str]]]:
        """Yield the steps in order, each with its title; a bot that evaluates, as the last one finds, gets one more."""
        # without a fault policy a refused answer has ended its match, and with it the check
        refusals = [("gives answers that count", self._refusals)] if fault_policy_of(self._rules) is not None else []
        steps: list[tuple[str, Callable[[], str]]] = [
            ("starts, says hello, is ready, plays a whole match in seat 0", lambda: self._keep_match(seat=0, number=0)),
            ("plays a whole match in seat 1 in the same process", lambda: self._keep_match(seat=1, number=0)),
            (f"plays {counted(self._in_a_row, 'more match', 'more matches')} in the same process", self._play_several),
            ("ignores unknown messages and unknown fields", self._play_with_noise),
            ("plays the same again with the same bot_seed, in a used process", self._repeat_first),
            *((self._title_of(table), partial(self._play_at, table)) for table in self._plan.others),
            *refusals,
            ("prints nothing but the protocol to stdout, answers once", self._review_output),
            ("stays within the clock", self._review_times),
            (f"ends by itself within {GRACE_S:.0f} s after quit", self._end_by_quit),
            ("ends by itself when its stdin is closed", self._end_by_closing),
        ]
        yield from steps
        if self._evaluates:
            yield "gives values that agree with the results", self._review_values

    def end(self) -> None:
        """End all processes of the bot."""
        self._player.close(grace_s=0.0)

    def _open(self) -> Channel:
        """Start a process of the bot in its sandbox."""
        return open_channel(self._bot, self._confinement)

    def _enter(
        self, open_channel: Callable[[], Channel], table: TrialTable | None = None, clock: ClockSettings | None = None
    ) -> BotPlayer:
        """Make a player whose processes come from `open_channel`, for the plan's first table or another.

        A process is started when the player needs one.
        """
        table, line_bytes = table or self._tables[0], self._confinement.limits.line_bytes
        return BotPlayer(
            player=self._bot.name,
            bot=self._bot.digest,
            open_channel=open_channel,
            hello=hello_for(self._rules, table.options, self._clock.startup_ms, line_bytes, table.seats),
            clock=clock or self._clock,
            suspended=never_suspended,
        )

    def _keep_match(self, *, seat: int, number: int, bot_player: BotPlayer | None = None) -> str:
        """Play match `number` in that seat and keep its record; return its result. _Failure if the bot forfeits."""
        record = self._play_one(bot_player or self._player, seat=seat, number=number)
        self._records.append(record)
        answers = record.seats[seat].moves
        baseline = "the baseline" if self._records[1:] else "the baseline, which plays random legal actions"
        return f"{answers} answers, {outcome_text(record, seat)} against {baseline}"

    def _play_one(
        self, bot_player: BotPlayer, *, seat: int, number: int = 0, table: TrialTable | None = None
    ) -> MatchRecord:
        """Play a match of the bot against baseline players and return its record.

        The table is `table`, or that of `number`. _Failure if the bot forfeits.
        """
        table = table or self._tables[number]
        settings = replace(self._plan.settings, options=table.options)
        spec = spec_of(settings, f"check-{number}-{seat}", table.draw, seat, self._confinement.isolation)
        record = play_match(spec, [bot_player if other == seat else BaselinePlayer() for other in range(table.seats)])
        if record.fault is not None:
            fault = record.fault
            details = [f"{record.termination}: {fault.message}"]
            details += [f"hint: {fault.hint}"] if fault.hint else []
            details += [f"got: {fault.got}"] if fault.got else []
            details += ["last lines (> to the bot, < from it):", *fault.transcript[-4:]]
            raise _Failure("\n".join(details), fault.stderr)
        return record

    def _play_several(self) -> str:
        """Play some more matches in the same process, in one seat after the other."""
        for number in range(1, self._in_a_row + 1):
            self._keep_match(seat=(number + 1) % self._seats, number=number)
        return f"{sum(bot_seat(record, self._bot.digest).moves for record in self._records)} answers so far"

    def _play_with_noise(self) -> str:
        """Play a match with messages and fields that the protocol does not have; _Failure if the bot forfeits."""
        noisy = self._enter(lambda: cast(Channel, _NoisyChannel(self._open())))
        try:
            self._keep_match(seat=0, number=0, bot_player=noisy)
        except _Failure as failure:
            raise _Failure(f"after an unknown message type and unknown fields: {failure}", failure.stderr) from None
        finally:
            noisy.close(grace_s=0.0)
        return "new fields and messages may come with later versions of the protocol"

    def _repeat_first(self) -> str:
        """Play the first match again, now in a used process, and compare the actions; _Remark if they differ."""
        first = _actions_as_json(self._records[0])
        used = _actions_as_json(self._play_one(self._player, seat=0, number=0))
        if used == first:
            return f"the same {len(first)} actions as in a fresh process"
        fresh_player = self._enter(self._open)
        try:
            fresh = _actions_as_json(self._play_one(fresh_player, seat=0, number=0))
        finally:
            fresh_player.close(grace_s=0.0)
        if fresh == first:
            raise _Remark(
                f"action {_first_difference(first, used)} is another one than in a fresh process: the bot keeps"
                " something from its earlier matches; forget everything at match_start"
            )
        raise _Remark(
            f"action {_first_difference(first, fresh)} is another one, also in a fresh process: results of such a bot"
            " cannot be reproduced; seed its random numbers with bot_seed"
        )

    def _title_of(self, table: TrialTable) -> str:
        """Return the title of the step that plays at another table."""
        seats = f" at a table of {table.seats}" if table.seats != self._seats else ""
        return f"plays{f' with {_options_text(table.options)}' if table.options else ''}{seats}"

    def _play_at(self, table: TrialTable) -> str:
        """Play at another table: in the first and the last seat, or in the last only if matches take seconds.

        A forfeit is a remark.
        """
        bot_player, outcomes, last = self._enter(self._open, table), list[str](), table.seats - 1
        try:
            for seat in (last,) if self._is_simulated else (0, last):
                outcomes.append(outcome_text(self._play_one(bot_player, seat=seat, table=table), seat))
        except _Failure as failure:
            raise _Remark(f"it forfeits a match of such a tournament\n{failure}") from None
        finally:
            bot_player.close(grace_s=0.0)
        return f"{', '.join(outcomes)} against the baseline"

    def _refusals(self) -> str:
        """Raise _Remark if the rules refused answers after which matches went on."""
        if remark := refusals_remark(self._records, self._bot.digest):
            raise _Remark(remark)
        return "none was refused"

    def _review_output(self) -> str:
        """Raise _Remark for ignored lines and unknown fields in the matches so far."""
        counts = Counter[str]()
        for record in self._records:
            counts.update(bot_seat(record, self._bot.digest).ignored)
        lines, remarks = split_ignored(counts)
        if lines:
            kinds = "stray: no JSON; stale: another id; early: before the request"
            remarks.insert(0, f"ignored lines: {_add_counts([lines])} ({kinds})")
        if remarks:
            raise _Remark("\n".join(remarks))
        return "not one line too many"

    def _review_times(self) -> str:
        """Compare answer and idle times of the matches so far with the clock; _Remark if they are long."""
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

    def _end_by_quit(self) -> str:
        """Send `quit` to the shared process; _Failure if it goes on, _Remark if its exit code is not 0."""
        ending = self._player.close()
        if ending == "was killed":
            raise _Failure(
                'still running a second after {"type": "quit"}; end the program there', self._player.stderr()
            )
        if ending != "ended with exit code 0":
            raise _Remark(f"the bot {ending}")
        return "with exit code 0"

    def _end_by_closing(self) -> str:
        """Start a process, offer it to evaluate, and close its stdin; _Remark if it goes on.

        Its answer to the offer decides whether `steps` has one more step.
        """
        bot_player = offer_evaluation(self._enter(self._open))
        talk = bot_player.start_process()  # on a slow machine it could not end before it has started
        self._evaluates = bot_player.may_evaluate and self._plan.compares_values
        if talk.channel.close(GRACE_S) == "was killed":
            raise _Remark("still running a second after its stdin was closed: it would outlive a killed referee")
        return "at the end of its input"

    def _review_values(self) -> str:
        """Compare the values of a bot that evaluates with results; _Remark if they do not agree."""
        open_bot = partial(self._enter, self._open, None)
        text, is_sound = examine_values(self._plan.settings, self._records, open_bot)
        if not is_sound:
            raise _Remark(text)
        return text


class _NoisyChannel:
    """A channel that adds what a later protocol might add: a message of an unknown type, and unknown fields."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)

    def send(self, line: bytes, clock: MoveClock) -> None:
        """Send the line with unknown fields, after a message of an unknown type."""
        noise = b'{"type":"weather","wind":{"force":[1,2,null]}}\n'
        self._channel.send(noise + line.rstrip()[:-1] + b',"from_the_future":{"x":[true,1.5,"\xc3\xa9"]}}\n', clock)


def outcome_text(record: MatchRecord, seat: int) -> str:
    """Describe the result of the player in that seat, such as `won 18 to 4`; the match has no fault."""
    assert record.scores is not None, "a fault has ended the match"
    others = [rank for other, rank in enumerate(record.ranks) if other != seat]
    own_rank = record.ranks[seat]
    word = "won" if own_rank < min(others) else "lost" if own_rank > min(others) else "draw"
    scores = [str(score) for other, score in enumerate(record.scores) if other != seat]
    return f"{word} {record.scores[seat]} to {', '.join(scores)}"


def _options_text(options: dict[str, Any]) -> str:
    """Return the options as JSON."""
    return msgspec.json.encode(options).decode()


def _first_difference(one: list[bytes], other: list[bytes]) -> int:
    """Return the number, from 1, of the first action that differs."""
    same = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    return (min(len(one), len(other)) if same is None else same) + 1


def _actions_as_json(record: MatchRecord) -> list[bytes]:
    """Return all actions of a match as JSON, without their notes, which may contain times."""
    return [msgspec.json.encode(replace(step, note="")) for step in record.steps if isinstance(step, ActionStep)]


def bot_seat(record: MatchRecord, bot: str) -> SeatRecord:
    """Return the record of the first seat in which the bot with that hash played."""
    return next(seat for seat in record.seats if seat.bot == bot)


def timeouts_remark(records: Sequence[MatchRecord], bot: str) -> str:
    """Return a remark with the number of late answers that did not end a match; empty for none."""
    late = _fault_counts(records, bot)[Termination.TIMEOUT]
    if not late:
        return ""
    timeouts = "1 timeout" if late == 1 else f"{late} timeouts"
    return f"{timeouts}, after which the match went on; the third in a match forfeits it"


def idle_remark(seats: Iterable[SeatRecord], terms: ClockTerms) -> str:
    """Return a remark on the longest idle time while answers were owed; empty if it is short or has no limit.

    It begins with `; `, to stand behind another remark.
    """
    idle_ms = max((seat.idle_ms or 0.0 for seat in seats), default=0.0)
    if terms.idle_ms is UNSET or idle_ms < _IDLE_MS:
        return ""
    return (
        f"; in one match it was idle for {idle_ms / 1000:.1f} s while it owed answers, allowed are"
        f" {terms.idle_ms / 1000:g} s: it slept or waited"
    )


def refusals_remark(records: Sequence[MatchRecord], bot: str) -> str:
    """Return a remark on refused answers: their number, reasons (as far as kept), and the first in full.

    Empty without any; late answers do not count.
    """
    counts = _fault_counts(records, bot)
    del counts[Termination.TIMEOUT]
    if not counts:
        return ""
    kept = [(record, refusal) for record in records for refusal in bot_seat(record, bot).refusals or ()]
    refused = [(record, refusal) for record, refusal in kept if refusal.code in counts]
    reasons = _add_counts({refusal.reason or refusal.code: 1} for _, refusal in refused)
    which = "" if len(refused) == counts.total() else f", of the first {REFUSALS_KEPT} of each match"
    record, first = refused[0]
    return (
        f"refused answers: {_add_counts([counts])}; by reason{which}: {reasons}\n"
        f"{record.match}, step {first.step}: {first.message}"
    )


def _fault_counts(records: Sequence[MatchRecord], bot: str) -> Counter[str]:
    """Count by code the faults after which a match went on."""
    counts = Counter[str]()
    for record in records:
        counts.update(bot_seat(record, bot).faults or {})
    return counts


def _add_counts(counts: Iterable[Mapping[str, int]]) -> str:
    """Add up counts by name, as text: `2 stale, 1 stray`."""
    total: Counter[str] = sum(map(Counter, counts), Counter())
    return ", ".join(f"{total[kind]} {kind}" for kind in sorted(total))
