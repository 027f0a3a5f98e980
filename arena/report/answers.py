"""The answers of a bot beside the recorded ones as text."""

from collections.abc import Iterator, Sequence

from arena.games import load_game
from arena.games.api import Seat, describe_for
from arena.match.asking import BotAnswer
from arena.match.record import MatchRecord
from arena.match.replay import state_before
from arena.report.formats import format_listing
from arena.text import counted, printable


def detail_lines(record: MatchRecord, seat: int, step: int, answers: Sequence[BotAnswer]) -> Iterator[str]:
    """Yield the position as the player saw it before `step` (from 1), then each of the answers beside the recorded one.

    Every answer has its stderr and CPU time in ms. CheckFailed as from `replay`.
    """
    game = load_game(record.game)
    yield from describe_for(game, state_before(record, step), Seat(seat), record.players).splitlines()
    yield ""
    for answer in answers:
        yield f"step {answer.step}: {'the same answer' if answer.is_same else 'another answer'}"
        yield f"recorded: {_old_text(answer)}"
        yield f"now:      {_new_text(answer)}, {answer.cpu_ms:.3f} ms CPU"
        yield from (f"stderr | {line}" for line in answer.stderr.splitlines())


def difference_lines(answers: Sequence[BotAnswer], asked: int, width: int | None) -> Iterator[str]:
    """Yield a table of the answers that differ from the recorded ones, then how many of `asked` are the same.

    With fewer answers than `asked`, the bot stopped: a last line names the step. `width` is in characters.
    """
    rows = [[str(answer.step), _old_text(answer), _new_text(answer)] for answer in answers if not answer.is_same]
    if rows:
        yield format_listing(["step", "recorded", "now"], rows, width)
        yield ""
    yield f"{len(answers) - len(rows)} of {counted(asked, 'answer')} {'is' if asked == 1 else 'are'} the same"
    if len(answers) < asked:
        yield f"after step {answers[-1].step} the bot could not be asked any more" if answers else "no answer"


def _old_text(answer: BotAnswer) -> str:
    """Return the recorded answer, with the fault for which it stands in, if there was one."""
    is_fallback = answer.recorded_fault and not answer.is_owed
    return f"{answer.recorded}{f' (stands in after a fault: {answer.recorded_fault})' if is_fallback else ''}"


def _new_text(answer: BotAnswer) -> str:
    """Return what the bot answered now with its note, or its fault."""
    note = f"    # {answer.note!r}" if answer.note else ""
    return printable(answer.fault) if answer.fault else f"{answer.answered}{note}"
