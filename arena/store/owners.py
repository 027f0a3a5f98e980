"""Owners of the names of bots, and the rule by which a bot gets a name.

Rule: a name belongs to the first owner whose bot was accepted under it, with all names that a reader could take for it,
and still does when its bots are withdrawn. The person who accepts a bot states its owner, by the folder or an option;
no file of the bot can. The name of an owner is no name for the bots of others.
"""

import os
import pwd
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from arena.errors import SpecError

OWNER_TABLE: Final = "CREATE TABLE owner (bot TEXT PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID"
OWNED_NAMES: Final = "SELECT bot, owner FROM owner"
"""The owner of each name that a bot was submitted under."""
OwnerName = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"^[^/]*\Z")]
_SEPARATORS: Final = re.compile(r"[-_.\s]")
_LOOK_ALIKES: Final = (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("|", "l"))


class NameTaken(SpecError):
    """The error for a name that belongs to another owner; `for_author` is the message without that owner's name."""

    def __init__(self, message: str, for_author: str) -> None:
        super().__init__(message)
        self.for_author = for_author


def normalize_owner(text: str) -> str:
    """Normalise the name of an owner. SpecError if it does not print, is too long, or has a slash."""
    name = unicodedata.normalize("NFC", text)
    try:
        msgspec.convert(name, OwnerName)
    except msgspec.ValidationError:
        name = ""
    if not name.isprintable() or not name.strip():
        raise SpecError(f"{text!a:.80} cannot be an owner: expected 1 to 100 characters that print, without a slash")
    return name


def owner_of_folder(folder: Path) -> str:
    """Return the owner of a bot that is handed in as that folder. SpecError if its name cannot be an owner's."""
    return normalize_owner(folder.name if folder.name not in {"", ".."} else folder.resolve().name)


def owner_of_user() -> str:
    """Return the owner of bots that are handed in as files: this user, with a slash, which no folder has."""
    try:
        return f"user/{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:
        return f"user/{os.getuid()}"


def look_alike(first: str, second: str) -> bool:
    """Return True if a reader could take one name for the other.

    Case, accents and compatible forms (NFKD) make no difference, nor do `-`, `_`, `.` and spaces; neither do `0` and
    `o`, `1` and `l`, capital `I` and `l`, `rn` and `m`, `vv` and `w`.
    """
    return not _look_alike_forms(first).isdisjoint(_look_alike_forms(second))


@lru_cache(maxsize=1 << 14)
def _look_alike_forms(name: str) -> frozenset[str]:
    """Return forms of a name of which two look-alikes share one; two, as a capital I may be read as i or as l."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    skeletons = set()
    for reading in (plain, plain.replace("I", "l")):
        skeleton = _SEPARATORS.sub("", reading).casefold()
        for drawn, like in _LOOK_ALIKES:
            skeleton = skeleton.replace(drawn, like)
        skeletons.add(skeleton)
    return frozenset(skeletons)


def require_free(name: str, owner: str, owned: Mapping[str, str], owners: Iterable[str] = ()) -> None:
    """Raise NameTaken if another owner has this name or one that looks like it, or is called so themselves.

    `owned`: the owner of each known name. `owners`: all who hand in bots, even without a bot so far.
    """
    if owned.get(name) == owner:
        return
    for other, holder in sorted(owned.items(), key=lambda entry: entry[0] != name):
        if holder != owner and look_alike(name, other):
            like = "" if other == name else f'looks like "{other}", which '
            like_one = f"{like and 'looks like one that '}belongs to somebody else"
            raise _name_taken_error(name, f"{like}belongs to {holder}", like_one, is_user="/" in holder)
    for other in sorted({*owners, *owned.values()} - {owner}):
        if look_alike(name, other) and not look_alike(name, owner):
            raise _name_taken_error(name, f"is for bots of {other}", "is for bots of somebody else")


def _name_taken_error(name: str, why: str, for_author: str, *, is_user: bool = False) -> NameTaken:
    """Return the error for a name that belongs to another owner; `why` says to whom, `for_author` does not.

    `is_user`: the owner is a user, whom --owner cannot name.
    """
    advice = "choose another name"
    options = "--take-over if the name shall belong to the owner of this bot"
    options = f"give {options}" if is_user else f"give --owner if this bot has that owner, or {options}"
    return NameTaken(f'the name "{name}" {why}; {advice}, or {options}', f'the name "{name}" {for_author}; {advice}')


def set_owner(connection: sqlite3.Connection, name: str, owner: str) -> None:
    """Make `owner` the owner of the name from now on, within the caller's transaction."""
    connection.execute("INSERT OR REPLACE INTO owner VALUES (?, ?)", (name, owner))
