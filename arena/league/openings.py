"""Books of openings: a file that the game reads, of which the luck of each block chooses one.

Rule: the opening of a block is a draw under the key `opening`, fixed before its first decision and the same in all its
matches. It stands in the options of each match, so that nothing but the choice needs the book.
"""

from collections.abc import Iterable
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from arena.bundled import bundled_folder
from arena.errors import SpecError
from arena.games import load_game
from arena.games.api import BOOK, Chance, Dice, Json, openings_of
from arena.games.luck import draw
from arena.match.secret_luck import BlockDraw, Secret, draw_block
from arena.text import printable

LIMIT: Final = 4 << 20
"""Bytes of a book."""


class Openings(msgspec.Struct, frozen=True, dict=True):
    """A book: the bytes of its file, and its openings, each once."""

    data: bytes
    entries: tuple[dict[str, Json], ...]

    @cached_property
    def identity(self) -> dict[str, Json]:
        """The option by which matches name the book."""
        return {"sha256": sha256(self.data).hexdigest(), "count": len(self.entries)}

    def choose(self, luck: str) -> dict[str, Json]:
        """Return the opening of the block with that luck."""
        (face,) = draw(luck, Chance("opening", Dice(1, len(self.entries))))
        return self.entries[face - 1]


def read_openings(game: str, data: bytes, place: str) -> Openings:
    """Read a book for the game. SpecError, at `place`, if it is too large, empty, or has an opening that is refused."""
    try:
        entries = dict.fromkeys(map(msgspec.json.encode, _read_entries(game, data)))
    except SpecError as error:
        raise SpecError(f"{printable(place)}: {error}") from None
    if not entries:
        raise SpecError(f"{printable(place)}: found no opening")
    return Openings(data, tuple(map(msgspec.json.decode, entries)))


def _read_entries(game: str, data: bytes) -> Iterable[dict[str, Json]]:
    """Return the openings in the text of a book. SpecError for a larger book, or a game that takes none."""
    if (reader := openings_of(load_game(game))) is None:
        raise SpecError(f"{game} takes no openings")
    if len(data) > LIMIT:
        raise SpecError(f"larger than {LIMIT >> 20} MiB")
    return reader.read(data.decode(errors="replace"))


def take_openings(game: str, options: dict[str, Any], folder: Path) -> tuple[dict[str, Any], Openings | UnsetType]:
    """Return the options with the identity of their book in the place of its file, and the book if they name one.

    The file lies in `folder` or beside the bundled tournaments. SpecError as of `read_openings`, or without a file.
    """
    name = options.get(BOOK)
    if not isinstance(name, str) or openings_of(load_game(game)) is None:
        return options, UNSET
    paths = [folder / name, bundled_folder("tournaments") / name]
    try:
        with next(filter(Path.is_file, paths), paths[0]).open("rb") as file:
            data = file.read(LIMIT + 1)
    except (OSError, ValueError) as error:
        raise SpecError(f"options: {BOOK}: {printable(name)}: {getattr(error, 'strerror', error)}") from None
    book = read_openings(game, data, f"options: {BOOK}: {name}")
    return {**options, BOOK: book.identity}, book


def draw_with_opening(secret: Secret, fixture: str, seats: int, book: Openings | UnsetType) -> BlockDraw:
    """Draw the block `fixture` as `draw_block` does, with its opening if there is a book."""
    drawn = draw_block(secret, fixture, seats)
    return msgspec.structs.replace(drawn, opening=book.choose(drawn.luck)) if book else drawn
