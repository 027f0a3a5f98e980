"""`python -m arena.games.openspiel.trial GAME...`: may these games be played? Prints a line of JSON for each in turn.

Rule: this process may die at any time: the process that started it takes that for an answer.
"""

import json
import resource
import signal
import sys
from typing import Any, Final

import msgspec
import pyspiel

from arena.games.api import MOST_SEATS, Chance, Decision, Dice, Over, Seat
from arena.games.luck import draw
from arena.games.openspiel import PREFIX, refusal
from arena.games.openspiel.game import VIEW_LIMIT, OpenSpielGame, SpielState
from arena.text import counted

_CPU_S: Final = 60
"""Seconds of CPU time for loading a game and for a random play."""
_WALL_S: Final = 600
"""Seconds of time for each game, where the code waits, or on a machine that is very busy."""
_MEMORY: Final = 4 << 30
_LONGEST_PLAY: Final = 20_000
"""Steps of a random play; `arena check-game` allows as many."""


def try_game(text: str) -> dict[str, Any]:
    """Load a game and play it once at random; return its number of `seats`, or its `problem`."""
    try:
        game = pyspiel.load_game(text)
        if problem := refusal(game.get_type()):
            return {"problem": problem}
        seats = game.num_players()
        if not 2 <= seats <= MOST_SEATS:
            return {"problem": f"a game for {counted(seats, 'player')}; arena plays games of 2 to 10 seats"}
        problem = _play_randomly(OpenSpielGame(f"{PREFIX}:{text}", {seats: text}, "trial"), seats)
    except Exception as error:  # noqa: BLE001 - OpenSpiel's
        return {"problem": f"OpenSpiel refuses it: {error}"}
    return {"problem": problem} if problem else {"seats": seats}


def _play_randomly(game: OpenSpielGame, seats: int) -> str:
    """Return the problem that a random play meets, or an empty text; the views of all seats are made at each step.

    Errors of OpenSpiel pass through.
    """
    state = game.setup({}, seats)
    for step in range(_LONGEST_PLAY):
        if size := _size_beyond_limit(game, state, seats):
            return f"a view with its legal actions has {size} bytes, at most {VIEW_LIMIT} go into a line to a bot"
        turn = game.turn(state)
        if isinstance(turn, Over):
            game.outcome(state)
            return ""
        if isinstance(turn, Chance):
            state = game.resolve(state, draw("trial", turn))
        elif isinstance(turn, Decision):
            if not turn.seats or not all(game.legal(state, seat) for seat in turn.seats):
                return "a seat must act and has no legal action"
            state = game.apply(state, {seat: _choose(game.legal(state, seat), step, seat) for seat in turn.seats})
    return f"a random play has no end after {_LONGEST_PLAY} steps"


def _choose(legal: tuple[Any, ...], step: int, seat: int) -> Any:
    """Choose a legal action by the luck of the trial, by step and seat."""
    (face,) = draw("trial", Chance(f"{step}/{seat}", Dice(1, len(legal))))
    return legal[face - 1]


def _size_beyond_limit(game: OpenSpielGame, state: SpielState, seats: int) -> int:
    """Return the size in bytes of the longest view with its legal actions, if that is too long; else 0."""
    sizes = [
        len(msgspec.json.encode((game.observe(state, seat), game.legal(state, seat))))
        for seat in map(Seat, range(seats))
    ]
    return max(sizes) if max(sizes) > VIEW_LIMIT else 0


def main() -> None:
    """Try the games named on the command line, and print a line of JSON for each.

    The process limits its own memory, and its CPU and wall time for each game: beyond these it is killed.
    """
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    for text in sys.argv[1:]:
        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + _CPU_S, most))
        signal.alarm(_WALL_S)
        print(json.dumps(try_game(text)), flush=True)  # noqa: T201 - its answer


if __name__ == "__main__":
    main()
