"""The games on offer, by name: each is an entry point, of this distribution (pyproject.toml) or of another package.

Rule: a game is loaded when it is asked for, so that one game never costs another's import. No other package can take
the name of a game of this distribution, and a broken one is a sentence where it is used or listed, and nowhere else.
"""

import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple, Protocol, cast

import msgspec

from arena import __version__, plugins
from arena.errors import SpecError
from arena.games.api import MOST_SEATS, Game
from arena.plugins import Package, Plugin
from arena.text import cut, describe_range, printable, unknown

DEFAULT_GAME: Final = "shanghaien"
"""The game of a command that names none."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)
_METHODS: Final = (
    *("setup", "turn", "observe", "legal", "parse", "apply", "resolve", "outcome", "sample", "describe", "picture"),
)


class GameFingerprint(msgspec.Struct, frozen=True):
    """The rules of a game on one machine: machines with equal fingerprints play it by the same rules.

    `game`: its name, or `module:Class`. `rules`: their version. `package`: the files that they come from.
    """

    game: str
    rules: str
    package: Package


class OfferedGame(NamedTuple):
    """A game or a family that a command may name, and the place it comes from; `problem`: why it cannot be played."""

    name: str
    place: str
    rules: str = ""
    seats: str = ""
    problem: str = ""


class GameFamily(Protocol):
    """An adapter: the games `PREFIX:NAME`, where PREFIX is the name of its entry point."""

    def load(self, name: str) -> tuple[Plugin, Game[Any, Any]]:
        """Return the game of that whole name, and its plug-in; SpecError if it cannot be played."""

    def offer(self) -> OfferedGame | None:
        """Return its line in a list of games; None if the adapted package is not installed. Nothing is imported."""


def load_game(name: str) -> Game[Any, Any]:
    """Load the game of that name: one of arena, a plug-in, `module:Class` or `PREFIX:NAME(params)`.

    A plug-in is imported, which runs its code. SpecError lists the known names, or tells which plug-in is broken.
    """
    entry = plugins.own_entry_points().get(name)
    game: Game[Any, Any] = _load_plugin(name)[1] if entry is None else entry.load()
    return game


def bundled_names() -> list[str]:
    """Return the names of the games of this distribution, sorted."""
    return [*plugins.own_entry_points()]


def family_names() -> list[str]:
    """Return the prefixes of the families of games; nothing is imported."""
    return [*plugins.entry_points(plugins.FAMILIES)]


def plugin_package(name: str) -> Package | None:
    """Load a plug-in and return the package it comes from; None for a game of arena. SpecError as from `load_game`."""
    return None if name in plugins.own_entry_points() else _load_plugin(name)[0].package


def fingerprint_of(name: str) -> GameFingerprint:
    """Return the fingerprint of a game as it is here; SpecError as `load_game` raises it."""
    package = plugin_package(name) or _own_package()
    return GameFingerprint(name, load_game(name).rules_version, package)


def require_package(name: str, expected: Package | None) -> None:
    """Raise SpecError if a plug-in here differs from the one of the league; None expects a game of arena."""
    if name not in plugins.own_entry_points() and (package := plugin_package(name)) != expected:
        raise SpecError(f"the game {name} is {package} here, the league plays it by {expected}")


def plugin_place(name: str) -> str:
    """Load a plug-in and return its entry point and distribution, for messages; an empty text for a game of arena.

    SpecError as from `load_game`.
    """
    return "" if name in plugins.own_entry_points() else _load_plugin(name)[0].place


def is_plugin(name: str) -> bool:
    """Return True if the name is `module:Class`, `PREFIX:NAME`, or a game of another package; it may be broken."""
    is_other = _is_of_family(name) or plugins.is_reference(name) or name in plugins.entry_points()
    return is_other and name not in plugins.own_entry_points()


def known_names() -> list[str]:
    """Return the names of all games but those of families, broken ones too; nothing is imported."""
    bundled = plugins.own_entry_points()
    return [*bundled, *(name for name in plugins.entry_points() if name not in bundled)]


def load_all_games() -> Iterator[OfferedGame]:
    """Load all games and families, and yield a line for each; one that cannot be used comes with the reason."""
    for name in bundled_names():
        yield _offer_game(name, "arena")
    for name, entries in plugins.entry_points().items():
        for place in [plugins.place_of(entry) for entry in entries if not plugins.is_own(entry)][:1]:
            try:
                _require_free_name(name, place)
                yield _offer_game(name, place)
            except SpecError as error:
                yield OfferedGame(name, place, problem=str(error))
    for prefix in family_names():
        try:
            offer = _load_family(prefix).offer()
        except SpecError as error:
            offer = OfferedGame(prefix, "", problem=str(error))
        yield from [] if offer is None else [offer]


def _offer_game(name: str, place: str) -> OfferedGame:
    """Return the line of a game in a list of games."""
    game = load_game(name)
    return OfferedGame(name, place, game.rules_version, describe_range(game.seat_counts))


def _is_of_family(name: str) -> bool:
    """Return True if the name is `PREFIX:NAME` of an installed family."""
    return ":" in name and name.partition(":")[0] in family_names()


def _load_family(prefix: str) -> GameFamily:
    """Load the adapter of that prefix; SpecError if two packages have one, or it cannot be imported."""
    entry = plugins.only_entry_point(prefix, plugins.entry_points(plugins.FAMILIES)[prefix])
    family: GameFamily = entry.load() if plugins.is_own(entry) else plugins.load_entry_point(entry).value
    return family


@cache
def _load_plugin(name: str) -> tuple[Plugin, Game[Any, Any]]:
    """Load the plug-in that a name means, and the game that it is or makes.

    The name is that of an entry point, `module:Class` or `FAMILY:NAME`. SpecError if there is none, or if it is broken.
    """
    if _is_of_family(name):
        return _load_family(name.partition(":")[0]).load(name)
    if plugins.is_reference(name):
        plugin = plugins.load_reference(name)
        game = _game_in(plugin)
        _require_free_name(game.name, plugin.place)
        return plugin, game
    entries = plugins.entry_points().get(name, ())
    if not entries:
        text = unknown("game", name, [*known_names(), *(f"{prefix}:NAME" for prefix in family_names())])
        raise SpecError(text if "did you mean" in text else f"{text}; `pip install` the package that has it")
    plugin = plugins.load_entry_point(plugins.only_entry_point(name, entries))
    game = _game_in(plugin)
    if game.name != name:
        raise SpecError(f'{plugin.place}: its game is called "{printable(cut(game.name))}"; give both the same name')
    return plugin, game


def _require_free_name(name: str, place: str) -> None:
    """Raise SpecError if the name is that of a game of arena."""
    if name in plugins.own_entry_points():
        raise SpecError(f"{place}: {name} is a game of arena; give yours another name")


def _game_in(plugin: Plugin) -> Game[Any, Any]:
    """Return the game that a plug-in is or makes; SpecError lists the parts that it lacks."""
    value = plugin.value
    try:
        game = value() if isinstance(value, type) else value
        missing_parts = list(_list_missing_parts(game))
    except (Exception, SystemExit) as error:
        raise SpecError(f"{plugin.place} makes no game: {plugins.describe_error(error)}") from error
    if missing_parts:
        raise SpecError(f"{plugin.place} is no game: {'; '.join(missing_parts)}")
    return cast("Game[Any, Any]", game)


def _list_missing_parts(game: Any) -> Iterator[str]:
    """Yield what an object lacks of the contract of a game, as far as it shows without playing."""
    if not isinstance(name := getattr(game, "name", None), str) or not _NAME.fullmatch(name):
        yield f"name: found {cut(repr(name))}, expected small letters, digits, _ and -, a letter first, 64 at most"
    if not isinstance(version := getattr(game, "rules_version", None), str) or not version:
        yield f"rules_version: found {cut(repr(version))}, expected a text"
    counts = getattr(game, "seat_counts", None)
    is_tuple = isinstance(counts, tuple) and all(type(count) is int and 2 <= count <= MOST_SEATS for count in counts)
    if not counts or not is_tuple or list(counts) != sorted(set(counts)):
        yield f"seat_counts: found {cut(repr(counts))}, expected a tuple of numbers from 2 to {MOST_SEATS}, ascending"
    if absent := [method for method in _METHODS if not callable(getattr(game, method, None))]:
        yield f"the class lacks {', '.join(map(_describe_method, absent))}"


def _describe_method(name: str) -> str:
    """Return a method of the contract with its parameters, as `describe(state, names)` in backquotes."""
    _self, *parameters = inspect.signature(getattr(Game, name)).parameters
    return f"`{name}({', '.join(parameters)})`"


@cache
def _own_package() -> Package:
    """Return arena as a package; only the files of its games count for the hash."""
    return Package(plugins.OWN_DISTRIBUTION, __version__, plugins.hash_of("arena.games"))
