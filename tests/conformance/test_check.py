"""The check of a bot at a game that goes on after a fault: such faults are told, and a bot may have them."""

import re
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.toy_game import on_offer

from arena.conformance.check import CheckPlan, CheckStep, StepVerdict, check_bot, check_draws
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings, MatchSettings
from arena.process.launch import Confinement
from arena.process.limits import Limits
from arena.process.manifest import read_bot

pytestmark = pytest.mark.process

GOOD = '{"mm": 20}'
REFUSED = '{"mm": 20 if "refused" in m else 101}'
PATIENT = ClockSettings(decides="wall", move_ms=10_000, bank_ms=0, startup_ms=10_000)


def check(folder: Path, action: str, seats: int = 2) -> list[CheckStep]:
    """Check a bot that leans so; return the steps, none of which failed."""
    script = folder / "leaner.py"
    note = 'f"at {time.monotonic()}"'  # another one each time, in the same match
    script.write_text(bot_script(f'0 if m["legal"] else {action}', note=note))
    plan = CheckPlan(MatchSettings("toy", {}, PATIENT), check_draws(Secret.public("1"), seats))
    with on_offer():
        steps = list(check_bot(read_bot(script), plan, Confinement(isolation="none", limits=Limits())))
    assert [step.number for step in steps] == list(range(1, 11))
    return steps


def test_refused_answers_are_a_remark_of_their_own(tmp_path: Path) -> None:
    """How many, for which reason, and the sentence that the bot got; the protocol was kept all the same."""
    (remark,) = [step for step in check(tmp_path, REFUSED) if step.verdict is not StepVerdict.PASSED]

    assert (remark.number, remark.title) == (6, "gives answers that count")
    assert remark.detail.splitlines() == [
        "refused answers: 8 illegal_action; by reason: 8 too_far",
        "check-0-0, step 1: nobody leans out 101 mm",
    ]


@pytest.mark.parametrize(("seats", "score"), [(2, r"\S+ to \S+"), (3, r"\S+ to \S+, \S+")])
def test_a_good_bot_has_no_remarks(tmp_path: Path, seats: int, score: str) -> None:
    """At a table of more seats, as `--for` may ask for, the baseline sits in all others."""
    steps = check(tmp_path, GOOD, seats)

    assert all(step.verdict is StepVerdict.PASSED for step in steps)
    assert re.search(rf"(won|lost|draw) {score} against the baseline", steps[0].detail)
