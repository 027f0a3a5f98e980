"""The matches in which `check` and `submit` try a bot: those of a tournament, or each game of its manifest.

Rule: nothing is tried silently. Each check names its game and its options; other options and other numbers of seats get
a step of their own.
"""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
import msgspec
from click.core import ParameterSource

from arena.bundled import find_tournament
from arena.cli.completion import complete_tournament
from arena.cli.options import F, MatchSetup, match_options, option_named, prepare_isolation, require_games
from arena.conformance.check import CheckPlan, OtherTable, check_draws
from arena.errors import SpecError
from arena.games import load_game
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
from arena.match.settings import MatchSettings
from arena.process.manifest import BotSpec
from arena.yaml_file import read_yaml

_TOLD_BY_A_TOURNAMENT: Final = ("game", "options", "move_ms", "bank_ms")


class Trials(msgspec.Struct, frozen=True):
    """The options of a command that tries bots. `file`: the tournament of --for; `is_chosen`: --game was given."""

    setup: MatchSetup
    file: TournamentFile | None
    is_chosen: bool

    def games(self, bot: BotSpec) -> tuple[str, ...]:
        """The games to try: that of the tournament or the option, else those of the manifest, else the default one.

        SpecError if the bot says that it plays others.
        """
        if self.file is not None or self.is_chosen or not bot.manifest.games:
            game = self.setup.game if self.file is None else self.file.game
            if self.file is None:
                require_games([bot], game)
            else:
                require_game(bot, game)
            return (game,)
        with option_named(f"{bot.name}: games"):
            for game in bot.manifest.games:
                load_game(game)
        return tuple(dict.fromkeys(bot.manifest.games))

    def prepare(self, bots: Iterator[BotSpec]) -> None:
        """MachineFault if bots cannot be isolated as asked for here, or if one of their games needs more."""
        for game in dict.fromkeys(game for bot in bots for game in self.games(bot)):
            prepare_isolation(self.setup.isolation, game)

    def plans(self, bot: BotSpec, secret: Secret) -> tuple[CheckPlan, ...]:
        """The checks of the bot, one for each game. SpecError if a game has no such options."""
        return tuple(self._plan(game, secret) for game in self.games(bot))

    def meeting(self, bot: BotSpec, rival: BotSpec, secret: Secret) -> Job:
        """A block of the bot's first game against the rival, who has all other seats."""
        settings = self._settings(self.games(bot)[0])
        names = rival_names(bot.name, rival.name, self._seats(settings.game) - 1)
        players = (Player(name=bot.name, bot=bot), *(Player(name=each, bot=rival) for each in names))
        played = exhibition(
            players, game=settings.game, options=settings.options, clock=settings.clock, secret=secret, blocks=1
        )
        played = msgspec.structs.replace(played, limits=settings.limits)
        return next(jobs(played, {}, self.setup.isolation, secret=secret))

    def _seats(self, game: str) -> int:
        """Those of the tournament; else two, or the fewest that play the game."""
        if self.file is not None:
            return self.file.seats
        counts = load_game(game).seat_counts
        return DEFAULT_SEATS if DEFAULT_SEATS in counts else counts[0]

    def _settings(self, game: str) -> MatchSettings:
        if self.file is not None:
            return MatchSettings(game, self.file.options, self.file.clock, self.file.limits)
        return msgspec.structs.replace(self.setup, game=game).settings(self._seats(game))

    def _plan(self, game: str, secret: Secret) -> CheckPlan:
        settings, seats = self._settings(game), self._seats(game)
        is_told = self.file is not None or bool(settings.options)
        others = () if is_told else tuple(_other_tables(game, seats, secret))
        return CheckPlan(settings, check_draws(secret, seats), seats, others)


def _other_tables(game: str, seats: int, secret: Secret) -> Iterator[OtherTable]:
    """With the game's trial options, and for each other number of seats."""
    rules = load_game(game)
    for options in trial_options_of(rules):
        yield OtherTable(options, draw_block(secret, "check-others", seats))
    for other in rules.seat_counts:
        if other != seats:
            yield OtherTable({}, draw_block(secret, "check-others", other))


def rival_names(bot: str, rival: str, count: int) -> list[str]:
    """So many names for the rival's seats, none of which is the bot's."""
    names = [rival, *(f"{rival}-{number}" for number in range(2, count + 1))]
    return rival_names(bot, f"{rival}-baseline", count) if bot in names else names


def trial_options(command: F) -> F:
    """All options of a command that tries bots, which gets them as `trials`."""

    @functools.wraps(command)
    def with_trials(*, tournament: str | None, setup: MatchSetup, **given: Any) -> object:
        chosen = [name for name in _TOLD_BY_A_TOURNAMENT if _is_given(name)]
        if tournament is not None and chosen:
            raise SpecError(f"give either --for or --{chosen[0].replace('_', '-')}: the tournament says it")
        return command(trials=Trials(setup, _read(tournament), "game" in chosen), **given)

    decorated: Any = click.option(
        "--for",
        "tournament",
        metavar="FILE|NAME",
        shell_complete=complete_tournament,
        help="Try it as this tournament plays: game, options, seats, clock, limits.",
    )(match_options(with_trials))
    return decorated  # type: ignore[no-any-return]


def _is_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source not in {None, ParameterSource.DEFAULT}


def _read(tournament: str | None) -> TournamentFile | None:
    """The tournament, without its players. SpecError names what is wrong in it."""
    if tournament is None:
        return None
    with option_named("--for"):
        path: Path = find_tournament(tournament)
        file = read_yaml(path, TournamentFile, limit=TOURNAMENT_FILE_LIMIT)
        require_table(file)
        return file
