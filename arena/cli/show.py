"""`arena show`: one stored match step by step, as text, as a picture, and as a page that plays it."""

import itertools
import tempfile
import webbrowser
from pathlib import Path

import click
from msgspec import UNSET

from arena.cli.options import FILE_PATH, results_option
from arena.errors import SpecError
from arena.games import load_game
from arena.games.api import named_picture
from arena.match.record import MatchRecord
from arena.match.replay import other_rules, replay
from arena.report.luck_origin import match_luck_description
from arena.report.transcript import luck_lines, step_lines, time_lines, transcript
from arena.site.page import match_page
from arena.site.replay import partners
from arena.store.folder import record_of, stored
from arena.store.matches import MatchStore
from arena.store.recent import recent_match


@click.command()
@click.argument("match_id")
@click.option("--states", is_flag=True, help="Draw the table after each step.")
@click.option("--svg", type=FILE_PATH, help="Write the position as a picture.")
@click.option(
    "--step",
    type=click.IntRange(1),
    help="Only this step, with the table before it. With --svg: the step after which the picture is taken.",
)
@click.option("--html", type=FILE_PATH, help="Write a page that plays the match, in one file.")
@click.option("--open", "is_opened", is_flag=True, help="Open that page in a browser.")
@click.option(
    "--private",
    multiple=True,
    metavar="PLAYER",
    help="Show the notes of PLAYER on that page, and stderr after a fault; may be given several times.",
)
@click.option("--times", is_flag=True, help="Print the use of time by request: CPU, wall, idle, bank, bytes of stderr.")
@results_option
def show(
    match_id: str,
    states: bool,
    svg: Path | None,
    step: int | None,
    html: Path | None,
    is_opened: bool,
    private: tuple[str, ...],
    times: bool,
    results: Path,
) -> None:
    """Replay the match MATCH_ID step by step; `arena league matches NAME` lists the ids of stored ones.

    The last 50 matches of `arena match` are found, too.

    At the start: the luck of its block, from which every die follows, and the commitment to it. At the end: how much of
    it was luck, and the luckiest and unluckiest draws of each seat. A match by other rules than those of this arena is
    told as it was recorded, without positions.

    The page of --html and --open plays the match: its table, the chance of winning, jumps to its moments, and the other
    matches of its block beside it, on the same luck.

    `arena dialogue MATCH PLAYER` prints every line that went to a bot and came from it; `arena ask BOT MATCH` what
    another version answers there.

    Example: arena show 3f9a2c41d07b-0-1 --states
    """
    if svg is not None and svg.suffix != ".svg":
        raise SpecError(f"--svg {svg}: the picture is an SVG, expected a name that ends in .svg")
    if private and html is None and not is_opened:
        raise SpecError(f"--private {private[0]}: no page to show it on; give --html FILE or --open, too")
    has_page = html is not None or is_opened
    (record, secret), result = recent_match(match_id), None
    if record is not None:
        kept = (recent_match(other)[0] for other in partners(record.match, len(record.seats)))
        others = [*filter(None, kept)] if has_page else []
    else:
        with stored(results) as store:
            found = store.match(match_id)
            record, result = record_of(found), found.result
            others = _block(store, record) if has_page else []
            secret = None if record.commitment is UNSET else store.secret(record.commitment)
    origin = match_luck_description(record, secret)
    other = other_rules(record)
    if other and svg is not None:
        raise SpecError(f"match {match_id}: no picture without a replay: {other}")
    if svg is not None:
        svg.write_text(_picture(record, step), encoding="utf-8")
    if has_page:
        _write_page(match_page(record, others, origin=origin, private=_seated(record, private)), html, is_opened)
    if step is not None and svg is None:
        click.echo("\n".join(step_lines(record, _checked(record, step))))
        return
    luck = luck_lines(record, result if other else None)
    requests = time_lines(record) if times else ()
    for line in itertools.chain(transcript(record, every_state=states, luck=origin), luck, requests):
        click.echo(line)


def _seated(record: MatchRecord, private: tuple[str, ...]) -> tuple[str, ...]:
    if unknown := [name for name in private if name not in record.players]:
        raise SpecError(f"--private {unknown[0]}: the players of this match are {', '.join(record.players)}")
    return private


def _block(store: MatchStore, record: MatchRecord) -> list[MatchRecord]:
    """The other matches of the block."""
    ids = partners(record.match, len(record.seats))
    return [record_of(store.match(other)) for other in ids]


def _write_page(page: str, path: Path | None, is_opened: bool) -> None:
    """Write the page to `path`, or to a new temporary file that stays for the browser."""
    if path is None:
        with tempfile.NamedTemporaryFile(prefix="arena-match-", suffix=".html", delete=False) as file:
            path = Path(file.name)
    path.write_text(page, encoding="utf-8")
    if is_opened and not webbrowser.open(path.resolve().as_uri()):
        click.echo("no browser was found", err=True)
    click.echo(f"the match plays in {path}: open it in a browser", err=True)


def _checked(record: MatchRecord, step: int) -> int:
    """The step, if the match has it."""
    if step > len(record.steps):
        raise SpecError(f"--step {step}: the match has {len(record.steps)} steps")
    return step


def _picture(record: MatchRecord, step: int | None) -> str:
    game = load_game(record.game)
    state = game.setup(record.options, len(record.seats))
    for moment in itertools.islice(replay(record), step and _checked(record, step)):
        state = moment.after if moment.is_complete else moment.before
    return named_picture(game, state, record.players)
