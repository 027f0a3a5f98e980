"""The check of a bot at a game that goes on after a fault: such faults are told, and a bot may have them."""

import re
from pathlib import Path

import pytest
from support.toy_game import on_offer

from arena.conformance.check import CheckPlan, StepVerdict, check_bot, check_draws
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings, MatchSettings
from arena.process.launch import Confinement
from arena.process.limits import Limits
from arena.process.manifest import read_bot

pytestmark = pytest.mark.process

BOT = """
import json, sys, time

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        reply = {"type": "hello", "protocols": [1]}
    elif message["type"] == "match_start":
        reply = {"type": "ready", "match": message["match"]}
    elif message["type"] == "request":
        action = HERE
        reply = {"type": "action", "id": message["id"], "action": 0 if message["legal"] else action}
        reply["note"] = f"at {time.monotonic()}"  # another one each time, in the same match
    elif message["type"] == "quit":
        break
    else:
        continue
    print(json.dumps(reply), flush=True)
"""
GOOD = '{"mm": 20}'
REFUSED = '{"mm": 20 if "refused" in message else 101}'
PATIENT = ClockSettings(decides="wall", move_ms=10_000, bank_ms=0, startup_ms=10_000)


def remarks(folder: Path, action: str, clock: ClockSettings = PATIENT) -> dict[int, str]:
    """The remarks about a bot that leans so, by the numbers of their steps; none of them failed."""
    script = folder / "leaner.py"
    script.write_text(BOT.replace("HERE", action))
    unconfined = Confinement(isolation="none", limits=Limits())
    with on_offer():
        steps = list(
            check_bot(
                read_bot(script),
                CheckPlan(MatchSettings("toy", {}, clock), check_draws(Secret.public("1"))),
                unconfined,
            )
        )
    assert [step.number for step in steps] == list(range(1, 11))
    assert steps[5].title == "gives answers that count"
    return {step.number: step.detail for step in steps if step.verdict is not StepVerdict.PASSED}


def test_a_good_bot_has_no_remarks(tmp_path: Path) -> None:
    """A good bot gets no remark on refused or late answers."""
    assert remarks(tmp_path, GOOD) == {}


def test_refused_answers_are_a_remark_of_their_own(tmp_path: Path) -> None:
    """How many, for which reason, and the sentence that the bot got; the protocol was kept all the same."""
    ((number, detail),) = remarks(tmp_path, REFUSED).items()

    first, second = detail.splitlines()
    assert number == 6
    assert first == "refused answers: 8 illegal_action; by reason: 8 too_far"
    assert second == "check-0-0, step 1: nobody leans out 101 mm"


def test_a_table_of_more_seats_is_tried_with_a_baseline_in_each(tmp_path: Path) -> None:
    """A table of the tournament of `--for` is tried with the baseline in all other seats."""
    script = tmp_path / "leaner.py"
    script.write_text(BOT.replace("HERE", GOOD))
    plan = CheckPlan(MatchSettings("toy", {}, PATIENT), check_draws(Secret.public("1"), 3))

    with on_offer():
        steps = list(check_bot(read_bot(script), plan, Confinement(isolation="none", limits=Limits())))

    assert all(step.verdict is StepVerdict.PASSED for step in steps)
    assert re.search(r"(won|lost|draw) \S+ to \S+, \S+ against the baseline", steps[0].detail)
