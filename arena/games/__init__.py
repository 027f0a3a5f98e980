"""The games on offer, by name: each is an entry point, of this distribution (pyproject.toml) or of another package.

Rule: a game is loaded when it is asked for, so that one game never costs another's import. No other package can take
the name of a game of this distribution, and a broken one is a sentence where it is used or listed, and nowhere else.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple, Protocol

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
    """Two machines with equal fingerprints play a game by the same rules.

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
        """Return the game of that whole name; SpecError if it cannot be played."""

    def offer(self) -> OfferedGame | None:
        """Return the line of a list of games; None if what it adapts is not installed. Nothing is imported."""


def load_game(name: str) -> Game[Any, Any]:
    """The game of that name, or the one that `module:Class` or `PREFIX:NAME(params)` names.

    SpecError lists the known ones, or tells which plug-in is broken.
    """
    entry = plugins.own_entry_points().get(name)
    game: Game[Any, Any] = _plugin(name)[1] if entry is None else entry.load()
    return game


def bundled_names() -> list[str]:
    """The names of the games of this distribution, sorted."""
    return [*plugins.own_entry_points()]


def family_names() -> list[str]:
    """The prefixes of the families of games: nothing is imported."""
    return [*plugins.entry_points(plugins.FAMILIES)]


def plugin_package(name: str) -> Package | None:
    """The package that a plug-in comes from; None for a game of arena."""
    return None if name in plugins.own_entry_points() else _plugin(name)[0].package


def fingerprint_of(name: str) -> GameFingerprint:
    """The fingerprint of a game as it is here; SpecError as `load_game` raises it."""
    package = plugin_package(name) or _own_package()
    return GameFingerprint(name, load_game(name).rules_version, package)


def require_package(name: str, expected: Package | None) -> None:
    """SpecError if a plug-in here is another one than the league began with; None expects a game of arena."""
    if name not in plugins.own_entry_points() and (found := plugin_package(name)) != expected:
        raise SpecError(f"the game {name} is {found} here, the league plays it by {expected}")


def plugin_place(name: str) -> str:
    """The entry point of a plug-in and its distribution, for messages; empty for a game of arena."""
    return "" if name in plugins.own_entry_points() else _plugin(name)[0].place


def is_plugin(name: str) -> bool:
    """Whether the name is `module:Class`, `PREFIX:NAME`, or that of a game of another package; it may be broken."""
    is_other = _is_of_family(name) or plugins.is_reference(name) or name in plugins.entry_points()
    return is_other and name not in plugins.own_entry_points()


def known_names() -> list[str]:
    """The names of all games but those of families, broken ones too: nothing is imported."""
    bundled = plugins.own_entry_points()
    return [*bundled, *(name for name in plugins.entry_points() if name not in bundled)]


def offered_games() -> Iterator[OfferedGame]:
    """All games and families, loaded; an entry point that cannot be used comes with the reason."""
    for name in bundled_names():
        yield _offered(name, "arena")
    for name, entries in plugins.entry_points().items():
        for place in [plugins.place_of(entry) for entry in entries if not plugins.is_own(entry)][:1]:
            try:
                _require_free(name, place)
                yield _offered(name, place)
            except SpecError as error:
                yield OfferedGame(name, place, problem=str(error))
    for prefix in family_names():
        try:
            offer = _family(prefix).offer()
        except SpecError as error:
            offer = OfferedGame(prefix, "", problem=str(error))
        yield from [] if offer is None else [offer]


def _offered(name: str, place: str) -> OfferedGame:
    game = load_game(name)
    return OfferedGame(name, place, game.rules_version, describe_range(game.seat_counts))


def _is_of_family(name: str) -> bool:
    return ":" in name and name.partition(":")[0] in family_names()


def _family(prefix: str) -> GameFamily:
    """The adapter of that prefix. SpecError if two packages have one, or it cannot be imported."""
    entry = plugins.only_entry_point(prefix, plugins.entry_points(plugins.FAMILIES)[prefix])
    family: GameFamily = entry.load() if plugins.is_own(entry) else plugins.load_entry_point(entry).value
    return family


@cache
def _plugin(name: str) -> tuple[Plugin, Game[Any, Any]]:
    """The plug-in of that name, and the game that it is."""
    if _is_of_family(name):
        return _family(name.partition(":")[0]).load(name)
    if plugins.is_reference(name):
        found = plugins.load_reference(name)
        game = _game_in(found)
        _require_free(game.name, found.place)
        return found, game
    entries = plugins.entry_points().get(name, ())
    if not entries:
        text = unknown("game", name, [*known_names(), *(f"{prefix}:NAME" for prefix in family_names())])
        raise SpecError(text if "did you mean" in text else f"{text}; `pip install` the package that has it")
    found = plugins.load_entry_point(plugins.only_entry_point(name, entries))
    game = _game_in(found)
    if game.name != name:
        raise SpecError(f'{found.place}: its game is called "{printable(cut(game.name))}"; give both the same name')
    return found, game


def _require_free(name: str, place: str) -> None:
    if name in plugins.own_entry_points():
        raise SpecError(f"{place}: {name} is a game of arena; give yours another name")


def _game_in(plugin: Plugin) -> Game[Any, Any]:
    """The game that a plug-in is, or makes. SpecError tells all that it lacks."""
    value = plugin.value
    try:
        game = value() if isinstance(value, type) else value
        lacks = list(_missing(game))
    except (Exception, SystemExit) as error:
        raise SpecError(f"{plugin.place} makes no game: {plugins.describe_error(error)}") from error
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
    return Package(plugins.OWN_DISTRIBUTION, __version__, plugins.hash_of("arena.games"))
