"""`arena league`: run a tournament file, show a league's progress, list its matches."""

import contextlib
import sys
from pathlib import Path

import click
from msgspec.structs import replace

from arena.bundled import bundled_folder, list_tournaments
from arena.cli import SuggestingGroup
from arena.cli.completion import complete_league
from arena.cli.edge import print_text, show_events
from arena.cli.options import FILE_PATH, columns_option, format_option, page_width, requesting
from arena.cli.run import run
from arena.errors import DamagedStore, SpecError
from arena.league.progress import progress_of
from arena.league.tournament import (
    TOURNAMENT_FILE_LIMIT,
    Finalists,
    TournamentFile,
    luck_origin,
)
from arena.operations.events import ignore
from arena.operations.keep_results import CloseLeague, close_league
from arena.operations.list_matches import ListMatches, list_matches
from arena.operations.read_history import ReadHistory, read_history
from arena.operations.read_status import MachineShare, ReadStatus, read_status
from arena.operations.reveal_secret import RevealSecret, reveal_secret
from arena.report.formats import Style, format_listing
from arena.report.game_texts import GAME_FORMATS, game_texts
from arena.report.history import history_page, run_sentence
from arena.report.luck_origin import luck_description, secret_descriptions
from arena.report.matches import MATCH_FORMATS, match_list
from arena.text import counted, printable
from arena.yaml_file import read_yaml


@click.group(cls=SuggestingGroup)
def league() -> None:
    """Run a tournament file, see how far it is, list its matches.

    Example: arena league run first
    """


@click.command()
def tournaments() -> None:
    """List the tournaments that have a name: those in tournaments/ here, and the bundled ones.

    Example: arena tournaments
    """
    rows: list[list[str]] = []
    for path, place in list_tournaments():
        try:
            file = read_yaml(path, TournamentFile, limit=TOURNAMENT_FILE_LIMIT)
        except SpecError as error:
            click.echo(f"left out: {error}", err=True)
            continue
        description = printable(" ".join(file.description.split()))
        rows.append([path.stem, printable(file.game), _count_text(file), place, description])
    headers = ["tournament", "game", "players", "from", "description"]
    click.echo(format_listing(headers, rows, page_width()))
    click.echo(f"\nbundled: in {bundled_folder('tournaments')}")


def _count_text(file: TournamentFile) -> str:
    """Return the number of players of a tournament, or `submitted`, or `8 of course`."""
    if isinstance(file.players, Finalists):
        return f"{file.players.top} of {printable(file.players.of)}"
    return "submitted" if any(entry.submitted for entry in file.entries) else str(len(file.entries))


league.add_command(run)


@league.command()
@requesting(ReadStatus)
@click.argument("league", required=False, shell_complete=complete_league)
def status(request: ReadStatus) -> None:
    """Print how many matches are stored, and which round is on.

    Without LEAGUE all are listed. Where machines of a cluster played, the blocks and the speed of each are printed. The
    last line has the root of all stored matches, for `arena verify --root`.

    Example: arena league status
    """
    stored = read_status(request)
    for entry in stored.leagues:
        state, tournament = entry.state, entry.state.tournament
        print_text(
            f"{tournament.name}: {progress_of(state)}, {len(tournament.players)} players, game {tournament.game}"
        )
        is_secret = tournament.seed is None
        luck = secret_descriptions(entry.secrets) if is_secret else [luck_description(luck_origin(tournament))]
        for sentence in (*luck, *state.news, *map(_share, entry.machines)):
            print_text(f"  {sentence}")
    click.echo(f"history: {stored.history}")
    if stored.damage:
        raise DamagedStore("\n".join(stored.damage))


def _share(machine: MachineShare) -> str:
    """Return `node7, speed 20.1 to 20.4: 120 blocks`, or the blocks of this machine."""
    speeds = f"{printable(machine.name)}, speed {' to '.join(map(str, machine.speeds))}"
    return f"{speeds if machine.name else 'without a cluster'}: {counted(machine.blocks, 'block')}"


@league.command()
@requesting(RevealSecret)
@click.argument("league", shell_complete=complete_league)
@click.option("--to", "file", type=FILE_PATH, help="New file for the secret, for --secret-file.")
def reveal(request: RevealSecret, file: Path | None) -> None:
    """Print the secret from which the luck of a league follows, or with --to write it to a new file.

    The secret gives no new block from then on. With the secret and its commitment anybody computes every die again:
    `arena verify --secret-file FILE` checks a copy of the results, `arena league run --secret-file FILE` repeats the
    league. Blocks that are not played yet are drawn under a new secret, with a commitment of its own, at the next run.

    `LEAGUE@3` is the secret of the third run of a league of submitted bots, of which each run has its own.

    Example: arena league reveal first --to first.secret
    """
    if file is not None and file.exists():
        raise SpecError(f"--to {file}: the file exists; choose a new one")
    (record, secret), name = reveal_secret(request), request.league
    if file is None:
        click.echo(secret.reveal())
    else:
        remark = f"# secret of league {name}, commitment {secret.commitment}, revealed {record.revealed_at}"
        file.write_text(f"{remark}\n{secret.reveal()}\n", encoding="utf-8")
    click.echo(
        f"league {name}: the secret of commitment {secret.commitment} is revealed ({record.revealed_at}) and gives no"
        " new block; what is not played yet is drawn under a new secret, with a commitment of its own",
        err=True,
    )


@league.command()
@requesting(CloseLeague)
@click.argument("league", shell_complete=complete_league)
def close(request: CloseLeague) -> None:
    """End a run that is not complete: its standings become a part of the history.

    The next run plays what is left, under a new secret if it takes submitted bots.

    Example: arena league close course
    """
    click.echo(printable(run_sentence(close_league(request))))


@league.command()
@requesting(ReadHistory)
@click.argument("league", required=False, shell_complete=complete_league)
@format_option()
def history(request: ReadHistory, form: str) -> None:
    """Show the runs of a league that have ended: what changed, and the rank and rating of each player then.

    LEAGUE may be left out if there is only one. Wherever a command takes a LEAGUE, `LEAGUE@3` is the league at the end
    of its third run, and `LEAGUE@2026-11-27` at the end of that day (UTC).

    Example: arena league history course
    """
    name, runs = read_history(request)
    click.echo(history_page(name, runs).render(form, Style(width=page_width())))


@league.command()
@requesting(ListMatches)
@click.argument("league", required=False, shell_complete=complete_league)
@click.option("--faults", is_flag=True, help="Only matches with a fault, and why: found, expected, stderr.")
@format_option(
    (*MATCH_FORMATS, *GAME_FORMATS),
    "Format of the output; csv and json have all that is known of each match, pgn and sgf its moves.",
)
@columns_option
def matches(request: ListMatches, form: str, style: Style) -> None:
    """List the stored matches of a league.

    LEAGUE may be left out if there is only one. A line has the id, the players by seat, the scores, the termination and
    the faults; with --format csv or json also ranks, luck, moves and times. docs/results.md explains the columns.

    Example: arena league matches first --format csv
    """
    showing = contextlib.nullcontext(ignore) if sys.stdout.isatty() else show_events()
    is_game = form in GAME_FORMATS
    with showing as on, list_matches(replace(request, records=is_game), on) as (seats, results):
        if is_game:
            for text in game_texts(results, request.league or "?", form):
                click.echo(text, nl=False)
            return
        for piece in match_list(results, seats=seats, form=form, has_reasons=request.faults, style=style):
            click.echo(piece, nl=False)
