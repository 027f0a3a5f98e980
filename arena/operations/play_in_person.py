"""A match of a person against bots."""

import contextlib
from pathlib import Path

import msgspec
from msgspec.structs import replace

from arena.errors import SpecError
from arena.league.exhibition import name_players, require_seats
from arena.league.openings import draw_with_opening, take_openings
from arena.league.worker import make_bot_player
from arena.match.human import PERSON, HumanPlayer
from arena.match.participant import Participant
from arena.match.record import MatchRecord
from arena.match.referee import play_match
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings, MatchSettings, spec_of
from arena.operations.exhibitions import MatchRequest
from arena.operations.playing import installing, prepare_isolation, require_games, require_options
from arena.process.suspension import never_suspended
from arena.text import counted


class PlayInPerson(MatchRequest, frozen=True, kw_only=True):
    """A match of a person in `seat` against `bots`, by name or path, which take the other seats in their order.

    Bots have ten times the clock of a match among bots.
    """

    bots: tuple[str, ...]
    seat: int = 0
    clock: ClockSettings = ClockSettings(move_ms=1000.0, bank_ms=10_000.0)


class PersonalMatch(msgspec.Struct, frozen=True):
    """A match that a person played, and the secret of its luck."""

    record: MatchRecord
    secret: Secret


def play_in_person(request: PlayInPerson, person: HumanPlayer) -> PersonalMatch:
    """Play a match in which `person` shows the requests and returns the answers; return it, and its secret.

    Nothing is stored. SpecError for a seat, options or bots that do not fit the game.
    """
    game, seats = request.game, len(request.bots) + 1
    try:
        require_seats(game, seats)
    except SpecError as error:
        raise SpecError(f"{error}: you and {counted(len(request.bots), 'bot')}") from None
    if request.seat >= seats:
        raise SpecError(f"--seat {request.seat}: there are seats 0 to {seats - 1}")
    require_options(game, request.options, seats)
    bots = request.bot_store()
    named = name_players([bots.find(name) for name in request.bots])
    rivals = [replace(rival, name=f"the-bot-{rival.name}") if rival.name == PERSON else rival for rival in named]
    require_games([rival.bot for rival in rivals], game)
    prepare_isolation(request.isolation, game)
    secret = request.secret or Secret.random()
    options, book = take_openings(game, request.options, Path())
    settings = MatchSettings(game, options, request.clock)
    spec = spec_of(settings, "play-0-0", draw_with_opening(secret, "play-0", seats, book), 0, request.isolation)
    with contextlib.ExitStack() as ending:
        bots_here = ending.enter_context(installing(request.results, bots, request.isolation))
        table: list[Participant] = []
        for rival in rivals:
            installed = replace(rival, bot=bots_here.install(rival.bot))
            seated = make_bot_player(installed, settings, request.isolation, seats=seats)
            seated.account.suspended = never_suspended  # a person who presses Ctrl-Z comes back to the same match
            ending.callback(seated.close, grace_s=0.0)
            table.append(seated)
        table.insert(request.seat, person)
        return PersonalMatch(play_match(spec, table), secret)
