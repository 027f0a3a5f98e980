"""`arena ask`: the answers of a bot for the requests of a stored match, compared with the recorded ones."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click
import msgspec
from msgspec.structs import replace

from arena.cli.completion import complete_bot
from arena.cli.dialogue import require_answer, seat_of
from arena.cli.edge import stoppable
from arena.cli.options import (
    bots_option,
    installing,
    isolation_option,
    option_named,
    prepare_isolation,
    results_option,
    width_option,
)
from arena.errors import SpecError
from arena.games import load_game
from arena.games.api import Seat, describe_for
from arena.league.schedule import pairing_of
from arena.league.tournament import Player, require_game
from arena.league.worker import bot_player
from arena.match.asking import BotAnswer, ask, played_on
from arena.match.bot_player import BotPlayer
from arena.match.record import MatchRecord
from arena.match.replay import state_before
from arena.match.requests import answer_steps
from arena.match.results import MatchKey
from arena.match.settings import ClockSettings, MatchSettings
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec
from arena.process.suspension import never_suspended
from arena.report.formats import listing
from arena.report.transcript import result_line, transcript
from arena.store.bots import BotStore
from arena.store.folder import record_of, stored
from arena.store.matches import MatchStore
from arena.store.recent import MATCH_ID, recent_match
from arena.text import counted, printable

_DAY_MS: Final = 86_400_000.0
_STEP_LINE: Final = re.compile(r" {0,3}([0-9]+)  ")
"""The beginning of a step of a transcript. Positions stand further to the right, and may begin with a number, too."""


@click.command("ask")
@click.argument("bot", shell_complete=complete_bot)
@click.argument("match_id", metavar="MATCH")
@click.option("--as", "player", metavar="PLAYER", help="The player whose requests BOT gets; default: that of its name.")
@click.option("--step", type=click.IntRange(1), help="Only the answer for this step, as `arena show` numbers them.")
@click.option("--all", "is_all", is_flag=True, help="The answers for all steps of the player, as without --step.")
@click.option("--play-on", is_flag=True, help="With --step: play the match on from there with BOT, on the same luck.")
@click.option("--no-clock", is_flag=True, help="Let an answer take any time.")
@click.option("--wait", is_flag=True, help="Name the process and wait for Enter before the request, for a debugger.")
@width_option
@isolation_option
@results_option
@bots_option
def ask_bot(
    bot: str,
    match_id: str,
    player: str | None,
    step: int | None,
    width: int | None,
    isolation: Isolation,
    results: Path,
    bots_folder: Path,
    *,
    is_all: bool,
    play_on: bool,
    no_clock: bool,
    wait: bool,
) -> int:
    """Ask BOT, by name or path, what it answers to the requests of MATCH. Exit 1 if anything differs.

    MATCH is stored in results or one of the last 50 of `arena match`. BOT gets the lines that PLAYER
    got in the match, up to the step. Its answers are compared with the recorded ones, which are played on whatever it
    says. With --play-on its own count from the step on, and so do those of the other
    bots, in the versions that played.

    With --wait no clock runs; docs/debug.md shows gdb, pdb and node. Sandboxed processes are hard to attach to:
    `--isolation none` helps.

    Example: arena ask ./mybot 3f9a2c41d07b-0-1 --step 12
    """
    _require_together(step, is_all=is_all, play_on=play_on, wait=wait)
    bots = BotStore(results, bots_folder, isolation)
    found = _found(bots, bot)
    record, _ = recent_match(match_id)
    players: list[Player] = []
    if record is not None and play_on:
        raise SpecError(f"match {match_id}: `arena match` keeps no bots, so nobody can play on")
    if record is None:
        with stored(results) as store:
            record = record_of(store.match(match_id))
            players = players_of(store, record)
    with option_named("--as"):
        seat = _seat(record, found, player)
    if step is not None:
        require_answer(record, seat, step)
    require_game(found, record.game)
    prepare_isolation(isolation, record.game)
    player_asked = players[seat] if players else Player(name=record.players[seat], bot=found)
    table = AskedTable(record, isolation, has_clock=not (no_clock or wait))
    with installing(results, bots, isolation) as bots_here, stoppable():
        asked = replace(player_asked, bot=bots_here.install(found))
        if play_on and step is not None:
            players[seat] = asked
            instead = f"with {found.label} as {asked.name}"
            return _play_on(table, [*_installed(players, seat, bots)], step, instead)
        before = _waiting(found) if wait else lambda _bot, _step: None
        answers = ask(record, table.seat(asked), seat, () if step is None else (step,), before=before)
    return _tell(record, seat, answers, step, width)


def _require_together(step: int | None, *, is_all: bool, play_on: bool, wait: bool) -> None:
    """SpecError for options that contradict each other."""
    if is_all and step is not None:
        raise SpecError("give either --step or --all: the one is one step, the other all")
    if play_on and step is None:
        raise SpecError("--play-on goes with --step, the step from which BOT plays")
    if play_on and wait:
        raise SpecError("give either --wait or --play-on: after a stop the bots would not play as in a match")


def _found(bots: BotStore, bot: str) -> BotSpec:
    """The bot by its name or path. SpecError if there is none, with the order of arguments if it looks like a match."""
    try:
        return bots.find(bot)
    except SpecError as error:
        order = f"; give the bot first: arena ask BOT {bot}" if MATCH_ID.fullmatch(bot) else ""
        raise SpecError(f"{error}{order}") from None


class AskedTable(msgspec.Struct, frozen=True):
    """The table of a stored match, at which bots are asked again."""

    record: MatchRecord
    isolation: Isolation
    has_clock: bool = True

    def seat(self, player: Player) -> BotPlayer:
        """The player's bot with the clock of the record, or without one. Its stderr is kept."""
        record, terms = self.record, msgspec.structs.asdict(self.record.clock)
        clock = ClockSettings(**terms) if self.has_clock else ClockSettings(**terms, startup_ms=_DAY_MS, ponder=True)
        settings = MatchSettings(record.game, record.options, clock, stderr="keep")
        found = bot_player(player, settings, self.isolation, seats=len(record.seats))
        found.account.has_clock, found.account.suspended = self.has_clock, never_suspended
        return found


