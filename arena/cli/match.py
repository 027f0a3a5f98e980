"""`arena match` and `arena play`: a few matches at one table, at once; bots among themselves, or with a person."""

import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import click
from msgspec.structs import replace

from arena.cli.completion import complete_bot
from arena.cli.edge import show_events
from arena.cli.options import columns_option, requesting, require_columns
from arena.errors import Interrupted
from arena.games import DEFAULT_GAME, load_game
from arena.games.api import value_of
from arena.league.schedule import match_count
from arena.match.human import TERMINAL_COLUMNS, HumanPlayer
from arena.match.record import MatchRecord
from arena.match.results import MatchResult
from arena.match.secret_luck import UNKNOWN_ORIGIN, Secret
from arena.operations.events import Event
from arena.operations.play_in_person import PlayInPerson, play_in_person
from arena.operations.play_matches import MatchEnded, PlayedMatches, PlayMatches, exhibition_of, play_matches
from arena.report.formats import Style
from arena.report.luck_origin import secret_description
from arena.report.transcript import refusal_lines, result_line, stderr_lines, transcript
from arena.text import counted, wrap_lines

_LINE_END: Final = " \\"
LEAST_BLOCKS_OF_A_TABLE: Final = 10
"""The least number of blocks for which a table with intervals is printed."""


@click.command()
@requesting(PlayMatches)
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT [BOT [BOT]]", shell_complete=complete_bot)
@click.option(
    "--blocks",
    type=click.IntRange(1, 100_000),
    help="Blocks to play: as many matches as bots, on the same luck, each bot once in each seat.",
)
@click.option("--steps", "one_by_one", is_flag=True, help="Print each match step by step.")
@columns_option
def match(request: PlayMatches, style: Style) -> None:
    """Play each BOT, by name or path, against the others at one table, and print who won.

    From 10 blocks on, or with an option of the table, there is a table. Nothing is stored in results; the last 50
    matches are kept for `arena show` and `arena ask`.

    Example: arena match ./mybot greedy --blocks 50
    """
    if style.columns:
        require_columns(style, "table", exhibition_of(request))
    printed: list[str] = []

    def show(event: Event) -> None:
        """Print a match that has ended: its result and faults, or all its steps."""
        if isinstance(event, MatchEnded):
            printed.append(event.record.match)
            record = event.record
            lines = [result_line(record), *refusal_lines(record), *stderr_lines(record)]
            click.echo("\n".join([*transcript(record, every_state=False), ""] if request.one_by_one else lines))

    with show_events(show, lambda step: step.counts.words(), is_left=True) as on:
        played = play_matches(request, on)
    if printed and not played.is_interrupted:
        click.echo("")
    if played.results or not played.is_interrupted:
        if request.blocks >= LEAST_BLOCKS_OF_A_TABLE or style != Style(width=style.width):
            click.echo(_table(played, style))
        for line in _summary(played):
            click.echo(line)
        if request.secret is not None:
            click.echo(secret_description(request.secret, is_chosen=True))
    if played.is_interrupted:
        count = match_count(played.tournament)
        raise Interrupted(f"interrupted after {len(played.results)} of {count} matches")


def _table(played: PlayedMatches, style: Style) -> str:
    """Return the leaderboard without a sentence on its luck; the caller prints that once, below."""
    from arena.league.standings import standings_of  # noqa: PLC0415 - numpy is for the table only
    from arena.report.leaderboard import leaderboard_page  # noqa: PLC0415 - see above

    standings, times = standings_of(played.tournament, played.results)
    return leaderboard_page(replace(standings, luck=UNKNOWN_ORIGIN), times).render("table", style)


