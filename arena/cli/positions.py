"""`arena positions`: keep positions of stored matches with the expected answers, and ask each new version of a bot."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import click
import msgspec

from arena.cli import SuggestingGroup
from arena.cli.completion import complete_bot
from arena.cli.options import FILE_PATH, FOLDER_PATH, page_width, requesting
from arena.operations.positions import (
    Position,
    PositionResults,
    RunPositions,
    SavePosition,
    run_positions,
    save_position,
)
from arena.report.formats import format_listing
from arena.text import counted


@click.group(cls=SuggestingGroup)
def positions() -> None:
    """Keep positions of stored matches as tests for each new version of a bot.

    Example: arena positions run ./mybot positions
    """


def _parse_expected(_context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[object, ...]:
    """Return the values of JSON texts; refuse a text that is no JSON."""
    try:
        return tuple(json.loads(text) for text in texts)
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}", param=parameter) from None


@positions.command("save")
@requesting(SavePosition)
@click.argument("match", metavar="MATCH")
@click.argument("player")
@click.option("--step", type=click.IntRange(1), required=True, help="The step, as `arena show` numbers them.")
@click.option(
    "--expect",
    multiple=True,
    metavar="JSON",
    callback=_parse_expected,
    help="An answer that is right there: an action, or its index in `legal`; also several. Default: the recorded one.",
)
@click.option("--to", "folder", type=FOLDER_PATH, help="Folder of the set.")
@click.option("--name", help="Name of the position; default: match and step.")
def save(request: SavePosition) -> None:
    """Save a position of a stored match with the answers expected.

    It is the position before the step, at which PLAYER was asked. The folder has a small file for each position, which
    you may edit, and each match once; it needs no results.

    Example: arena positions save 3f9a2c41d07b-0-1 mybot --step 12 --expect 0
    """
    path, position = save_position(request)
    click.echo(f"{path}: {position.player} at step {position.step}, expected {_expected_text(position)}")


@positions.command("run")
@requesting(RunPositions)
@click.argument("bot", shell_complete=complete_bot)
@click.argument("folder", type=FOLDER_PATH, required=False)
@click.option("--to", "xml", type=FILE_PATH, help="Write the results to FILE as JUnit XML, too.")
def run(request: RunPositions, xml: Path | None) -> int:
    """Ask BOT at each saved position, and print which it passes. Exit 1 if it fails one.

    Example: arena positions run ./mybot positions --to report.xml
    """
    outcome = run_positions(request)
    results = outcome.results
    rows = [[row.name, "pass" if row.is_passed else "FAIL", row.reply, _expected_text(row.position)] for row in results]
    click.echo(format_listing(["position", "result", "answer", "expected"], rows, page_width()))
    passed, verb = sum(result.is_passed for result in results), "passes" if len(results) == 1 else "pass"
    click.echo(f"\n{passed} of {counted(len(results), 'position')} {verb}")
    if xml is not None:
        xml.write_text(_junit(outcome), encoding="utf-8")
    return int(passed < len(results))


def _junit(run: PositionResults) -> str:
    """Return the results as JUnit XML, for the CI of a forge."""
    failures = sum(not result.is_passed for result in run.results)
    suite = ET.Element("testsuite", name=run.bot, tests=str(len(run.results)), failures=str(failures), errors="0")
    for result in run.results:
        time_s = 0.0 if result.answer is None else result.answer.cpu_ms / 1000
        case = ET.SubElement(suite, "testcase", classname=result.position.match, name=result.name, time=f"{time_s:.6f}")
        if not result.is_passed:
            message = f"step {result.position.step}: {result.reply}; expected {_expected_text(result.position)}"
            ET.SubElement(case, "failure", message=message)
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _expected_text(position: Position) -> str:
    """Return the expected actions as one line."""
    return " or ".join(msgspec.json.encode(action).decode() for action in position.expect)
