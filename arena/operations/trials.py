"""The matches in which bots are checked, and submitted ones meet a baseline: a tournament's, or each game of a bot.

Rule: nothing is tried silently. Each check names its game and its options; other options and other numbers of seats get
a step of their own.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from arena.bundled import find_tournament
from arena.conformance.check import CheckPlan, CheckStep, StepFailed, StepVerdict, TrialTable, check_bot, check_draws
from arena.errors import SpecError
from arena.games import DEFAULT_GAME, family_names, load_game
from arena.games.api import trial_options_of
from arena.league.exhibition import exhibition
from arena.league.schedule import Job, jobs
from arena.league.tournament import (
    DEFAULT_SEATS,
    TOURNAMENT_FILE_LIMIT,
    Player,
    TournamentFile,
    require_game,
    require_table,
)
from arena.match.secret_luck import Secret, draw_block
from arena.match.settings import ClockSettings, MatchSettings, clock_for, confine
from arena.operations.events import Event, OnEvent
from arena.operations.playing import (
    BotRequest,
    naming_option,
    prepare_isolation,
    require_games,
    require_options,
)
from arena.process.launch import shell_text
from arena.process.limits import Isolation
from arena.process.manifest import BotSpec
from arena.yaml_file import read_yaml


class TrialRequest(BotRequest, frozen=True, kw_only=True):
    """The matches in which bots are tried: those of `tournament`, a file or a name, or of the other choices.

    `game` is by default each one that the bot names. `secret` gives the luck; None draws a new one.
    """

    tournament: str | None = None
    game: str | None = None
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    clock: ClockSettings = ClockSettings()
    secret: Secret | None = None


class LuckChosen(Event, frozen=True):
    """The secret of all luck of the trials; `is_new`: it was drawn for them."""

    secret: Secret
    is_new: bool


class CheckBegun(Event, frozen=True):
    """A check of `bot`, started by `command`, in a game with these options."""

    bot: str
    game: str
    options: dict[str, Any]
    command: str


class StepTaken(Event, frozen=True):
    """A step of a check."""

    step: CheckStep


class Trials:
    """The matches of a request. SpecError for a mistake in its tournament."""

    def __init__(self, request: TrialRequest) -> None:
        self.request = request
        self.bots = request.bot_store()
        self._file = None if request.tournament is None else _read_tournament(request)

    def lateness(self, at: datetime) -> str:
        """Return why a hand-in at that time does not play in the next run, empty if it does."""
        return "" if self._file is None else self._file.lateness(at)

    def games(self, bot: BotSpec) -> tuple[str, ...]:
        """Return the games to try: the tournament's, the requested one, those of the manifest, or the default one.

        SpecError if the bot plays others.
        """
        if self._file is not None:
            require_game(bot, self._file.game)
            return (self._file.game,)
        if self.request.game is not None or not bot.manifest.games:
            game = self.request.game or DEFAULT_GAME
            require_games([bot], game)
            return (game,)
        with naming_option(f"{bot.name}: games"):
            for game in bot.manifest.games:
                if game in family_names():
                    raise SpecError(f"{game} has many games: say which by --game {game}:NAME")
                load_game(game)
        return tuple(dict.fromkeys(bot.manifest.games))

    def prepare(self, bots: Iterable[BotSpec]) -> None:
        """Prepare to start bots. MachineFault if they cannot be isolated, or if one of their games needs more."""
        for game in dict.fromkeys(game for bot in bots for game in self.games(bot)):
            prepare_isolation(self.request.isolation, game)

    def plans(self, bot: BotSpec, secret: Secret) -> tuple[CheckPlan, ...]:
        """Return the checks of a bot, one for each game. SpecError if a game does not have the options."""
        return tuple(self._plan_for(game, secret) for game in self.games(bot))

    def baseline_job(self, bot: BotSpec, baseline: BotSpec, secret: Secret) -> Job:
        """Return a job of one block in the bot's first game, with the baseline in all other seats."""
        settings = self._settings_for(self.games(bot)[0])
        names = baseline_names(bot.name, baseline.name, self._seats_for(settings.game) - 1)
        players = (Player(name=bot.name, bot=bot), *(Player(name=name, bot=baseline) for name in names))
        table = exhibition(
            players, game=settings.game, options=settings.options, clock=settings.clock, secret=secret, blocks=1
        )
        return next(jobs(replace(table, limits=settings.limits), {}, self.request.isolation, secret=secret))

    def _seats_for(self, game: str) -> int:
        """Return the number of seats: the tournament's, else two, or the fewest of the game."""
        if self._file is not None:
            return self._file.seats
        counts = load_game(game).seat_counts
        return DEFAULT_SEATS if DEFAULT_SEATS in counts else counts[0]

    def _settings_for(self, game: str) -> MatchSettings:
        """Return the settings of the matches of a game: the tournament's, or those of the request."""
        if self._file is not None:
            return MatchSettings(game, self._file.options, self._file.clock, self._file.limits)
        require_options(game, self.request.options, self._seats_for(game))
        return MatchSettings(game, self.request.options, self.request.clock)

    def _plan_for(self, game: str, secret: Secret) -> CheckPlan:
        """Return the check of bots in a game: with other options and tables too, unless they are given."""
        settings, seats = self._settings_for(game), self._seats_for(game)
        is_named = self._file is not None or bool(settings.options)
        others = () if is_named else tuple(_other_tables(game, seats, secret))
        return CheckPlan(settings, check_draws(secret, seats), others)