def _summary(played: PlayedMatches) -> Iterator[str]:
    """Yield the wins of each player, remarks on these results, and commands to look into them."""
    names = [player.name for player in played.tournament.players]
    wins = Counter(winner for result in played.results if (winner := _winner(result)) is not None)
    matches = counted(len(played.results), "match", "matches")
    yield f"{matches}; won: {', '.join(f'{name} {wins[name]}' for name in names)}"
    if played.is_alike:
        yield f"same moves in all of them by {' and '.join(names)}: the same bot, or bots that use bot_seed alike"
    if any(result.isolation == "none" for result in played.results):
        yield "isolation: none. UNSANDBOXED: bots could read the files of this account, and each other's"
    if played.is_kept and played.recent:
        first_lost = (record for record in played.recent if record.ranks[record.players.index(names[0])])
        lost = next(first_lost, played.recent[-1])
        yield f"step by step: arena show {lost.match}"
        yield f"another bot in its place: arena ask BOT {lost.match} --as {names[0]}"
        if value_of(load_game(lost.game)) is not None:
            yield f"what each decision cost: arena coach {lost.match} {names[0]}"


def _winner(result: MatchResult) -> str | None:
    """Return the only player with the first place; None if several share it."""
    first = [name for name, rank in zip(result.players, result.ranks, strict=True) if rank == 0]
    return first[0] if len(first) == 1 else None


@click.command("play")
@requesting(PlayInPerson, without={"clock"})
@click.argument("bots", nargs=-1, required=True, metavar="BOT [BOT [BOT]]", shell_complete=complete_bot)
@click.option("--seat", type=click.IntRange(0), help="Your seat.")
def play(request: PlayInPerson) -> None:
    """Play a match against bots in the terminal.

    Each BOT, by name or path, sits at your table, in this order from seat 0 on around you. The luck follows from a new
    secret, which is printed at the end with the command that plays it again.

    Example: arena play greedy --seat 1
    """
    person = HumanPlayer(say=_for_terminal(click.echo), prompt=_for_terminal(partial(click.prompt, prompt_suffix="> ")))
    played = play_in_person(request, person)
    click.echo(wrap_lines(_result_text(played.record, request.seat), TERMINAL_COLUMNS))
    click.echo(wrap_lines(secret_description(played.secret, is_chosen=request.secret is not None), TERMINAL_COLUMNS))
    click.echo(f"the same luck again:\n{_repeat_command(request, played.secret)}")


def _for_terminal(function: Callable[[str], Any]) -> Callable[[str], Any]:
    """Wrap a function: a stop by the person, or a closed terminal or pipe, is no fault of match or game.

    The former becomes a KeyboardInterrupt, a closed pipe a SystemExit.
    """

    def call(text: str) -> Any:
        """Call the function; end the program if its output or its person has gone."""
        try:
            return function(text)
        except click.Abort:
            raise KeyboardInterrupt from None
        except BrokenPipeError:
            raise SystemExit from None

    return call


def _repeat_command(request: PlayInPerson, secret: Secret) -> str:
    """Return the command that plays this match again, without defaults, wrapped with backslashes."""
    luck = ["--secret-file", "FILE"] if secret.seed is None else ["--seed", secret.seed]
    words = ["arena", "play", *request.bots, *luck]
    words += ["--seat", str(request.seat)] if request.seat else []
    words += ["--game", request.game] if request.game != DEFAULT_GAME else []
    words += ["--options", json.dumps(request.options)] if request.options else []
    lines = [words[0]]
    for word in map(shlex.quote, words[1:]):
        if len(lines[-1]) + len(word) + len(_LINE_END) >= TERMINAL_COLUMNS:
            lines.append(f"   {word}")
        else:
            lines[-1] += f" {word}"
    return f"{_LINE_END}\n".join(lines)


def _result_text(record: MatchRecord, seat: int) -> str:
    """Return the result of a match for the person in that seat."""
    if record.fault is not None:
        who = "you" if record.fault.seat == seat else record.seats[record.fault.seat].player
        return f"\n{who} forfeited: {record.fault.message}"
    assert record.scores is not None, "a match without a fault has scores"
    others = [f"{score} ({name})" for name, score in zip(record.players, record.scores, strict=True)]
    del others[seat]
    best = min(rank for place, rank in enumerate(record.ranks) if place != seat)
    word = "you win" if record.ranks[seat] < best else "you lose" if record.ranks[seat] > best else "a draw"
    return f"\n{word}, {record.scores[seat]} to {', '.join(others)}"
