"""Damage of stored blocks: changed bits and exchanged rows are refused by every page; absurd values break none."""

import re
import sqlite3
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from msgspec.structs import replace
from support.made_matches import made
from support.store_made import fill, reading, tournament, writing
from support.tampering import edit_matches, execute_sql, opened

from arena.cli import execute
from arena.errors import DamagedStore
from arena.league.schedule import pairings
from arena.league.state import state_of
from arena.match.columns import pack_blocks
from arena.match.results import MatchKey, MatchResult
from arena.store import rows

PAGES = ("leaderboard", "stats ann", "matrix", "league matches", "verify")
ROWS = 30


class OneRow:
    """A connection of which every query finds one row."""

    def __init__(self, *row: Any) -> None:
        self._row = row

    def execute(self, *_: Any) -> Iterator[tuple[Any, ...]]:
        return iter([self._row])


def is_refused(*row: Any) -> bool:
    """Return True if the reader of blocks refuses a row and names it."""
    try:
        list(rows.read_blocks(cast(sqlite3.Connection, OneRow(*row)), {}))
    except DamagedStore as error:
        return f"block {row[0]}-{row[2]} cannot be read" in str(error)
    return False


def flipped(value: Any) -> Iterator[Any]:
    """The value with another bit each time; texts that SQLite would not decode are left out."""
    if isinstance(value, int):
        yield from (value ^ 1 << bit for bit in range(63))
        yield ~value
    else:
        raw = value if isinstance(value, bytes) else value.encode()
        for bit in range(8 * len(raw)):
            changed = bytearray(raw)
            changed[bit // 8] ^= 1 << bit % 8
            if isinstance(value, bytes):
                yield bytes(changed)
            elif changed.isascii():
                yield changed.decode()


def test_every_flipped_bit_of_a_row_is_refused(tmp_path: Path) -> None:
    """Flip bits of 30 rows in every column: key, number, ranks, ends, numbers and checksum."""
    rng = Random(9)
    with writing(tmp_path) as store:
        for number in range(ROWS):
            seats = ["ann", "bob", "cid", "dan"][: rng.randint(2, 4)]
            matches = [made(rng, MatchKey(f"{len(seats)}a", number, turn), tuple(seats)) for turn in range(len(seats))]
            store.save(pack_blocks(matches))
        spans = {f"{seats}a": [0, ROWS] for seats in (2, 3, 4)}
        found = store._connection.execute(rows._BLOCKS, (str(spans).replace("'", '"'),)).fetchall()

    assert len(found) == ROWS
    assert not any(is_refused(*row) for row in found)
    for row in found:
        for column in (0, 2, 3, 4, 5, 6):
            for value in flipped(row[column]):
                assert is_refused(*row[:column], value, *row[column + 1 :]), (row[:3], column, value)


CHANGES = {
    "a rank": "UPDATE block SET ranks = '00' || substr(ranks, 3) WHERE number = 1",
    "an end": "UPDATE block SET ends = replace(ends, 'normal', 'norMal') WHERE number = 1",
    "a text that is none": "UPDATE block SET ends = CAST(x'ff' || substr(ends, 2) AS TEXT) WHERE number = 1",
    "a type": "UPDATE block SET ranks = CAST(ranks AS BLOB) WHERE number = 1",
    "a number": "UPDATE block SET numbers = CAST(x'00' || substr(numbers, 2) AS BLOB) WHERE number = 1",
    "fewer numbers": "UPDATE block SET numbers = substr(numbers, 2) WHERE number = 1",
    "a checksum": "UPDATE block SET checksum = checksum + 1 WHERE number = 1",
    "the number of a block": "UPDATE block SET number = 77 WHERE number = 3; UPDATE block SET number = 3"
    " WHERE number = 1; UPDATE block SET number = 1 WHERE number = 77",
    "rows of two pairings": "UPDATE block SET pairing = 9 WHERE pairing = 1; UPDATE block SET pairing = 1"
    " WHERE pairing = 2; UPDATE block SET pairing = 2 WHERE pairing = 9",
    "keys of two pairings": "UPDATE pairing SET id = 9 WHERE id = 1; UPDATE pairing SET id = 1 WHERE id = 2;"
    " UPDATE pairing SET id = 2 WHERE id = 9",
    "all but the key": "UPDATE block SET (ranks, ends, numbers, checksum) ="
    " (SELECT ranks, ends, numbers, checksum FROM block other WHERE (other.pairing, other.number) = (1, 0))",
}


@pytest.mark.parametrize("what", CHANGES)
def test_every_page_refuses_the_same_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str) -> None:
    """Every page names the damaged block and shows no table."""
    fill(tmp_path, tournament())
    execute_sql(tmp_path, *CHANGES[what].split(";"))

    for page in PAGES:
        code = execute([*page.split(), "--results", str(tmp_path)])
        said = capsys.readouterr()
        assert code == 1, page
        assert re.search(r"block \w+-\d cannot be read: |arena\.db cannot be used: .*decode", said.out + said.err), page