def choose_luck(request: TrialRequest, on: OnEvent) -> Secret:
    """Return the secret of all matches of a request, and report it."""
    secret = request.secret or Secret.random()
    on(LuckChosen(secret, is_new=request.secret is None))
    return secret


def require_conformance(bot: BotSpec, plan: CheckPlan, isolation: Isolation, on: OnEvent) -> None:
    """Check an installed bot, and report each step. StepFailed if it does not pass one."""
    settings = plan.settings
    on(CheckBegun(bot.label, settings.game, settings.options, shell_text(bot.manifest.command)))
    confinement = confine(bot, settings.limits, settings.clock, isolation)
    plan = replace(plan, settings=replace(settings, clock=clock_for(bot, settings.clock)))
    for step in check_bot(bot, plan, confinement):
        on(StepTaken(step))
        if step.verdict is StepVerdict.FAILED:
            raise StepFailed(bot.label, step)


def baseline_names(bot: str, baseline: str, count: int) -> list[str]:
    """Return `count` names for the seats of the baseline, none of which is the bot's."""
    names = [baseline, *(f"{baseline}-{number}" for number in range(2, count + 1))]
    return baseline_names(bot, f"{baseline}-baseline", count) if bot in names else names


def _other_tables(game: str, seats: int, secret: Secret) -> Iterator[TrialTable]:
    """Yield a table for each of the game's trial options, and for each other number of seats."""
    rules = load_game(game)
    for options in trial_options_of(rules):
        yield TrialTable(options, draw_block(secret, "check-others", seats))
    for other in rules.seat_counts:
        if other != seats:
            yield TrialTable({}, draw_block(secret, "check-others", other))


def _read_tournament(request: TrialRequest) -> TournamentFile:
    """Read the tournament without its players. SpecError for a mistake in it, or for an option that contradicts it."""
    clock = ClockSettings()
    chosen = {
        "--game": request.game,
        "--options": request.options,
        "--move-ms": request.clock.move_ms != clock.move_ms,
        "--bank-ms": request.clock.bank_ms != clock.bank_ms,
    }
    for option in filter(chosen.get, chosen):
        raise SpecError(f"give either --for or {option}: the tournament says it")
    with naming_option("--for"):
        file = read_yaml(find_tournament(str(request.tournament)), TournamentFile, limit=TOURNAMENT_FILE_LIMIT)
        require_table(file)
        return file
