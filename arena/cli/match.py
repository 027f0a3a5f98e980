"""`arena match`: a few matches at one table, at once."""

import contextlib
import os
from itertools import chain
from pathlib import Path

import click

from arena.api import installed
from arena.cli.edge import TerminalLine, stoppable
from arena.cli.options import MatchSetup, match_options, require_games, terminal_width
from arena.errors import Interrupted
from arena.league.driver import LocalBackend, run_batches
from arena.league.exhibition import named_apart, play_here, require_seats, seat_all
from arena.league.progress import Progress
from arena.league.schedule import PlayedBlock, batches, match_count
from arena.league.tournament import Tournament
from arena.league.worker import Tables
from arena.match.bot_player import BotPlayer
from arena.match.participant import TranscriptLine
from arena.match.results import MatchResult
from arena.match.secret_luck import Secret
from arena.process.limits import Isolation
from arena.report.luck_origin import secret_description
from arena.report.transcript import dialogue, refusal_lines, result_line, transcript

SHOWN_ONE_BY_ONE = 10
"""Blocks up to this number are played here and printed; more are played on all cores, and only the table is printed."""


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT [BOT [BOT]]")
@click.option(
    "--blocks",
    type=click.IntRange(1, 100_000),
    default=1,
    show_default=True,
    help="Of as many matches as bots: same luck, each bot once in each seat.",
)
@click.option("--steps", is_flag=True, help="Print each match step by step.")
@click.option(
    "--dialogue", "log", type=click.Path(dir_okay=False, path_type=Path), help="File for every line, both ways."
)
@match_options
def match(bots: tuple[str, ...], blocks: int, steps: bool, log: Path | None, setup: MatchSetup) -> None:
    """Play each BOT, by name or path, against the others at one table, and print what came of it. Nothing is stored.

    The luck is drawn under a new secret, which is printed at the end.

    Example: arena match ./mybot greedy --blocks 50
    """
    require_seats(setup.game, len(bots))
    players = named_apart([setup.bots.find(each) for each in bots])
    require_games([player.bot for player in players], setup.game)
    secret = setup.given or Secret.random()
    tournament = setup.exhibition(players, secret, blocks)
    setup.prepare_isolation()
    tournament = installed(tournament, setup.bots)
    played: list[MatchResult] = []
    is_interrupted = False
    with stoppable():
        try:
            if steps or log or blocks <= SHOWN_ONE_BY_ONE:
                _play_here(tournament, secret, played, setup.isolation, steps=steps, log=log)
            else:
                _play_in_parallel(tournament, secret, played, setup.isolation)
        except KeyboardInterrupt:
            is_interrupted = True
        if played or not is_interrupted:
            from arena.league.standings import standings_of  # noqa: PLC0415 - numpy is for the table only
            from arena.report.leaderboard import leaderboard_page  # noqa: PLC0415 - see above

            standings, times = standings_of(tournament, played)
            click.echo(leaderboard_page(standings, times).render("table", terminal_width()))
            if setup.given is None:
                click.echo(secret_description(secret))
    if is_interrupted:
        raise Interrupted(f"interrupted after {len(played)} of {match_count(tournament)} matches")


class _Dialogue:
    """The file of `--dialogue`. It is complete after each match, and after an interruption."""

    def __init__(self, path: Path, tables: Tables) -> None:
        self._tables = tables
        self._seated: dict[BotPlayer, None] = {}
        self._first: TranscriptLine | None = None
        self._file = path.open("w", encoding="utf-8")

    def add(self) -> None:
        """Write what was said since the last time, and forget it."""
        said: dict[str, list[TranscriptLine]] = {}
        self._seated |= dict.fromkeys(chain.from_iterable(self._tables))  # others take their seats after a void match
        for each in self._seated:
            said.setdefault(each.player, []).extend(each.transcript)
        new = [line for lines in said.values() for line in lines]
        if not new:
            return
        for each in self._seated:
            each.transcript.clear()
        lines = dialogue(said)
        if self._first is None:
            self._first = min(new)
        else:
            # Times count from the first line of all: it is there once more to begin with, and left out of the file.
            lines = dialogue({"": [self._first], **said})
            next(lines)
        self._file.writelines(f"{line}\n" for line in lines)
        self._file.flush()

    def close(self) -> None:
        """Write the rest."""
        self.add()
        self._file.close()


def _play_here(
    tournament: Tournament,
    secret: Secret,
    played: list[MatchResult],
    isolation: Isolation,
    *,
    steps: bool,
    log: Path | None,
) -> None:
    """Play match after match and print each; the results go to `played`."""
    tables = seat_all(tournament, secret, isolation, keep_transcript=log is not None)
    with contextlib.ExitStack() as ending:
        said = None if log is None else ending.enter_context(contextlib.closing(_Dialogue(log, tables)))
        # The innermost: what a bot says while it is ended is heard.
        matches = ending.enter_context(contextlib.closing(play_here(tournament, secret, isolation, at=tables)))
        for record, result in matches:
            played.append(result)
            told = (
                [*transcript(record, every_state=False), ""] if steps else [result_line(record), *refusal_lines(record)]
            )
            click.echo("\n".join(told))
            if said is not None:
                said.add()
        click.echo("")


def _play_in_parallel(tournament: Tournament, secret: Secret, played: list[MatchResult], isolation: Isolation) -> None:
    """Play on all cores; the results go to `played` in schedule order, also those before an interruption."""
    progress = Progress(total=match_count(tournament))
    shown = TerminalLine(progress.line)
    results: list[MatchResult] = []

    def commit(blocks: list[PlayedBlock]) -> None:
        for each in blocks:
            results.extend(one.result for one in each.matches)
            progress.add(len(each.matches), sum(one.result.at_fault is not None for one in each.matches))

    try:
        backend = LocalBackend(len(os.sched_getaffinity(0)))
        run_batches(batches(tournament, {}, isolation, secret=secret), backend, commit=commit, tick=shown.draw)
    finally:
        shown.end()
        played += sorted(results, key=lambda one: one.key)
