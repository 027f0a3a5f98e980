"""Results folders that nobody should send: what is changed in a sound one, by name; no process plays here."""

import os
import re
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from support.store_made import fill, tournament
from support.tampering import opened

MAGIC = bytes.fromhex("d9d505f920a163d7")
PAGE = 1 << 14
Change = Callable[[Path, Path], object]
"""Changes the folder; the second path is a file of the victim, beside the folder."""


def sound(results: Path) -> None:
    """A finished league in one file, a secret and a home of a bot beside it."""
    fill(results, tournament())
    (results / "secrets").mkdir()
    (results / "secrets" / commitment()).write_text(f"{'ab' * 32}\n")
    for part in ("source", "run"):
        (home(results) / part).mkdir(parents=True)
        (home(results) / part / "bot.py").write_text("print()\n")
    (home(results) / "built").write_text("0" * 64)
    with opened(results) as connection:
        tell = "UPDATE league SET tournament = ?, digest = ?"
        text = connection.execute("SELECT CAST(tournament AS TEXT) FROM league").fetchone()[0]
        text = text.replace('"digest":"' + "ann" * 8 + '"', f'"digest":"{home(results).name}"')
        connection.execute(tell, (text.encode(), sha256(text.encode()).hexdigest()))
        connection.execute("INSERT INTO secret VALUES ('test', 0, ?, 'drawn', NULL)", (commitment(),))
    with opened(results) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def commitment() -> str:
    return sha256(b"arena/commitment" + bytes.fromhex("ab" * 32)).hexdigest()


def home(results: Path) -> Path:
    return results / "bots" / ("a" * 64)


def journal(named: bytes = b"", pages: int = 0, image: bytes = b"") -> bytes:
    """A hot rollback journal of a database that had so many pages, with the image of its first one."""
    records = 1 if image else 0
    header = MAGIC + struct.pack(">IIIII", records, 7, pages, 512, PAGE)
    text = header.ljust(512, b"\0")
    if image:
        check = (7 + sum(image[place] for place in range(PAGE - 200, 0, -200))) & 0xFFFFFFFF
        text += struct.pack(">I", 1) + image + struct.pack(">I", check)
    if named:
        number = 0x40000000 // PAGE + 1
        text += struct.pack(">I", number) + named + struct.pack(">II", len(named), sum(named)) + MAGIC
    return text


def hot(named: Callable[[Path], bytes] = lambda _: b"") -> Change:
    def change(results: Path, victim: Path) -> None:
        image = (results / "arena.db").read_bytes()[:PAGE]
        pages = (results / "arena.db").stat().st_size // PAGE
        (results / "arena.db-journal").write_bytes(journal(named(victim), pages, image))

    return change


def link(name: str, target: str = "") -> Change:
    """A link to the victim, or to `target`, in the place of that file."""

    def change(results: Path, victim: Path) -> None:
        place = find(results, name)
        aside(place)
        place.symlink_to(target or victim)

    return change


def pipe(name: str) -> Change:
    def change(results: Path, _: Path) -> None:
        place = find(results, name)
        aside(place)
        os.mkfifo(place)

    return change


def folder(name: str) -> Change:
    def change(results: Path, _: Path) -> None:
        aside(results / name)
        (results / name).mkdir()

    return change


def both(*changes: Change) -> Change:
    def change(results: Path, victim: Path) -> None:
        for each in changes:
            each(results, victim)

    return change


def find(results: Path, name: str) -> Path:
    return results / name.replace("HOME", f"bots/{home(results).name}").replace("COMMITMENT", commitment())


def aside(place: Path) -> None:
    if place.exists():
        place.rename(place.with_name(f"former-{place.name}"))


def content(name: str, made: bytes) -> Change:
    return lambda results, _: (results / name).write_bytes(made)


