"""The history of a results folder: which matches were stored, in the order of their commits, as a Merkle tree.

Rule: it only grows. An entry is a match id and the digest of its record; neither changes nor goes, whatever becomes of
the match. The tree is that of RFC 6962 (certificate transparency): a leaf is SHA-256(0x00 || `ID DIGEST`), a node
SHA-256(0x01 || left || right), the left part as large a power of two as fits. `COUNT:ROOT` names the first so many
entries and nothing else, so whoever kept one can tell later that none of these was changed, added, removed or moved.

Beside each entry lies the root of the largest complete subtree that ends with it: from these few the next ones are
computed, and the root, without a look at the others.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final, NamedTuple

from arena.errors import DamagedStore, SpecError
from arena.match.results import MatchKey

HISTORY_TABLE: Final = """CREATE TABLE history (
    number INTEGER PRIMARY KEY, pairing INTEGER NOT NULL, block INTEGER NOT NULL, rotation INTEGER NOT NULL,
    digest TEXT NOT NULL, node BLOB NOT NULL
)"""
TRIGGERS: Final = tuple(
    f"CREATE TRIGGER history_{event.lower()} BEFORE {event} ON history"
    " BEGIN SELECT raise(ABORT, 'the history only grows'); END"
    for event in ("UPDATE", "DELETE")
)
_ENTRIES: Final = """
    SELECT number, key || '-' || h.block || '-' || h.rotation, h.digest, node, r.digest FROM history h
    LEFT JOIN pairing ON pairing.id = h.pairing
    LEFT JOIN record r ON (r.pairing, r.block, r.rotation) = (h.pairing, h.block, h.rotation) ORDER BY number
"""
_EMPTY: Final = sha256(b"").digest()
_HEAD: Final = re.compile(r"(0|[1-9][0-9]{0,17}):([0-9a-f]{64})\Z")


class Head(NamedTuple):
    """The root of the first `size` entries, 32 bytes."""

    size: int
    root: bytes

    def __str__(self) -> str:
        """Return `COUNT:ROOT`, the form in which people keep it."""
        return f"{self.size}:{self.root.hex()}"


class Entry(NamedTuple):
    """A row of the history: its number, match id, the digest of the record, and the node beside it.

    `stored` is the digest that the record has now, None if the match is not there any more.
    """

    number: int
    match: str
    digest: str
    node: bytes
    stored: str | None


NewEntry = tuple[int, MatchKey, str]
"""An entry that is not stored yet: the id of the pairing, the match, and the digest of its record."""


class Tree:
    """The Merkle tree of a number of entries, kept as the roots of its complete subtrees, the largest first."""

    def __init__(self, count: int = 0, peaks: Iterable[bytes] = ()) -> None:
        self._count = count
        self._peaks = list(peaks)

    def add(self, match: str, digest: str) -> bytes:
        """Add an entry; return the root of the largest complete subtree that ends with it."""
        node, size = sha256(f"\0{match} {digest}".encode()).digest(), self._count
        while size & 1:
            node, size = _node_above(self._peaks.pop(), node), size >> 1
        self._peaks.append(node)
        self._count += 1
        return node

    def head(self) -> Head:
        """Return the number of entries added so far, and their root."""
        if not self._peaks:
            return Head(0, _EMPTY)
        root = self._peaks[-1]
        for peak in reversed(self._peaks[:-1]):
            root = _node_above(peak, root)
        return Head(self._count, root)


def read_head(text: str) -> Head:
    """Parse `COUNT:ROOT` as a person gives it back. SpecError if it has another form."""
    if not (parts := _HEAD.match(text.strip())):
        raise SpecError(
            f"--root {text:.100}: expected COUNT:ROOT, a number and 64 hex digits, as `arena league status` prints it"
        )
    return Head(int(parts[1]), bytes.fromhex(parts[2]))


def append(connection: sqlite3.Connection, entries: Iterable[NewEntry]) -> None:
    """Append entries to the history, within the caller's transaction."""
    tree, number = _load_tree(connection)
    rows: list[tuple[int, int, int, int, str, bytes]] = []
    for pairing, key, digest in entries:
        rows.append((number + len(rows), pairing, key.block, key.rotation, digest, tree.add(str(key), digest)))
    connection.executemany("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?)", rows)


def head(connection: sqlite3.Connection) -> Head:
    """Return the root of all entries from the nodes stored beside them; `verify` uses the entries instead."""
    return _load_tree(connection)[0].head()


def entries(connection: sqlite3.Connection) -> Iterator[Entry]:
    """Yield all entries in order; in a tampered one all values but the number may have any type.

    DamagedStore if the numbers do not increase.
    """
    last = -1
    for row in connection.execute(_ENTRIES):
        if row[0] <= last:  # pages in a circle would never end
            raise DamagedStore(f"the history of stored matches is damaged at entry {last}: its pages are out of order")
        last = row[0]
        yield Entry(*row)


def _load_tree(connection: sqlite3.Connection) -> tuple[Tree, int]:
    """Load the tree of all entries, from its peaks; return it and their number. DamagedStore if a peak is not there."""
    (last,) = connection.execute("SELECT max(number) FROM history").fetchone()
    count = 0 if last is None else last + 1
    peaks, end = list[bytes](), 0
    for bit in reversed(range(count.bit_length())):
        if count >> bit & 1:
            end += 1 << bit
            row = connection.execute("SELECT node FROM history WHERE number = ?", (end - 1,)).fetchone()
            if row is None or not isinstance(row[0], bytes) or len(row[0]) != len(_EMPTY):
                raise DamagedStore(f"the history of stored matches is damaged at entry {end - 1}; run `arena verify`")
            peaks.append(row[0])
    return Tree(count, peaks), count


def _node_above(left: bytes, right: bytes) -> bytes:
    """Return the hash of the node above two nodes."""
    return sha256(b"\1" + left + right).digest()
