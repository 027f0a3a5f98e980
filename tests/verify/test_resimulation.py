"""Matches with simulations: made again where they can be compared, told of where they cannot; no replay makes any."""

import itertools
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from support.golden import Golden
from support.scripted_bot import RandomBot, match_of, only, seated, stored_toy_match, toy_bot
from support.toy_game import GAME, ToyGame, ToySimulator
from support.waiting import our_processes

from arena.errors import DamagedStore, HarnessFault, OutOfTime
from arena.match.columns import PlayedBlock, pack_blocks
from arena.match.record import MatchRecord, SimulationStep, pack
from arena.match.replay import problems, replay
from arena.match.results import result_of
from arena.store import database
from arena.store.bots import BotStore
from arena.store.matches import MatchStore
from arena.verify.audit import DEFAULT, AuditOptions, OnProgress, audit
from arena.verify.history import AuditLine
from arena.verify.match import CheckedMatch, CheckTask, check_here, parallel_checker
from arena.verify.resimulation import resimulate

pytestmark = pytest.mark.usefixtures("toy_game")


@pytest.fixture
def put_simulator(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the game another simulator."""
    return lambda **terms: monkeypatch.setattr(GAME, "simulator", ToySimulator(**terms))


def with_result(record: MatchRecord, number: int, **changes: Any) -> MatchRecord:
    """The record with another result of its n-th simulation."""
    place = [place for place, step in enumerate(record.steps) if isinstance(step, SimulationStep)][number]
    step = record.steps[place]
    assert isinstance(step, SimulationStep)
    changed = replace(step, result={**step.result, **changes})
    return replace(record, steps=(*record.steps[:place], changed, *record.steps[place + 1 :]))


def test_a_replay_needs_no_engine(put_simulator: Any) -> None:
    """Every step with its states, though nothing can be simulated here."""
    record = stored_toy_match()
    put_simulator(missing="install the engine")

    steps = list(replay(record))

    assert tuple(step.step for step in steps) == record.steps
    assert problems(record) == []


def test_simulations_come_out_as_recorded() -> None:
    """All simulations of a match come out as recorded, without a problem."""
    found, wrong = resimulate(stored_toy_match(seats=4, rounds=4))

    assert found is not None
    assert (found.made, found.equal, found.terms, found.farthest, wrong) == (4, 4, "", None, [])


def test_a_forged_result_is_found_and_measured(golden: Golden) -> None:
    """A replay believes it, the simulation does not; the ones after it start from what was recorded, and agree."""
    record = stored_toy_match()
    forged = with_result(record, 2, tilt=20)

    found, wrong = resimulate(forged)

    assert problems(forged) == []
    assert found is not None
    assert (found.made, found.equal) == (3, 2)
    (told,) = wrong
    golden(told)


def test_a_result_that_cannot_be_is_found_without_an_engine(golden: Golden) -> None:
    """The rules know what cannot come of a state."""
    (problem,) = problems(with_result(stored_toy_match(), 1, wet=[3]))

    assert 'recorded {"step":"simulation","key":"tip/2"' in problem
    golden(problem)


def test_an_action_that_the_simulator_refuses_is_found(put_simulator: Any) -> None:
    """An action that the simulator refuses is a difference, but a fallback action is not checked."""
    record = stored_toy_match(toy_bot(odd=only(1, OutOfTime("late"))), rounds=1)
    put_simulator(refuses="no room")

    _, wrong = resimulate(record)

    assert wrong == [
        "step 2, seat 1: not possible here: no room",
        "step 3, seat 2: not possible here: no room",
    ]


def test_another_engine_is_told_and_no_problem(put_simulator: Any, golden: Golden) -> None:
    """Another engine is no problem: its version, the number of equal results and the farthest are reported."""
    record = stored_toy_match()
    put_simulator(engine="1.1", error=2)

    found, wrong = resimulate(record)

    assert wrong == []
    assert found is not None
    golden(found.terms)
    assert (found.made, found.equal) == (3, 0)
    assert found.farthest is not None
    golden(found.farthest.text)
    assert found.farthest.apart == 2


@pytest.mark.parametrize("simulator", [{}, {"engine": "1.0", "mood": "good"}])
def test_a_fingerprint_of_another_kind_is_a_problem(simulator: Any) -> None:
    """Otherwise whoever forges a result could make it incomparable by leaving the fingerprint out."""
    record = replace(stored_toy_match(), simulator=simulator)

    _, wrong = resimulate(record)

    told = "nothing" if not simulator else "engine, mood"
    assert wrong == [f"the fingerprint tells {told}; expected engine, platform"]


@pytest.mark.parametrize(
    ("changes", "number"),
    [
        (({"tilt": 90}, {"tilt": 75}, {"tilt": 66}), 0),
        (({"tilt": 61}, {"tilt": 95}, {"tilt": 66}), 1),
        (({"tilt": 95}, {}, {"wet": [2]}), 2),
    ],
)
def test_of_several_differences_the_farthest_is_told(changes: tuple[dict[str, Any], ...], number: int) -> None:
    """The farthest difference is reported; one in anything but numbers is farther than all numbers."""
    record = replace(stored_toy_match(), simulator={"engine": "0.9"})
    for place, change in enumerate(changes):
        record = with_result(record, place, **change)
    if number == 2:
        record = replace(record, scores=(60, 60, 40), ranks=(0, 0, 2))

    found, _ = resimulate(record)

    assert found is not None
    assert found.farthest is not None
    assert f"tip/{number + 1}: " in found.farthest.text


@pytest.mark.parametrize(
    "error", [ValueError("math domain error"), OverflowError("too large"), HarnessFault("diverged")]
)
def test_a_state_that_no_engine_was_made_for_is_a_problem(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Whatever comes of it: a forger chooses the state, and the audit goes on."""

    def fail(*_: object) -> Any:
        raise error

    record = stored_toy_match()
    monkeypatch.setattr(ToySimulator, "simulate", fail)

    found, wrong = resimulate(record)

    assert problems(record) == []
    assert found is not None
    assert (found.made, found.equal) == (3, 0)
    assert wrong[0] == f"step 6, tip/1: cannot be simulated here: {error}"


def test_a_state_that_no_rules_were_made_for_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit goes on after it, and says what came of it."""

    def fail(*_: object) -> Any:
        raise ZeroDivisionError("no water")

    tasks = [task(0), task(1)]
    monkeypatch.setattr(ToyGame, "apply", fail)

    found = list(check_here(tasks))

    assert [one.problems for one in found] == [("it cannot be checked: ZeroDivisionError('no water')",)] * 2


def test_without_the_engine_the_reason_is_told(put_simulator: Any) -> None:
    """Without the engine the result names what to install."""
    put_simulator(missing="toy needs the extra `toy`")

    found, wrong = resimulate(stored_toy_match())

    assert wrong == []
    assert found is not None
    assert (found.made, found.why_not) == (0, "toy needs the extra `toy`")


def test_a_game_without_a_simulator_has_nothing_to_make_again() -> None:
    """A match of a game without a simulator is not replayed for simulations."""
    record = match_of(seated(RandomBot()), seated(RandomBot()))

    assert resimulate(replace(record, steps=())) == (None, [])


class Stored:
    """A results folder with matches of the toy game that belong to no league."""

    def __init__(self, folder: Path, *records: MatchRecord) -> None:
        self.results = folder / "results"
        self.bots = BotStore(self.results, folder / "bots")
        with closing(database.open_for_writing(self.results)) as connection:
            MatchStore(connection, self.results).save(block(number, one) for number, one in enumerate(records))

    def findings(self, look: AuditOptions = DEFAULT) -> list[AuditLine]:
        connection = database.open_for_reading(self.results)
        assert connection is not None
        with closing(connection):
            return list(audit(MatchStore(connection, self.results), self.bots, (), look))


def block(number: int, record: MatchRecord) -> PlayedBlock:
    named = replace(record, match=f"aaaa-{number}-0")
    return next(pack_blocks([replace(result_of(named), record=pack(named))]))


def task(number: int, record: MatchRecord | None = None) -> CheckTask:
    (match,) = block(number, record or stored_toy_match()).results
    return CheckTask(match)


def test_the_audit_names_match_and_step_of_a_forgery(tmp_path: Path, golden: Golden) -> None:
    """The audit reports a forged simulation as a problem with match and step."""
    there = Stored(tmp_path, stored_toy_match(), with_result(stored_toy_match(), 2, tilt=20))

    found = there.findings()

    (problem,) = [text for is_problem, text in found if is_problem]
    golden(problem)
    assert (False, "no league: 6 simulations made again, 5 as recorded") in found


def test_the_audit_tells_of_other_machines(tmp_path: Path, put_simulator: Any, golden: Golden) -> None:
    """Matches of two engines are two sentences; the one that is here is made again, the other compared."""
    old = replace(stored_toy_match(), simulator={"engine": "0.9", "platform": "test"})
    there = Stored(tmp_path, old, stored_toy_match())
    put_simulator(error=1)

    texts = [text for is_problem, text in there.findings() if not is_problem]

    golden(texts)


def test_the_audit_tells_that_the_engine_is_missing(tmp_path: Path, put_simulator: Any) -> None:
    """No problem, and the rest is checked."""
    there = Stored(tmp_path, stored_toy_match(), stored_toy_match())
    put_simulator(missing="install it")

    assert there.findings()[2:] == [
        (False, "no league: 2 matches of no current league replayed"),
        (False, "no league: 2 matches not simulated again: install it"),
    ]


def test_the_audit_tells_how_far_it_is(tmp_path: Path) -> None:
    """After each match."""
    heard: list[tuple[str, int, int]] = []
    watch: OnProgress = lambda *far: heard.append(far)  # noqa: E731

    Stored(tmp_path, stored_toy_match(), stored_toy_match()).findings(AuditOptions(check_here, watch))

    assert heard == [("no league", 1, 1), ("no league", 2, 2)]


@pytest.mark.process
def test_processes_find_what_one_finds_in_the_same_order() -> None:
    """Several processes find the same in the same order; without the toy game each match has a finding."""
    tasks = [task(number) for number in range(30)]

    with parallel_checker(2) as checked:
        found = list(checked(tasks))

    assert [one.match for one in found] == [f"aaaa-{number}-0" for number in range(30)]
    assert all("a game that this arena does not have" in one.remarks[0] for one in found)


@pytest.mark.process
def test_damage_does_not_hide_what_was_checked_before() -> None:
    """Results of matches read before a damaged one are reported first."""

    def damaged() -> Iterator[CheckTask]:
        yield task(0)
        yield task(1)
        raise DamagedStore("unreadable")

    found: list[CheckedMatch] = []
    with parallel_checker(2) as checked, pytest.raises(DamagedStore):  # noqa: PT012 - what came before it is the point
        for one in checked(damaged()):
            found.append(one)  # noqa: PERF402

    assert [one.match for one in found] == ["aaaa-0-0", "aaaa-1-0"]


@pytest.mark.process
def test_an_interruption_leaves_no_process() -> None:
    """The checks go on until both workers are there, for one may start much later than the other."""
    before, pids = our_processes(), set[int]()

    def interrupted() -> None:
        with parallel_checker(2) as checked:
            for _ in checked(map(task, itertools.count())):
                pids.update(our_processes() - before)
                if len(pids) >= 2:
                    raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert len(pids) >= 2
    assert not pids & our_processes()
