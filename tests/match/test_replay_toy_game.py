"""A record of a game with simulations, stand-ins and decisions of several seats is not believed either."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from support.golden import Golden
from support.scripted_bot import Message, answer, toy_bot, toy_match, with_seat, with_step
from support.toy_game import ToyGame

from arena.errors import Crashed, OutOfTime
from arena.match.record import ActionStep, MatchRecord, RefusedAnswer, SimulationStep, Step, pack, unpack
from arena.match.replay import problems, replay

pytestmark = pytest.mark.usefixtures("toy_game")
replace = msgspec.structs.replace
FAR = {"mm": 1000}


def refused(message: Message, number: int) -> list[bytes] | None:
    """Lean too far in the first two requests, so that the fallback is played, and once in the fourth."""
    return [answer(message, FAR)] if number in {1, 2, 4} else None


def stored(*bots: Any, **more: Any) -> MatchRecord:
    """Return a match as it comes out of the store."""
    return unpack(pack(toy_match(*bots, **more)))


def place_of(record: MatchRecord, kind: type[Step], **fields: Any) -> int:
    """Return the index of the first such step."""
    return next(
        place
        for place, step in enumerate(record.steps)
        if isinstance(step, kind) and all(getattr(step, name) == value for name, value in fields.items())
    )


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_match_of_many_can_be_verified(seats: int) -> None:
    """Also with wet seats that are not asked."""
    assert problems(stored(*(toy_bot(20 * seat + 30) for seat in range(seats)))) == []


def test_a_decision_of_several_is_complete_with_the_last() -> None:
    """All its steps begin and end in the same states; the last one is marked as complete."""
    record = stored(toy_bot(), toy_bot(), toy_bot())

    moments = list(replay(record))

    assert [moment.is_complete for moment in moments[:4]] == [False, False, True, True]
    assert moments[0].before is moments[2].before
    assert moments[0].after is moments[2].after


@pytest.mark.parametrize("guilty", [0, 1, 2])
def test_a_forfeit_before_anybody_was_asked_can_be_verified(guilty: int) -> None:
    """It looks like one in the first decision, in which all had to act; but nobody has answered."""
    bots = [toy_bot() for _ in range(3)]
    bots[guilty] = toy_bot(hello=[Crashed("gone")])

    record = stored(*bots)

    assert [seat.moves for seat in record.seats] == [0, 0, 0]
    assert problems(record) == []
    assert problems(with_seat(record, (guilty + 1) % 3, moves=2))


@settings(max_examples=30)
@given(seats=st.integers(2, 4), odd=st.lists(st.sampled_from(["", "far", "late", "gone", "not"]), max_size=24))
def test_whatever_bots_do_can_be_verified(seats: int, odd: list[str]) -> None:
    """Any mixture of good answers, refused ones, timeouts and crashes."""
    kinds = {"late": OutOfTime("late"), "gone": Crashed("gone"), "not": b"{}"}

    def of(seat: int) -> Any:
        def respond(message: Message, number: int) -> Any:
            kind = odd[seat::seats][number - 1] if number <= len(odd[seat::seats]) else ""
            return [answer(message, FAR)] if kind == "far" else [kinds[kind]] if kind else None

        return toy_bot(30 * seat, odd=respond)

    record = stored(*map(of, range(seats)), options={"rounds": 3})

    assert problems(record) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"action": {"mm": 20}}, 'but {"mm":0} stands in'),
        ({"fallback_for": "crash"}, "for which nothing stands in"),
        ({"fallback_for": "laziness"}, "for which nothing stands in"),
        ({"fallback_for": ""}, "recorded 5 answers of seat 0, which acted 3 times, with 3 faults"),
        (
            {"fallback_for": "timeout"},
            "recorded faults {'illegal_action': 3} of seat 0, for which {'timeout': 1} stood in",
        ),
    ],
)
def test_a_forged_stand_in_is_found(changes: dict[str, Any], said: str) -> None:
    """Another action than the fallback, a fault that is not pardoned, or one that was not counted is found."""
    record = stored(toy_bot(odd=refused), toy_bot())
    place = place_of(record, ActionStep, seat=0, fallback_for="illegal_action")

    (problem,) = problems(with_step(record, place, replace(record.steps[place], **changes)))

    assert said in problem


@pytest.mark.parametrize(
    "changes",
    [
        {"faults": UNSET},
        {"faults": {}},
        {"faults": {"illegal_action": 2}},
        {"faults": {"illegal_action": 4}},
        {"faults": {"illegal_action": 3, "timeout": 1}},
        {"faults": {"illegal_action": 3, "crash": 1}},
        {"faults": {"malformed_reply": 1, "timeout": 2}},
        {"faults": {"malformed_reply": 3}},
        {"faults": {"illegal_action": 3, "timeout": 0}},
        {"faults": {"illegal_action": 4, "timeout": -1}},
        {"refusals": (RefusedAnswer(step=1, code="timeout", message="late"),)},
        {"refusals": (RefusedAnswer(step=1, code="illegal_action", message="too far"),) * 4},
        {"moves": 6},
        {"moves": 8},
    ],
)
def test_forged_counts_are_found(changes: dict[str, Any]) -> None:
    """Wrong numbers of answers, and of faults by kind, are found."""
    record = stored(toy_bot(odd=refused), toy_bot())
    assert record.seats[0].moves - sum((record.seats[0].faults or {}).values()) == 3 - 1

    assert len(problems(with_seat(record, 0, **changes))) == 1


def test_a_third_pardoned_timeout_is_found(golden: Golden) -> None:
    """It would have ended the match."""
    late = toy_bot(odd=lambda _message, number: [OutOfTime("late")] if number in {1, 2} else None)
    record = stored(toy_bot(), late)
    moves = record.seats[1].moves

    (problem,) = problems(with_seat(record, 1, faults={"timeout": 3}, moves=moves + 1))

    golden(problem)


def test_faults_in_a_game_that_pardons_none_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fault would have ended the match there."""
    record = stored(toy_bot(), toy_bot())
    strict = ToyGame()
    strict.fault_policy = None
    monkeypatch.setattr("support.toy_game.GAME", strict)

    assert problems(with_seat(record, 0, faults={"timeout": 1}, moves=record.seats[0].moves + 1))
    assert problems(with_step(record, 0, ActionStep(seat=0, action={"mm": 0}, fallback_for="timeout")))


