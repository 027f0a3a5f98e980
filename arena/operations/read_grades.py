"""The grades of a league: each player with the author of the bot, and how it did against a yardstick."""

from arena.errors import SpecError
from arena.league.standings import matrix_of
from arena.operations.coach_league import kept_mistakes
from arena.operations.events import OnEvent, Warned, ignore
from arena.operations.leagues import authors_of, league_table, load_league
from arena.operations.request import Request
from arena.standings.grades import Grades, grades
from arena.store.folder import open_store
from arena.text import unknown


class ReadGrades(Request, frozen=True, kw_only=True):
    """The grades of `league`, or of the only one; `yardstick` is the player with whom all others are compared."""

    yardstick: str
    league: str | None = None


def read_grades(request: ReadGrades, on: OnEvent = ignore) -> Grades:
    """Collect the grades of all players. SpecError for unknown names. An incomplete league is a warning."""
    with open_store(request.results) as store:
        state = load_league(store, request.league)
        tournament = state.tournament
        names = [player.name for player in tournament.players]
        if request.yardstick not in names:
            message = unknown("player", request.yardstick, names)
            raise SpecError(f"--yardstick: league {tournament.name}: {message}")
        table, _ = league_table(store, state)
        mistakes = kept_mistakes(store, state, table.rows)
    if not table.is_complete:
        on(Warned(f"league {tournament.name} is incomplete: {table.matches} of {table.scheduled} matches"))
    matrix = matrix_of(state, top=None, only=())
    return grades(table, matrix, mistakes, authors_of(request.results, tournament), request.yardstick)
