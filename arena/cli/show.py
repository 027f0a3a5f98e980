"""`arena show`: one match as text, as a picture, as a page that plays it, and line by line."""

import tempfile
import webbrowser
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
from msgspec.structs import replace

from arena.cli.edge import print_text
from arena.cli.options import FILE_PATH, requesting
from arena.cli.terminal import is_interactive, replay_in_terminal
from arena.errors import SpecError
from arena.games import load_game
from arena.games.api import picture_with_names
from arena.match.reconstruction import lines_of
from arena.match.record import MatchRecord
from arena.match.replay import other_rules, state_before
from arena.match.requests import requests_of
from arena.operations.coach_match import CoachMatch, coach_match
from arena.operations.read_match import MatchDetails, ReadMatch, ReadSeat, read_match, read_seat
from arena.report.coaching import mistakes_by_step
from arena.report.luck_origin import match_luck_description
from arena.report.transcript import dialogue_lines, luck_lines, scenes, step_lines, time_lines, transcript
from arena.site.page import match_page


@click.command()
@requesting(ReadMatch)
@click.argument("match", metavar="MATCH")
@click.option("--states", is_flag=True, help="Draw the table after each step.")
@click.option(
    "--step",
    type=click.IntRange(1),
    help="Only this step, with the table before it. With --to FILE.svg: the step after which the picture is taken."
    " With --lines: only the lines for this step.",
)
@click.option(
    "--to",
    "file",
    type=FILE_PATH,
    help="Write a page that plays the match, if FILE ends in .html, or a picture of the position, if in .svg.",
)
@click.option("--open", "is_opened", is_flag=True, help="Open the page in a browser.")
@click.option(
    "--private",
    multiple=True,
    metavar="PLAYER",
    help="Show the notes of PLAYER on that page, and stderr after a fault; may be given several times.",
)
@click.option(
    "--mistakes", "has_mistakes", is_flag=True, help="Print below each mistake the better action, and its cost."
)
@click.option("--times", is_flag=True, help="Print the use of time by request: CPU, wall, idle, bank, bytes of stderr.")
@click.option("--lines", "player", metavar="PLAYER", help="Print every line between the referee and PLAYER instead.")
@click.option("--raw", is_flag=True, help="With --lines: only the referee's, byte for byte, from `hello` on.")
def show(
    request: ReadMatch,
    *,
    states: bool,
    step: int | None,
    file: Path | None,
    is_opened: bool,
    private: tuple[str, ...],
    has_mistakes: bool,
    times: bool,
    player: str | None,
    raw: bool,
) -> None:
    """Replay a match step by step: in a terminal by keys, in a pipe or with --states or --times as lines of text.

    `arena league matches` lists the ids of stored matches; the last 50 of `arena match` are found, too.

    At the start stands the luck of its block, from which every die follows, and the commitment to it. At the end stands
    how much of it was luck, and the luckiest and unluckiest draws of each seat. A match by other rules than those of
    this arena is printed as it was recorded, without positions.

    The page of --to FILE.html and of --open plays the match: its table, the chance of winning, jumps to its moments,
    and the other matches of its block beside it, on the same luck.

    --lines prints the dialogue with a bot request by request: its step, the time it took, the bot's stderr if the match
    keeps it, `>` a line to the bot, `<` a line from it. A number as PLAYER means that seat. With --raw the lines can be
    piped into a program; with --step, too, they end with the request of that step. `arena ask BOT MATCH` prints what
    another version answers there.

    Example: arena show 3f9a2c41d07b-0-1 --states
    """
    svg, html = (file if file is not None and file.suffix == suffix else None for suffix in (".svg", ".html"))
    if file is not None and svg is html:
        raise SpecError(f"--to {file}: expected a name that ends in .html, for a page, or in .svg, for a picture")
    has_page = html is not None or is_opened
    if private and not has_page:
        raise SpecError(f"--private {private[0]}: no page to show it on; give --to FILE.html or --open, too")
    if player is not None:
        _print_lines(ReadSeat(results=request.results, match=request.match, player=player, step=step), raw=raw)
        return
    match = read_match(replace(request, has_block=has_page))
    record, origin = match.record, match_luck_description(match.record, match.secret)
    if svg is not None:
        svg.write_text(_picture(match, step), encoding="utf-8")
    if has_page:
        _require_players(record, private)
        page = match_page(record, match.block, origin=origin, private=private, league=match.league)
        _write_page(page, html, is_opened=is_opened)
    if step is not None and svg is None:
        print_text("\n".join(step_lines(record, _require_step(record, step))))
        return
    remarks: Mapping[int, str] = {}
    if has_mistakes:
        remarks = mistakes_by_step(coach_match(CoachMatch(match=request.match, results=request.results)).judgement)
    if is_interactive() and record.steps and not (file or is_opened or states or times or other_rules(record)):
        title = f"{record.match}  {record.game}  {' v '.join(record.players)}"
        replay_in_terminal([*scenes(record, remarks)], title, record.players)
        return
    for line in _match_lines(match, origin, remarks, states=states, times=times):
        print_text(line)


def _print_lines(request: ReadSeat, *, raw: bool) -> None:
    """Print the dialogue with a bot, or only what a program in its place would read."""
    record, seat = read_seat(request)
    if raw:
        last = None if request.step is None else requests_of(record, seat)[request.step - 1][-1]
        click.echo(lines_of(record)[seat].for_bot(last), nl=False)
        return
    for line in dialogue_lines(record, seat, request.step):
        print_text(line)


def _match_lines(
    match: MatchDetails, origin: str, remarks: Mapping[int, str], *, states: bool, times: bool
) -> Iterator[str]:
    """Yield the match as text, with remarks below steps, then its luck, then a table of times if `times`."""
    yield from transcript(match.record, every_state=states, luck=origin, remarks=remarks)
    yield from luck_lines(match.record, match.result if other_rules(match.record) else None)
    yield from time_lines(match.record) if times else ()


def _require_players(record: MatchRecord, private: tuple[str, ...]) -> None:
    """Raise SpecError if a name is none of the match's players."""
    if unknown := [name for name in private if name not in record.players]:
        raise SpecError(f"--private {unknown[0]}: the players of this match are {', '.join(record.players)}")


def _write_page(page: str, path: Path | None, *, is_opened: bool) -> None:
    """Write the page to `path`, or to a new temporary file that stays; open it if asked; name the file on stderr."""
    if path is None:
        with tempfile.NamedTemporaryFile(prefix="arena-match-", suffix=".html", delete=False) as file:
            path = Path(file.name)
    path.write_text(page, encoding="utf-8")
    if is_opened and not webbrowser.open(path.resolve().as_uri()):
        click.echo("no browser was found", err=True)
    click.echo(f"the match plays in {path}: open it in a browser", err=True)


def _require_step(record: MatchRecord, step: int) -> int:
    """Return the step; SpecError if the match does not have it."""
    if step > len(record.steps):
        raise SpecError(f"--step {step}: the match has {len(record.steps)} steps")
    return step


def _picture(match: MatchDetails, step: int | None) -> str:
    """Draw the position after a step, or at the end; SpecError for a match by other rules than this arena's."""
    record = match.record
    if other := other_rules(record):
        raise SpecError(f"match {record.match}: no picture without a replay: {other}")
    last = len(record.steps) if step is None else _require_step(record, step)
    return picture_with_names(load_game(record.game), state_before(record, last + 1), record.players, match.league)
