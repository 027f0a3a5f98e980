"""Bots on their way to a worker: each is sent once, also to jobs that come while it is being installed."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from support.fake_cluster import OPENING, Waiting
from support.league_made import real_tournament

from arena.cluster.messages import Dispatch
from arena.cluster.session import Slot
from arena.league.schedule import jobs
from arena.operations.leagues import installed
from arena.store.bots import BotStore
from arena.store.cache import BotCache


def test_a_bot_is_sent_to_a_worker_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second job waits for the transfer of the first one; both run from the worker's own folder."""
    bots = BotStore(tmp_path / "results", tmp_path / "none", "none")
    first, second = list(jobs(installed(real_tournament(tmp_path, cycles=40), bots), {}))[:2]
    digests = {player.bot.digest for player in first.pairing.players}
    archives = {digest: bots.packed(digest) for digest in digests}
    backend, arrived, may_go_on, installs = Waiting(), threading.Event(), threading.Event(), list[str]()

    def install(cache: BotCache, digest: str, archive: bytes, install: Any = BotCache.install) -> None:
        arrived.set()
        assert may_go_on.wait(60)
        installs.append(digest)
        install(cache, digest, archive)

    monkeypatch.setattr(BotCache, "install", install)

    async def play() -> None:
        slot = Slot(tmp_path / "worker", lambda: backend)
        await slot.meet(OPENING)
        told = await slot.exchange(Dispatch("s", frozenset("1"), {"1": first}, wait_s=60.0))
        assert set(told.missing) == digests
        one, other = archives.items()
        told = await slot.exchange(Dispatch("s", frozenset("1"), archives=dict([one])))
        assert told.missing == (other[0],), "the other one comes while this one is being installed"
        await asyncio.to_thread(arrived.wait, 60)
        told = await slot.exchange(Dispatch("s", frozenset("1"), archives=dict([other])))
        assert told.missing == ()
        told = await slot.exchange(Dispatch("s", frozenset("12"), {"2": second}))
        assert told.missing == (), "these bots are on their way"
        may_go_on.set()
        while len(backend.begun) < 2:
            told = await slot.exchange(Dispatch("s", frozenset("12"), wait_s=0.1))
            assert told.missing == ()
            assert told.refusal == ""
        slot.part("s")

    asyncio.run(asyncio.wait_for(play(), 240))

    assert sorted(installs) == sorted(digests)
    folders = {player.bot.folder for job in backend.begun for player in job.pairing.players}
    assert folders == {str(tmp_path / "worker/none" / digest / "run") for digest in digests}
