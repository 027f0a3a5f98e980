"""The database of a results folder behind the back of arena."""

import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from arena.match.columns import PlayedBlock, pack_blocks
from arena.match.results import MatchResult
from arena.store import database, history, rows


@contextmanager
def opened(place: Path) -> Iterator[sqlite3.Connection]:
    """The database of a results folder, or of a file, without our checks; what was changed is committed at the end.

    Whoever edits the history knows to put its triggers back.
    """
    path = database.path_in(place) if place.is_dir() else place
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        for trigger in history.TRIGGERS if "history" in names else ():
            if trigger.split()[2] not in names:
                connection.execute(trigger)


def execute_sql(path: Path, *statements: str) -> None:
    """Execute and commit them; each UPDATE or DELETE must find a row."""
    with opened(path) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount, f"nothing was changed by {statement}"


def edit_record(place: Path, condition: str, change: Callable[[Any], object]) -> None:
    """Change a stored record, found by a condition of SQL, and give it a digest that fits."""
    with opened(place) as connection:
        (body,) = connection.execute(f"SELECT body FROM record WHERE {condition}").fetchone()
        record = msgspec.json.decode(zlib.decompress(body))
        change(record)
        text = msgspec.json.encode(record)
        row = (zlib.compress(text), sha256(text).hexdigest(), body)
        connection.execute("UPDATE record SET body = ?, digest = ? WHERE body = ?", row)


def edit_blocks(place: Path, change: Callable[[PlayedBlock], PlayedBlock | None]) -> None:
    """Put the changed block in the place of each stored one, with its checksum; None deletes it."""
    with opened(place) as connection:
        keys = dict(connection.execute("SELECT key, id FROM pairing").fetchall())
        spans = dict.fromkeys(keys, (0, rows.WHOLE))
        for block in [*rows.read_blocks(connection, spans)]:
            changed = change(block)
            if changed != block:
                row = (keys[block.pairing], block.block)
                connection.execute("DELETE FROM block WHERE (pairing, number) = (?, ?)", row)
                if changed:
                    packed = msgspec.structs.replace(changed, records=())
                    rows.insert(connection, [(row[0], packed)])


def edit_matches(place: Path, change: Callable[[MatchResult], MatchResult | None]) -> None:
    """Put the changed match in the place of each stored one, so that it fits all but its record; None deletes it."""

    def changed(block: PlayedBlock) -> PlayedBlock | None:
        left = [match for match in map(change, block.results) if match is not None]
        return next(pack_blocks(left)) if left else None

    edit_blocks(place, changed)


def delete_match(place: Path, is_gone: Callable[[MatchResult], bool]) -> None:
    """Delete matches with their records, as nothing of arena does."""
    gone: list[MatchResult] = []

    def change(match: MatchResult) -> MatchResult | None:
        gone.extend([match] if is_gone(match) else [])
        return None if is_gone(match) else match

    edit_matches(place, change)
    assert gone, "nothing was deleted"
    query = "DELETE FROM record WHERE (SELECT key FROM pairing WHERE id = pairing) = ? AND (block, rotation) = (?, ?)"
    with opened(place) as connection:
        for match in gone:
            connection.execute(query, match.key)
