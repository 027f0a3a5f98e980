"""`arena leaderboard`, `stats` and `matrix`: the pages of a league, computed from its stored matches."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click

from arena.cli.completion import complete_league
from arena.cli.edge import task_line
from arena.cli.options import column_names, format_option, requesting, results_option, table_options, width_option
from arena.errors import SpecError
from arena.league.progress import steps_of
from arena.league.standings import matrix_of, standings_after
from arena.league.tournament import luck_origin
from arena.match.luck import luck_of
from arena.match.record import unpack
from arena.match.results import MatchResult, PlayedMatch, result_of
from arena.operations.leagues import one_league
from arena.operations.read_standings import ReadStandings, read_standings
from arena.report.formats import Style
from arena.report.leaderboard import leaderboard_page
from arena.report.luck_origin import luck_description
from arena.report.matrix import matrix_page
from arena.report.profile import player_profile, profile_page, without_luck
from arena.store.folder import stored
from arena.text import unknown


@click.command()
@requesting(ReadStandings)
@click.argument("league", required=False, metavar="[NAME]", shell_complete=complete_league)
@format_option()
@click.option("--no-timing", is_flag=True, help="Leave times out: equal results then give equal bytes.")
@table_options
@results_option
def leaderboard(request: ReadStandings, form: str, no_timing: bool, style: Style) -> None:
    """Print the standings of league NAME; NAME may be left out if there is only one.

    Six columns are shown, --wide shows all. In csv and json all are there, unless --columns names some.

    Example: arena leaderboard first --columns player,score,faults --explain
    """
    table = read_standings(request)
    times = None if no_timing else table.timing
    click.echo(leaderboard_page(table.standings, times, news=table.news).render(form, style))


def _top(context: click.Context, parameter: click.Parameter, value: str) -> int | None:
    """A number of players; None for all of them."""
    if value == "all":
        return None
    if value.isascii() and value.isdigit() and int(value) > 0:
        return int(value)
    raise click.BadParameter(f"expected a number of players above 0, or all; found {value!r}", context, parameter)


@click.command()
@click.argument("league", required=False, shell_complete=complete_league)
@click.option("--top", callback=_top, default="30", metavar="N|all", help="Show the best N players, or all.")
@click.option("--players", "only", callback=column_names, metavar="A,B,...", help="Show only these players.")
@click.option("--rows", type=click.Choice(("pairs", "players")), default="pairs", help="The table that CSV has.")
@format_option()
@click.option("--columns", metavar="A,B,...", callback=column_names, help="With csv or json: only these columns.")
@width_option
@results_option
def matrix(
    league: str | None,
    top: int | None,
    only: tuple[str, ...],
    rows: str,
    form: str,
    columns: tuple[str, ...],
    width: int | None,
    results: Path,
) -> None:
    """Print who scored what against whom in LEAGUE, which may be left out if there is only one.

    Marks in the cells tell who is surely better than whom, by all matches and with a correction for the number of
    pairs. A cell is shaded by how surprising it is beside the skills of the two. Below: whether one skill per player
    explains the results, and the cycles (A beats B beats C beats A). Shades only in a terminal, and not with NO_COLOR
    set.

    Example: arena matrix first --top 10
    """
    if rows == "players" and form != "csv":
        raise SpecError("--rows goes with --format csv; the other formats have both tables")
    with stored(results) as store:
        state = one_league(store, league)
        tournament = state.tournament
    names = [player.name for player in tournament.players]
    for name in only:
        if name not in names:
            raise SpecError(f"--players: league {tournament.name}: {unknown('player', name, names)}")
    found = matrix_of(state, top=top, only=only)
    is_coloured = sys.stdout.isatty() and wants_colours(os.environ)
    luck = luck_description(luck_origin(tournament))
    page = matrix_page(found, luck=luck, is_coloured=is_coloured, rows=rows)
    click.echo(page.render(form, Style(width=width, columns=columns)))


def wants_colours(environment: Mapping[str, str]) -> bool:
    """Whether whoever sits at a terminal wants colours, by the conventions of NO_COLOR and TERM."""
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


@click.command()
@click.argument("player")
@click.argument("league", required=False, shell_complete=complete_league)
@click.option(
    "--luck", is_flag=True, help="Replay matches whose luck was not stored, to exclude it from scores; takes a while."
)
@format_option()
@table_options
@results_option
def stats(player: str, league: str | None, luck: bool, form: str, results: Path, style: Style) -> None:
    """Print all that LEAGUE tells of one PLAYER; LEAGUE may be left out if there is only one.

    Results by opponent, by seat and by tenth of the schedule, time per move, faults and extreme matches with their ids.
    Where the luck of all matches was stored, scores without it stand beside the others if they tell more.

    Example: arena stats greedy first
    """
    with stored(results) as store, store.snapshot():
        state = one_league(store, league)
        known = [each.name for each in state.tournament.players]
        if player not in known:
            raise SpecError(f"league {state.tournament.name}: {unknown('player', player, known)}")
        if luck and (reason := without_luck(state.tournament)):
            raise SpecError(f"--luck: {reason}")
        sums = store.sums(state.blocks)
        table = standings_after(state, sums)
        page = player_profile(store, state, player, table, sums, _measured if luck else None)
    origin = luck_description(luck_origin(state.tournament))
    click.echo(profile_page(page, luck=origin).render(form, style))


def _measured(matches: Iterable[PlayedMatch], total: int) -> Iterator[MatchResult]:
    """The results of matches that are replayed for their luck. CheckFailed if one cannot be replayed."""
    with task_line() as on_step:
        for match in steps_of(matches, "replaying", total, on_step, every=10):
            record = unpack(match.record)
            yield result_of(record, luck_of(record))
