"""The games of OpenSpiel by name: `openspiel:NAME` or `openspiel:NAME(parameter=value,...)`.

Rule: parameters may kill the process that OpenSpiel reads them in (it checks few of them), or keep it busy for ever. So
each game is first tried in a process of its own, with a limit of time and memory; only then is it loaded here.
"""

import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

from arena import plugins
from arena.errors import SpecError
from arena.games import OfferedGame
from arena.games.api import MOST_SEATS
from arena.plugins import Package, Plugin, install_command
from arena.text import cut, printable, unknown

PREFIX: Final = "openspiel"
DISTRIBUTION: Final = "open_spiel"
_ADAPTER: Final = "2"
"""Changes whenever the adapter would play the same actions and luck otherwise, or bots get other messages."""
_NAME: Final = re.compile(r"openspiel:([A-Za-z0-9_]+)(\(.*\))?", re.ASCII)
_LONGEST_NAME: Final = 400
_PARAMETER: Final = re.compile(r"(\w+)\s*=")
_BUILT_AT: Final = re.compile(r"\S*/(?=\w+\.(?:cc|h):)")
"""Matches the folder where OpenSpiel was compiled, in its messages."""


class OpenSpielName(NamedTuple):
    """The parts of a name. `parameters` is the text between the brackets, empty without them."""

    game: str
    parameters: str

    def with_seats(self, seats: int | None) -> str:
        """Return the game as OpenSpiel reads it, with the number of players where it is not fixed."""
        players = [] if seats is None else [f"players={seats}"]
        return f"{self.game}({','.join([*filter(None, [self.parameters]), *players])})"


@cache
def load(name: str) -> tuple[Plugin, Any]:
    """Load the game of that name and its plug-in; SpecError if it cannot be played.

    It is first tried in a child process, which can take minutes; a loaded game is kept.
    """
    texts, problem = _try_seats(parse_name(name))
    if not texts:
        raise SpecError(f"{cut(name)}: {problem}")
    from arena.games.openspiel.game import OpenSpielGame  # noqa: PLC0415 - it needs the extra

    game = OpenSpielGame(name, texts, rules_version())
    return Plugin(place_of_openspiel(), game, _package()), game


class OpenSpielFamily:
    """The adapter, as a `GameFamily`."""

    load = staticmethod(load)

    def offer(self) -> OfferedGame | None:
        """Return its line in a list of games; None if OpenSpiel is not installed."""
        if not is_installed():
            return None
        return OfferedGame(f"{PREFIX}:NAME", place_of_openspiel(), rules_version(), f"2 to {MOST_SEATS}")


FAMILY: Final = OpenSpielFamily()


def place_of_openspiel() -> str:
    """Return the name and version of OpenSpiel: `OpenSpiel 2.0.2`; SpecError if it is not installed."""
    return f"OpenSpiel {_package().version}"


def rules_version() -> str:
    """Return the version of OpenSpiel and that of the adapter; SpecError if OpenSpiel is not installed."""
    return f"{_package().version}/{_ADAPTER}"


def is_installed() -> bool:
    """Return True if OpenSpiel is installed; nothing is imported."""
    return find_spec("pyspiel") is not None


def refusal(kind: Any) -> str:
    """Return why games of this kind, OpenSpiel's `GameType`, cannot be played; an empty text if they can."""
    dynamics, luck = kind.dynamics.name, kind.chance_mode.name
    if dynamics == "MEAN_FIELD":
        return "a mean-field game has a crowd in place of players; arena plays games of 2 to 10 seats"
    if kind.max_num_players < 2:
        return "a game for one player; arena plays games of 2 to 10 seats"
    if luck == "SAMPLED_STOCHASTIC":
        return "OpenSpiel draws its luck itself (sampled stochastic), so no match of it could be mirrored or verified"
    if kind.action_structs_only:
        return "its actions are structures without a list"
    if not (kind.provides_information_state_string or kind.provides_observation_string):
        return "it has neither strings of information states nor of observations, so seats would have no view"
    return ""


