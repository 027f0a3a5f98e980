"""`arena dialogue`: the lines between the referee and one bot in a stored match."""

from pathlib import Path

import click

from arena.cli.options import results_option
from arena.errors import CheckFailed, SpecError
from arena.match.reconstruction import lines_of
from arena.match.record import MatchRecord
from arena.match.requests import answer_steps, requests_of
from arena.report.transcript import dialogue_lines
from arena.store.folder import record_of, stored
from arena.store.matches import MatchStore
from arena.store.recent import MATCH_ID, recent_match
from arena.text import unknown


@click.command("dialogue")
@click.argument("match_id", metavar="MATCH")
@click.argument("player")
@click.option("--step", type=click.IntRange(1), help="Only the lines for this step, as `arena show` numbers them.")
@click.option("--raw", is_flag=True, help="Only the referee's lines, byte for byte, from `hello` on: for a pipe.")
@results_option
def print_dialogue(match_id: str, player: str, step: int | None, results: Path, *, raw: bool) -> None:
    """Print every line between the referee and PLAYER in MATCH, stored or of `arena match`, request by request.

    With each request: its step, the time it took, the bot's stderr if the match keeps it, `>` a line to the bot, `<` a
    line from it. A number as PLAYER means that seat.

    With --raw the lines can be piped into a program; with --step, too, they end with the request of that step.

    Example: arena dialogue 3f9a2c41d07b-0-1 mybot --step 12
    """
    record, _ = recent_match(match_id)
    if record is None:
        with stored(results) as store:
            record = record_of_match(store, match_id, player)
    seat = seat_of(record, player)
    if step is not None:
        require_answer(record, seat, step)
    if raw:
        last = None if step is None else requests_of(record, seat)[step - 1][-1]
        click.echo(lines_of(record)[seat].for_bot(last), nl=False)
        return
    for line in dialogue_lines(record, seat, step):
        click.echo(line)


def record_of_match(store: MatchStore, match_id: str, player: str) -> MatchRecord:
    """The record of that match. SpecError without one, with the order of arguments if `player` looks like a match."""
    try:
        return record_of(store.match(match_id))
    except SpecError as error:
        order = "; give the match first, then the player" if MATCH_ID.fullmatch(player) else ""
        raise SpecError(f"{error}{order}") from None


def seat_of(record: MatchRecord, player: str) -> int:
    """The seat of that player, or of that number. SpecError names the players."""
    names = record.players
    if player in names:
        return names.index(player)
    if player.isdecimal() and int(player) < len(names):
        return int(player)
    raise SpecError(f"match {record.match}: {unknown('player', player, names)}")


def require_answer(record: MatchRecord, seat: int, step: int) -> None:
    """SpecError if the seat was not asked for that step, with the steps around it for which it was.

    CheckFailed if the record does not tell for which steps it was asked.
    """
    steps = answer_steps(record, seat)
    if step in steps:
        return
    if not steps and record.seats[seat].moves:
        raise CheckFailed(
            f"{record.match}: its record does not tell which request led to which step; ask without --step"
        )
    near = sorted(sorted(steps, key=lambda each: abs(each - step))[:6])
    answered = f"it answered at steps {', '.join(map(str, near))}" if near else "it answered at no step"
    others = " and others" if len(near) < len(steps) else ""
    player = record.seats[seat].player
    raise SpecError(f"--step {step}: {player} was not asked for that step, of {len(record.steps)}; {answered}{others}")
