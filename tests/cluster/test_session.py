"""The worker's end of the cluster: whatever is wrong there is told, and a session that is over begins nothing."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from support.fake_cluster import OPENING, Waiting, jobs_and_bots
from support.golden import Golden

from arena.cluster import session
from arena.cluster.messages import Dispatch, Opening, Welcome
from arena.cluster.session import Slot
from arena.store.cache import BotCache


def met(slot: Slot) -> Welcome:
    async def meet() -> Welcome:
        return await slot.meet(OPENING)

    return asyncio.run(meet())


def test_a_folder_of_bots_that_cannot_be_is_told(tmp_path: Path) -> None:
    """An OSError would look like a lost message, and the driver would retry for ever."""
    (tmp_path / "file").write_text("")

    told = met(Slot(tmp_path / "file", Waiting))

    assert told.refusal == f"{tmp_path / 'file' / 'none'}: File exists; choose another folder by ARENA_WORKER_CACHE"


def test_a_look_at_the_machine_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """The machine has no room for temporary files, for example."""

    def full(_: Opening) -> Welcome:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(session, "_describe_machine", full)

    golden(met(Slot(tmp_path, Waiting)).refusal)


def test_a_session_that_ends_while_it_installs_begins_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver left while a bot was being built: its match would run on a worker that has another session."""
    (job,), archives = jobs_and_bots(tmp_path, cycles=1)
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
    (job,), archives = jobs_and_bots(tmp_path, cycles=1)
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


def test_a_bot_is_sent_to_a_worker_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second job waits for the transfer of the first one; both run from the worker's own folder."""
    (first, second, *_), archives = jobs_and_bots(tmp_path, cycles=40)
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
        assert set(told.missing) == set(archives)
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

    assert sorted(installs) == sorted(archives)
    folders = {player.bot.folder for job in backend.begun for player in job.pairing.players}
    assert folders == {str(tmp_path / "worker/none" / digest / "run") for digest in archives}
