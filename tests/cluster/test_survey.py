"""`arena doctor --cluster`: a table of all workers, and a sentence for each that cannot play."""

import sys
from typing import Any

import pytest
from msgspec.structs import replace
from support.cli_arena import Terminal
from support.golden import Golden

from arena.cluster.messages import Identity, decode_message, encode_message
from arena.cluster.survey import SurveyedWorker, WorkerReport, faults, fit_for, report
from arena.games import GameFingerprint
from arena.plugins import Package


def identity(game: str, rules: str, *, arena: str = "1.0", **simulator: str) -> Identity:
    return Identity(arena, GameFingerprint(game, rules, PACKAGE), simulator)


PACKAGE = Package("bot-arena", "1.0", "0123")
HERE = WorkerReport(
    host="desk",
    arena="1.0",
    python="3.11.7",
    cores=8,
    speed=20.0,
    sandbox="",
    languages=("python3", "cc"),
    identities={"nim": identity("nim", "1"), "riffraff": identity("riffraff", "2", engine="mujoco 4.0.1")},
    lacking={},
    clock_s=0.0,
)


def told(*, ahead_s: float = 0.0, **changes: Any) -> list[tuple[str, str]]:
    """Return status and text of the results for a worker that differs in this."""
    worker = SurveyedWorker("w1", replace(HERE, host="node7", **changes), ahead_s=ahead_s)
    return [(each.status, each.text) for each in faults(worker, HERE)]


def test_a_worker_like_this_machine_has_no_faults() -> None:
    """Speed, cores and languages may differ."""
    assert told(speed=5.0, cores=64, languages=("python3",), clock_s=99.0, ahead_s=2.0) == []


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"sandbox": "no bubblewrap 0.8.0 or newer"}, "BAD", "worker w1 on node7: no bubblewrap 0.8.0 or newer"),
        (
            {"identities": {**HERE.identities, "nim": identity("nim", "1", arena="0.9")}},
            "BAD",
            "worker w1 on node7, nim: it has arena 0.9 (here 1.0); install the same on all machines",
        ),
        (
            {"identities": {**HERE.identities, "riffraff": identity("riffraff", "2", engine="mujoco 5")}},
            "BAD",
            "worker w1 on node7, riffraff: it has its simulator's engine mujoco 5 (here mujoco 4.0.1)",
        ),
        (
            {"identities": {"riffraff": HERE.identities["riffraff"]}},
            "BAD",
            "worker w1 on node7, nim: it does not say what it is",
        ),
        (
            {"identities": {"nim": HERE.identities["nim"]}, "lacking": {"riffraff": "no physics engine"}},
            "note",
            "worker w1 on node7 cannot play riffraff: no physics engine",
        ),
        ({"ahead_s": -3600.0}, "note", "worker w1 on node7: its clock is 3600 s behind; no match depends on it"),
        ({"ahead_s": 61.0}, "note", "its clock is 61 s ahead"),
    ],
)
def test_a_difference_is_told_with_the_machine(changes: dict[str, Any], status: str, said: str) -> None:
    """One that makes a worker unfit is BAD; a game that it lacks, or its clock, is a note."""
    ((found, text),) = told(**changes)

    assert found == status
    assert said in text


def test_a_worker_that_does_not_tell_is_bad(golden: Golden) -> None:
    """The result contains the reason and the remedy."""
    (found,) = faults(SurveyedWorker("w1", why="ImportError: no arena"), HERE)

    assert found.status == "BAD"
    golden(found.text)


def test_no_worker_is_fit_for_a_game_that_is_not_here() -> None:
    """A worker that lacks it as well is none like this machine."""
    workers = [SurveyedWorker("w1", HERE), SurveyedWorker("w2", replace(HERE, sandbox="leaks"))]

    found = [
        len(fit_for(game, isolation, workers, HERE)) for game in ("nim", "gone") for isolation in ("none", "sandbox")
    ]

    assert found == [2, 1, 0, 0]


def test_a_report_travels_as_plain_values() -> None:
    """It is equal after packing and unpacking."""
    here = report()

    assert decode_message(encode_message(here), WorkerReport) == here
    assert here.speed > 0
    assert set(here.identities) | set(here.lacking) >= {"nim", "shanghaien"}


@pytest.mark.slow
@pytest.mark.process
def test_the_doctor_looks_at_each_worker(terminal: Terminal) -> None:
    """It prints a line for each worker, and one for this machine to compare with."""
    said = terminal.arena("doctor --cluster local:1")

    rows = [line.split() for line in said.out.splitlines()[2:]]
    can_play = rows[2][3] == "holds"
    assert said.out.splitlines()[0] == f"1 worker, {int(can_play)} of them can play."
    assert said.code == (0 if can_play else 1), said.err
    assert rows[0][:4] == ["worker", "host", "arena", "sandbox"]
    assert [row[0] for row in rows[2:4]] == ["0", "(here)"]
    assert rows[2][1] == rows[3][1], "the same machine"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("doctor --cluster tcp://127.0.0.1:1", "without TLS anybody on the network can run programs"),
        ("doctor --cluster tls://127.0.0.1:1", "TLS needs `tls_ca:`"),
        ("doctor --cluster local:0", "expected local:N"),
        ("doctor --cluster foo://127.0.0.1:1 --trust-network", 'found "foo://127.0.0.1:1", expected tls://HOST:PORT'),
        ("doctor --cluster tcp://127.0.0.1 --trust-network", 'found "tcp://127.0.0.1", expected tls://HOST:PORT'),
        ("doctor --trust-network", "--trust-network: goes with --cluster"),
        ("doctor --cluster none.yaml", "none.yaml: No such file or directory"),
        ("league run first --cluster local:2 --workers 2", "--workers is for this machine"),
    ],
)
def test_an_address_that_is_none_is_told(terminal: Terminal, line: str, expected: str) -> None:
    """It is refused before anything is sent."""
    said = terminal.arena(line)

    assert said.code == 2
    assert expected in said.err
    assert said.out == ""


@pytest.mark.parametrize("line", ["doctor --cluster local:1", "worker tls://a:1", "league run first --cluster local:1"])
def test_without_dask_each_command_says_so(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, line: str, golden: Golden
) -> None:
    """Dask is an optional dependency."""
    monkeypatch.setitem(sys.modules, "distributed", None)

    said = terminal.arena(line)

    assert said.code == 2
    golden(said.err)
