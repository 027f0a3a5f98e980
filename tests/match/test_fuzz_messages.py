"""Whatever a bot says, a match ends in a record: the honest seat is never at fault, and no answer is made up."""

import contextlib
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from support.match_fuzz_depth import fuzzed
from support.match_fuzz_table import VARIANTS, Scene, Table, scenes
from support.toy_game import on_offer

from arena.match.record import ActionStep, MatchRecord, Termination, encode_record, pack, unpack
from arena.match.replay import problems

LONGEST_STEP = 12_000
"""Bytes of a step with a note of 1000 letters, each written as an escape of up to 12 bytes."""
LONGEST_FAULT = 100_000


def has_no_wrong_winner(record: MatchRecord, changed: int) -> None:
    if record.fault is None:
        assert record.termination is Termination.NORMAL
    else:
        assert record.fault.seat == changed
        assert record.ranks == ((1, 0) if changed == 0 else (0, 1))
    assert problems(record) == []


def is_kept_whole(record: MatchRecord) -> None:
    text = encode_record(record)
    assert json.loads(text)["match"] == record.match
    assert len(text) < LONGEST_FAULT + LONGEST_STEP * (1 + len(record.steps))
    packed = pack(record)
    assert pack(unpack(packed)) == packed


def is_printable(record: MatchRecord) -> None:
    fault = record.fault
    if fault is None:
        return
    assert len(fault.message) < 5000
    for text in (fault.message, fault.hint, fault.got, *fault.transcript):
        assert text.isprintable(), text
        assert len(text) < 5000
    assert all(letter.isprintable() or letter in "\n\t" for letter in fault.stderr)


def plain(action: Any) -> Any:
    """Return an action as JSON, in one form for all that mean the same."""
    raw = json.loads(msgspec.json.encode(action))
    return {key: sorted(value) if isinstance(value, list) else value for key, value in raw.items() if value is not None}


def read_answer(line: bytes) -> dict[str, Any]:
    """Read the answer in a line without the referee's code; AssertionError if it should have been refused."""
    raw = json.loads(line.decode("utf-8"), object_pairs_hook=unique_pairs, parse_constant=float)
    json.dumps(raw, ensure_ascii=False).encode("utf-8")
    json.dumps(raw, allow_nan=False)
    assert {"type", "id", "action"} <= raw.keys()  # others are ignored
    assert raw["type"] == "action"
    assert type(raw["id"]) is int
    assert type(raw["action"]) in {int, dict}
    return dict(raw)


def unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({name for name, _ in pairs}) == len(pairs), "a key given twice was not refused"
    return dict(pairs)


def is_said(step: ActionStep, request: dict[str, Any], raw: dict[str, Any]) -> bool:
    """Return True if that answer is the step."""
    legal, action = request["legal"], raw["action"]
    if legal is None:
        return bool(plain(action) == plain(step.action)) and raw.get("note", "") == step.note
    if type(action) is int:
        assert 0 <= action < len(legal), "an index out of range was not refused"
        action = legal[action]
    return bool(plain(action) in map(plain, legal) and plain(action) == plain(step.action)) and (
        raw.get("note", "") == step.note
    )


def is_first(step: ActionStep, request: dict[str, Any], lines: list[bytes]) -> bool:
    """Return True if the step is the first line that is an object, no question, and no answer to another request."""
    for line in lines:
        if line.strip().startswith(b"{") and not is_question(line):
            raw = read_answer(line)
            if raw["id"] == request["id"]:
                return is_said(step, request, raw)
    return False


def is_question(line: bytes) -> bool:
    with contextlib.suppress(ValueError, RecursionError):
        raw = json.loads(line)
        return isinstance(raw, dict) and raw.get("type") == "simulate"
    return False


def has_only_answers(record: MatchRecord, table: Table) -> None:
    """Check that the changed bot gave each of its steps between two requests, or the fallback was played."""
    bot = table.changed.processes[0]
    asked = bot.speaker.requests
    last = [number for number in range(1, len(asked) + 1) if number == len(asked) or "refused" not in asked[number]]
    acted = [step for step in record.steps if isinstance(step, ActionStep) and step.seat == table.scene.seat]
    for number, step in zip(last, [step for step in acted if not step.forced], strict=False):
        if step.fallback_for:
            continue
        assert is_first(step, asked[number - 1], [said.line for said in bot.said if said.after == number])


def check_match(scene: Scene) -> None:
    table = Table(scene)
    try:
        record = table.play()

        has_no_wrong_winner(record, scene.seat)
        is_kept_whole(record)
        is_printable(record)
        has_only_answers(record, table)
        plays_on(record, table)
        assert len(table.honest.processes) == 1
    finally:
        table.close()


def plays_on(record: MatchRecord, table: Table) -> None:
    """Check that a fresh process plays the next match well; only after a match without fault may lines be left over."""
    table.changed.plan = ()
    started = len(table.changed.processes)
    again = table.play("fuzz-2")
    has_no_wrong_winner(again, table.scene.seat)
    if record.fault is not None:
        assert again.fault is None
        assert len(table.changed.processes) == started + 1
    elif again.fault is not None:
        assert table.play("fuzz-3").fault is None


@pytest.mark.slow
@fuzzed(400)
@given(scene=scenes())
def test_changed_words_end_in_a_record_of_who_was_wrong(scene: Scene) -> None:
    """Faults are the changed bot's, and what counts is the first answer after the request."""
    with on_offer():
        check_match(scene)


@pytest.mark.parametrize("variant", range(len(VARIANTS)))
def test_unchanged_words_play_to_the_end(variant: int) -> None:
    """The tables of these tests are good tables: without a mutation nobody is at fault."""
    scene = Scene(
        variant=variant,
        seed=1,
        seat=0,
        is_strict=True,
        decides="cpu",
        by_object=True,
        wants_events=True,
        wants_simulations=True,
        plan=(),
    )

    table = Table(scene)
    records = [table.play(), table.play("fuzz-2")]
    table.close()

    assert [record.termination for record in records] == [Termination.NORMAL] * 2
    assert len(table.changed.processes) == 1