@pytest.mark.parametrize("players", ["'[]'", "'{'", "5", "'[\"ann\"]'", '\'["ann","cid"]\''])
def test_players_of_a_pairing_who_cannot_be_are_refused(tmp_path: Path, players: str) -> None:
    """Their names have no checksum: they are compared with those of the tournament."""
    league = tournament("ann", "bob")
    fill(tmp_path, league)
    execute_sql(tmp_path, f"UPDATE pairing SET players = {players}")

    with reading(tmp_path) as store, pytest.raises(DamagedStore, match="run `arena verify`"):
        state_of(league, store.ranks)


def test_a_row_with_a_checksum_of_its_own_is_read_with_care(tmp_path: Path) -> None:
    """A forged row with a valid checksum is named, too, and no page ends in a traceback."""
    league = tournament("ann", "bob", cycles=1)
    fill(tmp_path, league)
    (pair,) = pairings(league)
    with opened(tmp_path) as connection:
        sound = connection.execute("SELECT number, ranks, ends, numbers FROM block").fetchone()
    ends = sound[2]
    wrong = [
        *(("ranks", value) for value in ("0", "0202", "1111", b"0101", "x0x0", 5, "01--")),
        *(("ends", value) for value in ("", "[]", "[5,6]", b"[]", "[null,null]", "[" * 999)),
        *(("ends", ends.replace(*change)) for change in (('"normal"', '"bored"'), ('"normal"', '"void"'))),
        *(("ends", ends.replace(*change)) for change in (("null", "1"), (",1", ",0"), ('"normal",null', '"crash",2'))),
        *(("numbers", value) for value in (b"", b"1", sound[3] * 2, "text", bytes(len(sound[3]) * 2 + 4))),
        ("numbers", b"\xff" * len(sound[3])),
    ]
    for column, value in wrong:
        row = tuple(value if name == column else old for name, old in zip(COLUMNS, sound, strict=True))
        with opened(tmp_path) as connection:
            query = f"UPDATE block SET {column} = ?, checksum = ?"
            connection.execute(query, (value, rows.checksum((pair.key, *row))))

        assert execute(["league", "matches", "--results", str(tmp_path)]) == 1, value
        assert execute(["leaderboard", "--results", str(tmp_path)]) in {0, 1}, value
        assert execute(["verify", "--results", str(tmp_path)]) == 1, value


COLUMNS = ("number", "ranks", "ends", "numbers")


SIZES = (0, 1, 3, 999_983, 2_000_000, 1 << 31, 1 << 53, 1 << 60, 1 << 61)
ALL_PAGES = (*PAGES, "stats ann --format json", "league status")


def absurd(results: Path, rng: Random, sizes: tuple[int, ...]) -> None:
    """Luck and scores of these sizes in every match."""
    unit = rng.choice([1, 7, 1 << 40])

    def change(match: MatchResult) -> MatchResult:
        luck, *scores = (rng.choice((-1, 1)) * rng.choice(sizes) for _ in range(3))
        exact = tuple(Fraction(score, unit) for score in scores)
        return replace(match, luck=(luck, -luck), luck_version="1", scores=exact)

    edit_matches(results, change)


@pytest.mark.parametrize("sizes", [*((each,) for each in SIZES), SIZES, SIZES[:6]])
def test_no_page_ends_in_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sizes: tuple[int, ...]
) -> None:
    """A page is printed, or the match is named that cannot be."""
    fill(tmp_path, tournament())
    absurd(tmp_path, Random(str(sizes)), sizes)

    said = {page: (execute([*page.split(), "--results", str(tmp_path)]), capsys.readouterr().err) for page in ALL_PAGES}

    assert {page: (code, err) for page, (code, err) in said.items() if code not in {0, 1}} == {}
