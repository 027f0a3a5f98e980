"""`arena verify --cluster`: the findings of workers are those of a check here, whichever of them are lost meanwhile."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from support.cli_arena import Terminal
from support.golden import Golden
from support.made_matches import match_result
from support.tampering import edit_matches, execute_sql

from arena.cluster import checker, session
from arena.cluster.checker import cluster_checker
from arena.cluster.dealer import DealingTimes
from arena.cluster.messages import Report, Welcome, decode_message, encode_message
from arena.errors import HarnessFault, MachineFault
from arena.league.tournament import ClusterSettings
from arena.match.results import MatchKey
from arena.match.settings import ClockSettings
from arena.verify.match import CheckedMatch, CheckTask, PrescribedSettings

QUICK = DealingTimes(look_s=0.01, retry_s=0.0, patience_s=0.0)


class WorkersHere:
    """A pool of workers whose calls run in this process."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future

    def close(self, *, is_interrupted: bool) -> None: ...


class LinkHere:
    """Workers by name that are this process, of which those in `first` get work first. `before` may change them."""

    def __init__(self) -> None:
        self.found = {f"tls://{name}": name for name in ("w0", "w1", "w2")}
        self.calls: list[tuple[str, str]] = []
        self.first: set[str] = set()
        self.all_begun = asyncio.Event()
        self.before: Callable[[str, str], None] = lambda *_: None
        self.after: Callable[[str, Any], Any] = lambda _, answer: answer

    async def workers(self) -> tuple[str, dict[str, str]]:
        return "scheduler", dict(self.found)

    async def call(self, function: Any, address: str, argument: Any) -> Any:
        name, kind = self.found[address], function.__name__
        self.calls.append((name, kind))
        if kind == "exchange" and self.first <= {name for name, kind in self.calls if kind == "exchange"}:
            self.all_begun.set()
        if kind == "exchange":
            await self.all_begun.wait()
        self.before(name, kind)
        return self.after(name, await function(argument, SimpleNamespace(id=name)))

    async def close(self) -> None: ...


@pytest.fixture
def link(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LinkHere]:
    made, slots = LinkHere(), dict[str, session.Slot]()

    async def opened(_: ClusterSettings) -> LinkHere:
        return made

    monkeypatch.setenv(session.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(session, "_SLOTS", slots)
    monkeypatch.setattr(session, "Workers", WorkersHere)
    monkeypatch.setattr(session, "speed", lambda: 1.0)
    monkeypatch.setattr(checker, "open_link", opened)
    monkeypatch.setattr(checker, "_BATCH", 1)
    yield made
    for name, slot in slots.items():
        assert slot._session is not None
        assert f"tls://{name}" not in made.found or not slot._session.is_open, "other drivers could not have it"
        slot._session.close()


ON_THE_CLUSTER = "verify --cluster tcp://127.0.0.1:1 --trust-network"


def played(terminal: Terminal, flags: str = "") -> Terminal:
    """Return a stored league of 16 matches."""
    said = terminal.league(flags=f"--workers 1 {flags}", seed=None, cycles=8, chunk_blocks=4)
    assert said.code == 0, said.err
    return terminal


def test_workers_find_what_a_check_here_finds(terminal: Terminal, link: LinkHere, golden: Golden) -> None:
    """Findings come in the same order; a match of no league is checked here."""
    terminal.league(cycles=1, seed="other", flags="--workers 1")
    results = played(terminal, "--update --yes").folder / "results"
    execute_sql(results, "UPDATE record SET body = x'00' WHERE block = 2 AND rotation = 0")
    edit_matches(
        results,
        lambda match: replace(match, time_us=(1, *match.time_us[1:])) if match.key[1:] == (5, 1) else match,
    )
    alone = terminal.arena("verify")

    said = terminal.arena(ON_THE_CLUSTER)

    assert (said.code, said.out) == (alone.code, alone.out)
    assert alone.code == 1
    assert alone.out.count("PROBLEM") == 2
    assert {kind for _, kind in link.calls} == {"meet", "exchange", "part"}
    golden(alone.out)


def test_lost_workers_cost_nothing(terminal: Terminal, link: LinkHere, golden: Golden) -> None:
    """One dies at its first matches, one answers nonsense, one comes late: the findings are the same."""
    alone = played(terminal).arena("verify")

    def before(name: str, kind: str) -> None:
        if (name, kind) == ("w0", "exchange"):
            del link.found["tls://w0"]
            link.found["tls://w9"] = "w9"
            raise ConnectionError("it died")

    def after(name: str, answer: Any) -> Any:
        if (name, link.calls[-1][1]) != ("w1", "exchange"):
            return answer
        report = decode_message(answer, Report)
        attempts = {key: replace(one, checked=()) for key, one in report.attempts.items()}
        return encode_message(replace(report, attempts=attempts))

    link.before, link.after, link.first = before, after, {"w0", "w1"}
    said = terminal.arena(ON_THE_CLUSTER)

    assert (said.code, said.out) == (alone.code, alone.out)
    golden(said.err)


def checked() -> list[CheckedMatch]:
    """Check a match of nim without a record on the cluster."""
    expected = PrescribedSettings("nim", "1", {}, ClockSettings().terms(), ())
    one = match_result(MatchKey("aaaa", 0, 0), ("ann", "bob"), (Fraction(1, 3), 0))
    with cluster_checker(ClusterSettings("tcp://x:1"), lambda _: None, QUICK) as check:
        return list(check([CheckTask(one, expected=expected)]))


def test_fractions_of_a_score_travel(link: LinkHere) -> None:
    """Fractions are the only values that msgpack does not know."""
    (found,) = checked()

    assert found.match == "aaaa-0-0"
    assert found.problems
    assert "exchange" in {kind for _, kind in link.calls}


def test_without_a_worker_of_the_same_arena_the_command_ends(link: LinkHere, golden: Golden) -> None:
    """A sentence names the reason."""

    def older(name: str, answer: Any) -> Any:
        identity = decode_message(answer, Welcome).identity if (name, "exchange") not in link.calls else None
        return encode_message(Welcome(replace(identity, arena="0.1"))) if identity else answer

    link.after = older

    with golden.raises(MachineFault):
        checked()


@pytest.mark.usefixtures("link")
def test_matches_of_which_workers_die_end_the_command(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """It ends after three deaths: a damaged record must not kill all machines of the cluster."""
    deaths: list[Future[Any]] = []

    def die(*_: Any) -> "Future[Any]":
        deaths.append(Future())
        deaths[-1].set_exception(BrokenExecutor("a process died"))
        return deaths[-1]

    monkeypatch.setattr(WorkersHere, "submit", die)

    with golden.raises(HarnessFault):
        checked()

    assert len(deaths) == 3
