"""A match as text for a person: step by step, by request, and every line that went over the wire.

Rule: the text is made from a replay, so the rules confirm the match. Only a match by rules that this arena does not
have is printed as it was recorded, and the text says so. Times are printed as they are recorded; banks are computed
from them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Final

import msgspec
from msgspec import UNSET

from arena.errors import CheckFailed
from arena.games import load_game
from arena.games.api import HEADING, news_of, simulator_of
from arena.match.line_recorder import split_ignored
from arena.match.luck import SHOWN_FACES, extreme_nodes, luck_of
from arena.match.reconstruction import SeatTranscript, lines_of
from arena.match.record import ActionStep, ChanceStep, MatchRecord, Requests, SeatRecord, SimulationStep, Step
from arena.match.replay import ReplayStep, other_rules, replay
from arena.match.requests import StderrByStep, banks_us, requests_of, stderr_by_step
from arena.match.results import LUCK_UNIT, MatchResult
from arena.report.formats import grid
from arena.report.matches import refusal_sentences
from arena.text import printable

_INDENT: Final = 6
_COLUMNS: Final = 80
_AS_RECORDED: Final = "; so this is told as it was recorded, without positions"
_REQUEST: Final = ("request", "CPU ms", "wall ms", "idle ms", "bank ms", "stderr", "discarded")
"""The columns of the table of times."""
_NO_REMARKS: Final[Mapping[int, str]] = {}


def transcript(
    record: MatchRecord, *, every_state: bool, luck: str = "", start: int = 0, remarks: Mapping[int, str] = _NO_REMARKS
) -> Iterator[str]:
    """Yield the match as lines of text; with `every_state` the table after each step, not only at the end.

    `luck` is the line on the origin of its luck. With `start`, the steps from that one on, without the head. `remarks`
    are lines below steps, by their number from 1.

    A match by rules that this arena does not have is printed as all its recorded steps, without a position or remarks.
    CheckFailed if the replay contradicts the record.
    """
    stderr = stderr_by_step(record)
    if not start:
        yield from _opening_lines(record, luck, stderr)
    if other := other_rules(record):
        yield from (f"{other}{_AS_RECORDED}", "")
        for number in range(1, len(record.steps) + 1):
            yield from _step_with_news(record, number, stderr)
    else:
        game = load_game(record.game)
        last = game.setup(record.options, len(record.seats))
        for number, moment in enumerate(replay(record), start=1):
            last = moment.after
            if number >= start:
                yield from _step_with_news(record, number, stderr, moment, remarks.get(number, ""))
                if every_state and moment.is_complete:
                    yield from _indented(game.describe(last, record.players))
        yield ""
        yield from _indented(game.describe(last, record.players))
    yield ""
    yield from _closing_lines(record, stderr)


def scenes(record: MatchRecord, remarks: Mapping[int, str] = _NO_REMARKS) -> Iterator[tuple[list[str], list[str]]]:
    """Yield (position, text): the lines of the first position, then of that after each step with the lines of the step.

    The last text also has the result. `remarks` are lines below steps, by their number from 1. CheckFailed as from
    `replay`.
    """
    game, stderr = load_game(record.game), stderr_by_step(record)
    yield game.describe(game.setup(record.options, len(record.seats)), record.players).splitlines(), []
    for number, moment in enumerate(replay(record), start=1):
        state = moment.after if moment.is_complete else moment.before
        lines = [*_step_with_news(record, number, stderr, moment, remarks.get(number, ""))]
        closing = ["", *_closing_lines(record, stderr)] if number == len(record.steps) else []
        yield game.describe(state, record.players).splitlines(), [*lines, *closing]


def step_lines(record: MatchRecord, number: int) -> Iterator[str]:
    """Yield the position before a step (from 1), the step, the bot's stderr on the way to it, and the news.

    A match by rules that this arena does not have gives the recorded step alone.
    """
    moment = None
    if other := other_rules(record):
        yield f"{other}{_AS_RECORDED}"
    else:
        moment = next(islice(replay(record), number - 1, None))
        yield from _indented(load_game(record.game).describe(moment.before, record.players))
        yield ""
    yield from _step_with_news(record, number, stderr_by_step(record), moment)


def _step_with_news(
    record: MatchRecord,
    number: int,
    stderr: Sequence[StderrByStep],
    moment: ReplayStep | None = None,
    remark: str = "",
) -> Iterator[str]:
    """Yield a step (from 1), the remark, the bot's lines on stderr on the way to its answer, and the news.

    Without `moment`, for a match by other rules, the step is printed as recorded, and there is no news.
    """
    step = record.steps[number - 1]
    text = recorded_text(step) if moment is None else step_text(record, moment)
    yield f"{number:>4}  {_with_player(record, step, text)}"
    yield from (f"      {remark}",) if remark else ()
    if isinstance(step, ActionStep):
        yield from (f"      stderr | {line}" for line in stderr[step.seat].at.get(number - 1, "").splitlines())
    if moment is not None and moment.is_complete:
        for line in news_of(load_game(record.game), moment.before, moment.after, record.players):
            yield from ("", line) if line.startswith(HEADING) else (f"      {line}",)


def luck_lines(record: MatchRecord, stored: MatchResult | None = None) -> Iterator[str]:
    """Yield the luck of each seat, and the draws with most and least of it; nothing for a game without a value.

    `stored` is the result of a match that cannot be replayed: its stored luck is printed, without draws. CheckFailed if
    the record cannot be replayed.
    """
    luck = luck_of(record) if stored is None else None
    version = luck.version if luck else stored.luck_version if stored else ""
    if not version:
        return
    yield ""
    yield f"luck, in shares of a win (value {version}){', as it was stored' if stored else ''}:"
    for seat, entry in enumerate(record.seats):
        total = luck.by_seat[seat] if luck else stored.luck[seat] / LUCK_UNIT if stored else 0.0
        yield f"seat {seat} {entry.player}: {total:+.3f} in all"
        for word, nodes in zip(("luckiest", "unluckiest"), extreme_nodes(luck, seat) if luck else (), strict=False):
            for node in nodes:
                outcome = f": {' '.join(map(str, node.outcome))}" if 0 < len(node.outcome) <= SHOWN_FACES else ""
                drawn = f"{node.key or 'cards turned up'}{outcome}"
                yield f"  {word} {node.luck[seat]:+.3f}  step {node.step + 1}, {drawn}"


def result_line(record: MatchRecord) -> str:
    """Describe the result in one line, with the winner: `3f9a2c41d07b-0-1 greedy 12 : 9 random greedy wins`."""
    names = record.players
    if record.fault is not None:
        fault = record.fault
        return (
            f"{record.match}  {' v '.join(names)}  {names[fault.seat]} forfeits ({record.termination}): {fault.message}"
        )
    points = [f"{name} {score}" for name, score in zip(names, record.scores or (), strict=True)]
    best = [name for name, rank in zip(names, record.ranks, strict=True) if rank == 0]
    end = f"{best[0]} wins" if len(best) == 1 else f"a draw of {' and '.join(best)}"
    return f"{record.match}  {' : '.join(points)}  {end}"


def refusal_lines(record: MatchRecord) -> Iterator[str]:
    """Yield by seat the faults after which the game went on, their number by kind and the first, and unknown fields."""
    for entry in record.seats:
        sentences = refusal_sentences(entry)
        if pardoned := _fault_counts(entry):
            first = f"; the first, {sentences[0]}" if sentences else ""
            yield f"  {entry.player}: faults after which the game went on: {pardoned}{first}"
        yield from (f"  {entry.player}: {sentence}" for sentence in split_ignored(entry.ignored)[1])


def stderr_lines(record: MatchRecord) -> Iterator[str]:
    """Yield the last line that the bot at fault wrote to stderr; nothing without a fault or without output."""
    fault = record.fault
    if fault is not None and (lines := fault.stderr.strip().splitlines()):
        yield f"  {record.seats[fault.seat].player}: the last line of its stderr: {printable(lines[-1])}"


def _opening_lines(record: MatchRecord, luck: str, stderr: Sequence[StderrByStep]) -> Iterator[str]:
    """Yield the lines above the first step: game, rules, isolation, luck, and each seat with its stderr."""
    yield f"match {record.match}: {record.game}, rules {record.rules}, isolation {record.isolation}"
    if record.package is not UNSET:
        yield f"package: {record.package}"
    if luck:
        yield luck
    for seat, entry in enumerate(record.seats):
        yield f"seat {seat}: {entry.player} ({entry.bot[:8]})"
        yield from (f"      stderr | {line}" for line in stderr[seat].before.splitlines())
    yield ""


def step_line(record: MatchRecord, moment: ReplayStep) -> str:
    """Describe a step in one line: an action, a draw or a simulation."""
    return _with_player(record, moment.step, step_text(record, moment))


def step_text(record: MatchRecord, moment: ReplayStep) -> str:
    """Describe a step without its player and note."""
    text, step = str(moment.action), moment.step
    if isinstance(step, SimulationStep):
        simulator = simulator_of(load_game(record.game))
        text = "" if simulator is None else simulator.describe_result(moment.before, step.result, moment.after)
    return _text(step, text)


def recorded_text(step: Step) -> str:
    """Describe a step as it was recorded, without its player and note."""
    return _text(step, printable(msgspec.json.encode(step.action).decode()) if isinstance(step, ActionStep) else "")


def _text(step: Step, outcome: str) -> str:
    """Describe a step; `outcome` is the action, or the simulator's description of the result."""
    if isinstance(step, ChanceStep):
        outcome = " ".join(map(str, step.outcome)) if len(step.outcome) <= 6 else f"{len(step.outcome)} items"
        return f"chance {step.key}: {outcome}"
    if isinstance(step, SimulationStep):
        return f"simulation {step.key}{': ' if outcome else ''}{outcome}"
    # nobody was asked (forced), or a fallback took the place of the bot's answer
    fault = f" (stands in after a fault: {step.fallback_for})" if step.fallback_for else ""
    return f"{outcome}{' (forced)' if step.forced else fault}"


