"""`arena match` and `arena play`: a few matches at one table, at once; bots among themselves, or with a person."""

import contextlib
import json
import shlex
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
from msgspec.structs import replace

from arena.api import installed
from arena.cli.completion import complete_bot
from arena.cli.edge import TerminalLine, stoppable
from arena.cli.options import FILE_PATH, MatchSetup, match_options, person_options, require_columns, table_options
from arena.errors import Interrupted, SpecError
from arena.games import DEFAULT_GAME
from arena.league.driver import LocalBackend, play_jobs
from arena.league.exhibition import named_apart, play_here, require_seats
from arena.league.progress import Progress
from arena.league.schedule import jobs, match_count
from arena.league.tournament import Player, Tournament, largest_limits
from arena.league.worker import SeatedBots, bot_player
from arena.match.bot_player import BotPlayer
from arena.match.columns import PlayedBlock
from arena.match.human import PERSON, TERMINAL_COLUMNS, HumanPlayer
from arena.match.participant import Participant, TranscriptLine
from arena.match.record import MatchRecord, PackedRecord, unpack
from arena.match.referee import play_match
from arena.match.results import MatchKey, MatchResult
from arena.match.secret_luck import UNKNOWN_ORIGIN, Secret, draw_block
from arena.match.settings import MatchSettings, spec_of
from arena.operations.playing import require_games
from arena.process.cores import usable_cores
from arena.process.limits import Isolation
from arena.process.room import matches_that_fit, require_least
from arena.process.suspension import never_suspended
from arena.report.formats import Style
from arena.report.luck_origin import secret_description
from arena.report.transcript import dialogue, refusal_lines, result_line, stderr_lines, transcript
from arena.store.recent import MOST_RECENT, keep_recent
from arena.text import counted, folded

_GOES_ON: Final = " \\"
LEAST_BLOCKS_OF_A_TABLE: Final = 10
"""Blocks from which on a table with intervals is printed."""
SHOWN_ONE_BY_ONE = 10
"""Blocks up to this number are played here and printed; more are played on all cores, and only the table is printed."""


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT [BOT [BOT]]", shell_complete=complete_bot)
@click.option(
    "--blocks",
    type=click.IntRange(1, 100_000),
    default=1,
    help="Blocks to play: as many matches as bots, on the same luck, each bot once in each seat.",
)
@click.option("--steps", is_flag=True, help="Print each match step by step.")
@click.option("--dialogue", "log", type=FILE_PATH, help="File for every line, both ways.")
@table_options
@match_options
def match(bots: tuple[str, ...], blocks: int, steps: bool, log: Path | None, style: Style, setup: MatchSetup) -> None:
    """Play each BOT, by name or path, against the others at one table, and print who won.

    From 10 blocks on there is a table. Nothing is stored in results; the last 50 matches are kept for
    `arena show`, `arena dialogue` and `arena ask`.

    Example: arena match ./mybot greedy --blocks 50
    """
    require_seats(setup.game, len(bots))
    players = named_apart([setup.bots.find(each) for each in bots])
    require_games([player.bot for player in players], setup.game)
    secret = setup.given or Secret.random()
    tournament = setup.exhibition(players, secret, blocks)
    require_columns(style, "table", tournament)
    setup.prepare_isolation()
    played: list[MatchResult] = []
    recent: deque[MatchRecord] = deque(maxlen=MOST_RECENT)
    is_interrupted = False
    with setup.installing() as bots_here, stoppable():
        try:
            tournament = installed(tournament, bots_here)
            if steps or log or blocks <= SHOWN_ONE_BY_ONE:
                _play_here(tournament, secret, played, recent, setup.isolation, steps=steps, log=log)
            else:
                _play_in_parallel(tournament, secret, played, recent, setup.isolation)
        except KeyboardInterrupt:
            is_interrupted = True
        origin = None if setup.given is None else "file" if setup.given.seed is None else "public"
        is_kept = keep_recent(recent, origin or "drawn")
        if played or not is_interrupted:
            if blocks >= LEAST_BLOCKS_OF_A_TABLE or style != Style(width=style.width):
                from arena.league.standings import standings_of  # noqa: PLC0415 - numpy is for the table only
                from arena.report.leaderboard import leaderboard_page  # noqa: PLC0415 - see above

                standings, times = standings_of(tournament, played)
                plain = replace(standings, luck=UNKNOWN_ORIGIN)  # the luck of a few matches is described once, below
                click.echo(leaderboard_page(plain, times).render("table", style))
            for line in _summary(players, played, recent, is_kept=is_kept):
                click.echo(line)
            if setup.given is not None:
                click.echo(secret_description(setup.given, is_chosen=True))
    if is_interrupted:
        raise Interrupted(f"interrupted after {len(played)} of {match_count(tournament)} matches")