def players_of(store: MatchStore, record: MatchRecord) -> list[Player]:
    """The players of a stored match with their arguments, as its league has them; their bots are not installed."""
    seated = [(entry.player, entry.bot) for entry in record.seats]
    known: dict[tuple[str, str], Player] = {}
    for tournament in map(store.league, store.leagues()):
        own = {(each.name, each.bot.digest): each for each in tournament.players}
        known |= own
        names = record.players
        if own.keys() >= {*seated} and pairing_of(tournament, names).key == MatchKey.read(record.match).pairing:
            known = own
            break
    missing = [player for player, bot in seated if (player, bot) not in known]
    if missing:
        raise SpecError(f"match {record.match}: no stored league has the version of {missing[0]} that played")
    return [known[each] for each in seated]


def _seat(record: MatchRecord, bot: BotSpec, player: str | None) -> int:
    """The seat of the player, or of the one with the bot's name."""
    if player is None and bot.name not in record.players:
        raise SpecError(f"no player is called {bot.name}; give --as and one of {', '.join(record.players)}")
    return seat_of(record, player or bot.name)


def _installed(players: list[Player], seat: int, bots: BotStore) -> Iterator[Player]:
    """The players with the bots that played, but for `seat`. SpecError if one is not kept any more."""
    for at, each in enumerate(players):
        yield each if at == seat else replace(each, bot=bots.installed(each.bot.digest))


def _play_on(table: AskedTable, players: list[Player], step: int, instead: str) -> int:
    """Print the match from the step on, and both results."""
    went_on = played_on(table.record, {at: table.seat(each) for at, each in enumerate(players)}, step)
    number = 0
    for line in transcript(went_on, every_state=False):
        numbered = _STEP_LINE.match(line)
        number = int(numbered[1]) if numbered else number
        if number >= step:
            click.echo(line)
    click.echo(f"as it was: {result_line(table.record)}\nfrom step {step} on {instead}: {result_line(went_on)}")
    return 0


def _waiting(spec: BotSpec) -> Callable[[BotPlayer, int], None]:
    """Wait for Enter, once, before a request goes out."""
    is_told = False

    def wait(bot: BotPlayer, step: int) -> None:
        nonlocal is_told
        if not is_told:
            is_told = True
            pids = ", ".join(map(str, sorted(bot.pids())))
            click.echo(f"process {pids} runs {spec.label}; the request for step {step} comes after Enter", err=True)
            sys.stdin.readline()

    return wait


def _tell(record: MatchRecord, seat: int, answers: tuple[BotAnswer, ...], step: int | None, width: int | None) -> int:
    """Print the answers to one step or to all; the exit code."""
    asked = answer_steps(record, seat) if step is None else (step,)
    is_same = len(answers) == len(asked) and all(each.is_same for each in answers)
    for line in _differences(answers, len(asked), width) if step is None else _detail(record, seat, step, answers):
        click.echo(line)
    if step is None and not is_same and answers:
        first = next((each.step for each in answers if not each.is_same), answers[-1].step)
        click.echo(
            f"`--step {first}` shows the table there, with note and stderr; `--play-on`, too, plays on", err=True
        )
    return int(not is_same)


def _detail(record: MatchRecord, seat: int, step: int, answers: tuple[BotAnswer, ...]) -> Iterator[str]:
    """The table as the player saw it, the answer, and all that came with it."""
    game = load_game(record.game)
    yield from describe_for(game, state_before(record, step), Seat(seat), record.players).splitlines()
    yield ""
    for each in answers:
        yield f"step {each.step}: {'the same answer' if each.is_same else 'another answer'}"
        yield f"recorded: {_recorded(each)}"
        yield f"now:      {_now(each)}, {each.cpu_ms:.3f} ms CPU"
        yield from (f"stderr | {line}" for line in each.stderr.splitlines())


def _differences(answers: tuple[BotAnswer, ...], asked: int, width: int | None) -> Iterator[str]:
    """A table of the answers that differ, and how many do."""
    rows = [[str(each.step), _recorded(each), _now(each)] for each in answers if not each.is_same]
    if rows:
        yield listing(["step", "recorded", "now"], rows, width)
        yield ""
    yield f"{len(answers) - len(rows)} of {counted(asked, 'answer')} {'is' if asked == 1 else 'are'} the same"
    if len(answers) < asked:
        yield f"after step {answers[-1].step} the bot could not be asked any more" if answers else "no answer"


def _recorded(one: BotAnswer) -> str:
    is_fallback = one.recorded_fault and not one.is_owed
    return f"{one.recorded}{f' (stands in after a fault: {one.recorded_fault})' if is_fallback else ''}"


def _now(one: BotAnswer) -> str:
    note = f"    # {one.note!r}" if one.note else ""
    return printable(one.fault) if one.fault else f"{one.answered}{note}"
