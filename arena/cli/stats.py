"""`arena stats`, `matrix` and `calibration`: what the stored matches of a league tell beyond its leaderboard."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click

from arena.cli.league import one_league, stored
from arena.cli.options import results_option, terminal_width
from arena.errors import SpecError
from arena.league.tournament import Tournament, luck_origin
from arena.match.record import PackedRecord
from arena.report import calibration as calibration_page
from arena.report import matrix_page, profile_page
from arena.report.formats import FORMATS
from arena.report.luck_free import insist_on_value, measured, scores_without_luck, stored_luck
from arena.report.luck_origin import origin_told, with_origin
from arena.report.profile import profile
from arena.standings.calibration import judged
from arena.standings.matrix import compared
from arena.strict import unknown

_format_option = click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Of the output."
)


def _top(context: click.Context, parameter: click.Parameter, value: str) -> int | None:
    """A number of players; None for all of them."""
    if value == "all":
        return None
    if value.isascii() and value.isdigit() and int(value) > 0:
        return int(value)
    raise click.BadParameter(f"expected a number of players above 0, or all; found {value!r}", context, parameter)


def _names(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[str, ...]:
    return tuple(name for name in (part.strip() for part in value.split(",")) if name)


@click.command()
@click.argument("league", required=False)
@click.option(
    "--top", callback=_top, default="30", metavar="N|all", show_default=True, help="Show the best N players, or all."
)
@click.option("--players", "only", default="", callback=_names, metavar="A,B,...", help="Show only these players.")
@_format_option
@results_option
def matrix(league: str | None, top: int | None, only: tuple[str, ...], form: str, results: Path) -> None:
    """Print who scored what against whom in LEAGUE, which may be left out if there is only one.

    Marks in the cells tell who is surely better than whom, by all matches and with a correction for the number of
    pairs. A cell is shaded by how surprising it is beside the skills of the two. Below: whether one skill per player
    explains the results, and the cycles (A beats B beats C beats A). Shades only in a terminal, and not with NO_COLOR
    set.

    Example: arena matrix first --top 10
    """
    with stored(results) as store:
        state = one_league(store, league)
        tournament = state.tournament
    names = [player.name for player in tournament.players]
    for name in only:
        if name not in names:
            raise SpecError(f"league {tournament.name}: {unknown('player', name, names)}")
    ranks = [span.ranks for span in state.spans]
    found = compared(tournament.name, names, ranks, tournament.rating, top=top, only=only)
    width = terminal_width()
    is_coloured = width is not None and wants_colours(os.environ)
    page = matrix_page.render(found, format=form, width=width, is_coloured=is_coloured)
    _show(page, tournament, form)


def wants_colours(environment: Mapping[str, str]) -> bool:
    """Whether whoever sits at a terminal wants colours, by the conventions of NO_COLOR and TERM."""
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


@click.command()
@click.argument("league", required=False)
@_format_option
@results_option
def calibration(league: str | None, form: str, results: Path) -> None:
    """Print how well ratings foretell matches of LEAGUE, which may be left out if there is only one.

    Chances of 70 % should come true in 7 of 10 matches. Every match is foretold from matches without it.

    Example: arena calibration first
    """
    with stored(results) as store:
        state = one_league(store, league)
        tournament = state.tournament
    names = [player.name for player in tournament.players]
    found = judged(tournament.name, names, [span.ranks for span in state.spans], tournament.rating)
    _show(calibration_page.render(found, format=form, width=terminal_width()), tournament, form)


@click.command()
@click.argument("player")
@click.argument("league", required=False)
@click.option(
    "--luck", is_flag=True, help="Replay matches whose luck was not stored, to exclude it from scores; takes a while."
)
@_format_option
@results_option
def stats(player: str, league: str | None, luck: bool, form: str, results: Path) -> None:
    """Print all that LEAGUE tells of one PLAYER; LEAGUE may be left out if there is only one.

    Results by opponent, by seat and by tenth of the schedule, time per decision, faults and extreme matches with their
    ids. Where the luck of all matches was stored, scores without it stand beside the others.

    Example: arena stats greedy first
    """
    with stored(results) as store:
        state = one_league(store, league)
        tournament = state.tournament
        names = [each.name for each in tournament.players]
        if player not in names:
            raise SpecError(f"league {tournament.name}: {unknown('player', player, names)}")
        played = store.in_schedule_order(state.blocks)
        ids = [str(one.key) for one in played]
        known = stored_luck(player, played, ids)
        if luck:
            insist_on_value(tournament, played)
        if luck and not known:
            records = (match.record for match in store.matches(state.blocks))
            known = measured(player, _counted(records, len(ids)))
        without = scores_without_luck(player, played, ids, known)
        found = profile(tournament, player, played, ids, without.get)
    _show(profile_page.render(found, format=form, width=terminal_width()), tournament, form)


def _show(page: str, tournament: Tournament, form: str) -> None:
    """Print a page of statistics with the sentence on the luck of its league."""
    told = origin_told(luck_origin(tournament))
    click.echo(with_origin(page, told, format=form, width=terminal_width()))


def _counted(records: Iterable[PackedRecord], total: int) -> Iterator[PackedRecord]:
    """The same records, counted on the terminal as they pass."""
    is_terminal = sys.stderr.isatty()
    for number, record in enumerate(records, start=1):
        if is_terminal:
            click.echo(f"\rreplaying {number} of {total}\x1b[K", nl=False, err=True)
        yield record
    if is_terminal:
        click.echo("\r\x1b[K", nl=False, err=True)