def _with_player(record: MatchRecord, step: Step, text: str) -> str:
    """Return the text of a step; for an action with its player and note."""
    if not isinstance(step, ActionStep):
        return text
    note = f"    # {step.note!r}" if step.note else ""
    return f"seat {step.seat} {record.seats[step.seat].player} {text}{note}"


def _indented(text: str) -> Iterator[str]:
    """Yield the lines of a position, indented as far as the width of a terminal allows."""
    lines = text.splitlines()
    indent = " " * max(0, min(_INDENT, _COLUMNS - max(map(len, lines), default=0)))
    for line in lines:
        yield f"{indent}{line}".rstrip()


def _closing_lines(record: MatchRecord, stderr: Sequence[StderrByStep]) -> Iterator[str]:
    """Yield the lines below the last step: result, fault, and each seat with its answers, times and stderr."""
    if record.scores is not None:
        best_first = sorted(range(len(record.ranks)), key=record.ranks.__getitem__)
        yield f"{_winners(record)}: {' to '.join(str(record.scores[seat]) for seat in best_first)}"
    if (fault := record.fault) is not None:
        yield f"seat {fault.seat} {record.seats[fault.seat].player} forfeits ({record.termination}): {fault.message}"
        details = (("  hint: ", fault.hint), ("  got:  ", fault.got))
        yield from (f"{word}{text}" for word, text in details if text)
        if not stderr[fault.seat].rest:
            yield from (f"  stderr | {line}" for line in fault.stderr.splitlines()[-20:])
        yield from (f"  {line}" for line in fault.transcript[-6:])
    for seat, entry in enumerate(record.seats):
        lines, fields = split_ignored(entry.ignored)
        ignored = ", ".join(f"{count} {kind} lines ignored" for kind, count in lines.items())
        pardoned = _fault_counts(entry)
        yield (
            f"seat {seat} {entry.player}: {entry.moves} answers, {entry.cpu_ms:.1f} ms CPU, {entry.wall_ms:.1f} ms wall"
            f", slowest {entry.slowest_ms:.1f} ms{'; ' + ignored if ignored else ''}"
            f"{'; faults after which the game went on: ' + pardoned if pardoned else ''}"
        )
        yield from (f"  {sentence}" for sentence in (*fields, *refusal_sentences(entry)))
        yield from (f"  stderr after the last answer | {line}" for line in stderr[seat].rest.splitlines())


