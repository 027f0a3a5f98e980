"""Workers that dask does not start or end as it should: a sentence, and another try."""

import asyncio
from typing import Any

import pytest
from distributed import Security
from support.cli_arena import Terminal

from arena.cluster import link, serve
from arena.cluster.serve import WorkerPlaces, keep_workers
from arena.errors import MachineFault
from arena.league.tournament import ClusterSettings


@pytest.mark.parametrize("line", ["doctor --cluster local:2", "compare random random --game nim --cluster local:2"])
def test_workers_that_cannot_be_started_here_are_told(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """As where no more processes are allowed; dask has an error of its own for that."""
    made, closed = list[FailingHere](), list[FailingHere]()

    class Failing(FailingHere):
        def __init__(self, **_: Any) -> None:
            made.append(self)

        async def close(self) -> None:
            closed.append(self)

    monkeypatch.setattr(link, "LocalCluster", Failing)

    said = terminal.arena(f"{line} --isolation none" if "compare" in line else line)

    assert said.code == 5
    assert "2 workers of dask did not start here, tried 3 times; at last: [Errno 11] Resource temporarily" in said.err
    assert len(made) == 3
    assert closed == made


class FailingHere:
    """Workers of which one does not start, or was killed while it did."""

    def __await__(self) -> Any:
        yield from ()
        raise RuntimeError("Nanny failed to start.") from BlockingIOError(11, "Resource temporarily unavailable")


class StuckNanny:
    """It loses its scheduler at once, and does not end in time; the third does not find one."""

    made = 0

    def __init__(self, *_: object, **__: object) -> None:
        StuckNanny.made += 1

    async def start(self) -> None:
        if self.made == 3:
            raise OSError("nobody there")

    async def finished(self) -> None: ...

    async def close(self, **_: float) -> None:
        if self.made < 3:
            await asyncio.Event().wait()


def test_a_worker_that_ends_slowly_is_replaced_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program would end with an error, on all its cores, when its scheduler is started anew."""
    monkeypatch.setattr(serve, "Nanny", StuckNanny)
    monkeypatch.setattr(serve, "_CLOSE_S", 0.01)
    monkeypatch.setattr(serve, "_AGAIN_S", 0.0)
    settings = ClusterSettings("tcp://127.0.0.1:1")

    with pytest.raises(MachineFault, match="nobody there"):
        keep_workers(settings, WorkerPlaces(1, "w", "", 60.0))

    assert StuckNanny.made == 3


class RefusedNanny(StuckNanny):
    """Its scheduler knows another one by its name, as that of a worker that was cut off; the third one is lost."""

    refused = 0

    async def start(self) -> None:
        if RefusedNanny.refused == 2:
            raise TimeoutError
        RefusedNanny.refused += 1
        raise RuntimeError("Nanny failed to start.") from ValueError("name taken, w-0")

    async def close(self, **_: float) -> None: ...


def test_a_worker_whose_name_is_taken_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until its patience ends: then it tells what to do, and never that the scheduler is away."""
    monkeypatch.setattr(serve, "Nanny", RefusedNanny)
    monkeypatch.setattr(serve, "_AGAIN_S", 0.05)
    settings = ClusterSettings("tcp://127.0.0.1:1")

    with pytest.raises(MachineFault, match=r"worker w-0 does not begin: name taken, w-0; .* may have its --name"):
        keep_workers(settings, WorkerPlaces(1, "w", "", 0.01))
    RefusedNanny.refused = 0
    with pytest.raises(MachineFault, match=r"no scheduler answers at tcp://127.0.0.1:1: nothing was heard for 60 s"):
        keep_workers(settings, WorkerPlaces(1, "w", "", 60.0))


class DeafNanny(StuckNanny):
    """Its scheduler is gone, which the worker process found out."""

    async def start(self) -> None:
        raise RuntimeError("Nanny failed to start.") from ConnectionRefusedError(111, "Connection refused")

    async def close(self, **_: float) -> None: ...


def test_a_worker_without_a_scheduler_blames_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "Nanny", DeafNanny)
    monkeypatch.setattr(serve, "_AGAIN_S", 0.05)

    with pytest.raises(MachineFault) as told:
        keep_workers(ClusterSettings("tcp://127.0.0.1:1"), WorkerPlaces(1, "w", "", 0.01))

    assert str(told.value) == "no scheduler answers at tcp://127.0.0.1:1: [Errno 111] Connection refused"


class FakeHere:
    """Workers that cost nothing; and a client of theirs."""

    def __init__(self, *_: object, **settings: Any) -> None:
        self.scheduler_address, self.security = "tls://here", settings["security"]
        self.scheduler, self.status = self, "running"

    def __await__(self) -> Any:
        yield from ()
        return self

    async def identity(self) -> dict[str, Any]:
        return {"id": "1", "workers": {}}

    async def close(self) -> None: ...


def test_workers_here_are_started_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """`arena verify --replay` checks and plays with the same ones; a later command of the process has new ones."""
    started, met = list[Security](), list[Security]()

    def start(**settings: Any) -> FakeHere:
        started.append(settings["security"])
        return FakeHere(**settings)

    def connect(*_: object, **settings: Any) -> FakeHere:
        met.append(settings["security"])
        return FakeHere(**settings)

    monkeypatch.setattr(link, "LocalCluster", start)
    monkeypatch.setattr(link, "Client", connect)

    async def use() -> None:
        checker = await link.open_link(ClusterSettings("local:2"))
        player = await link.open_link(ClusterSettings("local:2"))
        await player.close()
        await checker.close()

    asyncio.run(use())
    asyncio.run(use())

    first, second = started
    assert met == [first, first, second, second]
