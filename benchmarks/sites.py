"""Web pages of leagues: time and size of a build, first paint, and a server with viewers beside a league that stores.

Rule: matches are real ones. A league of 100 000 matches is made of those of `first`, stored anew under other names.
"""

import contextlib
import http.client
import os
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
from commands import ARENA, cpu_s
from leaderboard import synthetic, writing
from tables import Figure, Goal, Row, Table

from arena.league.schedule import Pairing, pairings
from arena.league.tournament import Tournament
from arena.match.columns import pack_blocks
from arena.match.results import MatchResult, rotate
from arena.operations.leagues import load_league
from arena.store import database, rows
from arena.store.folder import open_store

_PLAYERS: Final = 12
_MATCHES: Final = 100_000
_VIEWERS: Final = 50
_COMMIT_EVERY_S: Final = 0.2
_KB: Final = 1000
_MB: Final = 1_000_000
_RIFFRAFF: Final = """
name: ships
game: riffraff
players: [{bot: shipmate, name: tidy, arguments: [tidy]}, {bot: shipmate, name: random, arguments: [random]}]
cycles: 2
seed: benchmark
clock: {move_ms: 100, bank_ms: 2000}
rating: {draw_probability: 0.02}
"""

Block = tuple[MatchResult, ...]
"""The matches of a block by rotation."""


def measure(scratch: Path, *, is_quick: bool) -> list[Table]:
    """Measure builds of three leagues, the first paint of one, and a server beside commits."""
    first, ships = scratch / "first", scratch / "ships"
    (scratch / "ships.yaml").write_text(_RIFFRAFF)
    _arena("league", "run", "first", "--results", str(first))
    _arena("league", "run", str(scratch / "ships.yaml"), "--results", str(ships))
    with open_store(first) as store:
        blocks = _blocks([*store.matches(load_league(store, "first").blocks)])
    matches = _MATCHES // 10 if is_quick else _MATCHES
    large = _enlarged(scratch / "large", blocks, matches)
    built = [*_first(scratch, first), *_large(scratch, large, matches), *_ships(scratch, ships)]
    return [
        Table(title="Pages of leagues", headers=("what", "figure"), rows=tuple(built), notes=_BUILD_NOTES),
        _served(scratch / "served", blocks, seconds=10 if is_quick else 40),
    ]


_BUILD_NOTES: Final = (
    "seconds of CPU time, user and system, of `arena site build` as a whole command",
    "a page of a match: page and data, beside the assets that all share",
)


def _arena(*words: str) -> None:
    cpu_s(*ARENA, *words)


def _build_s(results: Path, out: Path, matches: str) -> float:
    return cpu_s(*ARENA, "site", "build", "--to", str(out), "--matches", matches, "--results", str(results))


def _first(scratch: Path, results: Path) -> Iterator[Row]:
    bare, whole = scratch / "first-bare", scratch / "first-site"
    yield "first: build without matches, CPU s", Figure(_build_s(results, bare, "none"), 2, Goal("<", 5))
    yield "first: size without matches, MB", Figure(_size(bare) / _MB, 2, Goal("<", 5))
    yield "first: build with the chosen matches, CPU s", Figure(_build_s(results, whole, "chosen"), 2)
    yield "first: largest page of a match, kB", Figure(_largest_match(whole) / _KB, 0, Goal("<=", 100))
    (standings,) = whole.glob("league/*/index.html")
    yield "first: page of standings, kB", Figure(standings.stat().st_size / _KB, 0, Goal("<", 200))
    if (paint_s := _first_paint_s(standings)) is not None:
        yield "first: first paint of the standings, s", Figure(paint_s, 2, Goal("<=", 0.3))


def _large(scratch: Path, results: Path, matches: int) -> Iterator[Row]:
    out = scratch / "large-site"
    yield (
        f"{matches:,} matches: build with the chosen ones, CPU s",
        Figure(_build_s(results, out, "chosen"), 1, Goal("<", 60)),
    )
    yield f"{matches:,} matches: size, MB", Figure(_size(out) / _MB, 1)
    largest = max(path.stat().st_size for path in out.glob("league/*/*.html"))
    yield f"{matches:,} matches: largest page without a match, kB", Figure(largest / _KB, 0, Goal("<", 200))


def _ships(scratch: Path, results: Path) -> Iterator[Row]:
    out = scratch / "ships-site"
    seconds, pages = _build_s(results, out, "all"), len([*(out / "match").iterdir()])
    yield "Riff Raff: build, CPU s a match", Figure(seconds / pages, 2)
    yield "Riff Raff: largest page of a match, kB", Figure(_largest_match(out) / _KB, 0, Goal("<=", 800))


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _largest_match(out: Path) -> int:
    return max(
        page.stat().st_size + (out / "data" / f"match-{page.stem}.js").stat().st_size
        for page in (out / "match").iterdir()
    )


def _first_paint_s(page: Path) -> float | None:
    """Return the median first paint of five visits in new browser contexts; None without chromium and playwright."""
    with contextlib.suppress(ModuleNotFoundError):
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

        if (program := shutil.which("chromium")) is not None:
            flags = ["--no-sandbox"] if os.getuid() == 0 else []
            with sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=program, args=flags)
                return median(_paint_s(browser, page.as_uri()) for _ in range(5))
    return None


