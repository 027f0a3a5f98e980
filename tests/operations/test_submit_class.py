"""The hand-ins of a class: each belongs to its author, and a refused one leaves the earlier version on the list."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.bot_source import bot_script
from support.golden import Golden

from arena.errors import SpecError
from arena.operations.examination import Examination, Trial
from arena.operations.list_bots import ListBots, list_bots
from arena.operations.submit_bots import SubmissionVerdict, SubmitBots, SubmittedBot, submit_bots

AUTHORS = """author,hand_in,address,active
ada,Doe_Jane_,jane@example.org,yes
ben,Roe_Ben_,ben@example.org,yes
kim,Poe_Kim_,kim@example.org,yes
zoe,Loe_Zoe_,zoe@example.org,no
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the authors, and bots that nobody doubts, which are installed."""

    def examine_all(trials: Sequence[Trial], _workers: int, _tick: object) -> Iterator[tuple[int, Examination]]:
        yield from ((number, Examination(trial.store.install(trial.bot))) for number, trial in enumerate(trials))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("arena.operations.submit_bots.examine_all", examine_all)
    Path("authors.csv").write_text(AUTHORS)


def bot(folder: str, name: str, note: str = "") -> None:
    """A bot in a folder as a platform calls it."""
    place = Path("in", f"{folder}_12345_file_")
    place.mkdir(parents=True, exist_ok=True)
    (place / "bot.py").write_text(bot_script(note=repr(note or folder)))
    (place / "bot.yaml").write_text(f"name: {name}\ncommand: [python3, bot.py]\n")


def submit(*bots: str, **choices: Any) -> dict[str, SubmittedBot]:
    """The submissions by author; nobody's by their text."""
    request = SubmitBots(bots=bots or ("in",), authors=Path("authors.csv"), game="nim", isolation="none", **choices)
    return {submission.owner or submission.text: submission for submission in submit_bots(request)}


def test_a_hand_in_belongs_to_its_author_and_is_a_new_version(golden: Golden) -> None:
    """No option is needed for it; the author reads no name of a file that has the name of the person."""
    bot("Doe_Jane", "shark")
    bot("Roe_Ben", "ben")
    assert {name: found.verdict.value for name, found in submit().items()} == {
        "ada": "accepted",
        "ben": "accepted",
        "kim": "missing",
    }
    bot("Doe_Jane", "shark", "better")
    bot("Roe_Ben", "shark")
    bot("Poe_Kim", "ada")
    bot("Loe_Zoe", "zoe")
    bot("Foe_Eve", "eve")
    found = submit()

    assert found["ada"].verdict is SubmissionVerdict.ACCEPTED
    golden(found["ben"].reason)
    golden(found["ben"].for_author)
    golden(found["kim"].for_author)
    assert (found["zoe"].verdict, found["zoe"].reason) == (SubmissionVerdict.LEFT_OUT, "not active")
    golden(found["in/Foe_Eve_12345_file_"].reason)
    listed = [(row.bot, row.owner) for row in list_bots(ListBots()) if row.place.startswith("submitted")]
    assert sorted(listed) == [("ben", "ben"), ("shark", "ada"), ("shark", "ada")]
    Path("in/Poe_Kim_12345_file_/bot.yaml").write_text("name: [")
    assert submit()["kim"].reason.startswith("kim/bot.yaml")


def test_an_author_without_a_hand_in_keeps_the_bot() -> None:
    """The answer names it."""
    bot("Doe_Jane", "shark")
    first = submit()["ada"].bot
    bot("Doe_Jane", "whale")
    second = submit()["ada"].bot
    Path("in/Doe_Jane_12345_file_").rename("gone")

    assert first
    assert second
    assert submit()["ada"].reason == f"no hand-in; {first.label} and {second.label} still play"


def test_equal_files_are_for_the_organiser_only(golden: Golden) -> None:
    """Also those of an earlier week; the author reads nothing of it, and the verdict is the same."""
    bot("Doe_Jane", "ada", "mine")
    bot("Roe_Ben", "ben", "a 1")
    assert "equals" not in submit()["ada"].reason
    bot("Poe_Kim", "kim", "mine")
    Path("in/Doe_Jane_12345_file_").rename("gone")
    found = submit()

    assert found["kim"].verdict is SubmissionVerdict.ACCEPTED
    golden(found["kim"].reason)
    golden(found["ada"].reason)
    assert "equals" not in found["kim"].for_author + found["ada"].for_author + found["ben"].reason


def test_the_name_of_an_author_is_kept_for_them(golden: Golden) -> None:
    """Also if they handed in nothing."""
    bot("Roe_Ben", "ada")

    golden(submit()["ben"].reason)


def test_a_mistake_of_the_command_is_one_error(golden: Golden) -> None:
    """Before anything is read."""
    with golden.raises(SpecError):
        submit(owner="ada")
    with golden.raises(SpecError):
        submit("none")
    Path("authors.csv").write_text("author\n")
    with golden.raises(SpecError):
        submit()
