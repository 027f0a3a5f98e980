"""A record is not believed: each way to change one is found."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.golden import Golden
from support.scripted_bot import ScriptedBot, house, match_of, random_match, seated, with_step

from arena.errors import CheckFailed, Crashed
from arena.games import load_game
from arena.games.api import Over
from arena.match.record import ActionStep, ChanceStep, Forfeit, MatchRecord, Termination, pack, unpack
from arena.match.replay import problems, replay

replace = msgspec.structs.replace
NIM = unpack(pack(random_match("nim", 3)))
SHANGHAIEN = unpack(pack(random_match("shanghaien", 4)))
CRASHED = unpack(pack(match_of(seated(ScriptedBot(lambda _m, n: [Crashed("gone")] if n == 2 else None)), house())))
NOT_STARTED = unpack(pack(match_of(seated(ScriptedBot(hello=[Crashed("gone")])), house())))


@settings(max_examples=10)
@given(number=st.integers(0, 10**6), game=st.sampled_from(["nim", "shanghaien"]))
def test_what_was_played_can_be_verified(number: int, game: str) -> None:
    """That holds as it was recorded in memory, and as it comes out of the store."""
    record = random_match(game, number)

    assert problems(record) == []
    assert problems(unpack(pack(record))) == []


@pytest.mark.parametrize("record", [CRASHED, NOT_STARTED])
def test_a_forfeit_can_be_verified(record: MatchRecord) -> None:
    """It is verified as far as it was played."""
    assert record.termination is Termination.CRASH
    assert problems(record) == []


def test_a_replay_gives_every_step_with_its_states() -> None:
    """Each moment begins where the one before ended, and the last one ends the game."""
    moments = list(replay(SHANGHAIEN))

    assert tuple(moment.step for moment in moments) == SHANGHAIEN.steps
    assert all(before.after == after.before for before, after in pairwise(moments))
    assert isinstance(load_game("shanghaien").turn(moments[-1].after), Over)
    assert all((moment.action is None) == isinstance(moment.step, ChanceStep) for moment in moments)


@pytest.mark.parametrize("record", [NIM, SHANGHAIEN])
def test_each_step_that_is_dropped_doubled_or_moved_is_found(record: MatchRecord) -> None:
    """It is found at every place."""
    for place, step in enumerate(record.steps):
        dropped = (*record.steps[:place], *record.steps[place + 1 :])
        doubled = (*record.steps[: place + 1], *record.steps[place:])

        assert problems(replace(record, steps=dropped)), f"step {place} dropped"
        assert problems(replace(record, steps=doubled)), f"step {place} {step} doubled"


@pytest.mark.parametrize("record", [NIM, SHANGHAIEN])
def test_each_seat_and_each_forced_flag_that_is_changed_is_found(record: MatchRecord) -> None:
    """It is found at every action."""
    for place, step in enumerate(record.steps):
        if isinstance(step, ActionStep):
            for seat in (1 - step.seat, 2, -1):
                assert problems(with_step(record, place, replace(step, seat=seat))), f"seat of step {place}"
            assert problems(with_step(record, place, replace(step, forced=not step.forced))), f"flag of step {place}"


def test_each_draw_that_is_changed_is_found() -> None:
    """A changed outcome, key or place is found."""
    for place, step in enumerate(SHANGHAIEN.steps):
        if isinstance(step, ChanceStep):
            other = tuple(face % 6 + 1 for face in step.outcome)
            assert problems(with_step(SHANGHAIEN, place, replace(step, outcome=other))), f"outcome of step {place}"
            assert problems(with_step(SHANGHAIEN, place, replace(step, key=f"{step.key}x"))), f"key of step {place}"
            assert problems(with_step(SHANGHAIEN, place, ActionStep(seat=0, action={}))), f"kind of step {place}"


def test_each_other_take_in_nim_is_found() -> None:
    """Every legal action but the recorded one is found at every place: some counter is then taken twice or never."""
    game = load_game("nim")
    for place, moment in enumerate(replay(NIM)):
        step = moment.step
        assert isinstance(step, ActionStep)
        for action in game.legal(moment.before, step.seat) or ():  # type: ignore[arg-type]
            plain = msgspec.to_builtins(action)
            if plain != step.action:
                assert problems(with_step(NIM, place, replace(step, action=plain))), f"{plain} at step {place}"


@pytest.mark.parametrize("action", [None, 0, "x", [], {}, {"heap": 0}, {"heap": 0, "count": 10**30}, {"a": {"b": []}}])
@pytest.mark.parametrize("record", [NIM, SHANGHAIEN])
def test_an_action_that_is_none_is_found(record: MatchRecord, action: Any) -> None:
    """It is found whatever JSON stands in its place."""
    place = next(place for place, step in enumerate(record.steps) if isinstance(step, ActionStep))

    assert problems(with_step(record, place, ActionStep(seat=record.steps[place].seat, action=action)))  # type: ignore[union-attr]


FAULT = Forfeit(seat=0, message="", hint="", got="", stderr="", transcript=())


@pytest.mark.parametrize(
    "changes",
    [
        {"scores": (9, 9)},
        {"scores": None},
        {"ranks": (1, 1)},
        {"ranks": ()},
        {"ranks": (0, 0)},
        {"termination": Termination.CRASH},
        {"termination": Termination.VOID},
        {"termination": Termination.CRASH, "fault": FAULT, "scores": None, "ranks": (1, 0)},
        {"termination": Termination.TIMEOUT, "fault": replace(FAULT, seat=1), "scores": None, "ranks": (0, 1)},
        {"fault": FAULT},
        {"steps": ()},
        {"seats": NIM.seats[:1]},
        {"seats": ()},
        {"rules": "0"},
        {"game": "go"},
        {"options": {"heaps": [3, 4, 6]}},
        {"options": {"misere": True}},
        {"options": {"heap": []}},
    ],
)
def test_each_other_claim_is_found(changes: dict[str, Any]) -> None:
    """A wrong outcome, end, table or clock is found; the message names the match."""
    (problem, *others) = problems(replace(NIM, **changes))

    assert others == []
    assert problem


def test_another_seed_is_found(golden: Golden) -> None:
    """The first draw already differs."""
    (problem,) = problems(replace(SHANGHAIEN, seed="0" * 32))

    golden(problem)


@pytest.mark.parametrize("record", [CRASHED, NOT_STARTED])
@pytest.mark.parametrize(
    "changes",
    [
        {"termination": Termination.NORMAL},
        {"termination": Termination.VOID},
        {"fault": None},
        {"scores": (1, 0)},
        {"ranks": (0, 1)},
        {"ranks": (0, 0)},
        {"fault": replace(FAULT, seat=1)},
        {"fault": replace(FAULT, seat=7), "ranks": (0, 0)},
        {"fault": replace(FAULT, seat=-1), "ranks": (0, 0)},
    ],
)
def test_each_other_claim_about_a_forfeit_is_found(record: MatchRecord, changes: dict[str, Any]) -> None:
    """A wrong seat at fault, wrong ranks, or another end is found."""
    assert len(problems(replace(record, **changes))) == 1


def test_a_forfeit_of_who_did_not_have_to_act_is_found(golden: Golden) -> None:
    """Seat 0 was to move when it crashed, so seat 1 cannot have forfeited there."""
    assert CRASHED.fault is not None
    forged = replace(CRASHED, fault=replace(CRASHED.fault, seat=1), ranks=(0, 1))

    (problem,) = problems(forged)

    golden(problem)


def test_the_first_wrong_step_is_named(golden: Golden) -> None:
    """The steps before it are yielded."""
    place = len(SHANGHAIEN.steps) // 2
    moments = replay(replace(SHANGHAIEN, steps=SHANGHAIEN.steps[:place] + SHANGHAIEN.steps[:1]))

    for number in range(place):
        assert next(moments).step == SHANGHAIEN.steps[number]
    with golden.raises(CheckFailed):
        next(moments)
