"""Before a run writes its first byte: a file that SQLite finds malformed is refused and keeps every byte."""

import random
from pathlib import Path

import pytest
from support.golden import Golden
from support.store_made import fill, reading, tournament
from support.tampering import opened

from arena.errors import DamagedStore, SpecError
from arena.league.state import state_of
from arena.league.tournament import Tournament
from arena.operations.leagues import league_table
from arena.standings.table import standings_json
from arena.store import database

PAGE = database.DATABASE_PAGE_BYTES


def sound(folder: Path, league: Tournament | None = None) -> Path:
    """A database of ours in one file, without a journal beside it."""
    fill(folder, league or tournament("ann", "bob", cycles=60))
    with opened(folder) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return database.path_in(folder)


def is_refused(path: Path, content: bytes) -> bool:
    """Return True if the content is refused for writing and left as it is."""
    path.write_bytes(content)
    try:
        database.open_for_writing(path.parent).close()
    except DamagedStore as error:
        return str(path) in str(error) and path.read_bytes() == content
    return False


def test_a_zeroed_page_is_refused(tmp_path: Path, golden: Golden) -> None:
    """Any page of the file, as a disk that lost a write leaves it; or else the tournament in it is not used."""
    path = sound(tmp_path)
    content = path.read_bytes()
    pages = len(content) // PAGE

    accepted = [
        page
        for page in range(pages)
        if not is_refused(path, content[: page * PAGE] + bytes(PAGE) + content[(page + 1) * PAGE :])
    ]

    assert pages > 15
    for page in accepted:
        path.write_bytes(content[: page * PAGE] + bytes(PAGE) + content[(page + 1) * PAGE :])
        with reading(tmp_path) as store, golden.raises(DamagedStore):
            store.league("test")
    assert len(accepted) <= 1


def test_a_large_file_is_looked_at_in_samples_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, golden: Golden
) -> None:
    """A small table whole, and the large ones at so many places that a damaged part is found."""
    path = sound(tmp_path)
    monkeypatch.setattr(database, "FULL_CHECK_BYTES", 1000)
    content = path.read_bytes()

    accepted = is_refused(path, content)
    said = caplog.messages

    assert not accepted
    golden(said)
    middle = len(content) // PAGE // 2 * PAGE
    assert is_refused(path, content[:middle] + bytes(8 * PAGE) + content[middle + 8 * PAGE :])


def test_a_flipped_bit_never_gives_a_wrong_leaderboard(tmp_path: Path) -> None:
    """A flipped bit is harmless or an error; a query that silently misses rows would be worse."""
    path = sound(tmp_path, tournament("ann", "bob", "cid", cycles=8))
    small = ("league", "pairing", "sqlite_autoindex_pairing_1")
    with opened(path) as connection:
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_master").fetchall())
    content = path.read_bytes()
    truth = leaderboard(tmp_path)
    rng = random.Random(11)
    refused = 0
    for name in small:
        start = (roots[name] - 1) * PAGE
        used = [place for place in range(start, start + PAGE) if content[place]]
        for place in rng.sample(used, min(60, len(used))):
            flipped = bytearray(content)
            flipped[place] ^= 1 << rng.randrange(8)
            path.write_bytes(flipped)
            try:
                assert leaderboard(tmp_path) == truth, f"byte {place} of {name}"
            except (DamagedStore, SpecError):
                refused += 1

    assert refused > 50


def leaderboard(results: Path) -> bytes:
    with reading(results) as store:
        return standings_json(league_table(store, state_of(store.league("test"), store.ranks))[0])