def _summary(
    players: Sequence[Player], played: Sequence[MatchResult], recent: Sequence[MatchRecord], *, is_kept: bool
) -> Iterator[str]:
    """Yield who won how often, what to know of these results, and the commands that show why."""
    names = [player.name for player in players]
    wins = Counter(winner for one in played if (winner := _winner(one)) is not None)
    yield f"{counted(len(played), 'match', 'matches')}; won: {', '.join(f'{name} {wins[name]}' for name in names)}"
    if _are_alike(played, recent):
        yield f"same moves in all of them by {' and '.join(names)}: the same bot, or bots that use bot_seed alike"
    if any(one.isolation == "none" for one in played):
        yield "isolation: none. UNSANDBOXED: bots could read the files of this account, and each other's"
    if is_kept and recent:
        lost = next((one for one in recent if one.ranks[_seat_of(one, names[0])]), recent[-1])
        yield f"step by step: arena show {lost.match}"
        yield f"another bot in its place: arena ask BOT {lost.match} --as {names[0]}"


def _winner(one: MatchResult) -> str | None:
    """Return the player with a first place of its own."""
    first = [name for name, rank in zip(one.players, one.ranks, strict=True) if rank == 0]
    return first[0] if len(first) == 1 else None


def _seat_of(record: MatchRecord, player: str) -> int:
    return record.players.index(player)


def _are_alike(played: Sequence[MatchResult], recent: Sequence[MatchRecord]) -> bool:
    """Return whether the matches of each block are the same, move by move where their records are at hand."""
    ends: dict[tuple[str, int], set[object]] = {}
    for one in played:
        ends.setdefault(one.key[:2], set()).add((one.ranks, one.scores, one.moves))
    for record in recent:
        key = MatchKey.read(record.match)
        ends.setdefault((f"moves of {key.pairing}", key.block), set()).add(repr(record.steps))
    return len(played) > 1 and all(len(kinds) == 1 for kinds in ends.values())


class _Dialogue:
    """The file of `--dialogue`. It is complete after each match, and after an interruption."""

    def __init__(self, path: Path) -> None:
        self._seated: list[BotPlayer] = []
        self._start_s: float | None = None
        self._file = path.open("w", encoding="utf-8")

    def seat(self, table: SeatedBots) -> None:
        """Write what the players before these have said to their end."""
        self.add()
        self._seated = [*table]

    def add(self) -> None:
        """Write what was said since the last time, and forget it."""
        said: dict[str, list[TranscriptLine]] = {}
        for each in self._seated:
            said.setdefault(each.player, []).extend(each.transcript)
            each.transcript.clear()
        if self._start_s is None:
            self._start_s = min((at_s for lines in said.values() for at_s, *_ in lines), default=None)
        self._file.writelines(f"{line}\n" for line in dialogue(said, self._start_s))
        self._file.flush()

    def close(self) -> None:
        """Write the rest."""
        self.add()
        self._file.close()


def _play_here(
    tournament: Tournament,
    secret: Secret,
    played: list[MatchResult],
    recent: deque[MatchRecord],
    isolation: Isolation,
    *,
    steps: bool,
    log: Path | None,
) -> None:
    """Play match after match and print each; the results go to `played`, the last records to `recent`."""
    tournament = replace(tournament, stderr="keep")
    with contextlib.ExitStack() as ending:
        said = None if log is None else ending.enter_context(contextlib.closing(_Dialogue(log)))
        watch: Callable[[SeatedBots], object] = (lambda _: None) if said is None else said.seat
        playing = play_here(tournament, secret, isolation, keep_transcript=log is not None, watch=watch)
        # The innermost: what a bot says while it is ended is heard.
        matches = ending.enter_context(contextlib.closing(playing))
        for _, record, result in matches:
            played.append(result)
            recent.append(record)
            lines = [result_line(record), *refusal_lines(record), *stderr_lines(record)]
            click.echo("\n".join([*transcript(record, every_state=False), ""] if steps else lines))
            if said is not None:
                said.add()
        click.echo("")


def _play_in_parallel(
    tournament: Tournament,
    secret: Secret,
    played: list[MatchResult],
    recent: deque[MatchRecord],
    isolation: Isolation,
) -> None:
    """Play on all cores; the results go to `played` in schedule order, also those before an interruption."""
    progress = Progress(total=match_count(tournament))
    results: list[MatchResult] = []
    last: deque[PackedRecord] = deque(maxlen=MOST_RECENT)

    def commit(blocks: list[PlayedBlock]) -> None:
        for each in blocks:
            results.extend(one.result for one in each.matches)
            last.extend(one.record for one in each.matches)
            progress.add(len(each.storable), each.forfeits)

    def tick(finished: int) -> None:
        progress.finished = finished
        draw()

    require_least()
    backend = LocalBackend(max(1, min(len(usable_cores()), matches_that_fit(largest_limits(tournament)))))
    try:
        with TerminalLine(progress.words, progress.counts).shown() as draw:
            play_jobs([jobs(tournament, {}, isolation, secret=secret)], backend, commit=commit, tick=tick)
    finally:
        played += sorted(results, key=lambda one: one.key)
        recent.extend(map(unpack, last))


