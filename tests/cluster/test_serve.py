"""Workers that dask does not start or end as it should: a sentence, and another try."""

import asyncio
from typing import Any

import pytest
from distributed import Security
from support.cli_arena import Terminal
from support.golden import Golden

from arena.cluster import link, serve
from arena.cluster.serve import WorkerPlaces, keep_workers
from arena.errors import MachineFault
from arena.league.tournament import ClusterSettings


@pytest.mark.parametrize("line", ["doctor --cluster local:2", "compare random random --game nim --cluster local:2"])
def test_workers_that_cannot_be_started_here_are_told(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, line: str, golden: Golden
) -> None:
    """No more processes are allowed, for example, for which dask has an error of its own."""
    made, closed = list[FailingHere](), list[FailingHere]()

    class Failing(FailingHere):
        def __init__(self, **_: Any) -> None:
            made.append(self)

        async def close(self) -> None:
            closed.append(self)

    monkeypatch.setattr(link, "LocalCluster", Failing)

    said = terminal.arena(f"{line} --isolation none" if "compare" in line else line)

    assert said.code == 5
    golden(said.err)
    assert len(made) == 3
    assert closed == made


class FailingHere:
    """A cluster of which one worker does not start, or is killed at its start."""

    def __await__(self) -> Any:
        yield from ()
        raise RuntimeError("Nanny failed to start.") from BlockingIOError(11, "Resource temporarily unavailable")


def of_dask(origin: Exception) -> RuntimeError:
    """Return the error of dask for a worker that does not begin."""
    error = RuntimeError("Nanny failed to start.")
    error.__cause__ = origin
    return error


TAKEN = of_dask(ValueError("name taken, w-0"))


@pytest.mark.parametrize(
    ("errors", "patience_s", "told"),
    [
        ([None, None, OSError("nobody there")], 60.0, "nobody there"),
        ([TAKEN], 0.01, r"worker w-0 does not begin: name taken, w-0; .* may have its --name"),
        ([TAKEN, TAKEN, TimeoutError()], 60.0, "no scheduler answers at tcp://127.0.0.1:1: nothing was heard for 60 s"),
        ([of_dask(ConnectionRefusedError(111, "refused"))], 0.01, r"^no scheduler answers at tcp://127.0.0.1:1: \[E"),
    ],
    ids=["lost", "taken", "taken for a while", "refused"],
)
def test_a_worker_begins_again_until_its_patience_ends(
    monkeypatch: pytest.MonkeyPatch, errors: list[Exception | None], patience_s: float, told: str
) -> None:
    """It lost its scheduler, its name is taken, or nobody answers: a sentence tells what to do."""
    left = list(errors)

    class StuckNanny:
        """A nanny whose start raises the next error, or loses its scheduler at once; it does not end in time."""

        def __init__(self, *_: object, **__: object) -> None: ...

        async def start(self) -> None:
            if (error := left.pop(0) if left[1:] else left[0]) is not None:
                raise error

        async def finished(self) -> None: ...

        async def close(self, **_: float) -> None:
            await asyncio.Event().wait()

    monkeypatch.setattr(serve, "Nanny", StuckNanny)
    monkeypatch.setattr(serve, "_CLOSE_S", 0.01)
    monkeypatch.setattr(serve, "_AGAIN_S", 0.02)

    with pytest.raises(MachineFault, match=told):
        keep_workers(ClusterSettings("tcp://127.0.0.1:1"), WorkerPlaces(1, "w", patience_s))

    assert len(left) == 1


class FakeHere:
    """A cluster of workers that cost nothing, with a client."""

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
