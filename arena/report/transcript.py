"""A match as text, step by step, for a person.

Rule: the text is made from a replay, so whoever reads it reads a match that the rules confirm.
"""

from collections.abc import Iterator

from arena.games import load_game
from arena.match.record import Acted, Drawn, MatchRecord
from arena.match.replay import Moment, replay


def transcript(record: MatchRecord, *, every_state: bool) -> Iterator[str]:
    """Lines of text. `every_state` draws the table after each step, not only after those of chance unseen by players."""
    game = load_game(record.game)
    yield from _head(record)
    last = game.setup(record.options, len(record.seats))
    for number, moment in enumerate(replay(record), start=1):
        yield f"{number:>4}  {_line(record, moment)}"
        last = moment.after
        if every_state:
            yield from _indented(game.describe(last))
    yield ""
    yield from _indented(game.describe(last))
    yield ""
    yield from _tail(record)


def _head(record: MatchRecord) -> Iterator[str]:
    yield f"match {record.match}: {record.game}, rules {record.rules}, isolation {record.isolation}"
    for seat, entry in enumerate(record.seats):
        yield f"seat {seat}: {entry.player} ({entry.bot[:8]})"
    yield ""


def _line(record: MatchRecord, moment: Moment) -> str:
    step = moment.step
    if isinstance(step, Drawn):
        outcome = " ".join(map(str, step.outcome)) if len(step.outcome) <= 6 else f"{len(step.outcome)} items"
        return f"chance {step.key}: {outcome}"
    return f"{_name(record, step)} {moment.action}{' (forced)' if step.forced else ''}{_note(step)}"


def _name(record: MatchRecord, step: Acted) -> str:
    return f"seat {step.seat} {record.seats[step.seat].player}"


def _note(step: Acted) -> str:
    return f"    # {step.note!r}" if step.note else ""


def _indented(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"      {line}".rstrip()


def _tail(record: MatchRecord) -> Iterator[str]:
    if record.scores is not None:
        best = [seat for seat, rank in enumerate(record.ranks) if rank == 0]
        result = f"seat {best[0]} {record.seats[best[0]].player} wins" if len(best) == 1 else "a draw"
        yield f"{result}: {' to '.join(map(str, record.scores))}"
    if record.fault is not None:
        yield from _fault_lines(record)
    for seat, entry in enumerate(record.seats):
        ignored = ", ".join(f"{count} {kind} lines ignored" for kind, count in entry.ignored.items())
        yield (
            f"seat {seat} {entry.player}: {entry.moves} answers, {entry.cpu_ms:.1f} ms CPU, {entry.wall_ms:.1f} ms wall,"
            f" slowest {entry.slowest_ms:.1f} ms{'; ' + ignored if ignored else ''}"
        )


def _fault_lines(record: MatchRecord) -> Iterator[str]:
    fault = record.fault
    assert fault is not None, "asked only after a forfeit"
    yield f"seat {fault.seat} {record.seats[fault.seat].player} forfeits ({record.termination}): {fault.message}"
    if fault.hint:
        yield f"  hint: {fault.hint}"
    if fault.got:
        yield f"  got:  {fault.got}"
    yield from (f"  stderr | {line}" for line in fault.stderr.splitlines()[-20:])
    yield from (f"  {line}" for line in fault.transcript[-6:])
