"""`arena league run`: what is left of a tournament, what a change of it drops, or its forecast."""

import contextlib
import os
import sys
from collections.abc import Iterator

import click
from msgspec.structs import replace

from arena.bundled import find_tournament
from arena.cli.completion import complete_tournament
from arena.cli.edge import print_error, show_events
from arena.cli.options import WORKERS, columns_option, format_option, requesting, require_columns
from arena.errors import DamagedStore, SpecError
from arena.league.update import DroppedMatches, describe_drops
from arena.operations.events import Event
from arena.operations.plan_league import plan_league
from arena.operations.run_league import (
    LeagueBegins,
    LeagueOutcome,
    MatchesDropped,
    RunLeague,
    TournamentUpdate,
    VersionsChanged,
    VersionsKept,
    preview_update,
    run_league,
    tournament_of,
)
from arena.plugins import TRUST
from arena.report.formats import Style
from arena.report.luck_origin import luck_description
from arena.report.plan import plan_lines
from arena.store.league_log import logging_to
from arena.text import counted


@click.command("run")
@requesting(RunLeague)
@click.argument("tournament", metavar="FILE|NAME", shell_complete=complete_tournament)
@click.option("--workers", type=WORKERS, help="Matches played at once; default: the file, or all cores.")
@format_option(text="Format of the leaderboard.")
@columns_option
@click.option("--update", is_flag=True, help="Take new versions of bots, and changes that drop matches; asks before.")
@click.option("--yes", is_flag=True, help="With --update: do not ask.")
@click.option("--trust-code", is_flag=True, help="Let `game: module:Class` name a module in the tournament's folder.")
@click.option(
    "--plan",
    is_flag=True,
    help="Only forecast matches, time and precision, by a sample of a minute; with --update also what is dropped.",
)
def run(request: RunLeague, *, form: str, style: Style, yes: bool, trust_code: bool, plan: bool) -> None:
    """Play what is left of a tournament, then print the leaderboard.

    FILE is a tournament file. NAME is a file NAME.yaml in tournaments/, or a bundled tournament; `arena tournaments`
    lists both.

    Ctrl-C, SIGTERM or a crash loses nothing that is stored: the same command continues where it stopped, and ends with
    the same standings. Without `seed:` in the file all luck follows from a secret, which is drawn at the first run and
    kept in the results; its commitment is printed.

    A league that has begun goes on with the bots it began with, also if they were submitted again or edited since.

    With --plan nothing is stored. A sample on other luck shows how many hours the league will take on this machine, and
    the difference between two players that so many blocks can show. With --cluster the sample is played here, too; the
    time is that of all workers, by their speeds.

    Example: arena league run first --workers 4
    """
    if yes and not request.update:
        raise SpecError("--yes goes with --update")
    if trust_code:
        os.environ[TRUST] = str(find_tournament(request.tournament).parent.absolute())
    if plan:
        if request.update:
            click.echo("\n".join(_update_lines(preview_update(request))))
        with show_events(_print_news, lambda step: f"{step.done} {step.task}, at most a minute") as on:
            forecast = plan_league(request, on)
        click.echo("\n".join(plan_lines(forecast, style.width)))
    else:
        if style.columns:
            require_columns(style, form, tournament_of(request)[0])
        request = replace(request, may_drop=None) if yes else _ask_to_drop(request)
        outcome = _play(request, is_agreed=not yes)
        from arena.report.leaderboard import leaderboard_page  # noqa: PLC0415 - numpy, after the machine was checked

        history = f"history: {outcome.history}"
        click.echo(leaderboard_page(outcome.standings, outcome.timing, outcome.news).render(form, style))
        click.echo(f"\n{history}" if form == "table" else history, err=form != "table")
        if outcome.failure is not None:
            raise outcome.failure


def _play(request: RunLeague, *, is_agreed: bool) -> LeagueOutcome:
    """Play with a log and a progress line; print what is dropped unless a person agreed to it."""
    with contextlib.ExitStack() as ending:

        def tell(event: Event) -> None:
            if isinstance(event, LeagueBegins):
                ending.enter_context(logging_to(request.results, event.league, print_error))
            if not (is_agreed and isinstance(event, MatchesDropped)):
                _print_news(event)

        on = ending.enter_context(show_events(tell, lambda step: step.counts.words(), is_left=True))
        return run_league(request, on)


def _ask_to_drop(request: RunLeague) -> RunLeague:
    """Ask a person whether to drop matches; return the request with the agreed number.

    Nobody is asked without `update`, or if no match would be dropped. SpecError at a no, and without a terminal.
    """
    if not request.update:
        return request
    with contextlib.suppress(DamagedStore):  # a damaged league is stored anew, which the run reports
        update = preview_update(request)
        if update.dropped is not None and update.dropped.dropped:
            for line in _update_lines(update):
                click.echo(line, err=True)
            if not (sys.stdin is not None and sys.stdin.isatty()):
                raise SpecError("--update drops matches, and there is no terminal to ask at: give --yes to agree")
            if not click.confirm("go on?", err=True):
                name = update.tournament.name
                raise SpecError(f"nothing was changed: league {name} goes on as it was without --update")
            return replace(request, may_drop=update.dropped.dropped)
    return request


def _update_lines(update: TournamentUpdate) -> Iterator[str]:
    """Yield what `--update` would change and drop."""
    if update.dropped is None:
        yield f"league {update.tournament.name} has not begun: nothing is dropped"
    else:
        yield from _drop_lines(update.tournament.name, update.changes, update.dropped)


def _drop_lines(league: str, changes: tuple[str, ...], dropped: DroppedMatches) -> Iterator[str]:
    yield f"league {league}: {', '.join(changes) or 'nothing changed'}"
    for sentence in describe_drops(dropped):
        yield f"  {sentence}"


def _print_news(event: Event) -> None:
    """Print kept and changed versions, secret luck of a league and dropped matches on stderr; ignore other events."""
    match event:
        case VersionsKept():
            versions = ", ".join(
                f"{kept.player} ({kept.version}; there is {kept.newer} now)" for kept in event.versions
            )
            print_error(
                f"league {event.league} goes on with the versions it began with: {versions}. `arena league run FILE"
                " --update` takes the new ones (with --plan it only says what that drops)"
            )
        case LeagueBegins() if event.luck.public_seed is None:
            print_error(f"league {event.league}: {luck_description(event.luck)}")
        case VersionsChanged():
            print_error(f"league {event.league}: {', '.join(event.changes)}")
            if event.matches:
                print_error(f"  history: {counted(event.matches, 'match', 'matches')} of former versions")
        case MatchesDropped():
            print_error("\n".join(_drop_lines(event.league, event.changes, event.dropped)))