def _fault_counts(entry: SeatRecord) -> str:
    """Format the faults after which the game went on: `2 illegal_action, 1 timeout`."""
    return ", ".join(f"{n} {code}" for code, n in (entry.faults or {}).items())


def _winners(record: MatchRecord) -> str:
    """Name the winner, as in `seat 0 ann wins`, or the players who share the first place."""
    best = [f"seat {seat} {record.seats[seat].player}" for seat, rank in enumerate(record.ranks) if rank == 0]
    shared = "a draw" if len(best) == len(record.ranks) else f"{' and '.join(best)} share the first place"
    return f"{best[0]} wins" if len(best) == 1 else shared


def time_lines(record: MatchRecord) -> Iterator[str]:
    """Yield a table for each seat, a line a request. CheckFailed if the record lacks times by request."""
    if all(entry.requests is UNSET for entry in record.seats):
        raise CheckFailed(f"{record.match}: arena {record.arena} stored it without times by request")
    for seat, entry in enumerate(record.seats):
        yield ""
        yield f"seat {seat} {entry.player}, by request: bank, what the bot was told before it; stderr, bytes until then"
        if entry.requests is not UNSET:
            rows = _time_rows(entry.requests, [bank_us / 1000 for bank_us in banks_us(entry, record.clock)])
            yield from grid(rows, headers=_REQUEST, floatfmt=".3f").splitlines()


