"""The games on offer, by name: those of arena, and those of other packages.

Rule: a game is loaded when it is asked for, so that one game never costs another's import. Nothing of a plug-in is
registered: a broken one is a sentence where it is used or listed, and nowhere else.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple

import msgspec

from arena import __version__, plugins
from arena.errors import SpecError
from arena.games import openspiel
from arena.games.api import MOST_SEATS, Game
from arena.plugins import Package, Plugin
from arena.text import cut, printable, unknown

GAMES: Final = {
    "connect_four": "arena.games.connect_four",
    "kuhn_poker": "arena.games.kuhn_poker",
    "nim": "arena.games.nim",
    "riffraff": "arena.games.riffraff",
    "shanghaien": "arena.games.shanghaien",
}
"""The module of each game that comes with arena."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)
_METHODS: Final = (
    *("setup", "turn", "observe", "legal", "parse", "apply", "resolve", "outcome", "sample", "describe", "picture"),
)


class GameFingerprint(msgspec.Struct, frozen=True):
    """Two machines with equal fingerprints play a game by the same rules.

    `game`: its name, or `module:Class`. `rules`: their version. `package`: the files that they come from.
    """

    game: str
    rules: str
    package: Package


class OfferedGame(NamedTuple):
    """A game that a command may name, and the place it comes from; `problem` tells why it cannot be played."""

    name: str
    place: str
    game: Game[Any, Any] | None
    problem: str = ""


def load_game(name: str) -> Game[Any, Any]:
    """The game of that name, or the one that `module:Class` or `openspiel:NAME(params)` names.

    SpecError lists the known ones, or tells which plug-in is broken.
    """
    if name in GAMES:
        game: Game[Any, Any] = import_module(GAMES[name]).GAME
        return game
    return _plugin(name)[1]


def plugin_package(name: str) -> Package | None:
    """The package that a plug-in comes from; None for a game of arena."""
    return None if name in GAMES else _plugin(name)[0].package


def fingerprint_of(name: str) -> GameFingerprint:
    """The fingerprint of a game as it is here; SpecError as `load_game` raises it."""
    package = plugin_package(name) or _own_package()
    return GameFingerprint(name, load_game(name).rules_version, package)


def require_package(name: str, expected: Package | None) -> None:
    """SpecError if a plug-in here is another one than the league began with; None expects a game of arena."""
    if name not in GAMES and (found := plugin_package(name)) != expected:
        raise SpecError(f"the game {name} is {found} here, the league plays it by {expected}")


def plugin_place(name: str) -> str:
    """The entry point of a plug-in and its distribution, for messages; empty for a game of arena."""
    return "" if name in GAMES else _plugin(name)[0].place


def is_plugin(name: str) -> bool:
    """Whether the name is `module:Class`, `openspiel:NAME`, or that of a game of another package; it may be broken."""
    is_other = openspiel.is_name(name) or plugins.is_reference(name) or name in plugins.entry_points()
    return name not in GAMES and is_other


def known_names() -> list[str]:
    """The names of all games but OpenSpiel's, broken ones too: nothing is imported."""
    return [*GAMES, *(name for name in plugins.entry_points() if name not in GAMES)]


def offered_games() -> Iterator[OfferedGame]:
    """All games, each loaded; an entry point that cannot be used comes with the reason."""
    for name in GAMES:
        yield OfferedGame(name, "arena", load_game(name))
    for name, entries in plugins.entry_points().items():
        place = plugins.place_of(entries[0])
        try:
            _require_free(name, place)
            yield OfferedGame(name, place, load_game(name))
        except SpecError as error:
            yield OfferedGame(name, place, None, str(error))


@cache
def _plugin(name: str) -> tuple[Plugin, Game[Any, Any]]:
    """The plug-in of that name, and the game that it is."""
    if openspiel.is_name(name):
        return openspiel.load(name)
    if plugins.is_reference(name):
        found = plugins.load_reference(name)
        game = _game_in(found)
        _require_free(game.name, found.place)
        return found, game
    entries = plugins.entry_points().get(name, ())
    if not entries:
        text = unknown("game", name, [*known_names(), f"{openspiel.PREFIX}:NAME"])
        raise SpecError(text if "did you mean" in text else f"{text}; `pip install` the package that has it")
    if len(entries) > 1:
        raise SpecError(f"two packages have a game {name}: {'; '.join(map(plugins.place_of, entries))}: remove one")
    found = plugins.load_entry_point(entries[0])
    game = _game_in(found)
    if game.name != name:
        raise SpecError(f'{found.place}: its game is called "{printable(cut(game.name))}"; give both the same name')
    return found, game


def _require_free(name: str, place: str) -> None:
    if name in GAMES:
        raise SpecError(f"{place}: {name} is a game of arena; give yours another name")


def _game_in(plugin: Plugin) -> Game[Any, Any]:
    """The game that a plug-in is, or makes. SpecError tells all that it lacks."""
    value = plugin.value
    try:
        game = value() if isinstance(value, type) else value
        lacks = list(_missing(game))
    except (Exception, SystemExit) as error:
        raise SpecError(f"{plugin.place} makes no game: {plugins.told(error)}") from error
    if lacks:
        raise SpecError(f"{plugin.place} is no game: {'; '.join(lacks)}")
    made: Game[Any, Any] = game
    return made


def _missing(game: Any) -> Iterator[str]:
    """The parts of the contract that an object lacks, as far as it shows without playing."""
    if not isinstance(name := getattr(game, "name", None), str) or not _NAME.fullmatch(name):
        yield f"name: found {cut(repr(name))}, expected small letters, digits, _ and -, a letter first, 64 at most"
    if not isinstance(version := getattr(game, "rules_version", None), str) or not version:
        yield f"rules_version: found {cut(repr(version))}, expected a text"
    counts = getattr(game, "seat_counts", None)
    is_tuple = isinstance(counts, tuple) and all(type(each) is int and 2 <= each <= MOST_SEATS for each in counts)
    if not counts or not is_tuple or list(counts) != sorted(set(counts)):
        yield f"seat_counts: found {cut(repr(counts))}, expected a tuple of numbers from 2 to {MOST_SEATS}, ascending"
    if absent := [each for each in _METHODS if not callable(getattr(game, each, None))]:
        yield f"it has no {', '.join(absent)}"


@cache
def _own_package() -> Package:
    """Arena itself, of which only the games count."""
    return Package("bot-arena", __version__, plugins.hash_of("arena.games"))