def sql(*statements: str) -> Change:
    """Statements of somebody whose SQLite checks nothing."""

    def change(results: Path, _: Path) -> None:
        with opened(results) as connection:
            for statement in ("PRAGMA ignore_check_constraints=ON", "PRAGMA writable_schema=ON", *statements):
                connection.execute(statement)
        clean(results)

    return change


def record(make: Callable[[], bytes]) -> Change:
    """This text as the record of every match, with its digest."""

    def change(results: Path, _: Path) -> None:
        text = make()
        row = (zlib.compress(text, 9), sha256(text).hexdigest())
        with opened(results) as connection:
            connection.execute("UPDATE record SET body = ?, digest = ? WHERE (block, rotation) = (0, 0)", row)
        clean(results)

    return change


def bomb(results: Path, _: Path) -> None:
    """A record of 1 MiB that is 1 GiB."""
    packer = zlib.compressobj(9)
    start = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    mebibyte = packer.compress(b" " * (1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    with opened(results) as connection:
        change = "UPDATE record SET body = ? WHERE (block, rotation) = (0, 0)"
        connection.execute(change, (start + 1024 * mebibyte,))
    clean(results)


def clean(results: Path) -> None:
    """One file, as somebody sends it."""
    for name in ("arena.db-wal", "arena.db-shm"):
        (results / name).unlink(missing_ok=True)


def patch(place: int, made: bytes) -> Change:
    """Other bytes in the database."""

    def change(results: Path, _: Path) -> None:
        with (results / "arena.db").open("r+b") as file:
            file.seek(place)
            file.write(made)

    return change


def root_of(results: Path, table: str) -> int:
    with opened(results) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    clean(results)
    return int(page)


def inner_page(cell: bytes, right: int, *, is_index: bool = False) -> bytes:
    """An inner page of a tree that leads a thousand times to the page of its cell."""
    count = 1000
    header = struct.pack(">BHHHBI", 2 if is_index else 5, 0, count, PAGE - len(cell), 0, right)
    start = header + struct.pack(">H", PAGE - len(cell)) * count
    return start.ljust(PAGE - len(cell), b"\0") + cell


def circle(table: str, *, is_index: bool) -> Change:
    """A page of a tree that leads to itself."""

    def change(results: Path, _: Path) -> None:
        page = root_of(results, table)
        cell = struct.pack(">I", page) + (b"\x03\x02\x01\x01" if is_index else b"\x01")
        patch((page - 1) * PAGE, inner_page(cell, page, is_index=is_index))(results, Path())

    return change


def ladder(table: str) -> Change:
    """Twelve levels of pages, each of which leads a thousand times to the next: rows without an end in 200 KiB."""

    def change(results: Path, _: Path) -> None:
        page, levels = root_of(results, table), 12
        data = (results / "arena.db").read_bytes()
        size = len(data) // PAGE
        chain = [page, *range(size + 1, size + levels + 1)]
        for here, below in pairwise(chain):
            patch((here - 1) * PAGE, inner_page(struct.pack(">I", below) + b"\x01", below))(results, Path())
        patch((chain[-1] - 1) * PAGE, data[(page - 1) * PAGE : page * PAGE])(results, Path())
        patch(28, struct.pack(">I", size + levels))(results, Path())

    return change


def long_names(results: Path, _: Path) -> None:
    """Sixty names of leagues, each of 1 MiB by its length, whose pages lead in circles."""
    with opened(results) as connection:
        rows = [(f"{number:04}" + "x" * 40_000, b"", "") for number in range(60)]
        connection.executemany("INSERT INTO league (name, tournament, digest) VALUES (?, ?, ?)", rows)
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray((results / "arena.db").read_bytes())
    for page in range(len(data) // PAGE):
        if data[page * PAGE] == 0 and b"x" * 1000 in data[page * PAGE : (page + 1) * PAGE]:
            data[page * PAGE : page * PAGE + 4] = struct.pack(">I", page + 1)
    # The length of a payload, and of the text in it, become the most that three bytes hold.
    assert data.count(b"\x84\xf1\x15") == 60
    text = bytes(data).replace(b"\x84\xf1\x15", b"\xff\xff\x7f")
    (results / "arena.db").write_bytes(re.sub(rb"\x82\xb8.", b"\xff\xff\x7f", text, flags=re.DOTALL))


def wal(results: Path, changed: Callable[[bytearray], object] = lambda _: None) -> None:
    """The folder as a program that was killed leaves it, its WAL changed."""
    with closing(sqlite3.connect(results / "arena.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("INSERT INTO bot VALUES ('d', 'late', '1', 'now')")
        data = bytearray((results / "arena.db-wal").read_bytes())
    changed(data)
    (results / "arena.db-wal").write_bytes(data)


def with_wal(changed: Callable[[bytearray], object]) -> Change:
    return lambda results, _: wal(results, changed)


def far_page(data: bytearray) -> None:
    """A first frame of page 2^31, with checksums that fit."""
    data[32:36] = struct.pack(">I", 1 << 31)
    seal(data)


def seal(data: bytearray) -> None:
    """Compute the checksums of all frames anew."""
    order = ">" if data[3] & 1 else "<"

    def add(sums: tuple[int, int], part: bytes) -> tuple[int, int]:
        one, two = sums
        words = struct.unpack(f"{order}{len(part) // 4}I", part)
        for low, high in zip(words[::2], words[1::2], strict=True):
            one = (one + low + two) & 0xFFFFFFFF
            two = (two + high + one) & 0xFFFFFFFF
        return one, two

    sums = add((0, 0), bytes(data[:24]))
    data[24:32] = struct.pack(">II", *sums)
    for place in range(32, len(data), PAGE + 24):
        sums = add(add(sums, bytes(data[place : place + 8])), bytes(data[place + 24 : place + 24 + PAGE]))
        data[place + 16 : place + 24] = struct.pack(">II", *sums)


def flips(seed: int, name: str) -> Change:
    """Some bytes of a file are others."""

    def change(results: Path, _: Path) -> None:
        if name != "arena.db":
            wal(results)
        rng, data = Random(seed), bytearray((results / name).read_bytes())
        for _number in range(rng.choice((1, 5, 100))):
            data[rng.randrange(min(len(data), rng.choice((100, len(data)))))] ^= rng.randrange(1, 256)
        (results / name).write_bytes(data)

    return change


def holes(name: str) -> Change:
    """A tebibyte that is not there, behind the file."""

    def change(results: Path, _: Path) -> None:
        if name != "arena.db":
            wal(results)
        os.truncate(results / name, 1 << 40)

    return change


ENDLESS = "CREATE VIEW block AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n"
CHANGES: dict[str, Change] = {
    "a journal with a relative super-journal": hot(lambda victim: victim.name.encode()),
    "a journal with an absolute super-journal": hot(lambda victim: str(victim).encode()),
    "a journal of nothing with a super-journal": lambda results, victim: (results / "arena.db-journal").write_bytes(
        journal(str(victim).encode())
    ),
    "a journal": hot(),
    "a journal that ends early": lambda results, _: (results / "arena.db-journal").write_bytes(journal(pages=9)[:30]),
    "a journal of many pages": content("arena.db-journal", journal(pages=(1 << 32) - 1)),
    "a journal of garbage": content("arena.db-journal", Random(1).randbytes(5000)),
    "a journal that is a link": link("arena.db-journal"),
    "a journal that is a pipe": pipe("arena.db-journal"),
    "a WAL": with_wal(lambda _: None),
    "a WAL that is a link": link("arena.db-wal"),
    "a WAL that is a pipe": pipe("arena.db-wal"),
    "a WAL of garbage": content("arena.db-wal", Random(2).randbytes(50_000)),
    "a WAL that ends early": with_wal(lambda data: data.__delitem__(slice(-100, None))),
    "a WAL of a far page": with_wal(far_page),
    "a WAL with a hole of a tebibyte": holes("arena.db-wal"),
    "an shm that is a link": both(with_wal(lambda _: None), link("arena.db-shm")),
    "an shm that is a pipe": both(with_wal(lambda _: None), pipe("arena.db-shm")),
    "an shm of garbage": both(with_wal(lambda _: None), content("arena.db-shm", b"\xff" * 32768)),
    "a database that is a link": link("arena.db"),
    "a database that is a pipe": pipe("arena.db"),
    "a database that has no end": link("arena.db", "/dev/zero"),
    "a database that is a folder": folder("arena.db"),
    "a database with a hole of a tebibyte": holes("arena.db"),
    "a page size of 512": patch(16, b"\x02\x00"),
    "a page size of 0": patch(16, b"\0\0"),
    "a file format of the future": patch(18, b"\x09\x09"),
    "no usable bytes": patch(20, b"\xff"),
    "two thousand million pages": patch(28, b"\x7f\xff\xff\xff"),
    "a list of free pages in a circle": patch(32, struct.pack(">II", 1, 1 << 30)),
    "UTF-16": patch(56, struct.pack(">I", 2)),
    "a match that is an endless view": sql("DROP TABLE block", ENDLESS),
    "an endless view beside": sql(ENDLESS.replace("VIEW block", "VIEW more")),
    "a trigger": sql("CREATE TRIGGER more AFTER INSERT ON bot BEGIN DELETE FROM block; END"),
    "a virtual table": sql("CREATE VIRTUAL TABLE more USING fts5(x)"),
    "a generated column": sql("ALTER TABLE bot ADD COLUMN more AS (hex(zeroblob(900000000)))"),
    "an index": sql("CREATE INDEX more ON bot (hex(zeroblob(9)))"),
    "a table without text": sql("UPDATE sqlite_master SET sql = NULL WHERE name = 'block'"),
    "a table of another text": sql("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'block'"),
    "two tables in one place": sql(
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'record')"
        " WHERE name = 'block'"
    ),
    "another version": sql("PRAGMA user_version=13"),
    "pages of matches in a circle": circle("block", is_index=True),
    "pages of pairings in a circle": circle("pairing", is_index=False),
    "pairings without an end": ladder("pairing"),
    "history without an end": ladder("history"),
    "names without an end": long_names,
    "a record of 1 GiB": bomb,
    "a record of lists": record(lambda: b"[" + b"[]," * 2_700_000 + b"0]"),
    "a record in a record": record(lambda: b"[" * 8_000_000),
    "a secret that has no end": link("secrets/COMMITMENT", "/dev/zero"),
    "a secret that is a pipe": pipe("secrets/COMMITMENT"),
    "secrets elsewhere": link("secrets", "/dev"),
    "a secret with a path for a name": sql("UPDATE secret SET commitment = '../../dev/zero'"),
    "bots elsewhere": link("bots", "/"),
    "a bot elsewhere": link("HOME", "/"),
    "a source elsewhere": link("HOME/source", "/"),
    "a script that has no end": link("HOME/source/bot.py", "/dev/zero"),
    "a script that is a pipe": pipe("HOME/source/bot.py"),
    "a build that is a pipe": pipe("HOME/built"),
    "a run that has no end": link("HOME/run/bot.py", "/dev/zero"),
    **{f"other bytes of the database, {seed}": flips(seed, "arena.db") for seed in range(6)},
    **{f"other bytes of the WAL, {seed}": flips(seed, "arena.db-wal") for seed in range(6)},
}


def picture(folder: Path) -> Iterator[Any]:
    """All that a look at a folder tells, but the times of reading."""
    for place in sorted(folder.rglob("*")):
        status = place.lstat()
        kept = (status.st_mode, status.st_size, status.st_ino, status.st_nlink, status.st_mtime_ns, status.st_ctime_ns)
        text = sha256(place.read_bytes()).hexdigest() if place.is_file() and status.st_size < 1 << 30 else ""
        yield str(place), kept, text