def dialogue_lines(record: MatchRecord, seat: int, step: int | None = None) -> Iterator[str]:
    """Yield the lines of one seat both ways (`>` to the bot, `<` from it) and its stderr, request by request.

    With `step`, from 1, only the requests that led to that step. CheckFailed if the lines cannot be made again.
    """
    said, entry = lines_of(record)[seat], record.seats[seat]
    steps = {number: index + 1 for index, numbers in requests_of(record, seat).items() for number in numbers}
    written = {part.request: part.text for part in entry.stderr or ()}
    yield f"{record.match}, seat {seat} {said.player}, {_describe_exactness(said)}:"
    shown = None if step is None else {number for number, at in steps.items() if at == step}
    for number, lines in groupby(said.lines, key=lambda line: max(line[0], 0)):
        if shown is not None and number not in shown:
            continue
        yield ""
        yield _request_heading(entry, number, steps.get(number))
        text = written.get(number, "") if number else written.get(-1, "") + written.get(0, "")
        yield from (f"{way} {printable(line.decode('utf-8', 'backslashreplace'))}" for _, way, line in lines)
        yield from (f"stderr | {line}" for line in text.splitlines())
    if shown is None:
        tail = "".join(text for number, text in written.items() if number > entry.moves)
        yield from (f"stderr after the last answer | {line}" for line in tail.splitlines())


def _request_heading(entry: SeatRecord, number: int, step: int | None) -> str:
    """Format the heading of a request: `step 12, request 3: 0.214 ms CPU, 0.300 ms wall`."""
    if not number or entry.requests is UNSET or number > entry.moves:
        return "start" if not number else f"request {number}"
    cpu_us, wall_us = entry.requests.cpu_us[number - 1], entry.requests.wall_us[number - 1]
    place = f"request {number}" if step is None else f"step {step}, request {number}"
    return f"{place}: {cpu_us / 1000:.3f} ms CPU, {wall_us / 1000:.3f} ms wall"


def _describe_exactness(transcript: SeatTranscript) -> str:
    """Return how far the lines of a seat are those that went over the wire."""
    if transcript.left_out:
        return f"all lines but {transcript.left_out} of the bot's own, which said more than a record keeps"
    return f"all lines{'' if transcript.is_exact else ', but NOT'} as they went over the wire"


def _time_rows(requests: Requests, banks: Sequence[float]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each request: number, CPU, wall and idle ms, bank, bytes of stderr so far, lines ignored."""
    stderr = 0
    for at, (cpu_us, wall_us) in enumerate(zip(requests.cpu_us, requests.wall_us, strict=True)):
        idle_us = requests.idle_us[at] if requests.idle_us else 0
        stderr += requests.stderr[at] if requests.stderr else 0
        discarded = ", ".join(f"{lines.count} {lines.kind}" for lines in requests.discarded if lines.request == at + 1)
        yield at + 1, cpu_us / 1000, wall_us / 1000, idle_us / 1000, banks[at] if banks else None, stderr, discarded