@pytest.mark.parametrize(
    "changed", [{"key": "tip/7"}, {"result": None}, {"result": {"tilt": 0}}, {"result": {"tilt": 0, "wet": [5]}}]
)
def test_a_forged_simulation_is_found(changed: dict[str, Any], golden: Golden) -> None:
    """A wrong key and an impossible result are found without simulating anything."""
    record = stored(toy_bot(), toy_bot())
    place = place_of(record, SimulationStep)
    step = record.steps[place]

    (problem,) = problems(with_step(record, place, replace(step, **changed)))

    golden(problem)


def test_another_step_in_the_place_of_a_simulation_is_found(golden: Golden) -> None:
    """So is a simulation in the place of another step."""
    record = stored(toy_bot(), toy_bot())
    place = place_of(record, SimulationStep)

    golden(problems(with_step(record, place, record.steps[0]))[0])
    golden(problems(with_step(record, 0, record.steps[place]))[0])


def test_a_fingerprint_belongs_to_a_game_with_a_simulator() -> None:
    """A record of a game without a simulator has no fingerprint."""
    record = stored(toy_bot(), toy_bot())

    assert problems(replace(record, simulator=UNSET)) == ["m: recorded as simulated by nobody knows what"]


def test_an_unfinished_decision_of_several_is_found(golden: Golden) -> None:
    """The record ends in the middle of it."""
    record = stored(toy_bot(), toy_bot(), toy_bot())

    (problem,) = problems(replace(record, steps=record.steps[:2]))

    golden(problem)
