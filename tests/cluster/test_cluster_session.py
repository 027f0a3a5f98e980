"""The worker's end of the cluster: whatever is wrong there is told, and a session that is over begins nothing."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from support.fake_cluster import OPENING, Waiting
from support.league_made import real_tournament

from arena.cluster import session
from arena.cluster.messages import Dispatch, Opening, Welcome
from arena.cluster.session import Slot
from arena.league.schedule import jobs
from arena.operations.leagues import installed
from arena.store.bots import BotStore
from arena.store.cache import BotCache


def met(slot: Slot) -> Welcome:
    async def meet() -> Welcome:
        return await slot.meet(OPENING)

    return asyncio.run(meet())


def test_a_folder_of_bots_that_cannot_be_is_told(tmp_path: Path) -> None:
    """An OSError would look like a lost message, and the driver would ask for ever."""
    (tmp_path / "file").write_text("")

    told = met(Slot(tmp_path / "file", Waiting))

    assert told.refusal == f"{tmp_path / 'file' / 'none'}: File exists; choose another folder with --cache"


def test_a_look_at_the_machine_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one without room for temporary files."""

    def full(_: Opening) -> Welcome:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(session, "_looked", full)

    assert "No space left on device" in met(Slot(tmp_path, Waiting)).refusal


def test_a_session_that_ends_while_it_installs_begins_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver left while a bot was being built: its match would run on a worker that has another session."""
    bots = BotStore(tmp_path / "results", tmp_path / "none", "none")
    job = next(jobs(installed(real_tournament(tmp_path, cycles=1), bots), {}))
    archives = {player.bot.digest: bots.packed(player.bot.digest) for player in job.pairing.players}
    backend, arrived, may_go_on, found = Waiting(), threading.Event(), threading.Event(), list[session.WorkerSession]()

    def install(cache: BotCache, digest: str, archive: bytes, install: Any = BotCache.install) -> None:
        install(cache, digest, archive)
        if digest == list(archives)[-1]:
            arrived.set()
            assert may_go_on.wait(60)

    monkeypatch.setattr(BotCache, "install", install)

    async def play() -> None:
        slot = Slot(tmp_path / "worker", lambda: backend)
        await slot.meet(OPENING)
        await slot.exchange(Dispatch("s", frozenset("1"), {"1": job}, archives))
        await asyncio.to_thread(arrived.wait, 60)
        assert slot._session is not None
        found.append(slot._session)
        slot.part("s")
        may_go_on.set()
        await asyncio.to_thread(found[0]._admission.shutdown)

    asyncio.run(asyncio.wait_for(play(), 240))

    assert not backend.begun


def test_no_bot_makes_room_for_the_other_one_of_its_match(tmp_path: Path) -> None:
    """On a full disk they would be sent one after the other for ever."""
    bots = BotStore(tmp_path / "results", tmp_path / "none", "none")
    job = next(jobs(installed(real_tournament(tmp_path, cycles=1), bots), {}))
    archives = {player.bot.digest: bots.packed(player.bot.digest) for player in job.pairing.players}
    backend = Waiting()

    async def play() -> None:
        worker = session.WorkerSession(OPENING, BotCache(tmp_path / "worker", "none", 1), backend)
        for digest, archive in archives.items():
            told = await worker.exchange(Dispatch("s", frozenset("1"), {"1": job}, {digest: archive}))
            await asyncio.to_thread(worker._admission.submit(bool).result)
        assert told.refusal == ""
        worker.close()

    asyncio.run(asyncio.wait_for(play(), 240))

    assert len(backend.begun) == 1
