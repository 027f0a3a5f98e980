"""`arena show`: one stored match step by step, as text and as pictures."""

import itertools
from pathlib import Path

import click
from msgspec import UNSET

from arena.api import record_of, stored
from arena.cli.options import FILE_PATH, FOLDER_PATH, results_option
from arena.errors import SpecError
from arena.games import load_game
from arena.match.record import MatchRecord
from arena.match.replay import other_rules, replay
from arena.report.luck_origin import match_luck_description
from arena.report.transcript import luck_lines, time_lines, transcript, wire_lines
from arena.report.viewer import write_viewer
from arena.text import counted


@click.command()
@click.argument("match_id")
@click.option("--states", is_flag=True, help="Draw the table after each step.")
@click.option("--svg", type=FILE_PATH, help="Write the position as a picture.")
@click.option("--step", type=click.IntRange(1), help="The step after which the picture is taken; default: the last.")
@click.option(
    "--svg-dir",
    type=FOLDER_PATH,
    help="New folder for a picture of each step that changed anything, and index.html to page through them.",
)
@click.option("--times", is_flag=True, help="Print the use of time by request: CPU, wall, idle, bank, bytes of stderr.")
@click.option("--lines", is_flag=True, help="Print every line both ways, as it went over the wire.")
@results_option
def show(
    match_id: str,
    states: bool,
    svg: Path | None,
    step: int | None,
    svg_dir: Path | None,
    times: bool,
    lines: bool,
    results: Path,
) -> None:
    """Replay the stored match MATCH_ID step by step; `arena league matches NAME` lists the ids.

    At the start: the luck of its block, from which every die follows, and the commitment to it. At the end: how much of
    it was luck, and the luckiest and unluckiest draws of each seat. A match by other rules than those of this arena is
    told as it was recorded, without positions.

    With --times and --lines, the use of time by request, and every line that went to each bot and came from it.

    Example: arena show 3f9a2c41d07b-0-1 --states
    """
    if svg is not None and svg.suffix != ".svg":
        raise SpecError(f"--svg {svg}: the picture is an SVG, expected a name that ends in .svg")
    if step is not None and svg is None:
        raise SpecError(f"--step {step}: no picture to take; give --svg FILE, too")
    with stored(results) as store:
        found = store.match(match_id)
        record = record_of(match_id, found)
        origin = match_luck_description(record, None if record.commitment is UNSET else store.secret(record.commitment))
    other = other_rules(record)
    if other and (svg is not None or svg_dir is not None):
        raise SpecError(f"match {match_id}: no pictures without a replay: {other}")
    if svg is not None:
        svg.write_text(_picture(record, step), encoding="utf-8")
    if svg_dir is not None:
        pictures = write_viewer(record, svg_dir, origin)
        click.echo(f"{counted(pictures, 'picture')} in {svg_dir}; open {svg_dir / 'index.html'} in a browser", err=True)
    luck = luck_lines(record, found.result if other else None)
    requests = itertools.chain(time_lines(record) if times else (), wire_lines(record) if lines else ())
    for line in itertools.chain(transcript(record, every_state=states, luck=origin), luck, requests):
        click.echo(line)


def _picture(record: MatchRecord, step: int | None) -> str:
    if step is not None and step > len(record.steps):
        raise SpecError(f"--step {step}: the match has {len(record.steps)} steps")
    game = load_game(record.game)
    state = game.setup(record.options, len(record.seats))
    for moment in itertools.islice(replay(record), step):
        state = moment.after if moment.is_complete else moment.before
    return game.picture(state)