def parse_name(name: str) -> OpenSpielName:
    """Split a name into its parts.

    SpecError if it has another form, if the game is unknown, or if OpenSpiel is not installed.
    """
    match = _NAME.fullmatch(name)
    if match is None or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise SpecError(
            f"{printable(cut(name))}: expected openspiel:NAME or openspiel:NAME(parameter=value,...) of at most"
            f" {_LONGEST_NAME} characters in one line, such as openspiel:leduc_poker; docs/openspiel.md lists the names"
        )
    registered = _import_openspiel().registered_names()
    if match[1] not in registered:
        raise SpecError(f"{cut(name)}: {unknown('game of OpenSpiel', match[1], registered)}")
    return OpenSpielName(match[1], (match[2] or "()")[1:-1].strip())


def _try_seats(name: OpenSpielName) -> tuple[dict[int, str], str]:
    """Try the game for each number of seats.

    Return the game as OpenSpiel reads it by number of seats, and the first reason against a number that cannot play.
    """
    kind = next(game for game in _import_openspiel().registered_games() if game.short_name == name.game)
    named = {*_PARAMETER.findall(name.parameters)}  # parameters of games within this one, too
    if problem := _refusal_of_files(kind, named) or ("" if name.parameters else _refusal_by_kind(kind)):
        return {}, problem
    seat_counts: list[int | None] = [None]
    if "players" in kind.parameter_specification and "players" not in named:
        seat_counts = [*range(max(2, kind.min_num_players), min(MOST_SEATS, kind.max_num_players) + 1)]
    texts = [name.with_seats(seats) for seats in seat_counts]
    answers = plugins.run_in_child("arena.games.openspiel.trial", texts)
    playable = {answer["seats"]: text for text, answer in zip(texts, answers, strict=True) if "seats" in answer}
    problems = [_describe_problem(answer["problem"], kind) for answer in answers if "problem" in answer]
    return playable, problems[0] if problems else ""


def _refusal_by_kind(kind: Any) -> str:
    """Return why the game without parameters is refused, as far as it shows before it is loaded."""
    return refusal(kind) if kind.default_loadable else f"it needs parameters; {_list_parameters(kind)}"


def _refusal_of_files(kind: Any, named: set[str]) -> str:
    """Return why a game that reads a file is refused (no record of a match holds the file); empty if it reads none.

    `named` are the names of the parameters in the game's name.
    """
    needed = {"filename"} & {*kind.parameter_specification}
    files = sorted(needed | {name for name in named if "file" in name or name.endswith("_root")})
    return f"it reads a file ({files[0]}), which no record of a match holds" if files else ""


def _describe_problem(problem: str, kind: Any) -> str:
    """Return a message of OpenSpiel in one line without its folders, and the parameters of the game."""
    text = printable(" ".join(_BUILT_AT.sub("", problem).split()))
    return f"{text}; {_list_parameters(kind)}"


def _list_parameters(kind: Any) -> str:
    """List the parameters with their defaults."""
    known = [f"{key}={printable(cut(str(value)))}" for key, value in sorted(kind.parameter_specification.items())]
    return f"its parameters: {', '.join(known)}" if known else "it has no parameters"


def _import_openspiel() -> Any:
    """Import OpenSpiel; SpecError with the command that installs it."""
    try:
        return import_module("pyspiel")
    except ImportError as error:
        raise SpecError(f"the games of OpenSpiel need a package: {install_command('openspiel')} ({error})") from None


@cache
def _package() -> Package:
    """Return OpenSpiel as a package, by its version and the bytes that play: other builds are other packages."""
    from importlib import metadata  # noqa: PLC0415 - as in plugins

    _import_openspiel()
    return Package(DISTRIBUTION, metadata.version(DISTRIBUTION), plugins.hash_of("pyspiel"))
