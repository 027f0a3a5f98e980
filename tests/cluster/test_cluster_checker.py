"""`arena verify --cluster`: the findings of workers are those of a check here, whichever of them are lost meanwhile."""

import asyncio
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from msgspec.structs import replace
from support.cli_arena import Terminal
from support.made_matches import match_result
from support.tampering import edit_matches, execute_sql

from arena.cluster import checker
from arena.cluster.checker import CheckedBatch, cluster_checker
from arena.cluster.dealer import DealingTimes
from arena.cluster.messages import Identity, packed, unpacked
from arena.errors import HarnessFault, MachineFault
from arena.league.tournament import ClusterSettings
from arena.match.results import MatchKey
from arena.match.settings import ClockSettings
from arena.verify.match import Checked, Expected, Task

QUICK = DealingTimes(look_s=0.01, retry_s=0.0, patience_s=0.0)
PATIENT = DealingTimes(look_s=0.01)


class LinkHere:
    """Workers by name that are this process. `before` may raise, or change the workers, before one answers a call."""

    def __init__(self, *names: str) -> None:
        self.found = {f"tls://{name}": name for name in names}
        self.calls: list[tuple[str, str]] = []
        self.before: Callable[[str, str], None] = lambda *_: None
        self.after: Callable[[str, Any], Any] = lambda _, answer: answer
        self.is_cut = False
        self.hanging: set[str] = set()
        """Workers that answer nothing from their first check on, though the scheduler hears them."""
        self.looks = 0

    async def workers(self) -> tuple[str, dict[str, str]]:
        self.looks += 1
        if self.is_cut:
            raise ConnectionError("cut")
        return "scheduler", dict(self.found)

    async def call(self, function: Any, address: str, argument: Any) -> Any:
        await asyncio.sleep(0)
        name, kind = self.found[address], function.__name__
        self.calls.append((name, kind))
        self.before(name, kind)
        if self.is_cut:
            raise ConnectionError("cut")
        if name in self.hanging and (name, "check") in self.calls:
            await asyncio.Event().wait()
        return self.after(name, await function(argument))

    async def close(self) -> None: ...


@pytest.fixture
def link(monkeypatch: pytest.MonkeyPatch) -> LinkHere:
    made = LinkHere("w0", "w1", "w2")

    async def opened(_: ClusterSettings) -> LinkHere:
        return made

    monkeypatch.setattr(checker, "open_link", opened)
    return made


ON_THE_CLUSTER = "verify --cluster tcp://127.0.0.1:1 --trust-network"


def played(terminal: Terminal, flags: str = "") -> Terminal:
    """A stored league of 16 matches."""
    said = terminal.league(flags=f"--workers 1 {flags}", seed=None, cycles=8, chunk_blocks=4)
    assert said.code == 0, said.err
    return terminal


def test_workers_find_what_a_check_here_finds(terminal: Terminal, link: LinkHere) -> None:
    """In the same order, with a damaged record and a forged time; a match of no league is checked too, and here."""
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
    assert {kind for _, kind in link.calls} == {"identities", "check"}
    assert "2 matches of no current league replayed" in alone.out


def test_lost_workers_cost_nothing(terminal: Terminal, link: LinkHere) -> None:
    """One dies in its first check, one answers nonsense, and another one comes late: the same findings."""
    alone = played(terminal).arena("verify")

    def before(name: str, kind: str) -> None:
        if (name, kind) == ("w0", "check"):
            del link.found["tls://w0"]
            link.found["tls://w9"] = "w9"
            raise ConnectionError("it died")

    def after(name: str, answer: Any) -> Any:
        is_check = name == "w1" and isinstance(answer, bytes)
        return packed(replace(unpacked(answer, CheckedBatch), checked=[])) if is_check else answer

    link.before, link.after = before, after
    said = terminal.arena(ON_THE_CLUSTER)

    assert (said.code, said.out) == (alone.code, alone.out)
    assert said.err == "worker w1 is left out: Unfit: it tells of other matches than it was asked\n"


def test_a_worker_with_other_rules_checks_nothing(terminal: Terminal, link: LinkHere) -> None:
    """A sentence tells why; without any other worker the command ends, and says so."""
    played(terminal)

    def older(name: str, answer: Any) -> Any:
        if name != "w2" and isinstance(answer, dict):
            return {game: packed(replace(unpacked(told, Identity), arena="0.1")) for game, told in answer.items()}
        return answer

    link.after = older
    said = terminal.arena(ON_THE_CLUSTER)

    assert said.code == 0
    assert "worker w0 is left out: nim: it has arena 0.1 (here" in said.err
    assert {name for name, kind in link.calls if kind == "check"} == {"w2"}
    del link.found["tls://w2"]
    with pytest.raises(MachineFault, match=r"worker w0 is left out: .* and the same command begins anew"):
        checked()


def checked(times: DealingTimes = QUICK) -> list[Checked]:
    """A match of nim without a record on the cluster."""
    expected = Expected("nim", "1", {}, ClockSettings().terms(), ())
    one = match_result(MatchKey("aaaa", 0, 0), ("ann", "bob"), (Fraction(1, 3), 0))
    with cluster_checker(ClusterSettings("tcp://x:1"), ["nim"], lambda _: None, times) as check:
        return list(check([Task(one, expected=expected)]))


def test_fractions_of_a_score_travel(link: LinkHere) -> None:
    """They are all that msgpack does not know."""
    (found,) = checked()

    assert found.match == "aaaa-0-0"
    assert found.problems
    assert ("w0", "check") in link.calls


def test_matches_of_which_workers_die_end_the_command(link: LinkHere) -> None:
    """After three of them; a damaged record must not take all machines of the cluster."""

    def before(_: str, kind: str) -> None:
        if kind == "check":
            raise ConnectionError("it died")

    link.before = before
    with pytest.raises(HarnessFault, match="3 workers died of the same matches"):
        checked()

    assert sum(kind == "check" for _, kind in link.calls) == 3


def test_a_long_cut_costs_nothing(link: LinkHere) -> None:
    """All workers are lost at once, again and again; nobody died of a match."""

    def before(_: str, kind: str) -> None:
        if kind == "check" and link.looks < 50:
            link.is_cut = True

    async def workers(look: Any = link.workers) -> tuple[str, dict[str, str]]:
        link.is_cut = link.is_cut and link.looks % 10 != 0
        return await look()  # type: ignore[no-any-return]

    link.before, link.workers = before, workers  # type: ignore[method-assign]

    (found,) = checked(PATIENT)

    assert found.match == "aaaa-0-0"
    assert sum(kind == "check" for _, kind in link.calls) > 3


def test_a_worker_that_hangs_is_left_out(link: LinkHere, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its match is checked by another one; alone it ends the command with a sentence."""
    monkeypatch.setattr(checker, "_LISTEN_EVERY_S", 0.01)
    monkeypatch.setattr(checker, "_SILENT_S", 0.01)
    link.found = {"tls://w0": "w0"}
    link.hanging.add("w0")

    def before(_: str, kind: str) -> None:
        if kind == "check":
            link.found["tls://w1"] = "w1"

    link.before = before

    (found,) = checked(PATIENT)
    del link.found["tls://w1"]
    with pytest.raises(MachineFault, match="worker w0 is left out: it did not answer 3 times in a row; nothing was"):
        checked()

    assert found.match == "aaaa-0-0"
    assert {name for name, kind in link.calls if kind == "check"} == {"w0", "w1"}