@click.command("play")
@click.argument("bots", nargs=-1, required=True, metavar="BOT [BOT [BOT]]", shell_complete=complete_bot)
@click.option("--seat", type=click.IntRange(0), default=0, help="Your seat.")
@person_options
def play_in_person(bots: tuple[str, ...], seat: int, setup: MatchSetup) -> None:
    """Play a match against each BOT, by name or path, at one table; they sit down in their order around you.

    The luck is drawn under a new secret, which is printed at the end with the way to play it again.

    Example: arena play greedy --seat 1
    """
    game, seats = setup.game, len(bots) + 1
    try:
        require_seats(game, seats)
    except SpecError as error:
        raise SpecError(f"{error}: you and {counted(len(bots), 'bot')}") from None
    if seat >= seats:
        raise SpecError(f"--seat {seat}: there are seats 0 to {seats - 1}")
    setup.require_options(seats)
    found = named_apart([setup.bots.find(each) for each in bots])
    rivals = [replace(each, name=f"the-bot-{each.name}") if each.name == PERSON else each for each in found]
    require_games([rival.bot for rival in rivals], game)
    setup.prepare_isolation()
    secret = setup.given or Secret.random()
    person = HumanPlayer(say=_for_a_person(click.echo), prompt=_for_a_person(partial(click.prompt, prompt_suffix="> ")))
    setting = MatchSettings(game, setup.options, setup.clock)
    spec = spec_of(setting, "play-0-0", draw_block(secret, "play-0", seats), 0, setup.isolation)
    with contextlib.ExitStack() as ending:
        bots_here = ending.enter_context(setup.installing())
        table: list[Participant] = []
        for rival in rivals:
            installed = replace(rival, bot=bots_here.install(rival.bot))
            seated = bot_player(installed, setting, setup.isolation, seats=seats)
            seated.account.suspended = never_suspended  # a person who presses Ctrl-Z comes back to the same match
            ending.callback(seated.close, grace_s=0.0)
            table.append(seated)
        table.insert(seat, person)
        record = play_match(spec, table)
    click.echo(folded(_result(record, seat), TERMINAL_COLUMNS))
    click.echo(folded(secret_description(secret, is_chosen=setup.given is not None), TERMINAL_COLUMNS))
    luck = ["--secret-file", "FILE"] if secret.seed is None else ["--seed", secret.seed]
    click.echo(f"the same luck again:\n{_again(bots, seat, luck, game, setup.options)}")


def _for_a_person(told: Callable[[str], Any]) -> Callable[[str], Any]:
    """The same; if the person stops it, or closes the terminal or the pipe, neither match nor game is to blame."""

    def tell(text: str) -> Any:
        try:
            return told(text)
        except click.Abort:
            raise KeyboardInterrupt from None
        except BrokenPipeError:
            raise SystemExit from None

    return tell


def _again(bots: tuple[str, ...], seat: int, luck: list[str], game: str, options: dict[str, Any]) -> str:
    """The command that plays this match again, without what is so by default; a long one goes on after a backslash."""
    words = ["arena", "play", *bots, *luck]
    words += ["--seat", str(seat)] if seat else []
    words += ["--game", game] if game != DEFAULT_GAME else []
    words += ["--options", json.dumps(options)] if options else []
    lines = [words[0]]
    for word in map(shlex.quote, words[1:]):
        if len(lines[-1]) + len(word) + len(_GOES_ON) >= TERMINAL_COLUMNS:
            lines.append(f"   {word}")
        else:
            lines[-1] += f" {word}"
    return f"{_GOES_ON}\n".join(lines)


def _result(record: MatchRecord, seat: int) -> str:
    if record.fault is not None:
        who = "you" if record.fault.seat == seat else record.seats[record.fault.seat].player
        return f"\n{who} forfeited: {record.fault.message}"
    assert record.scores is not None, "a match without a fault has scores"
    others = [f"{score} ({name})" for name, score in zip(record.players, record.scores, strict=True)]
    del others[seat]
    best = min(rank for place, rank in enumerate(record.ranks) if place != seat)
    word = "you win" if record.ranks[seat] < best else "you lose" if record.ranks[seat] > best else "a draw"
    return f"\n{word}, {record.scores[seat]} to {', '.join(others)}"