def _paint_s(browser: object, url: str) -> float:
    context = browser.new_context(viewport={"width": 1280, "height": 900})  # type: ignore[attr-defined]
    with contextlib.closing(context):
        page = context.new_page()
        page.goto(url, wait_until="load")
        while not (paint_ms := page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")):
            time.sleep(0.01)
    return float(paint_ms) / 1000


def _blocks(matches: list[MatchResult]) -> list[Block]:
    return [tuple(block) for _, block in groupby(matches, key=lambda one: one.key[:2])]


def _renamed(block: Block, pairing: Pairing, number: int) -> Block:
    """Return a block under the names of these players."""
    return tuple(
        msgspec.structs.replace(
            match,
            key=match.key._replace(pairing=pairing.key, block=number),
            players=rotate(pairing.names, match.key.rotation),
        )
        for match in block
    )


def _enlarged(results: Path, blocks: list[Block], matches: int) -> Path:
    """Store a league of `matches` matches, in bulk and without a history."""
    rng, league = random.Random(1), synthetic(_PLAYERS, cycles=-(-matches // (_PLAYERS * (_PLAYERS - 1))))
    with writing(results) as store:
        store.save_league(league)
    connection = database.open_for_writing(results)
    connection.execute("PRAGMA synchronous=OFF")
    with contextlib.closing(connection), database.transaction(connection, database.path_in(results)):
        for number, pairing in enumerate(pairings(league), start=1):
            players = msgspec.json.encode(pairing.names).decode()
            connection.execute("INSERT INTO pairing VALUES (?, ?, ?)", (number, pairing.key, players))
            for block in range(league.cycles):
                played = next(pack_blocks(_renamed(rng.choice(blocks), pairing, block)))
                rows.insert(connection, [(number, played)])
    return results


def _served(results: Path, blocks: list[Block], *, seconds: int) -> Table:
    """Measure commits alone and with a server and viewers, in turns, and the server's own CPU time."""
    league = synthetic(_PLAYERS, cycles=100_000)
    commits = _Commits(results, league, blocks)
    commits.of(10)
    alone, watched, shares = list[float](), list[float](), list[float]()
    for _ in range(2):
        alone += commits.of(seconds)
        with _server(results) as (process, port), _viewers(port):
            before_s, start_s = _cpu_s(process.pid), time.monotonic()
            watched += commits.of(seconds)
            shares.append((_cpu_s(process.pid) - before_s) / (time.monotonic() - start_s))
    figures: list[Row] = [
        ("share of a core of the server, %", Figure(100 * median(shares), 1, Goal("<", 5))),
        ("a commit alone, median ms", Figure(1000 * median(alone), 2)),
        ("a commit with viewers, median ms", Figure(1000 * median(watched), 2)),
        ("a commit alone, slowest ms", Figure(1000 * max(alone), 1)),
        ("a commit with viewers, slowest ms", Figure(1000 * max(watched), 1)),
    ]
    notes = (
        f"{_VIEWERS} viewers, each fetches index and standings at every news",
        f"a block of two matches is stored every {_COMMIT_EVERY_S} s; {seconds} s of each, twice, in turns",
        "the share includes the first pages of each server",
    )
    return Table(title="A live site", headers=("what", "figure"), rows=tuple(figures), notes=notes)


class _Commits:
    """A league that stores a block at intervals."""

    def __init__(self, results: Path, league: Tournament, blocks: list[Block]) -> None:
        self._results, self._blocks = results, blocks
        self._pairings, self._count = pairings(league), 0
        with writing(results) as store:
            store.save_league(league)

    def of(self, seconds: float) -> list[float]:
        """Commit for `seconds`; return the wall seconds of each commit."""
        commits_s, end_s = list[float](), time.monotonic() + seconds
        with writing(self._results) as store:
            while time.monotonic() < end_s:
                number, at = divmod(self._count, len(self._pairings))
                block = _renamed(self._blocks[self._count % len(self._blocks)], self._pairings[at], number)
                start_s = time.perf_counter()
                store.save(pack_blocks(block))
                commits_s.append(time.perf_counter() - start_s)
                self._count += 1
                time.sleep(_COMMIT_EVERY_S)
        return commits_s


@contextlib.contextmanager
def _server(results: Path) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    command = [*ARENA, "site", "serve", "--port", "0", "--results", str(results)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield process, int(process.stderr.readline().rsplit(":", 1)[1].strip("/\n"))
        finally:
            process.terminate()


@contextlib.contextmanager
def _viewers(port: int) -> Iterator[None]:
    """Keep viewers connected that load pages at each news, as browsers do; all end with the context."""
    over = threading.Event()
    threads = [threading.Thread(target=_watch, args=(port, over), daemon=True) for _ in range(_VIEWERS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()


def _watch(port: int, over: threading.Event) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        events, pages = (http.client.HTTPConnection("127.0.0.1", port, timeout=60) for _ in range(2))
        events.request("GET", "/events")
        answer = events.getresponse()
        while not over.is_set():
            if answer.readline().startswith(b"data:"):
                pages.request("GET", "/index.html")
                index = pages.getresponse().read().decode()
                pages.request("GET", "/league/" + index.split("league/", 1)[1].split('"', 1)[0])
                pages.getresponse().read()


def _cpu_s(pid: int) -> float:
    """Return the user and system seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
