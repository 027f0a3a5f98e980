"""docs/sandbox.md names a test for each promise; the tests are there, and the numbers in its sentences are right."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "sandbox.md").read_text(encoding="utf-8")
ROWS: Final = re.findall(r"^\| (.+?) \| (.+) \|$", PAGE.partition("| promise | attacked by |")[2], flags=re.MULTILINE)
FEWEST: Final = 14


def names_in(name: str) -> set[str]:
    """The names of the tests in a file of that name; fails if there is none."""
    found = [path for folder in ("process", "hostile") for path in (ROOT / "tests" / folder).glob(name)]
    assert len(found) == 1, f"{name}: not a file of tests/process or tests/hostile"
    return set(re.findall(r"^def (test_\w+)", found[0].read_text(encoding="utf-8"), flags=re.MULTILINE))


@pytest.mark.parametrize(("promise", "tests"), ROWS, ids=[promise for promise, _ in ROWS])
def test_each_promise_has_tests_that_exist(promise: str, tests: str) -> None:
    """Files, and functions in them."""
    words = re.findall(r"`(test_\w+(?:\.py)?)`", tests)
    file = ""
    for word in words:
        if word.endswith(".py"):
            file = word
            assert names_in(file), promise
        else:
            assert word in names_in(file), f"{promise}: no {word} in {file}"

    assert words


def test_the_table_was_found() -> None:
    """With a row for each promise."""
    assert len(ROWS) >= FEWEST


def test_there_are_as_many_bots_as_is_said() -> None:
    """More than the page says, and not twice as many."""
    said = int(re.findall(r"more than (\d+) such bots", PAGE)[0])
    bots = ROOT / "tests" / "hostile" / "bots"
    behaviours = sum(
        len(re.findall(r"^@(?:attempt|start|instead_of)", path.read_text(encoding="utf-8"), flags=re.MULTILINE))
        for path in bots.glob("bot_*.py")
    )

    assert said < behaviours < 2 * said
