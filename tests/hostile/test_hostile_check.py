"""The conformance check, on bots that keep their promises and on bots that do not."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs
from support.golden import Golden
from support.hostile_play import BARE, CLOCK, HOSTILE

from arena.conformance.check import CheckPlan, CheckStep, StepVerdict, check_bot, check_draws
from arena.match.secret_luck import Secret
from arena.match.settings import MatchSettings
from arena.process.launch import STRICTEST, Confinement
from arena.process.manifest import BotSpec, read_bot

pytestmark = pytest.mark.process
SECRET = Secret.public("1")


@pytest.fixture
def bot_of(tmp_path: Path) -> Callable[[str], BotSpec]:
    """The hostile bot of a mode as a folder of its own."""

    def read(mode: str) -> BotSpec:
        for file in HOSTILE.parent.glob("*.py"):
            shutil.copy(file, tmp_path)
        (tmp_path / "bot.yaml").write_text(f"name: {mode}\ncommand: [python3, {HOSTILE.name}, {mode}]\n")
        return read_bot(tmp_path)

    return read


def steps_of(bot: BotSpec, confinement: Confinement = STRICTEST) -> list[CheckStep]:
    return list(check_bot(bot, CheckPlan(MatchSettings("nim", {}, CLOCK), check_draws(SECRET)), confinement))


def test_an_honest_bot_passes_every_step(bot_of: Callable[[str], BotSpec], golden: Golden) -> None:
    """Numbered from one, each with what it found; the baseline is explained once."""
    steps = steps_of(bot_of("honest"))

    assert {step.verdict for step in steps} == {StepVerdict.PASSED}
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert all(step.detail for step in steps)
    texts = [step.text() for step in steps]
    golden(texts[0])
    assert all(re.search(r" (won 1 to 0|lost 0 to 1) against the baseline", text) for text in texts[:2])
    assert [text.endswith("against the baseline, which plays random legal actions") for text in texts].count(True) == 1


@pytest.mark.parametrize(
    ("mode", "title", "detail"),
    [
        ("chat", "prints nothing but the protocol", " stray"),
        ("answer-twice", "prints nothing but the protocol", "ignored lines: "),
    ],
)
def test_a_harmless_behaviour_is_a_remark(bot_of: Callable[[str], BotSpec], mode: str, title: str, detail: str) -> None:
    """The bot may play, its author hears of it."""
    remarks = [step for step in steps_of(bot_of(mode)) if step.verdict is not StepVerdict.PASSED]

    assert [step.verdict for step in remarks] == [StepVerdict.REMARK]
    assert remarks[0].title.startswith(title)
    assert detail in remarks[0].detail


@pytest.mark.parametrize(
    ("mode", "number", "detail"),
    [
        ("exit-ill", 1, "crash: the bot ended with exit code 3"),
        ("exit-at-once", 1, 'the bot ended with exit code 0 before its "hello"'),
        ("quit-between-matches", 2, "one process plays many matches"),
        ("action-illegal", 1, "illegal_action: 99 counters cannot be taken"),
        ("sleep", 1, "timeout: no answer within"),
        ("ignore-all", 8, "still running a second after"),
    ],
)
def test_a_broken_promise_ends_the_check(bot_of: Callable[[str], BotSpec], mode: str, number: int, detail: str) -> None:
    """With the number of the step, the fault and the last lines both ways."""
    *before, last = steps_of(bot_of(mode))

    assert all(step.verdict is StepVerdict.PASSED for step in before)
    assert (last.number, last.verdict) == (number, StepVerdict.FAILED)
    assert detail in last.detail


def test_a_failure_is_told_with_its_reason_first(bot_of: Callable[[str], BotSpec], golden: Golden) -> None:
    """As a person reads it: what was tried comes after it, indented; with the last lines and the stderr."""
    (step,) = steps_of(bot_of("exit-ill"))
    lines = step.text().splitlines()

    golden(lines[0])
    golden(lines[1])
    assert all(line.startswith(" " * 13) for line in lines[1:])
    golden(step.stderr)
    golden(step.detail)


def test_a_traceback_from_a_copy_says_what_it_is_a_copy_of(tmp_path: Path) -> None:
    """Once, without a sandbox, which hides the path of the copy; a bot in its own folder needs no such line."""
    for folder in ("mine", "copy"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bot.py").write_text("raise ValueError(1)\n")
    bot = read_bot(tmp_path / "mine" / "bot.py")
    copy = str(tmp_path / "copy")

    bare = Confinement(isolation="none")
    (here,), (there,) = steps_of(bot, bare), steps_of(structs.replace(bot, folder=copy), bare)

    assert f"({copy} is a copy of {tmp_path}/mine/bot.py)" in there.detail
    assert there.text().count("is a copy of") == 1
    assert "is a copy of" not in here.text()


def test_a_start_that_fails_between_the_steps_fails_the_step(tmp_path: Path, golden: Golden) -> None:
    """A bot that can be started only so often, which takes one that may change its own file."""
    shutil.copy(HOSTILE.with_name("bot_player.py"), tmp_path)
    script = (
        "import os, sys\nos.chmod(__file__, 0o644)\nsys.argv[1:] = ['honest']\nimport bot_player\nbot_player.play()\n"
    )
    (tmp_path / "once.sh").write_text("#!/usr/bin/env python3\n" + script)
    (tmp_path / "once.sh").chmod(0o755)
    (tmp_path / "bot.yaml").write_text("name: once\ncommand: [./once.sh]\n")

    last = steps_of(read_bot(tmp_path), BARE)[-1]

    assert last.verdict is StepVerdict.FAILED
    golden(last.detail)
