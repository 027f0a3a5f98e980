"""Matches that viewers open: made once, one at a time, within a share of a core, and nobody waits for ever."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from support.store_made import fill, tournament

from arena.site.replay_cache import BURST_S, MOST_KEPT, MOST_WAITING, SHARE, Busy, Files, ReplayCache
from arena.site.serve import LiveSite, application

LONGEST_S = 60


def asked(app: Starlette, path: str) -> tuple[int, dict[bytes, bytes], str]:
    """The status, the headers and the text of an answer, without a connection."""
    said: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        said.append(message)

    head = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [(b"host", b"localhost")]}
    asyncio.run(app(head, receive, send))
    return said[0]["status"], dict(said[0]["headers"]), b"".join(each["body"] for each in said[1:]).decode()


class Costly:
    """Makes matches, each of which takes `cost_s` of CPU time by its own clocks."""

    def __init__(self, cost_s: float) -> None:
        self.now_s = self.cpu_s = 0.0
        self.made: list[str] = []
        self._cost_s = cost_s
        self.matches = ReplayCache(lambda: self.now_s, lambda: self.cpu_s)

    def open(self, match: str) -> bytes | None:
        return self.matches.file(f"match/{match}.html", lambda: self._make(match))

    def _make(self, match: str) -> Files:
        self.made.append(match)
        self.cpu_s += self._cost_s
        return {f"match/{match}.html": match.encode(), f"data/match-{match}.js": b"data"}


def test_a_match_is_made_once_with_both_files() -> None:
    """A match is made once, with both files; one that is not to be shown is tried again at the next request."""
    costly = Costly(0.0)

    assert costly.open("m") == costly.open("m") == b"m"
    assert costly.matches.file("data/match-m.js", dict) == b"data"
    assert costly.matches.file("match/none.html", dict) is None
    assert costly.made == ["m"]


def test_replays_take_their_share_of_a_core_and_no_more() -> None:
    """A viewer hears how long it takes; after that time there is a replay for them."""
    costly, refused_s = Costly(3.0), 0.0

    for number in range(200):
        try:
            costly.open(f"m{number}")
        except Busy as busy:
            costly.now_s += busy.wait_s
            refused_s += busy.wait_s
            costly.open(f"m{number}")

    assert len(costly.made) == 200
    assert costly.matches.spent_s == costly.cpu_s == 600.0
    assert costly.cpu_s <= BURST_S + 3.0 + SHARE * costly.now_s
    assert refused_s == pytest.approx((600.0 - BURST_S) / SHARE, rel=0.1)


def test_a_match_that_is_kept_costs_nothing() -> None:
    """A kept match is served while there is no time for others; the oldest ones are dropped."""
    costly = Costly(BURST_S)
    costly.open("m")

    with pytest.raises(Busy):
        costly.open("other")
    assert costly.open("m") == b"m"
    for number in range(MOST_KEPT):
        costly.now_s += 1000.0
        costly.open(f"m{number}")
    costly.now_s += 1000.0
    costly.open("m")
    assert costly.made.count("m") == 2


def test_a_replay_that_fails_is_paid_for() -> None:
    """An error of one viewer's match takes nothing from the others but its time."""
    costly = Costly(1.0)

    def failing() -> Files:
        costly.cpu_s += BURST_S
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        costly.matches.file("match/x.html", failing)
    with pytest.raises(Busy):
        costly.open("m")


def test_few_wait_for_a_replay_and_the_others_come_again() -> None:
    """Few requests wait for a replay and others get Busy, so that threads for other pages stay free."""
    matches, started, over = ReplayCache(), threading.Event(), threading.Event()

    def slow() -> Files:
        started.set()
        over.wait(LONGEST_S)
        return {"match/m.html": b"m"}

    with ThreadPoolExecutor(MOST_WAITING) as pool:
        waiting = [pool.submit(matches.file, "match/m.html", slow)]
        started.wait(LONGEST_S)
        waiting += [pool.submit(matches.file, "match/m.html", slow) for _ in range(MOST_WAITING - 1)]
        while matches._waiting._value:
            over.wait(0.001)
        with pytest.raises(Busy):
            matches.file("match/m.html", slow)
        over.set()
        assert [each.result(LONGEST_S) for each in waiting] == [b"m"] * MOST_WAITING


def test_a_viewer_hears_when_to_come_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser does it by itself; other pages are there meanwhile, and news do not wait for replays."""
    match = str(fill(tmp_path, tournament("ann", "bob", cycles=1))[0].results[0].key)
    monkeypatch.setattr("arena.site.replay_cache.BURST_S", 0.0)
    app = application(LiveSite(tmp_path, ()))

    status, headers, text = asked(app, f"/match/{match}.html")

    assert (status, headers[b"refresh"], headers[b"retry-after"]) == (503, b"1", b"1")
    assert text == "Many matches are opened just now. This one is shown in about 1 s, by itself."
    assert asked(app, "/index.html")[0] == 200
